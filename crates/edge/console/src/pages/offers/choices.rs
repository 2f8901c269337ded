//! The status changes offered to each kind of caller. The services have the authoritative table; a
//! test compares the two.

use access::{Action, Role};
use wire::torg::offers::v1::{Offer, Status};

use crate::language::w;
use crate::visit::Visit;

/// The role in which a caller moves an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Seller,
    Moderator,
    Service,
    Admin,
}

use By::{Admin, Moderator, Seller, Service};

/// From, to, who may.
pub(super) const MOVES: &[(Status, Status, &[By])] = &[
    (Status::STATUS_ACTIVE, Status::STATUS_EXPIRED, &[Service, Admin]),
    (Status::STATUS_ACTIVE, Status::STATUS_SOLD, &[Seller, Service, Admin]),
    (Status::STATUS_ACTIVE, Status::STATUS_REMOVED, &[Seller, Service, Admin]),
    (Status::STATUS_ACTIVE, Status::STATUS_BANNED, &[Moderator, Admin]),
    (Status::STATUS_EXPIRED, Status::STATUS_ACTIVE, &[Seller, Service, Admin]),
    (Status::STATUS_EXPIRED, Status::STATUS_SOLD, &[Seller, Service, Admin]),
    (Status::STATUS_EXPIRED, Status::STATUS_REMOVED, &[Seller, Service, Admin]),
    (Status::STATUS_EXPIRED, Status::STATUS_BANNED, &[Moderator, Admin]),
    (Status::STATUS_EXPIRED, Status::STATUS_ARCHIVED, &[Admin]),
    (Status::STATUS_SOLD, Status::STATUS_ACTIVE, &[Seller, Service, Admin]),
    (Status::STATUS_SOLD, Status::STATUS_REMOVED, &[Seller, Service, Admin]),
    (Status::STATUS_SOLD, Status::STATUS_BANNED, &[Moderator, Admin]),
    (Status::STATUS_SOLD, Status::STATUS_ARCHIVED, &[Admin]),
    (Status::STATUS_REMOVED, Status::STATUS_ACTIVE, &[Seller, Service, Admin]),
    (Status::STATUS_REMOVED, Status::STATUS_BANNED, &[Moderator, Admin]),
    (Status::STATUS_REMOVED, Status::STATUS_ARCHIVED, &[Admin]),
    (Status::STATUS_BANNED, Status::STATUS_ACTIVE, &[Moderator, Admin]),
    (Status::STATUS_BANNED, Status::STATUS_EXPIRED, &[Moderator, Admin]),
    (Status::STATUS_BANNED, Status::STATUS_SOLD, &[Moderator, Admin]),
    (Status::STATUS_BANNED, Status::STATUS_REMOVED, &[Seller, Moderator, Service, Admin]),
    (Status::STATUS_BANNED, Status::STATUS_ARCHIVED, &[Admin]),
];

/// The caller's role for this offer; `None` if they may not move it.
pub(super) fn by(visit: &Visit, offer: &Offer) -> Option<By> {
    if visit.is_unchecked() {
        return None;
    }
    if visit.own_seller() == Some(&*offer.seller) {
        return Some(Seller);
    }
    match visit.may(Action::ChangeAnyStatus) {
        true if visit.caller().roles.has(Role::Admin) => Some(Admin),
        true => Some(Moderator),
        false => visit.may(Action::WriteForSeller).then_some(Service),
    }
}

pub(super) fn choices(from: Status, by: By) -> impl Iterator<Item = Status> {
    MOVES
        .iter()
        .filter(move |(known, _, movers)| *known == from && movers.contains(&by))
        .map(|(_, to, _)| *to)
}

pub(super) fn name(from: Status, to: Status) -> &'static str {
    match (from, to) {
        (Status::STATUS_BANNED, Status::STATUS_ACTIVE) => w("Lift the ban"),
        (Status::STATUS_BANNED, Status::STATUS_EXPIRED) => w("Lift the ban: expired"),
        (Status::STATUS_BANNED, Status::STATUS_SOLD) => w("Lift the ban: sold"),
        (_, Status::STATUS_ACTIVE) => w("Publish again"),
        (_, Status::STATUS_EXPIRED) => w("Expire"),
        (_, Status::STATUS_BANNED) => w("Ban"),
        (_, Status::STATUS_SOLD) => w("Mark as sold"),
        (_, Status::STATUS_REMOVED) => w("Remove"),
        (_, Status::STATUS_ARCHIVED) => w("Archive"),
        (_, Status::STATUS_UNSPECIFIED) => w("not known"),
    }
}

pub(super) fn key(status: Status) -> &'static str {
    super::names::status_name(status)
}

pub(super) fn from_key(text: &str) -> Option<Status> {
    let all = [
        Status::STATUS_ACTIVE,
        Status::STATUS_EXPIRED,
        Status::STATUS_BANNED,
        Status::STATUS_SOLD,
        Status::STATUS_REMOVED,
        Status::STATUS_ARCHIVED,
    ];
    all.into_iter().find(|status| key(*status) == text)
}

#[cfg(test)]
mod tests {
    use offers::status::{MOVES as REAL, Mover};

    use super::*;

    #[test]
    fn exactly_what_the_services_allow_is_offered() {
        let movers = [
            (Seller, Mover::Seller),
            (Moderator, Mover::Moderation),
            (Service, Mover::Service),
            (Admin, Mover::Admin),
        ];
        for (by, mover) in movers {
            let ours: Vec<(Status, Status)> = MOVES
                .iter()
                .filter(|(.., who)| who.contains(&by))
                .map(|(from, to, _)| (*from, *to))
                .collect();
            let theirs =
                REAL.iter().filter(|(.., who)| who.contains(&mover)).map(|(from, to, _)| (*from, *to));
            let theirs: Vec<(Status, Status)> = theirs.collect();
            assert!(ours.iter().all(|one| theirs.contains(one)), "{by:?}: {ours:?}");
            assert!(theirs.iter().all(|one| ours.contains(one)), "{by:?}: {theirs:?}");
        }
    }

    #[test]
    fn a_status_survives_the_form() {
        for (_, to, _) in MOVES {
            assert_eq!(from_key(key(*to)), Some(*to));
        }
        assert_eq!(from_key("not known"), None);
    }
}
