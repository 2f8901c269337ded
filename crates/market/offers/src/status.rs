//! Statuses of offers, and the table of the allowed moves between them.

use wire::torg::offers::v1::{Author, Status, author};

/// The role of the author of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mover {
    /// The owner of the offer, or support on their behalf.
    Seller,
    Feed,
    Moderation,
    Stage,
    Service,
    Admin,
    /// Torg, when it archives offers.
    Archiver,
}

use Mover::{Admin, Archiver, Feed, Moderation, Seller, Service, Stage};

/// The allowed moves: from, to, and who may make them.
pub const MOVES: &[(Status, Status, &[Mover])] = &[
    (Status::Active, Status::Expired, &[Stage, Service, Admin]),
    (Status::Active, Status::Sold, &[Seller, Feed, Service, Admin]),
    (Status::Active, Status::Removed, &[Seller, Feed, Service, Admin]),
    (Status::Active, Status::Banned, &[Moderation, Stage, Admin]),
    (Status::Expired, Status::Active, &[Seller, Feed, Service, Admin]),
    (Status::Expired, Status::Sold, &[Seller, Feed, Service, Admin]),
    (Status::Expired, Status::Removed, &[Seller, Feed, Service, Admin]),
    (Status::Expired, Status::Banned, &[Moderation, Stage, Admin]),
    (Status::Expired, Status::Archived, &[Archiver, Admin]),
    (Status::Sold, Status::Active, &[Seller, Feed, Service, Admin]),
    (Status::Sold, Status::Removed, &[Seller, Feed, Service, Admin]),
    (Status::Sold, Status::Banned, &[Moderation, Stage, Admin]),
    (Status::Sold, Status::Archived, &[Archiver, Admin]),
    (Status::Removed, Status::Active, &[Seller, Feed, Service, Admin]),
    (Status::Removed, Status::Banned, &[Moderation, Stage, Admin]),
    (Status::Removed, Status::Archived, &[Archiver, Admin]),
    // Lifting a ban restores the status before it. The seller can only remove the offer.
    (Status::Banned, Status::Active, &[Moderation, Admin]),
    (Status::Banned, Status::Expired, &[Moderation, Admin]),
    (Status::Banned, Status::Sold, &[Moderation, Admin]),
    (Status::Banned, Status::Removed, &[Seller, Feed, Moderation, Service, Admin]),
    (Status::Banned, Status::Archived, &[Archiver, Admin]),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// The offer has this status already.
    #[error("it is {} already", name(*.0))]
    Unchanged(Status),
    /// No one may make this move.
    #[error("from {} an offer cannot become {}", name(*.0), name(*.1))]
    Impossible(Status, Status),
    /// Only others may make this move.
    #[error("from {} to {} an offer is moved by {}, not by {}", name(*.0), name(*.1), movers(*.2), .3.name())]
    WrongMover(Status, Status, &'static [Mover], Mover),
}

pub fn may_move(from: Status, to: Status, by: Mover) -> Result<(), Forbidden> {
    if from == to {
        return Err(Forbidden::Unchanged(to));
    }
    match MOVES.iter().find(|(a, b, _)| (*a, *b) == (from, to)) {
        None => Err(Forbidden::Impossible(from, to)),
        Some((_, _, movers)) if movers.contains(&by) => Ok(()),
        Some((_, _, movers)) => Err(Forbidden::WrongMover(from, to, movers, by)),
    }
}

/// Whether offers of this status leave the active tables, after some time or (archived ones) at
/// once.
#[must_use]
pub fn leaves(status: Status) -> bool {
    status == Status::Archived || may_move(status, Status::Archived, Archiver).is_ok()
}

impl Mover {
    /// For errors.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Seller => "the seller",
            Feed => "the feed",
            Moderation => "moderation",
            Stage => "a stage",
            Service => "a service",
            Admin => "an administrator",
            Archiver => "the archive",
        }
    }

    /// The role of an author.
    #[must_use]
    pub fn of(author: &Author) -> Option<Self> {
        use author::Kind;
        match author.kind.as_known()? {
            Kind::KIND_SELLER | Kind::KIND_SUPPORT => Some(Seller),
            Kind::KIND_STAGE => Some(Stage),
            Kind::KIND_FEED => Some(Feed),
            Kind::KIND_MODERATION => Some(Moderation),
            Kind::KIND_SERVICE => Some(Service),
            Kind::KIND_ADMIN => Some(Admin),
            Kind::KIND_ARCHIVE => Some(Archiver),
            Kind::KIND_UNSPECIFIED => None,
        }
    }
}

fn movers(movers: &[Mover]) -> String {
    movers.iter().map(|mover| mover.name()).collect::<Vec<_>>().join(", ")
}

/// In errors and keys.
#[must_use]
pub fn name(status: Status) -> &'static str {
    match status {
        Status::STATUS_UNSPECIFIED => "unspecified",
        Status::STATUS_ACTIVE => "active",
        Status::STATUS_EXPIRED => "expired",
        Status::STATUS_BANNED => "banned",
        Status::STATUS_SOLD => "sold",
        Status::STATUS_REMOVED => "removed",
        Status::STATUS_ARCHIVED => "archived",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Status; 6] =
        [Status::Active, Status::Expired, Status::Banned, Status::Sold, Status::Removed, Status::Archived];

    #[test]
    fn every_move_is_in_the_table_once() {
        for (n, (from, to, by)) in MOVES.iter().enumerate() {
            assert!(from != to && !by.is_empty(), "{from:?} -> {to:?}");
            assert!(MOVES[n + 1..].iter().all(|(a, b, _)| (a, b) != (from, to)), "{from:?} -> {to:?}");
        }
    }

    #[test]
    fn a_move_outside_the_table_is_refused_with_the_reason() {
        let error = |from, to, by| may_move(from, to, by).unwrap_err().to_string();
        assert_eq!(
            error(Status::Archived, Status::Active, Admin),
            "from archived an offer cannot become active"
        );
        assert_eq!(error(Status::Sold, Status::Sold, Seller), "it is sold already");
        assert_eq!(
            error(Status::Banned, Status::Active, Seller),
            "from banned to active an offer is moved by moderation, an administrator, not by the seller"
        );
    }

    #[test]
    fn nothing_leaves_the_archive_and_all_but_active_offers_get_there() {
        for status in ALL {
            assert!(may_move(Status::Archived, status, Admin).is_err());
            let gets_there = !matches!(status, Status::STATUS_ACTIVE | Status::STATUS_ARCHIVED);
            assert_eq!(may_move(status, Status::Archived, Archiver).is_ok(), gets_there, "{status:?}");
        }
    }

    #[test]
    fn a_seller_cannot_get_around_a_ban() {
        for by in [Seller, Feed, Service] {
            for to in [Status::Active, Status::Expired, Status::Sold] {
                assert!(may_move(Status::Banned, to, by).is_err());
            }
            assert!(may_move(Status::Banned, Status::Removed, by).is_ok());
        }
    }
}
