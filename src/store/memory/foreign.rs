//! Documents of other makers in the memory store.

use async_trait::async_trait;
use bson::{Bson, Document, RawDocument, RawDocumentBuf};

use super::super::document::Head;
use super::super::fields;
use super::super::foreign::{Foreign, Mention, Mentions};
use super::super::{Class, Fault, Inserted};
use super::{Kind, MemoryStore};

#[async_trait]
impl Foreign for MemoryStore {
    async fn foreign_ids(&self) -> Result<Vec<Bson>, Fault> {
        let state = self.called("foreign_ids");
        let foreign = state.posts.values().filter(|document| document.get_document("ingest").is_err());
        Ok(foreign.filter_map(|document| document.get("_id").cloned()).collect())
    }

    async fn wholes(&self, ids: &[Bson]) -> Result<Vec<RawDocumentBuf>, Fault> {
        let state = self.called("wholes");
        let wanted = state.posts.values().filter(|document| {
            document.get("_id").is_some_and(|id| ids.iter().any(|wanted| fields::equal(wanted, id)))
        });
        wanted.map(raw).collect()
    }

    async fn remove(&self, whole: &RawDocument) -> Result<bool, Fault> {
        let mut state = self.writing("remove")?;
        let document = read(whole)?;
        let id = Head::from_document(&document).id;
        let is_there = state.posts.get(&id).is_some_and(|stored| fields::same_bytes(stored, &document));
        if is_there {
            state.take(&id);
        }
        Ok(is_there)
    }

    async fn put_back(&self, whole: &RawDocument) -> Result<Inserted, Fault> {
        let mut state = self.writing("put_back")?;
        let document = read(whole)?;
        let id = Head::from_document(&document).id;
        if state.posts.contains_key(&id) || state.refuse_live_twice(&id, &document, &self.limits).is_err() {
            return Ok(Inserted::Existed);
        }
        state.put(&id, document, Kind::Insert);
        Ok(Inserted::New)
    }

    async fn mentions(&self, ids: &[Bson]) -> Result<Vec<Mention>, Fault> {
        let mut mentions = Mentions::of(ids);
        for document in self.called("mentions").posts.values() {
            mentions.look("posts", true, &raw(document)?);
        }
        Ok(mentions.told())
    }
}

fn raw(document: &Document) -> Result<RawDocumentBuf, Fault> {
    RawDocumentBuf::try_from(document).map_err(|error| Fault::new(Class::Permanent, error.to_string()))
}

fn read(whole: &RawDocument) -> Result<Document, Fault> {
    Document::try_from(whole).map_err(|error| Fault::new(Class::Permanent, error.to_string()))
}
