//! The history of an offer: who changed which fields, with short values and excerpts of long ones.

mod excerpt;

use buffa::Message;
use store::{Batch, Read, Row};
use watcher::ChangeContext;
use wire::torg::offers::v1::history_entry::FieldChange;
use wire::torg::offers::v1::{Author, HistoryEntry, Offer, author};

use crate::entity::StoredOffer;
use crate::error::{Result, damaged};
use crate::fields::{self, Difference};
use crate::id::OfferId;
use crate::limits::HISTORY_VALUE_BYTES_MAX;
use crate::offers::Offers;
use crate::tables::HISTORY;
use crate::time;

/// Adds a change to the history of its offer.
pub(crate) fn follow(change: &ChangeContext<'_, StoredOffer>, batch: &mut Batch) {
    let Some(offer) = change.after.or(change.before) else { return };
    let nothing = Offer::default();
    let before = change.before.map_or(&nothing, |before| &before.offer);
    let after = change.after.map_or(&nothing, |after| &after.offer);
    let author = match change.stage {
        Some(stage) => of_stage(stage),
        None => offer.internal.author.as_option().cloned().unwrap_or_default(),
    };
    let differences = fields::differences(before, after, change.fields);
    let entry = HistoryEntry {
        version: change.version,
        time: Some(time::from_time(change.now)).into(),
        author: Some(author).into(),
        changes: differences.into_iter().map(field_change).collect(),
        ..HistoryEntry::default()
    };
    let key = HISTORY.key((change.shard, &*offer.id.to_string(), change.version.cast_signed()));
    batch.set(key, entry.encode_to_vec());
}

impl Offers {
    /// A page of an offer's history, newest first: the entries before version `before`, or the last
    /// ones. Also returns the `before` of the next page.
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

pub(crate) fn of_stage(stage: &str) -> Author {
    Author { kind: author::Kind::KIND_STAGE.into(), name: stage.to_owned(), ..Author::default() }
}

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

/// An author in headers of the topic: `seller:ann`.
pub(crate) fn signature(author: &Author) -> String {
    let kind =
        KINDS.iter().find(|(kind, _)| Some(*kind) == author.kind.as_known()).map_or("", |(_, word)| word);
    format!("{kind}:{}", author.name)
}

/// The author that [`signature`] wrote.
pub(crate) fn author_from_signature(signature: &str) -> Author {
    let (word, name) = signature.split_once(':').unwrap_or(("", signature));
    let kind = KINDS
        .iter()
        .find(|(_, known)| *known == word)
        .map_or(author::Kind::KIND_UNSPECIFIED, |(kind, _)| *kind);
    Author { kind: kind.into(), name: name.to_owned(), ..Author::default() }
}

/// A difference with its short values, and an excerpt of long ones.
fn field_change(Difference { field, before, after }: Difference) -> FieldChange {
    let is_short = |value: &String| value.len() <= HISTORY_VALUE_BYTES_MAX;
    let long = ![&before, &after].into_iter().flatten().all(is_short);
    let excerpt = long.then(|| excerpt::of(before.as_deref(), after.as_deref()));
    FieldChange {
        field,
        before: before.filter(is_short),
        after: after.filter(is_short),
        long,
        excerpt: excerpt.into(),
        ..FieldChange::default()
    }
}
