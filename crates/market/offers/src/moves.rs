//! A move of an offer to another status: what becomes of the offer, or why it is refused.

use std::time::Duration;

use watcher::Time;
use wire::torg::offers::v1::__buffa::oneof::price::Kind as PriceKind;
use wire::torg::offers::v1::{Author, Keeping, Money, Offer, Status, StatusReason};

use crate::status::{Forbidden, Mover, may_move};
use crate::time;

/// A move to another status.
#[derive(Clone, Debug, Default)]
pub struct Move {
    /// Where to.
    pub to: Status,
    /// For programs.
    pub reason_code: String,
    /// For people.
    pub reason_text: String,
    /// What was paid, if it is sold. Without it, the price counts if it is fixed.
    pub paid: Option<Money>,
}

/// Why an offer is not moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotMoved {
    /// The table of moves does not allow it.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// It was banned before it was removed.
    #[error("it was banned before it was removed, and the ban stands: moderation has to lift it")]
    BanStands,
}

impl Move {
    /// A move without a reason.
    #[must_use]
    pub fn to(status: Status) -> Self {
        Self { to: status, ..Self::default() }
    }

    /// The same move with a reason.
    #[must_use]
    pub fn because(mut self, code: &str, text: &str) -> Self {
        (self.reason_code, self.reason_text) = (code.to_owned(), text.to_owned());
        self
    }

    /// Moves an offer. An offer that becomes active is shown for `exposure`.
    pub fn apply(
        &self,
        offer: &mut Offer,
        author: &Author,
        by: Mover,
        now: Time,
        exposure: Duration,
    ) -> Result<(), NotMoved> {
        let from = offer.status.as_known().unwrap_or_default();
        may_move(from, self.to, by)?;
        self.mind_the_ban(offer, from, by)?;
        if self.to == Status::Sold {
            self.count_as_sold(offer);
        }
        set_end_of_exposure(offer, from, self.to, now, exposure);
        keep(offer).author = Some(author.clone()).into();
        offer.status = self.to.into();
        offer.status_time = Some(time::from_time(now)).into();
        offer.status_reason = Some(StatusReason {
            code: self.reason_code.clone(),
            text: self.reason_text.clone(),
            author: Some(author.clone()).into(),
            ..StatusReason::default()
        })
        .into();
        Ok(())
    }

    /// A ban remembers what the offer was. It outlives the removal of the offer, and only those who ban can lift it.
    fn mind_the_ban(&self, offer: &mut Offer, from: Status, by: Mover) -> Result<(), NotMoved> {
        if self.to == Status::Banned {
            keep(offer).status_before_ban = from.into();
        } else if from == Status::Banned && by == Mover::Moderation {
            // Whatever it was before, also removed.
            keep(offer).status_before_ban = Status::Unspecified.into();
        } else if stands_banned(offer) && !matches!(self.to, Status::STATUS_REMOVED | Status::STATUS_ARCHIVED)
        {
            if !matches!(by, Mover::Moderation | Mover::Admin) {
                return Err(NotMoved::BanStands);
            }
            keep(offer).status_before_ban = Status::Unspecified.into();
        }
        Ok(())
    }

    /// An offer counts as sold once, with what was paid the first time.
    fn count_as_sold(&self, offer: &mut Offer) {
        if !keep(offer).sold_counted {
            let paid = self.paid.clone().or_else(|| fixed_price(offer));
            let keeping = keep(offer);
            (keeping.sold_counted, keeping.paid) = (true, paid.into());
        }
    }
}

/// Whether a ban stands, also over an offer that was removed.
pub(crate) fn stands_banned(offer: &Offer) -> bool {
    before_ban(offer) != Status::Unspecified
}

/// What an offer was before it was banned.
pub(crate) fn before_ban(offer: &Offer) -> Status {
    let keeping = offer.keeping.as_option();
    keeping.and_then(|keeping| keeping.status_before_ban.as_known()).unwrap_or_default()
}

/// What Torg keeps for itself beside an offer.
pub(crate) fn keep(offer: &mut Offer) -> &mut Keeping {
    offer.keeping.get_or_insert_default()
}

/// A ban does not prolong the time that an offer is shown; every other way to become active begins it anew.
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
