//! Simulated users: sellers reprice, sell, renew and remove their offers, and moderators ban and
//! allow them.

use std::sync::Arc;

use offers::cabinet::{Cursor, Filter};
use offers::status::Mover;
use offers::{Call, Error, Move, OfferId, Offers};
use wire::torg::offers::v1::__buffa::oneof::{price, source};
use wire::torg::offers::v1::{Author, Offer, Opinion, Preset, Price, Status, author, opinion};

use super::clock::DemoClock;
use super::dice::Dice;
use super::limits::{CANDIDATES, PAST};
use super::offer;
use super::sellers::{SELLERS, Seller};
use super::site::Site;

const MICROS: i64 = 1_000_000;
const MODERATORS: &[&str] = &["olga.moderator", "tim.moderator", "night-shift"];
/// Code and text of a ban.
const BANS: &[(&str, &str)] = &[
    ("fraud", "The same photos were used by another seller."),
    ("contacts_in_text", "Contacts stand in the title or in the description."),
    ("wrong_category", "The offer stands in a wrong category."),
    ("forbidden_goods", "Such goods must not be offered here."),
    ("duplicate", "The same thing is offered twice."),
];
/// Texts of moderators who allow an offer after a complaint.
const COMPLAINTS: &[&str] = &[
    "A buyer says that the seller does not answer: the offer was looked at and may stay.",
    "A buyer says that the price is wrong: the offer was looked at and may stay.",
    "A buyer takes it for a duplicate: it is none.",
];

/// Performs the actions of simulated users. Cheap to clone.
#[derive(Clone)]
pub(super) struct People {
    inner: Arc<Inner>,
}

struct Inner {
    offers: Offers,
    opinions: String,
    clock: DemoClock,
    site: Site,
}

impl People {
    /// `opinions` is the topic for moderators' verdicts; photo links lead to `site`.
    pub(super) fn new(offers: Offers, opinions: String, clock: DemoClock, site: Site) -> People {
        People { inner: Arc::new(Inner { offers, opinions, clock, site }) }
    }

    /// The number of active offers of all sellers.
    pub(super) async fn active(&self) -> offers::Result<u64> {
        let name = offers::presets::name(Preset::Active);
        let mut sum = 0;
        for seller in SELLERS {
            let counts = self.inner.offers.counts(seller.id).await?;
            sum += counts.get(name).copied().and_then(|count| u64::try_from(count).ok()).unwrap_or_default();
        }
        Ok(sum)
    }

    /// Publishes a new offer.
    pub(super) async fn publish(&self, dice: &mut Dice) -> offers::Result<()> {
        let seller = Seller::somebody(dice);
        let offer = offer::of(dice, seller, self.inner.site);
        self.inner.offers.create(&by_seller(seller), &offer).await.map(|_| ())
    }

    /// Performs one action on an existing offer. A concurrent change of the same offer is not an
    /// error. Most ended offers return later, so that a few new offers keep the total stable.
    pub(super) async fn change(&self, dice: &mut Dice) -> offers::Result<()> {
        let done = match dice.between(0, 99) {
            0..52 => self.another_price(dice).await,
            52..64 => self.moved(dice, Preset::Active, Status::Sold, "sold_here", "Sold here.").await,
            64..68 => {
                self.moved(dice, Preset::Active, Status::Removed, "not_needed", "Not for sale any more.")
                    .await
            }
            68..77 => self.moved(dice, Preset::Expired, Status::Active, "renewed", "Still for sale.").await,
            77..83 => {
                self.moved(dice, Preset::Sold, Status::Active, "deal_off", "The buyer did not come.").await
            }
            83..86 => self.taken_down(dice).await,
            86..92 => self.judged(dice, Preset::Active, opinion::Verdict::VERDICT_BAN).await,
            92..97 => self.judged(dice, Preset::Banned, opinion::Verdict::VERDICT_ALLOW).await,
            _ => self.judged(dice, Preset::Active, opinion::Verdict::VERDICT_ALLOW).await,
        };
        match done {
            Err(Error::NotMoved { .. } | Error::Closed(..) | Error::NotFound(_) | Error::Contended(_)) => {
                Ok(())
            }
            done => done,
        }
    }

