use std::collections::BTreeMap;

use watcher::insight::{Ended, Entry, RowKey};
use watcher::{Answer, Change as Changed, Entity, NewState};

use super::{Invariant, Seen, require};
use crate::stages::Kind;
use crate::tables::{Change, Commit, Role, entity_key, state_key};
use crate::thing::Thing;
use crate::world::{Call, Returned};

/// An answer is saved on the version that the stage saw, with the state that it saw; or it is a
/// patch, and neither what the stage reads nor what it writes has changed since.
#[derive(Default)]
pub(crate) struct Answers {
    /// The last answer of each process, entity and stage.
    last: BTreeMap<(String, String, String), (Call, Returned)>,
}

/// The visits that a batch ends: shard, entity and stage, with how they ended.
pub(super) fn ended_visits<'a>(
    commit: &'a Commit<'a>,
) -> impl Iterator<Item = ((u32, &'a String, &'a String), Ended, &'a Change)> {
    let entries = commit.places(|place| match place {
        RowKey::Entry { shard, entity, stage } => Some((*shard, entity, stage)),
        _ => None,
    });
    entries.filter(|_| commit.role == Role::Instance).filter_map(|(whose, change)| {
        let last = |entry: Entry| entry.last.as_option().cloned();
        let before = change.before.as_ref().and_then(|row| last(row.read()));
        let after = change.after.as_ref().and_then(|row| last(row.read()))?;
        let ended = after.ended.as_known().unwrap_or_default();
        (before.as_ref() != Some(&after)).then_some((whose, ended, change))
    })
}

fn changed(thing: &Thing, change: &Changed<Thing>) -> Thing {
    match change {
        Changed::Untouched => thing.clone(),
        Changed::Replace(after) => after.clone(),
        Changed::Patch { fields, values } => {
            let mut after = thing.clone();
            after.take_fields(fields, values);
            after
        }
    }
}

/// Whether the entity may be changed as it was.
fn entity(commit: &Commit<'_>, call: &Call, answer: &Answer<Thing>) -> Seen {
    let key = entity_key(call.shard, &call.thing.id);
    let Some(before) = commit.before(&key) else { return Err("there was no such entity".to_owned()) };
    let there = Thing::decode(&before.value)?;
    if before.version != call.version {
        // To leave an entity alone is a patch of nothing.
        let none = watcher::Fields::none();
        let fields = match &answer.change {
            Changed::Patch { fields, .. } => fields,
            Changed::Untouched => &none,
            Changed::Replace(_) => {
                return Err(format!(
                    "it is no patch, was given to v{}, and there was v{}",
                    call.version, before.version
                ));
            }
        };
        let elsewhere = Thing::changed_fields(&call.thing, &there);
        let inputs = Kind::of(call.stage).map(|kind| kind.interest().inputs);
        let is_free =
            !elsewhere.overlaps(fields) && inputs.is_some_and(|inputs| !elsewhere.overlaps(&inputs));
        require(is_free, || {
            format!("a patch of v{} was made to v{}, where {elsewhere} differ", call.version, before.version)
        })?;
    }
    let expected = changed(&there, &answer.change).encode();
    let after = commit.tables.get(&key).map(|row| row.value.clone());
    require(after.as_ref() == Some(&expected), || {
        format!("{expected:?} was answered and {after:?} was saved")
    })
}

/// Whether the state may be changed as it was.
fn state(commit: &Commit<'_>, call: &Call, answer: &Answer<Thing>) -> Seen {
    let key = state_key(call.shard, &call.thing.id, call.stage);
    let before = commit.before(&key).map(|row| row.value.clone()).unwrap_or_default();
    let is_same = before == call.state && commit.written_before(&key) <= call.commits;
    require(is_same, || format!("it saw the state {:?}, and there was {before:?}", call.state))?;
    let after = commit.tables.get(&key).map(|row| row.value.clone()).unwrap_or_default();
    let expected = match &answer.state {
        NewState::Keep => before,
        NewState::Set(state) => state.clone(),
    };
    require(after == expected, || format!("the state {expected:?} was answered and {after:?} was saved"))
}

impl Invariant for Answers {
    fn name(&self) -> &'static str {
        "an answer is saved on what the stage saw"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let look = |((shard, id, stage), ended, _): ((u32, &String, &String), Ended, &Change)| {
            let wrong = |what: String| format!("{stage}'s answer about {id}: {what}");
            if ended == Ended::ENDED_FAILED {
                let touched = [entity_key(shard, id), state_key(shard, id, stage)];
                let is_kept = touched.iter().all(|key| commit.change(key).is_none());
                return require(is_kept, || wrong("a failure changed something".to_owned()));
            }
            let last = self.last.get(&(commit.actor.to_owned(), id.clone(), stage.clone()));
            let Some((call, Some(Ok(answer)))) = last else {
                return Err(wrong(format!("it was saved, and the call ended with {last:?}")));
            };
            entity(commit, call, answer).and_then(|()| state(commit, call, answer)).map_err(wrong)
        };
        ended_visits(commit).map(look).reduce(Seen::and)
    }

    fn at_return(&mut self, call: &Call, answer: &Returned) -> Option<Seen> {
        if call.what == crate::world::What::Visit {
            let whose = (call.instance.clone(), call.thing.id.clone(), call.stage.to_owned());
            self.last.insert(whose, (call.clone(), answer.clone()));
        }
        None
    }
}
