//! The engines that speak the protocol, what each can take, and how one is recognised.
//!
//! Facts only, as one table ([`Profile::facts`]); `docs/engines.md` tells where each comes from. A flag
//! beats detection, a host's name beats what the server says of itself, and what is not recognised is
//! treated as the most limited engine.

use bson::Document;

use super::document_field;

/// An engine, as far as its behaviour differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// MongoDB, a replica set or one server.
    MongoDb,
    /// MongoDB behind `mongos`.
    MongoDbSharded,
    /// Amazon DocumentDB.
    DocumentDb,
    /// Azure Cosmos DB for MongoDB, billed by request units.
    CosmosRu,
    /// Azure DocumentDB (Cosmos DB for MongoDB vCore) and the open-source DocumentDB gateway.
    DocumentDbVcore,
    /// Firestore with MongoDB compatibility.
    Firestore,
    /// FerretDB before version 2: SQLite or PostgreSQL tables of its own.
    FerretDb1,
    /// FerretDB from version 2: PostgreSQL with the DocumentDB extension.
    FerretDb2,
    /// Oracle's API for MongoDB.
    Oracle,
    /// None of these.
    Unknown,
}

/// Whether the unique index on live (slug, lang) can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialUnique {
    /// It can; a refusal is an error.
    Yes,
    /// Perhaps; a refusal is a warning.
    Perhaps,
    /// It cannot, and is not asked for.
    No,
}

/// The write concern that is sent with every write. `j` is never sent: some gateways refuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteConcern {
    /// `{w: "majority", wtimeout}`.
    MajorityTimed,
    /// `{w: "majority"}`.
    Majority,
    /// Nothing is sent.
    Unstated,
}

/// What is known of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// The name in reports and for `--engine`.
    pub name: &'static str,
    /// Statements in one batch.
    pub statements_max: usize,
    /// Statements in one `update` command; the batch is one command where this is no less.
    pub command_statements_max: usize,
    /// Bytes of one command.
    pub batch_bytes_max: usize,
    /// Bytes of one stored document.
    pub document_bytes_max: usize,
    /// Levels of nesting of one stored document.
    pub nesting_levels_max: usize,
    /// Partial unique indexes.
    pub partial_unique: PartialUnique,
    /// An index can answer for the heads without the documents.
    pub covering_heads: bool,
    /// What writes ask for.
    pub write_concern: WriteConcern,
    /// Reads may ask for what a majority has.
    pub read_majority: bool,
    /// What is lost on this engine whatever is configured, one sentence each.
    pub lost: &'static [&'static str],
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// A BSON document may have 16 MiB; the command around it 16 KiB more, some of which the driver takes.
const COMMAND_BYTES_MAX: usize = 16 * MIB - 16 * KIB;