    async fn another_price(&self, dice: &mut Dice) -> offers::Result<()> {
        let Some((seller, id, offer)) = self.one_of(dice, Preset::Active).await? else { return Ok(()) };
        let fixed = offer.price.as_option().and_then(|price| match &price.kind {
            Some(price::Kind::Fixed(money)) => Some((money.micros / MICROS, money.currency.clone())),
            _ => None,
        });
        let Some((amount, currency)) = fixed else { return Ok(()) };
        // Prices fall more often than they rise.
        let amount = (amount * dice.between(88, 104) / 100).max(1);
        let price = Price { kind: Some(offer::money(amount, &currency).into()), ..Price::default() };
        let change = |offer: &mut Offer| {
            offer.price = Some(price.clone()).into();
            Ok(())
        };
        self.inner.offers.update(&by_seller(seller), id, None, change).await.map(|_| ())
    }

    async fn moved(
        &self,
        dice: &mut Dice,
        from: Preset,
        to: Status,
        code: &str,
        text: &str,
    ) -> offers::Result<()> {
        let Some((seller, id, _)) = self.one_of(dice, from).await? else { return Ok(()) };
        let wanted = Move::to(to).because(code, text);
        self.inner.offers.move_to(&by_seller(seller), id, None, &wanted).await.map(|_| ())
    }

    /// Removes an unpaid offer, as a billing service does.
    async fn taken_down(&self, dice: &mut Dice) -> offers::Result<()> {
        let Some((_, id, _)) = self.one_of(dice, Preset::Active).await? else { return Ok(()) };
        let call = Call::by(author(author::Kind::KIND_SERVICE, "billing"), Mover::Service);
        let wanted = Move::to(Status::Expired).because("not_paid", "The place in the list was not paid for.");
        self.inner.offers.move_to(&call, id, None, &wanted).await.map(|_| ())
    }

    /// Writes a verdict to the topic, as a moderation service does.
    async fn judged(&self, dice: &mut Dice, preset: Preset, verdict: opinion::Verdict) -> offers::Result<()> {
        let Some((_, id, offer)) = self.one_of(dice, preset).await? else { return Ok(()) };
        let (code, text) = match (verdict, preset) {
            (opinion::Verdict::VERDICT_BAN, _) => *dice.one_of(BANS),
            (_, Preset::PRESET_BANNED) => ("mended", "The seller has mended it."),
            _ => ("complaint", *dice.one_of(COMPLAINTS)),
        };
        let reason =
            opinion::Reason { code: code.to_owned(), text: text.to_owned(), ..opinion::Reason::default() };
        let opinion = Opinion {
            offer: id.to_string(),
            verdict: verdict.into(),
            reasons: vec![reason],
            offer_version: offer.version,
            moderator: (*dice.one_of(MODERATORS)).to_owned(),
            ..Opinion::default()
        };
        match self.inner.offers.give_opinion(&self.inner.opinions, &opinion).await {
            Ok(()) => Ok(()),
            Err(offers::OpinionError::Failed(error)) => Err(error),
            Err(unfit) => {
                tracing::warn!(%unfit, "an opinion of the demo is refused");
                Ok(())
            }
        }
    }

    /// A random offer of a random seller in a list, from any time. Offers of feeds are left out:
    /// their feeds manage them.
    async fn one_of(
        &self,
        dice: &mut Dice,
        preset: Preset,
    ) -> offers::Result<Option<(&'static Seller, OfferId, Offer)>> {
        let (seller, now_ms) = (dice.one_of(SELLERS), self.inner.clock.now_ms());
        let created_ms = now_ms - dice.between(0, PAST.as_millis() as i64);
        let behind = Cursor { created_ms, id: OfferId::random(dice.random()) };
        let all = Filter::default();
        let list = |behind| self.inner.offers.list(seller.id, preset, &all, behind, CANDIDATES);
        let mut found = list(Some(behind)).await?.offers;
        if found.is_empty() {
            found = list(None).await?.offers;
        }
        found.retain(|offer| {
            let kind = offer.source.as_option().and_then(|source| source.kind.as_ref());
            !matches!(kind, Some(source::Kind::Feed(_)))
        });
        if found.is_empty() {
            return Ok(None);
        }
        let offer = dice.one_of(&found).clone();
        // The id of a stored offer always parses.
        Ok(offer.id.parse().ok().map(|id| (seller, id, offer)))
    }
}

/// A call by the seller.
pub(super) fn by_seller(seller: &Seller) -> Call {
    Call::by(author(author::Kind::KIND_SELLER, seller.id), Mover::Seller)
}

fn author(kind: author::Kind, name: &str) -> Author {
    Author { kind: kind.into(), name: name.to_owned(), ..Author::default() }
}
