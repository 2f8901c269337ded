//! History: who changed what, with short values.

use buffa::Message;
use contract::torg::offers::v1::history_entry::FieldChange;
use contract::torg::offers::v1::{Author, HistoryEntry, Offer, author};
use serde::Serialize;
use store::Batch;
use watcher::Evolved;

use crate::entity::StoredOffer;
use crate::limits::HISTORY_VALUE_BYTES_MAX;
use crate::tables::HISTORY;
use crate::{fields, time};

/// Adds a change to the history of its offer.
pub(crate) fn follow(change: &Evolved<'_, StoredOffer>, batch: &mut Batch) {
    let Some(offer) = change.after.or(change.before) else { return };
    let nothing = Offer::default();
    let of = |offer: Option<&'_ StoredOffer>| offer.map_or(nothing.clone(), |offer| offer.offer.clone());
    let (before, after) = (of(change.before), of(change.after));
    let entry = HistoryEntry {
        version: change.version,
        time: Some(time::from_time(change.now)).into(),
        author: Some(author(change)).into(),
        changes: changes(&before, &after),
        ..HistoryEntry::default()
    };
    let key = HISTORY.key((change.shard, &*offer.id.to_string(), change.version.cast_signed()));
    batch.set(key, entry.encode_to_vec());
}

/// Who makes a change.
pub(crate) fn author(change: &Evolved<'_, StoredOffer>) -> Author {
    if let Some(stage) = change.stage {
        return Author { kind: author::Kind::KIND_STAGE.into(), name: stage.to_owned(), ..Author::default() };
    }
    let offer = change.after.or(change.before);
    let keeping = offer.and_then(|offer| offer.offer.keeping.as_option());
    keeping.and_then(|keeping| keeping.author.as_option()).cloned().unwrap_or_default()
}

fn changes(before: &Offer, after: &Offer) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    fields::for_each_change(before, after, |field, before, after| {
        changes.push(FieldChange {
            field: field.to_owned(),
            before: before.and_then(short),
            after: after.and_then(short),
            ..FieldChange::default()
        });
    });
    changes
}

/// A value as JSON, if it is short.
fn short(value: String) -> Option<String> {
    (value.len() <= HISTORY_VALUE_BYTES_MAX).then_some(value)
}

/// A value as JSON; `None` if it is not set.
pub(crate) fn json(value: &impl Serialize) -> Option<String> {
    let text = serde_json::to_string(value).ok()?;
    (!matches!(&*text, "null" | "\"\"" | "[]" | "{}")).then_some(text)
}