const FACTS: [(Profile, Facts); 10] = [
    (
        Profile::MongoDb,
        Facts {
            name: "mongodb",
            statements_max: 100_000,
            command_statements_max: 100_000,
            batch_bytes_max: COMMAND_BYTES_MAX,
            document_bytes_max: 16 * MIB,
            nesting_levels_max: 90,
            partial_unique: PartialUnique::Yes,
            covering_heads: true,
            write_concern: WriteConcern::MajorityTimed,
            read_majority: true,
            lost: &[],
        },
    ),
    (
        Profile::MongoDbSharded,
        Facts {
            name: "mongodb-sharded",
            statements_max: 100_000,
            command_statements_max: 100_000,
            batch_bytes_max: COMMAND_BYTES_MAX,
            document_bytes_max: 16 * MIB,
            nesting_levels_max: 90,
            // Only where the shard key is a prefix of (slug, lang).
            partial_unique: PartialUnique::Perhaps,
            covering_heads: true,
            write_concern: WriteConcern::MajorityTimed,
            read_majority: true,
            lost: &[],
        },
    ),
    (
        Profile::DocumentDb,
        Facts {
            name: "documentdb",
            statements_max: 1_000,
            command_statements_max: 1_000,
            batch_bytes_max: COMMAND_BYTES_MAX,
            document_bytes_max: 16_000_000,
            nesting_levels_max: 90,
            // 5.0 has them, 4.0 has not, 8.0 is not documented.
            partial_unique: PartialUnique::Perhaps,
            covering_heads: false,
            write_concern: WriteConcern::MajorityTimed,
            read_majority: false,
            lost: &[],
        },
    ),
    (
        Profile::CosmosRu,
        Facts {
            name: "cosmos-ru",
            statements_max: 100,
            command_statements_max: 100,
            batch_bytes_max: 3 * MIB,
            document_bytes_max: 2_000_000,
            nesting_levels_max: 32,
            // On an empty collection alone, and with the shard key in it.
            partial_unique: PartialUnique::Perhaps,
            covering_heads: false,
            write_concern: WriteConcern::Majority,
            read_majority: false,
            lost: &[],
        },
    ),
    (
        Profile::DocumentDbVcore,
        Facts {
            name: "documentdb-vcore",
            statements_max: 25_000,
            command_statements_max: 25_000,
            batch_bytes_max: COMMAND_BYTES_MAX,
            document_bytes_max: 16_000_000,
            nesting_levels_max: 90,
            partial_unique: PartialUnique::Yes,
            covering_heads: false,
            write_concern: WriteConcern::Majority,
            read_majority: false,
            lost: &[],
        },
    ),
    (
        Profile::Firestore,
        Facts {
            name: "firestore",
            statements_max: 500,
            command_statements_max: 500,
            batch_bytes_max: 8 * MIB,
            document_bytes_max: 4 * MIB,
            nesting_levels_max: 20,
            partial_unique: PartialUnique::Perhaps,
            covering_heads: false,
            // It refuses anything but `w`, which may be 1 or majority.
            write_concern: WriteConcern::Majority,
            read_majority: false,
            lost: &[],
        },
    ),
    (
        Profile::FerretDb1,
        Facts {
            name: "ferretdb1",
            statements_max: 100,
            // It stops at the first error of a command, ordered or not, gives it the index 0 and leaves
            // `n` out: only a command of one statement has a reply that tells.
            command_statements_max: 1,
            batch_bytes_max: COMMAND_BYTES_MAX,
            document_bytes_max: 16_000_000,
            nesting_levels_max: 90,
            partial_unique: PartialUnique::No,
            covering_heads: false,
            write_concern: WriteConcern::Majority,
            read_majority: false,
            lost: &[
                "ferretdb1 does not compare and set in one step: of two runs that change one post at once both may \
                 believe they won, so let only one run write at a time",
            ],
        },
    ),
    (
        Profile::FerretDb2,
        Facts {
            name: "ferretdb2",
            // It says 100,000 and enforces this.
            statements_max: 25_000,
            command_statements_max: 25_000,
            batch_bytes_max: COMMAND_BYTES_MAX,
            document_bytes_max: 16_000_000,
            nesting_levels_max: 90,
            partial_unique: PartialUnique::Yes,
            covering_heads: false,
            write_concern: WriteConcern::Majority,
            read_majority: false,
            lost: &[],
        },
    ),
    (
        Profile::Oracle,
        Facts {
            name: "oracle",
            statements_max: 1_000,
            command_statements_max: 1_000,
            batch_bytes_max: COMMAND_BYTES_MAX,
            document_bytes_max: 16_000_000,
            nesting_levels_max: 32,
            // Real on 26ai; accepted and ignored on 19c.
            partial_unique: PartialUnique::Perhaps,
            covering_heads: false,
            write_concern: WriteConcern::Unstated,
            read_majority: false,
            lost: &[],
        },
    ),
    (
        Profile::Unknown,
        Facts {
            name: "unknown",
            statements_max: 1_000,
            command_statements_max: 1_000,
            batch_bytes_max: 4 * MIB,
            document_bytes_max: 2_000_000,
            nesting_levels_max: 20,
            partial_unique: PartialUnique::Perhaps,
            covering_heads: false,
            write_concern: WriteConcern::Majority,
            read_majority: false,
            lost: &[],
        },
    ),
];

