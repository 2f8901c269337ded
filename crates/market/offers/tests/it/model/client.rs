//! A client of a seller: makes, changes and moves offers, again and again, also under idempotency
//! keys.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join;
use offers::fields::BY_SELLERS;
use offers::status::Mover;
use offers::{Call, Error, Move, OfferId, Offers, Request, Target};
use tokio::time::{sleep, timeout};
use wire::torg::offers::v1::__buffa::oneof::price::Kind;
use wire::torg::offers::v1::{Author, Billing, Money, Offer, Price, Source, Status, author, price, source};

use crate::model::dice::Dice;
use crate::model::filters::{self, CATEGORIES, FEEDS, Feed};
use crate::model::journal::{Answer, Asked, Called, Journal, Token};
use crate::model::rules::LISTS;

/// Times that a call under a key is made while the store fails.
const TRIES_MAX: u32 = 4;
/// Ids in a feed.
const EXTERNALS: u64 = 8;
/// Offers on a page that a client looks at.
const PAGE: usize = 5;
/// The number of recent offers that most calls are about.
const RECENT: usize = 12;

/// A client.
pub(crate) struct Client {
    pub(crate) offers: Offers,
    pub(crate) journal: Journal,
    pub(crate) seller: &'static str,
    pub(crate) name: String,
    pub(crate) dice: Dice,
    pub(crate) operations: u64,
    pub(crate) pause: Duration,
    /// Calls under keys that were made before.
    pub(crate) keyed: Vec<Schedule>,
}

/// A call that a client wants to make.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) token: Token,
    pub(crate) target: Option<OfferId>,
    pub(crate) asked: Asked,
    pub(crate) keyed: bool,
    pub(crate) expected: Option<u64>,
}

impl Client {
    pub(crate) async fn run(mut self) {
        for _ in 0..self.operations {
            sleep(self.dice.ms(0..self.pause.as_millis() as u64)).await;
            self.act().await;
        }
    }

    async fn act(&mut self) {
        match self.dice.within(0..100) {
            0..17 => self.create().await,
            17..26 => self.draft().await,
            26..48 => self.update().await,
            48..78 => self.move_one().await,
            78..86 => self.repeat().await,
            86..91 => self.look().await,
            91..96 => self.bill().await,
            _ => self.repair().await,
        }
    }

    async fn create(&mut self) {
        let token = self.journal.token();
        let category = *self.dice.one_of(&CATEGORIES).unwrap();
        // Few ids, so that offers often want one that another has.
        let feed = self.dice.percent(40).then(|| {
            let namespace = (*self.dice.one_of(&FEEDS).unwrap()).to_owned();
            (namespace, self.dice.within(0..EXTERNALS).to_string())
        });
        let asked = Asked::Create { category, price: self.price(token), feed };
        let keyed = self.dice.percent(50);
        self.make(Schedule { token, target: None, asked, keyed, expected: None }).await;
    }

    async fn update(&mut self) {
        let Some(id) = self.some_offer() else { return };
        let token = self.journal.token();
        let renames = self.dice.percent(60);
        let price = (!renames || self.dice.percent(20)).then(|| fixed(token, "EUR"));
        self.change(id, token, Asked::Update { renames, price }).await;
    }

    async fn move_one(&mut self) {
        let Some(id) = self.some_offer() else { return };
        let token = self.journal.token();
        let wanted =
            [Status::Active, Status::Sold, Status::Removed, Status::Active, Status::Sold, Status::Expired];
        let to = *self.dice.one_of(&wanted).unwrap();
        let paid = (to == Status::Sold && self.dice.percent(50)).then(|| money(token * 3, "USD"));
        self.change(id, token, Asked::Move { to, paid }).await;
    }

    async fn change(&mut self, id: OfferId, token: Token, asked: Asked) {
        let keyed = self.dice.percent(40);
        let expected = match self.dice.within(0..10) {
            0..3 => self.offers.get(id).await.ok().map(|offer| offer.version),
            3 => Some(1),
            _ => None,
        };
        self.make(Schedule { token, target: Some(id), asked, keyed, expected }).await;
    }

