//! What is wrong with published offers that have an external id: bans, photos and videos that
//! cannot be fetched.
//!
//! The row of an offer is written and deleted in the commit of the change that it follows from.

use buffa::Message as _;
use store::{Batch, Key, Read as _};
use watcher::ChangeContext;
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::feeds::v1::{OfferTroubles, Problem};
use wire::torg::offers::v1::{Offer, Status, video};

use crate::entity::{StoredOffer, seller_shard};
use crate::error::{Result, damaged};
use crate::lists;
use crate::offers::Offers;
use crate::tables::FEED_TROUBLES;

pub(crate) async fn read(
    offers: &Offers,
    seller: &str,
    namespace: &str,
    after: &str,
    limit: usize,
) -> Result<Vec<(String, OfferTroubles)>> {
    let shard = offers.shard_of_seller(seller);
    let mut scan = FEED_TROUBLES.prefix((shard, seller, namespace)).limit(limit);
    if !after.is_empty() {
        scan = scan.after(FEED_TROUBLES.key((shard, seller, namespace, after)));
    }
    let rows = offers.store().scan(&scan).await?.rows;
    let read = |row: &store::Row| {
        let (_, _, _, external_id) = FEED_TROUBLES.parts(&row.key)?;
        let troubles = OfferTroubles::decode_from_slice(&row.value).map_err(|error| damaged(row, error))?;
        Ok((external_id, troubles))
    };
    rows.iter().map(read).collect()
}

/// Adds the offer's row to the batch of a change, if the row changes.
pub(crate) fn follow(change: &ChangeContext<'_, StoredOffer>, batch: &mut Batch) {
    let row = |stored: &StoredOffer| row_of(stored, seller_shard(stored, change));
    let (before, after) = (change.before.and_then(row), change.after.and_then(row));
    if before == after {
        return;
    }
    if let Some((key, _)) = before
        && after.as_ref().is_none_or(|(now, _)| *now != key)
    {
        batch.delete(key);
    }
    if let Some((key, troubles)) = after {
        batch.set(key, troubles.encode_to_vec());
    }
}

fn row_of(stored: &StoredOffer, shard: u32) -> Option<(Key, OfferTroubles)> {
    let (offer, status) = (&stored.offer, stored.status());
    if matches!(status, Status::STATUS_REMOVED | Status::STATUS_ARCHIVED) {
        return None;
    }
    let (namespace, external) = lists::feed_of(offer)?;
    let problems = problems_of(offer, status);
    if problems.is_empty() {
        return None;
    }
    let key = FEED_TROUBLES.key((shard, &*offer.seller, namespace, external));
    let (id, title) = (stored.id.to_string(), offer.title.clone());
    Some((key, OfferTroubles { offer: id, title, problems, ..OfferTroubles::default() }))
}

fn problems_of(offer: &Offer, status: Status) -> Vec<Problem> {
    let mut problems = Vec::new();
    if status == Status::STATUS_BANNED {
        let reason = offer.status_reason.as_option().map(|reason| reason.text.clone()).unwrap_or_default();
        problems.push(Problem { message: reason, ..problem("banned", Severity::SEVERITY_ERROR, "") });
    }
    for (at, photo) in offer.photos.iter().enumerate() {
        // A passing problem is retried.
        if let Some(found) = photo.problem.as_option().filter(|found| !found.passing) {
            problems.push(Problem {
                value: photo.source_url.clone(),
                message: found.text.clone(),
                ..problem(photo_code(&found.code), Severity::SEVERITY_WARNING, &format!("photos[{at}]"))
            });
        }
    }
    if let Some(video) = offer.video.as_option()
        && let Some(seen) = video.availability.as_option()
        && seen.state.as_known() == Some(video::State::STATE_UNAVAILABLE)
    {
        let message = seen.problem.as_option().map(|found| found.text.clone()).unwrap_or_default();
        let value = video.url.clone();
        let found = problem("video_unavailable", Severity::SEVERITY_WARNING, "video");
        problems.push(Problem { message, value, ..found });
    }
    problems
}

fn problem(code: &str, severity: Severity, field: &str) -> Problem {
    Problem {
        code: code.to_owned(),
        severity: severity.into(),
        field: field.to_owned(),
        ..Problem::default()
    }
}

/// The code of a photo's problem in reports.
fn photo_code(code: &str) -> &'static str {
    match code {
        "wrong_kind" | "svg" => "photo_not_picture",
        "too_many_pixels" | "too_much_memory" | "too_large" | "too_large_unpacked" | "ratio" => {
            "photo_too_large"
        }
        "too_small" => "photo_too_small",
        _ => "photo_not_fetched",
    }
}
