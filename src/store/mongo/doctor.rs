//! What `doctor` asks of the engine: how it answers the documented queries, and what the user may do. Writes
//! nothing.

use bson::{Bson, DateTime, Document, doc};

use super::super::document::head_projection;
use super::super::{Class, Fault, Side};
use super::connection::{Call, Connection};
use super::document_field;

/// How the engine would answer one query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// What the query is for.
    pub purpose: &'static str,
    /// The query as one would type it.
    pub query: String,
    /// Names of the indexes that the chosen plan uses.
    pub indexes: Vec<String>,
    /// The plan reads the whole collection.
    pub scans: bool,
    /// The plan reads no document, only an index.
    pub covered: bool,
    /// The plan sorts in memory.
    pub sorts: bool,
}

/// Whether the user may do what is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rights {
    /// The engine asks nobody who they are.
    Open,
    /// Each needed right that is missing, as `action on database.collection`.
    Missing(Vec<String>),
    /// The engine does not tell.
    Untold(String),
}

/// Asks for `doctor`.
pub struct Doctor<'a> {
    /// The way to the engine.
    pub connection: &'a Connection,
    /// The posts' collection.
    pub collection: &'a str,
}

impl Doctor<'_> {
    /// Explains the queries of the documentation, and the one that planning makes.
    pub async fn explain(&self) -> Result<Vec<Explained>, Fault> {
        let now = DateTime::now();
        let page = doc! { "slug": "a-slug", "lang": "en", "live": true, "status": "active" };
        let list = doc! {
            "lang": "en", "status": "active", "publishedAt": { "$lte": now }, "unlisted": { "$ne": true },
        };
        let find = |filter: &Document| doc! { "find": self.collection, "filter": filter.clone() };
        let mut page_find = find(&page);
        page_find.insert("limit", 1);
        let mut list_find = find(&list);
        list_find.insert("sort", doc! { "publishedAt": -1 });
        list_find.insert("limit", 20);
        let mut heads_find = find(&doc! {});
        heads_find.insert("projection", head_projection());
        heads_find.insert("sort", doc! { "_id": 1 });
        let mut out = Vec::new();
        for (purpose, query, command) in [
            ("a page of the website", format!("find({page})"), page_find),
            (
                "a list of the website",
                "find({lang, status: \"active\", publishedAt: {$lte: now}}).sort({publishedAt: -1})"
                    .to_owned(),
                list_find,
            ),
            ("the heads that planning reads", "find({}, heads).sort({_id: 1})".to_owned(), heads_find),
        ] {
            let explain = doc! { "explain": command, "verbosity": "queryPlanner" };
            let reply = self.connection.run(explain, Call::READ).await?;
            out.push(read_plan(purpose, query, &reply));
        }
        Ok(out)
    }

    /// Compares what the user may do with what is needed.
    pub async fn rights(&self) -> Result<Rights, Fault> {
        let status = match self
            .connection
            .run(doc! { "connectionStatus": 1, "showPrivileges": true }, Call::READ)
            .await
        {
            Ok(status) => status,
            Err(fault) if matches!(fault.class, Class::Permanent | Class::Unknown | Class::Auth) => {
                return Ok(Rights::Untold(fault.message));
            }
            Err(fault) => return Err(fault),
        };
        let Some(info) = document_field(&status, "authInfo") else {
            return Ok(Rights::Untold("connectionStatus says nothing of rights".to_owned()));
        };
        if info.get_array("authenticatedUsers").is_ok_and(Vec::is_empty) {
            return Ok(Rights::Open);
        }
        let Ok(privileges) = info.get_array("authenticatedUserPrivileges") else {
            return Ok(Rights::Untold("connectionStatus lists no privileges".to_owned()));
        };
        let database = &self.connection.setup().database;
        let sides = Side::ALL.map(|side| format!("{}{}", self.collection, side.suffix()));
        let mut missing = Vec::new();
        for collection in std::iter::once(self.collection).chain(sides.iter().map(String::as_str)) {
            let side = collection != self.collection;
            for action in NEEDED {
                // Posts are never deleted.
                if action == "remove" && !side {
                    continue;
                }
                if !privileges
                    .iter()
                    .filter_map(Bson::as_document)
                    .any(|one| grants(one, database, collection, action))
                {
                    missing.push(format!("{action} on {database}.{collection}"));
                }
            }
        }
        Ok(Rights::Missing(missing))
    }
}

/// Actions that a run needs.
const NEEDED: [&str; 7] =
    ["find", "insert", "update", "remove", "createCollection", "createIndex", "listIndexes"];

fn grants(privilege: &Document, database: &str, collection: &str, action: &str) -> bool {
    let allows = privilege.get_array("actions").is_ok_and(|actions| {
        actions.iter().any(|one| matches!(one.as_str(), Some(name) if name == action || name == "anyAction"))
    });
    let Some(resource) = document_field(privilege, "resource") else { return false };
    let covers =
        |key: &str, name: &str| resource.get_str(key).is_ok_and(|value| value.is_empty() || value == name);
    allows
        && (matches!(resource.get_bool("anyResource"), Ok(true))
            || (covers("db", database) && covers("collection", collection)))
}

/// Reads the winning plan wherever the engine puts it: at the top, under `queryPlan`, or under each shard.
fn read_plan(purpose: &'static str, query: String, reply: &Document) -> Explained {
    let mut out =
        Explained { purpose, query, indexes: Vec::new(), scans: false, covered: false, sorts: false };
    let mut stages = Vec::new();
    if let Some(planner) = document_field(reply, "queryPlanner") {
        match planner.get("winningPlan") {
            Some(plan) => walk(plan, 0, &mut stages, &mut out.indexes),
            // FerretDB shows the plan of the engine beneath it as text.
            None => out.scans = planner.to_string().contains("SCAN "),
        }
    }
    let has = |stage: &str| stages.iter().any(|seen| seen == stage);
    out.scans |= has("COLLSCAN");
    out.sorts = has("SORT");
    out.covered = has("PROJECTION_COVERED") || (!out.indexes.is_empty() && !has("FETCH") && !has("IDHACK"));
    out
}

/// Plans are nested a few levels; a reply without an end is cut here.
const PLAN_LEVELS_MAX: usize = 32;

fn walk(value: &Bson, level: usize, stages: &mut Vec<String>, indexes: &mut Vec<String>) {
    if level > PLAN_LEVELS_MAX {
        return;
    }
    match value {
        Bson::Document(plan) => {
            if let Ok(stage) = plan.get_str("stage") {
                stages.push(stage.to_owned());
            }
            if let Ok(name) = plan.get_str("indexName")
                && !indexes.iter().any(|seen| seen == name)
            {
                indexes.push(name.to_owned());
            }
            for (key, below) in plan {
                if key != "rejectedPlans" {
                    walk(below, level + 1, stages, indexes);
                }
            }
        }
        Bson::Array(plans) => plans.iter().for_each(|plan| walk(plan, level + 1, stages, indexes)),
        _ => {}
    }
}
