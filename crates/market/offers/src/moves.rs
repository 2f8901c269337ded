//! Moves of an offer to another status.

use std::time::Duration;

use watcher::Time;
use wire::torg::offers::v1::__buffa::oneof::price::Kind as PriceKind;
use wire::torg::offers::v1::{Author, Money, Offer, Status, StatusReason};

use crate::entity::StoredOffer;
use crate::status::{Forbidden, Mover, may_move};
use crate::time;

#[derive(Clone, Debug, Default)]
pub struct Move {
    pub to: Status,
    /// For programs.
    pub reason_code: String,
    /// For people.
    pub reason_text: String,
    /// What the buyer paid, for a sale. If it is not given, a fixed price counts.
    pub paid: Option<Money>,
}

/// The reason why an offer is not moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotMoved {
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    #[error("it was banned before it was removed, and the ban still holds: moderation has to lift it")]
    BanStands,
}

impl Move {
    #[must_use]
    pub fn to(status: Status) -> Self {
        Self { to: status, ..Self::default() }
    }

    #[must_use]
    pub fn because(mut self, code: &str, text: &str) -> Self {
        code.clone_into(&mut self.reason_code);
        text.clone_into(&mut self.reason_text);
        self
    }

    /// Moves an offer. An offer that becomes active is shown for `exposure`.
    pub fn apply(
        &self,
        stored: &mut StoredOffer,
        author: &Author,
        by: Mover,
        now: Time,
        exposure: Duration,
    ) -> Result<(), NotMoved> {
        let from = stored.status();
        may_move(from, self.to, by)?;
        self.update_ban(stored, from, by)?;
        if self.to == Status::Sold && !stored.internal.sold_counted {
            // A later sale of the same offer is not counted.
            stored.internal.sold_counted = true;
            stored.internal.paid = self.paid.clone().or_else(|| fixed_price(&stored.offer)).into();
        }
        set_end_of_exposure(&mut stored.offer, from, self.to, now, exposure);
        stored.set_author(author);
        stored.offer.status = self.to.into();
        stored.offer.status_time = Some(time::from_time(now)).into();
        stored.offer.status_reason = Some(StatusReason {
            code: self.reason_code.clone(),
            text: self.reason_text.clone(),
            author: Some(author.clone()).into(),
            ..StatusReason::default()
        })
        .into();
        Ok(())
    }

    /// Remembers the status before a ban, or forgets it when the ban is lifted. A ban outlives the
    /// removal of the offer; then only moderation and administrators can lift it.
    fn update_ban(&self, stored: &mut StoredOffer, from: Status, by: Mover) -> Result<(), NotMoved> {
        let stays_down = matches!(self.to, Status::STATUS_REMOVED | Status::STATUS_ARCHIVED);
        if self.to == Status::Banned {
            stored.internal_mut().status_before_ban = from.into();
        } else if (from == Status::Banned && by == Mover::Moderation) || (stored.has_ban() && !stays_down) {
            if !matches!(by, Mover::Moderation | Mover::Admin) {
                return Err(NotMoved::BanStands);
            }
            stored.internal_mut().status_before_ban = Status::Unspecified.into();
        }
        Ok(())
    }
}

/// A ban does not prolong the exposure of an offer; every other way to become active restarts it.
fn set_end_of_exposure(offer: &mut Offer, from: Status, to: Status, now: Time, exposure: Duration) {
    if to != Status::Banned {
        offer.expire_warning_time = None.into();
    }
    match to {
        Status::STATUS_BANNED => {}
        Status::STATUS_ACTIVE if from == Status::Banned && offer.expire_time.is_set() => {}
        Status::STATUS_ACTIVE => offer.expire_time = Some(time::from_time(now + exposure)).into(),
        _ => offer.expire_time = None.into(),
    }
}

fn fixed_price(offer: &Offer) -> Option<Money> {
    match offer.price.as_option()?.kind.as_ref()? {
        PriceKind::Fixed(money) => Some((**money).clone()),
        PriceKind::Free(_) | PriceKind::Negotiable(_) | PriceKind::Range(_) => None,
    }
}
