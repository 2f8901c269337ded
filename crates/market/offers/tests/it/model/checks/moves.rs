//! Every step from one version to the next is one that the model allows to its author, and a ban is
//! lifted to what was there before it.

use std::collections::BTreeMap;

use offers::{OfferId, time};
use wire::torg::offers::v1::Status;

use crate::model::evidence::{Evidence, Version};
use crate::model::market::REMOVED;
use crate::model::rules::{Who, may_move};

/// Where an offer stands with one of its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VisitStatus {
    pub(crate) status: Status,
    /// What it was before the ban that stands, also over an offer that was removed.
    pub(crate) before_ban: Option<Status>,
    /// Since when it has this status.
    since_ms: i64,
}

/// By offer, where it stands with each version.
pub(crate) type Standings = BTreeMap<OfferId, Vec<VisitStatus>>;

pub(crate) fn check(evidence: &Evidence) -> Standings {
    let of_offer = |(id, versions): (&OfferId, &Vec<Version>)| {
        let mut standings: Vec<VisitStatus> = Vec::new();
        for version in versions {
            let standing = match standings.last() {
                None => first(*id, version),
                Some(before) => next(*id, *before, version),
            };
            standings.push(standing);
        }
        (*id, standings)
    };
    evidence.versions.iter().map(of_offer).collect()
}

fn first(id: OfferId, version: &Version) -> VisitStatus {
    assert_eq!((version.status(), version.by), (Status::Active, Who::Seller), "moves: {id} begins otherwise");
    VisitStatus { status: Status::Active, before_ban: None, since_ms: since_ms(version) }
}

fn next(id: OfferId, before: VisitStatus, version: &Version) -> VisitStatus {
    let (from, to, by) = (before.status, version.status(), version.by);
    let at = format!(
        "moves: {id} v{} by {by:?}, {from:?} -> {to:?} (before a ban: {:?})",
        version.number, before.before_ban
    );
    if version.leaves {
        assert_eq!((by, from), (Who::Archive, Status::Archived), "{at}: it leaves");
        return before;
    }
    if from == to {
        return stays(&at, before, by);
    }
    assert!(may_move(by, from, to), "{at}: not allowed");
    if by == Who::Archive {
        let rested_ms = since_ms(version) - before.since_ms;
        assert!(rested_ms >= REMOVED.as_millis() as i64, "{at}: after {rested_ms} ms");
    }
    let before_ban = match (by, to) {
        (Who::Moderation, Status::STATUS_BANNED) => Some(from),
        (Who::Moderation, _) => {
            assert_eq!(before.before_ban, Some(to), "{at}: it was something else before");
            None
        }
        (_, Status::STATUS_REMOVED | Status::STATUS_ARCHIVED) => before.before_ban,
        _ => {
            assert_eq!(before.before_ban, None, "{at}: the ban stands");
            None
        }
    };
    VisitStatus { status: to, before_ban, since_ms: since_ms(version) }
}

fn since_ms(version: &Version) -> i64 {
    time::to_ms(version.offer.status_time.as_option().unwrap())
}

/// A version that does not change the status: a seller changes something else; moderation gives
/// other reasons, or lifts the ban of a removed offer.
fn stays(at: &str, before: VisitStatus, by: Who) -> VisitStatus {
    match (by, before.status) {
        (
            Who::Seller,
            Status::STATUS_ACTIVE | Status::STATUS_EXPIRED | Status::STATUS_SOLD | Status::STATUS_BANNED,
        )
        | (Who::Moderation, Status::STATUS_BANNED) => before,
        (Who::Moderation, Status::STATUS_REMOVED) if before.before_ban.is_some() => {
            VisitStatus { before_ban: None, ..before }
        }
        _ => panic!("{at}: nothing to change"),
    }
}