    /// Makes a call, under a key also several times, one after the other or at once.
    async fn make(&mut self, wish: Schedule) {
        if !wish.keyed {
            self.call(&wish).await;
            return;
        }
        if self.dice.percent(25) {
            let leaves = (self.leaves(), self.leaves());
            join(Box::pin(self.ask(&wish, leaves.0)), Box::pin(self.ask(&wish, leaves.1))).await;
        }
        for _ in 0..TRIES_MAX {
            if self.call(&wish).await {
                break;
            }
        }
        self.keyed.push(wish);
    }

    /// Makes a call that was made before.
    async fn repeat(&mut self) {
        let Some(wish) = self.dice.one_of(&self.keyed).cloned() else { return };
        self.call(&wish).await;
    }

    /// Says whether the caller knows what came of it.
    async fn call(&mut self, wish: &Schedule) -> bool {
        let leaves = self.leaves();
        self.ask(wish, leaves).await
    }

    /// After which time a caller goes away without an answer, if it does.
    fn leaves(&mut self) -> Option<Duration> {
        self.dice.percent(3).then(|| self.dice.ms(0..20))
    }

    async fn ask(&self, wish: &Schedule, leaves: Option<Duration>) -> bool {
        let from = self.version_of(wish.target).await.unwrap_or(0);
        let answered = match leaves {
            Some(patience) => timeout(patience, self.answer(wish)).await.ok(),
            None => Some(self.answer(wish).await),
        };
        let answer = match answered {
            Some(Ok(offer)) => Answer::Done(Box::new(offer)),
            Some(Err(error)) => Answer::Refused(error),
            None => Answer::Open,
        };
        let to = match &answer {
            Answer::Refused(_) => self.version_of(wish.target).await.unwrap_or(u64::MAX),
            Answer::Done(_) | Answer::Open => u64::MAX,
        };
        if let (Asked::Create { .. }, Answer::Done(offer)) = (&wish.asked, &answer) {
            self.know(offer);
        }
        let is_known = match &answer {
            Answer::Refused(error) => !is_failure(error),
            Answer::Done(_) => true,
            Answer::Open => false,
        };
        let Schedule { token, target, asked, keyed, expected } = wish.clone();
        let (seller, between) = (self.seller, (from, to));
        self.journal.called(Called { token, seller, target, asked, keyed, expected, between, answer });
        is_known
    }

    async fn answer(&self, wish: &Schedule) -> offers::Result<Offer> {
        let (token, call) = (wish.token, self.caller(wish.token, wish.keyed));
        match (&wish.asked, wish.target) {
            (Asked::Create { category, price, feed }, _) => {
                let offer = Offer {
                    source: feed.as_ref().map(from_feed).into(),
                    seller: self.seller.to_owned(),
                    category: (*category).to_owned(),
                    title: title(token),
                    price: Some(price.clone()).into(),
                    ..Offer::default()
                };
                self.offers.create(&call, &offer).await
            }
            (Asked::Update { renames, price }, Some(id)) => {
                let change = |offer: &mut Offer| {
                    if *renames {
                        offer.title = title(token);
                    }
                    if let Some(price) = price {
                        offer.price = Some(price.clone()).into();
                    }
                    Ok(())
                };
                self.offers.update(&call, self.target(token, id).await, wish.expected, change).await
            }
            (Asked::Move { to, paid }, Some(id)) => {
                let wanted = Move { paid: paid.clone(), ..Move::to(*to).because(&reason(token), "") };
                self.offers.move_to(&call, self.target(token, id).await, wish.expected, &wanted).await
            }
            (Asked::Publish { .. } | Asked::Update { .. } | Asked::Move { .. }, _) => {
                unreachable!("{wish:?}")
            }
        }
    }

    /// An offer by its id, or, by some calls, as it was found.
    async fn target(&self, token: Token, id: OfferId) -> Target {
        if !token.is_multiple_of(3) {
            return id.into();
        }
        self.offers.find(id, &BY_SELLERS).await.map_or(Target::from(id), Target::from)
    }

    /// The caller of this operation.
    pub(crate) fn caller(&self, token: Token, keyed: bool) -> Call {
        let (kind, name) = (author::Kind::KIND_SELLER.into(), self.seller.to_owned());
        let (caller, key) = (self.seller.to_owned(), format!("key {token}"));
        let request = keyed.then_some(Request { caller, key, fingerprint: token });
        Call { request, ..Call::by(Author { kind, name, ..Author::default() }, Mover::Seller) }
    }

