//! History: who changed what, with short values, and of long ones what differs.

mod excerpt;

use buffa::Message;
use serde::Serialize;
use store::{Batch, Read, Row};
use watcher::ChangeContext;
use wire::torg::offers::v1::history_entry::FieldChange;
use wire::torg::offers::v1::{Author, HistoryEntry, Offer, author};

use crate::entity::StoredOffer;
use crate::error::{Result, damaged};
use crate::id::OfferId;
use crate::limits::HISTORY_VALUE_BYTES_MAX;
use crate::offers::Offers;
use crate::tables::HISTORY;
use crate::{fields, time};

/// Adds a change to the history of its offer.
pub(crate) fn follow(change: &ChangeContext<'_, StoredOffer>, batch: &mut Batch) {
    let Some(offer) = change.after.or(change.before) else { return };
    let nothing = Offer::default();
    let before = change.before.map_or(&nothing, |before| &before.offer);
    let after = change.after.map_or(&nothing, |after| &after.offer);
    let entry = HistoryEntry {
        version: change.version,
        time: Some(time::from_time(change.now)).into(),
        author: Some(author(change)).into(),
        changes: changes(before, after),
        ..HistoryEntry::default()
    };
    let key = HISTORY.key((change.shard, &*offer.id.to_string(), change.version.cast_signed()));
    batch.set(key, entry.encode_to_vec());
}

impl Offers {
    /// What happened to an offer, the newest first, before a version if one is given. Also says before which version the next page begins.
    pub async fn history(
        &self,
        id: OfferId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<(Vec<HistoryEntry>, Option<u64>)> {
        let (shard, id) = (self.shard(id), id.to_string());
        let mut scan = HISTORY.prefix((shard, &*id)).descending().limit(limit.max(1));
        if let Some(version) = before {
            scan = scan.after(HISTORY.key((shard, &*id, version.cast_signed())));
        }
        let page = self.store().scan(&scan).await?;
        let decode =
            |row: &Row| HistoryEntry::decode_from_slice(&row.value).map_err(|error| damaged(row, error));
        let entries = page.rows.iter().map(decode).collect::<Result<Vec<_>>>()?;
        let next = page.next.is_some().then(|| entries.last().map(|entry| entry.version)).flatten();
        Ok((entries, next))
    }
}

/// Who makes a change.
pub(crate) fn author(change: &ChangeContext<'_, StoredOffer>) -> Author {
    if let Some(stage) = change.stage {
        return Author { kind: author::Kind::KIND_STAGE.into(), name: stage.to_owned(), ..Author::default() };
    }
    let offer = change.after.or(change.before);
    let keeping = offer.and_then(|offer| offer.offer.keeping.as_option());
    keeping.and_then(|keeping| keeping.author.as_option()).cloned().unwrap_or_default()
}

/// The kinds of authors in one word.
const KINDS: [(author::Kind, &str); 8] = [
    (author::Kind::KIND_SELLER, "seller"),
    (author::Kind::KIND_STAGE, "stage"),
    (author::Kind::KIND_FEED, "feed"),
    (author::Kind::KIND_MODERATION, "moderation"),
    (author::Kind::KIND_SUPPORT, "support"),
    (author::Kind::KIND_SERVICE, "service"),
    (author::Kind::KIND_ADMIN, "admin"),
    (author::Kind::KIND_ARCHIVE, "archive"),
];

/// An author as the topic names them: `seller:ann`.
pub(crate) fn signature(author: &Author) -> String {
    let kind =
        KINDS.iter().find(|(kind, _)| Some(*kind) == author.kind.as_known()).map_or("", |(_, word)| word);
    format!("{kind}:{}", author.name)
}

/// The author of a signature.
pub(crate) fn author_from_signature(signature: &str) -> Author {
    let (word, name) = signature.split_once(':').unwrap_or(("", signature));
    let kind = KINDS
        .iter()
        .find(|(_, known)| *known == word)
        .map_or(author::Kind::KIND_UNSPECIFIED, |(kind, _)| *kind);
    Author { kind: kind.into(), name: name.to_owned(), ..Author::default() }
}

fn changes(before: &Offer, after: &Offer) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    fields::for_each_change(before, after, |field, before, after| {
        let long = [&before, &after].into_iter().flatten().any(|value| !is_short(value));
        let excerpt = long.then(|| excerpt::of(before.as_deref(), after.as_deref()));
        changes.push(FieldChange {
            field: field.to_owned(),
            before: before.filter(|value| is_short(value)),
            after: after.filter(|value| is_short(value)),
            long,
            excerpt: excerpt.into(),
            ..FieldChange::default()
        });
    });
    changes
}

fn is_short(value: &str) -> bool {
    value.len() <= HISTORY_VALUE_BYTES_MAX
}

/// A value as JSON; `None` if it is not set.
pub(crate) fn json(value: &impl Serialize) -> Option<String> {
    let text = serde_json::to_string(value).ok()?;
    let is_none = matches!(&*text, "null" | "\"\"" | "[]" | "{}" | "0") || text.ends_with("_UNSPECIFIED\"");
    (!is_none).then_some(text)
}
