//! `show`, and what `ingest --plan` asks of a saved plan before it holds a fresh one to it.

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::plan::Policy;
use crate::plan::saved::{Flags, Saved};
use crate::report::saved::read;
use crate::report::saved::read::PLAN_BYTES_MAX;

/// A saved plan, and the digest of its bytes.
pub struct Plan {
    /// What it says.
    pub saved: Saved,
    /// Hex.
    pub digest: String,
    /// Its file, as it was typed.
    pub shown: String,
}

/// The flags under which a plan is made.
pub fn flags(settings: &Settings) -> Flags {
    let policy = settings.policy;
    Flags { prune: policy.prune, force: policy.force, repair: policy.repair }
}

/// Reads a plan's file.
pub fn read(path: &Path) -> Result<Plan, Failure> {
    let shown = path.display().to_string();
    let failed = |error: std::io::Error| Failure::usage(format!("the plan {shown} cannot be read: {error}"));
    // A pipe would be waited for, and a device read without end.
    let found = std::fs::metadata(path).map_err(failed)?;
    if !found.is_file() {
        return Err(Failure::usage(format!("the plan {shown} is no file")));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(PLAN_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > PLAN_BYTES_MAX {
        return Err(Failure::usage(format!("the plan {shown} has more than {} MiB", PLAN_BYTES_MAX >> 20))
            .help("plan a part of the tree: `idempost diff PATH --out plan.json`"));
    }
    let saved = read::plan(&bytes, &shown)?;
    Ok(Plan { saved, digest: hex::encode(Sha256::digest(&bytes)), shown })
}

/// Refuses a plan that was made for something else than this run: another target, source, tool, or other
/// flags.
pub fn check(plan: &Plan, settings: &Settings, policy: &Policy) -> Result<(), Failure> {
    let Plan { saved, shown, .. } = plan;
    let Some(made) = saved.flags else {
        return Err(Failure::usage(format!("{shown} was printed, and not saved: it holds no documents"))
            .help("save it with `idempost diff --out plan.json`"));
    };
    let version = env!("CARGO_PKG_VERSION");
    if saved.tool_version != version {
        return Err(Failure::new(
            Exit::Conflict,
            format!("{shown} was made by idempost {}, and this is {version}", saved.tool_version),
        )
        .help("plan again with this version, or apply it with the one that made it"));
    }
    let (to, now) = (&saved.plan.target, &policy.target);
    if (&to.store, &to.database, &to.collection) != (&now.store, &now.database, &now.collection) {
        return Err(Failure::usage(format!(
            "{shown} was made for {}, database {}, collection {}; this run writes to {}, database {}, collection {}",
            to.store, to.database, to.collection, now.store, now.database, now.collection
        ))
        .help("name the same store, or plan again against this one"));
    }
    if saved.plan.source.name != policy.origin.name {
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
        return Err(Failure::usage(format!(
            "{shown} was made for the source {}, and this is {}",
            name(&saved.plan.source.name),
            name(&policy.origin.name)
        ))
        .help("name the same source, or plan again for this one"));
    }
    let now = flags(settings);
    for (flag, made, now) in [
        ("--prune", made.prune, now.prune),
        ("--force", made.force, now.force),
        ("--repair", made.repair, now.repair),
    ] {
        if made != now {
            let (with, say) =
                if made { ("with", "say it here too") } else { ("without", "leave it out here too") };
            return Err(Failure::usage(format!("{shown} was made {with} {flag}"))
                .help(format!("{say}: what a plan may do is said by who applies it, not by its file")));
        }
    }
    if saved.plan.pipeline != policy.pipeline.to_string() {
        return Err(Failure::new(
            Exit::Conflict,
            format!("{shown} was made under other settings: its documents are rendered in another way"),
        )
        .help(format!("plan again; it says {}, this run {}", saved.plan.pipeline, policy.pipeline)));
    }
    Ok(())
}