    /// Notes an offer, so that others find it.
    pub(crate) fn know(&self, offer: &Offer) {
        let (id, mut notes) = (offer.id.parse().unwrap(), self.journal.notes());
        let known = notes.known.entry(self.seller).or_default();
        if !known.contains(&id) {
            known.push(id);
        }
    }

    async fn bill(&mut self) {
        let Some(id) = self.some_offer() else { return };
        let Ok(seen) = self.offers.billing(id).await else { return };
        let tariff = format!("tariff {}", self.journal.token());
        let wanted = Billing { tariff, version: seen.version, ..Billing::default() };
        let kept = self.offers.set_billing(&self.caller(0, false), id, &wanted).await;
        self.journal.event(format_args!("{} bills {id}: {kept:?}", self.name));
        if let Ok(kept) = kept {
            self.journal.notes().billing.entry(id).or_default().push(kept);
        }
    }

    /// Looks through a filtered list while others change it: whatever comes is the seller's, fits,
    /// and comes once.
    async fn look(&mut self) {
        let (filter, (preset, name)) = (filters::some(&mut self.dice), *self.dice.one_of(&LISTS).unwrap());
        let (mut seen, mut after) = (BTreeSet::new(), None);
        loop {
            let Ok(page) = self.offers.list(self.seller, preset, &filter, after, PAGE).await else { break };
            for offer in page.offers {
                let fits = offer.seller == self.seller && filters::fits_for_good(&filter, &offer);
                assert!(fits, "look: {name} of {} by {filter:?} has {offer:?}", self.seller);
                assert!(
                    seen.insert(offer.id.clone()),
                    "look: {} comes twice in {name} by {filter:?}",
                    offer.id
                );
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        self.journal.event(format_args!("{} looks at {name} by {filter:?}: {seen:?}", self.name));
    }

    async fn repair(&mut self) {
        let drifts = self.offers.repair_counts(self.seller).await;
        self.journal.event(format_args!("{} repairs: {drifts:?}", self.name));
        if let Ok(drifts) = drifts {
            self.journal.notes().repairs.push((self.seller.to_owned(), drifts));
        }
    }

    async fn version_of(&self, target: Option<OfferId>) -> Option<u64> {
        let id = target?;
        for _ in 0..TRIES_MAX {
            if let Ok(offer) = self.offers.get(id).await {
                return Some(offer.version);
            }
        }
        None
    }

    fn some_offer(&mut self) -> Option<OfferId> {
        let notes = self.journal.notes();
        let known = notes.known.get(self.seller)?;
        let recent = &known[known.len().saturating_sub(RECENT)..];
        let among = if self.dice.percent(80) { recent } else { known };
        self.dice.one_of(among).copied()
    }

    fn price(&mut self, token: Token) -> Price {
        let currency = if self.dice.percent(70) { "EUR" } else { "USD" };
        match self.dice.within(0..10) {
            0 => priced(price::Free::default()),
            1 => {
                let from = Some(money(token, currency)).into();
                priced(price::Negotiable { from, ..price::Negotiable::default() })
            }
            _ => fixed(token, currency),
        }
    }
}

/// Whether the store failed, and not the call.
pub(crate) fn is_failure(error: &Error) -> bool {
    matches!(error, Error::Store(_) | Error::Watcher(_) | Error::Topics(_) | Error::Contended(_))
}

/// A title that has a token.
pub(crate) fn title(token: Token) -> String {
    format!("thing {token}")
}

/// A reason that has a token.
pub(crate) fn reason(token: Token) -> String {
    format!("reason {token}")
}

/// A price that has a token.
pub(crate) fn fixed(token: Token, currency: &str) -> Price {
    priced(money(token, currency))
}

pub(crate) fn from_feed((namespace, external_id): &Feed) -> Source {
    let (namespace, external_id) = (namespace.clone(), external_id.clone());
    let feed = source::Feed { namespace, external_id, ..source::Feed::default() };
    Source { kind: Some(feed.into()), ..Source::default() }
}

fn money(units: u64, currency: &str) -> Money {
    Money { micros: units.cast_signed() * 1_000_000, currency: currency.to_owned(), ..Money::default() }
}

fn priced(kind: impl Into<Kind>) -> Price {
    Price { kind: Some(kind.into()), ..Price::default() }
}