impl Profile {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Profile> {
        FACTS.iter().map(|(profile, _)| *profile)
    }

    /// What is known of it.
    pub fn facts(self) -> &'static Facts {
        let [.., (_, unknown)] = &FACTS;
        FACTS.iter().find(|(profile, _)| *profile == self).map_or(unknown, |(_, facts)| facts)
    }

    /// The name in reports and for `--engine`.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Reads the name; `None` for one that is not in the table.
    pub fn from_name(name: &str) -> Option<Profile> {
        FACTS.iter().find(|(_, facts)| facts.name == name).map(|(profile, _)| *profile)
    }
}

/// A profile and why it was taken, for `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// The profile.
    pub profile: Profile,
    /// One clause that gives the evidence.
    pub reason: String,
}

impl Detected {
    fn new(profile: Profile, reason: impl Into<String>) -> Self {
        Detected { profile, reason: reason.into() }
    }
}

/// What the address alone shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Address {
    /// Lower-case host names, of the SRV record where there is one.
    pub hosts: Vec<String>,
    /// `authMechanism=PLAIN` with `loadBalanced=true`.
    pub plain_load_balanced: bool,
}

/// Endings of host names that belong to one engine. The longer one comes first where one ends in another.
const HOST_ENDINGS: [(&str, Profile); 6] = [
    (".docdb.amazonaws.com", Profile::DocumentDb),
    (".docdb-elastic.amazonaws.com", Profile::DocumentDb),
    (".mongocluster.cosmos.azure.com", Profile::DocumentDbVcore),
    (".mongo.cosmos.azure.com", Profile::CosmosRu),
    (".documents.azure.com", Profile::CosmosRu),
    (".firestore.goog", Profile::Firestore),
];

/// Recognises an engine by its address, before anything is sent.
pub fn detect_by_address(address: &Address) -> Option<Detected> {
    for host in &address.hosts {
        for (ending, profile) in HOST_ENDINGS {
            if host.ends_with(ending) {
                return Some(Detected::new(profile, format!("the host's name ends in {ending}")));
            }
        }
        if host.ends_with(".oraclecloudapps.com") {
            return Some(Detected::new(Profile::Oracle, "the host's name ends in .oraclecloudapps.com"));
        }
    }
    address
        .plain_load_balanced
        .then(|| Detected::new(Profile::Oracle, "authMechanism=PLAIN with loadBalanced=true"))
}

/// Recognises an engine by its address and by what it answered to `hello` and `buildInfo`.
pub fn detect(address: &Address, hello: &Document, build: Option<&Document>) -> Detected {
    if let Some(found) = detect_by_address(address) {
        return found;
    }
    if let Some(build) = build {
        if document_field(build, "ferretdb").is_some() {
            return Detected::new(Profile::FerretDb2, "buildInfo has a ferretdb field");
        }
        if let Ok(version) = build.get_str("ferretdbVersion") {
            let version = version.trim_start_matches('v');
            let first = version.starts_with("1.") || version.starts_with("0.");
            let profile = if first { Profile::FerretDb1 } else { Profile::FerretDb2 };
            return Detected::new(profile, format!("buildInfo names FerretDB {version}"));
        }
    }
    let router = hello.get_str("msg").is_ok_and(|text| text == "isdbgrid");
    if hello.contains_key("internal") {
        return Detected::new(Profile::DocumentDbVcore, "hello has an internal field");
    }
    if router {
        return Detected::new(Profile::MongoDbSharded, "hello says isdbgrid");
    }
    if let Ok(name) = hello.get_str("setName") {
        return Detected::new(Profile::MongoDb, format!("hello names the replica set {name}"));
    }
    // A server of its own: mongod alone lists its storage engines or its OpenSSL.
    if build.is_some_and(|build| build.contains_key("storageEngines") || build.contains_key("openssl")) {
        return Detected::new(Profile::MongoDb, "buildInfo is that of mongod");
    }
    Detected::new(Profile::Unknown, "neither the host's name nor hello nor buildInfo name an engine")
}
