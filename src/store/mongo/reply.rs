//! Reads the reply of a write command. The driver calls a reply with `writeErrors` a success, so this is
//! where errors of single statements are found.
//!
//! Never trusts a reply: what is missing, of another type or out of bounds makes effects [`Effect::Untold`],
//! and then the caller reads back.

use bson::{Bson, Document};

use super::super::document::integer;
use super::super::{Class, Effect, Fault};
use super::classify::Place;
use super::profile::Profile;
use super::redact::Redactor;
use super::told::{self, Told};

/// The kind of a statement, which decides what a match means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An upsert that must insert.
    Create,
    /// An update that must match.
    Update,
}

/// What a reply is read with.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// The engine.
    pub profile: Profile,
    /// For the texts of errors.
    pub redactor: &'a Redactor,
}

/// The totals and errors of a write command's reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Totals {
    /// `n`, if it is a number that is not negative.
    pub n: Option<u64>,
    /// Indexes of `upserted`.
    pub upserted: Vec<usize>,
    /// Index and fault of each entry of `writeErrors`.
    pub errors: Vec<(usize, Fault)>,
    /// `writeConcernError`.
    pub not_durable: Option<Fault>,
    /// Something in it made no sense.
    pub nonsense: bool,
}

impl Reader<'_> {
    /// What became of each statement, in their order.
    ///
    /// `n` counts what was inserted and what was matched. So the updates that matched are `n` less every
    /// create that did not fail, whether it was inserted or had matched. All or none of the updates is told by
    /// that; some of them is not, except where there is one alone.
    ///
    /// A write concern that was not met turns each [`Effect::Applied`] into a failure of that class: the
    /// write is in and must be read back before it may be called a success.
    pub fn effects(&self, reply: &Document, kinds: &[Kind]) -> Vec<Effect> {
        let totals = self.totals(reply, kinds.len());
        let mut effects: Vec<Option<Effect>> = vec![None; kinds.len()];
        for (index, fault) in &totals.errors {
            if let Some(effect) = effects.get_mut(*index) {
                *effect = Some(Effect::Failed(fault.clone()));
            }
        }
        // An engine that stops at the first error, whatever was asked, leaves the totals out: the index that it
        // gives and the silence about the others mean nothing.
        let trusted = !totals.nonsense && (totals.n.is_some() || kinds.len() == 1);
        if !trusted {
            return kinds.iter().map(|_| Effect::Untold).collect();
        }
        let creates = count(kinds, &effects, Kind::Create);
        let updates = count(kinds, &effects, Kind::Update);
        let matched = totals.n.and_then(|n| n.checked_sub(creates));
        let sane = matches!(matched, Some(matched) if matched <= updates)
            && totals
                .upserted
                .iter()
                .all(|index| kinds.get(*index) == Some(&Kind::Create) && effects.get(*index) == Some(&None));
        for (index, kind) in kinds.iter().enumerate() {
            let Some(effect) = effects.get_mut(index).filter(|effect| effect.is_none()) else { continue };
            *effect = Some(match (sane, kind, matched) {
                (true, Kind::Create, _) if totals.upserted.contains(&index) => Effect::Applied,
                (true, Kind::Create, _) => Effect::Existed,
                (true, Kind::Update, Some(matched)) if matched == updates => Effect::Applied,
                (true, Kind::Update, Some(0)) => Effect::Unmatched,
                _ => Effect::Untold,
            });
        }
        let settled = effects.into_iter().map(|effect| effect.unwrap_or(Effect::Untold));
        match totals.not_durable {
            None => settled.collect(),
            Some(fault) => settled
                .map(|effect| match effect {
                    Effect::Applied => Effect::Failed(fault.clone()),
                    other => other,
                })
                .collect(),
        }
    }

    /// Reads totals and errors of a command with `statements` statements.
    pub fn totals(&self, reply: &Document, statements: usize) -> Totals {
        let mut out =
            Totals { n: None, upserted: Vec::new(), errors: Vec::new(), not_durable: None, nonsense: false };
        match reply.get("n") {
            None => {}
            Some(n) => match whole(n) {
                Some(n) if n <= statements as u64 => out.n = Some(n),
                _ => out.nonsense = true,
            },
        }
        read_upserted(reply, statements, &mut out);
        self.read_errors(reply, statements, &mut out);
        out.not_durable = match reply.get("writeConcernError") {
            None | Some(Bson::Null) => None,
            Some(Bson::Document(document)) => Some(self.fault(Place::WriteConcern, document)),
            Some(_) => {
                Some(Fault::new(Class::Unknown, "the write concern was not met; the reply does not say why"))
            }
        };
        out
    }

    fn read_errors(&self, reply: &Document, statements: usize, out: &mut Totals) {
        match reply.get("writeErrors") {
            None | Some(Bson::Null) => {}
            Some(Bson::Array(entries)) => {
                for entry in entries {
                    let Some(document) = entry.as_document() else {
                        out.nonsense = true;
                        continue;
                    };
                    match index_of(document, statements) {
                        Some(index) if out.errors.iter().all(|(other, _)| *other != index) => {
                            out.errors.push((index, self.fault(Place::Statement, document)));
                        }
                        _ => out.nonsense = true,
                    }
                }
            }
            Some(_) => out.nonsense = true,
        }
    }

    fn fault(&self, place: Place, document: &Document) -> Fault {
        told::told(&Told { profile: self.profile, place, alone: true, document }, self.redactor)
    }
}

fn read_upserted(reply: &Document, statements: usize, out: &mut Totals) {
    match reply.get("upserted") {
        None | Some(Bson::Null) => {}
        Some(Bson::Array(entries)) => {
            for entry in entries {
                match entry.as_document().and_then(|entry| index_of(entry, statements)) {
                    Some(index) if !out.upserted.contains(&index) => out.upserted.push(index),
                    _ => out.nonsense = true,
                }
            }
        }
        Some(_) => out.nonsense = true,
    }
}

fn count(kinds: &[Kind], effects: &[Option<Effect>], kind: Kind) -> u64 {
    kinds.iter().zip(effects).filter(|(other, effect)| **other == kind && effect.is_none()).count() as u64
}

fn index_of(entry: &Document, statements: usize) -> Option<usize> {
    let index = usize::try_from(whole(entry.get("index")?)?).ok()?;
    (index < statements).then_some(index)
}

/// A number that is whole and not negative, of any width.
fn whole(value: &Bson) -> Option<u64> {
    match value {
        Bson::DateTime(_) => None,
        value => integer(Some(value)).and_then(|number| u64::try_from(number).ok()),
    }
}
