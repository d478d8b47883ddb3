//! Reads a head straight from the bytes of a reply: of a hundred thousand heads the detour over documents would
//! cost more than the engine takes. What is odd takes the detour.

use bson::{Document, RawBsonRef, RawDocument, Utf8Lossy};

use super::super::document::{Claim, Head, Ingest, Status, integer};

/// A document as it is. Text that is not UTF-8, which some clients store, does not keep the others from being read.
pub fn whole(raw: &RawDocument) -> bson::error::Result<Document> {
    match Document::try_from(raw) {
        Ok(document) => Ok(document),
        Err(_) => Utf8Lossy::<Document>::try_from(raw).map(|lossy| lossy.0),
    }
}

/// The same as [`Head::from_document`] of the whole document.
pub fn head(raw: &RawDocument) -> bson::error::Result<Head> {
    match plain(raw) {
        Some(head) => Ok(head),
        None => whole(raw).map(|document| Head::from_document(&document)),
    }
}

/// `None` if anything is odd: an `_id` that is no text, a broken element.
fn plain(raw: &RawDocument) -> Option<Head> {
    let mut id = None;
    let mut head = Head {
        id: String::new(),
        slug: String::new(),
        lang: String::new(),
        status: Status::from_stored(""),
        live: false,
        translation_key: None,
        source_hash: None,
        superseded_by: None,
        ingest: None,
    };
    for element in raw {
        let (key, value) = element.ok()?;
        match key.as_str() {
            "_id" => id = Some(value.as_str()?.to_owned()),
            "slug" => head.slug = text(value).unwrap_or_default(),
            "lang" => head.lang = text(value).unwrap_or_default(),
            "status" => head.status = Status::from_stored(value.as_str().unwrap_or_default()),
            "live" => head.live = value.as_bool().unwrap_or(false),
            "translationKey" => head.translation_key = text(value),
            "sourceHash" => head.source_hash = text(value),
            "supersededBy" => head.superseded_by = text(value),
            "ingest" => {
                head.ingest = match value.as_document() {
                    Some(ingest) => Some(plain_ingest(ingest)?),
                    None => None,
                }
            }
            _ => {}
        }
    }
    head.id = id?;
    Some(head)
}

fn plain_ingest(raw: &RawDocument) -> Option<Ingest> {
    let mut out = Ingest::default();
    for element in raw {
        let (key, value) = element.ok()?;
        match key.as_str() {
            "source" => out.source = text(value),
            "path" => out.path = text(value).unwrap_or_default(),
            "pipeline" => out.pipeline = text(value).unwrap_or_default(),
            "contentHash" => out.content_hash = text(value).unwrap_or_default(),
            "assetsHash" => out.assets_hash = text(value),
            "linksHash" => out.links_hash = text(value),
            "version" => out.version = number(value).ok()?.unwrap_or(0),
            "runId" => out.run_id = text(value).unwrap_or_default(),
            "operationId" => out.operation_id = text(value).unwrap_or_default(),
            "revision" => out.revision = number(value).ok()?,
            "liveBy" => out.live_by = text(value),
            "archivedBy" => out.archived_by = text(value),
            "claim" => {
                out.claim = match value.as_document() {
                    Some(claim) => plain_claim(claim).ok()?,
                    None => None,
                }
            }
            _ => {}
        }
    }
    Some(out)
}

fn plain_claim(raw: &RawDocument) -> bson::error::Result<Option<Claim>> {
    let (mut run_id, mut until) = (None, None);
    for element in raw {
        let (key, value) = element?;
        match key.as_str() {
            "runId" => run_id = text(value),
            "until" => until = number(value)?,
            _ => {}
        }
    }
    Ok(run_id.zip(until).map(|(run_id, until)| Claim { run_id, until }))
}

fn text(value: RawBsonRef<'_>) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// As [`integer`].
fn number(value: RawBsonRef<'_>) -> bson::error::Result<Option<i64>> {
    match value {
        RawBsonRef::Int64(number) => Ok(Some(number)),
        RawBsonRef::Int32(number) => Ok(Some(i64::from(number))),
        RawBsonRef::DateTime(date) => Ok(Some(date.timestamp_millis())),
        other => Ok(integer(Some(&bson::Bson::try_from(other)?))),
    }
}

#[cfg(test)]
mod tests {
    use bson::{Bson, RawDocumentBuf, doc};

    use super::*;

    fn ingest() -> Document {
        doc! {
            "source": "main", "path": "a.md", "pipeline": "p1", "contentHash": "c1:0", "assetsHash": "a1:0",
            "linksHash": "l1:0", "version": 7_i64, "runId": "r", "operationId": "o", "revision": 3_i32,
            "liveBy": "r", "archivedBy": "r",
            "claim": { "runId": "r", "until": bson::DateTime::from_millis(9) },
        }
    }

    fn post() -> Document {
        doc! {
            "_id": "01", "slug": "a", "lang": "en", "status": "active", "live": true, "translationKey": "t",
            "sourceHash": "s1:0", "supersededBy": "02", "ingest": ingest(), "views": 3,
        }
    }

    /// Values of every type in the place of every field.
    #[test]
    fn the_short_way_and_the_long_way_end_the_same() {
        let values = [
            Bson::Null,
            Bson::from("text"),
            Bson::from("archived"),
            Bson::from(true),
            Bson::from(-1_i32),
            Bson::from(1_i64 << 60),
            Bson::from(3.0),
            Bson::from(3.5),
            Bson::from(f64::NAN),
            Bson::from(bson::DateTime::from_millis(4)),
            Bson::from(bson::oid::ObjectId::from_bytes([7; 12])),
            Bson::from(doc! {}),
            Bson::from(doc! { "version": 2_i64 }),
            Bson::from(doc! { "runId": "x" }),
            Bson::from(vec![Bson::from(1)]),
        ];
        let mut documents = vec![doc! {}, post()];
        for key in post().keys() {
            let mut without = post();
            without.remove(key);
            documents.push(without);
            for value in &values {
                let mut other = post();
                other.insert(key, value.clone());
                documents.push(other);
            }
        }
        for key in ingest().keys() {
            for value in values.iter().map(Some).chain([None]) {
                let mut other = ingest();
                match value {
                    Some(value) => drop(other.insert(key, value.clone())),
                    None => drop(other.remove(key)),
                }
                let mut whole = post();
                whole.insert("ingest", other);
                documents.push(whole);
            }
        }
        for document in documents {
            let raw = RawDocumentBuf::try_from(&document).unwrap();
            assert_eq!(head(&raw).unwrap(), Head::from_document(&document), "{document}");
        }
        let raw = RawDocumentBuf::try_from(&post()).unwrap();
        assert!(plain(&raw).is_some(), "a usual post goes the short way");
    }

    #[test]
    fn text_that_is_not_utf_8_is_read_as_far_as_it_goes() {
        let mut bytes = doc! { "_id": "01", "slug": "aXb", "lang": "en" }.to_vec().unwrap();
        let at = bytes.windows(3).position(|window| window == b"aXb").unwrap();
        if let Some(byte) = bytes.get_mut(at + 1) {
            *byte = 0xff;
        }
        let raw = RawDocumentBuf::from_bytes(bytes).unwrap();
        let head = head(&raw).unwrap();
        assert_eq!((head.id.as_str(), head.slug.as_str()), ("01", "a\u{fffd}b"));
    }
}
