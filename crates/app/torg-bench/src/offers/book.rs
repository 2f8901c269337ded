//! The offers that a run reads and writes, and the generator of its writes.
//!
//! Of a hundred writes eighty change an offer (its price, and every fourth its title too), ten
//! publish one, and ten change a state: an active offer is sold, a sold one is offered again. Every
//! writer has its own offers, so that writers do not wait for each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use offers::OfferId;
use wire::torg::offers::v1::{Offer, Status};

use super::ads::{Ads, asked, price};
use crate::data::Numbers;

const PRICE: &[&str] = &["price"];
const PRICE_AND_TITLE: &[&str] = &["price", "title"];

/// The offers of many sellers.
#[derive(Clone)]
pub(super) struct Book(Arc<Inner>);

struct Inner {
    ads: Ads,
    ids: Vec<OfferId>,
    sold: Vec<AtomicBool>,
    /// The next unused offer number.
    fresh: AtomicU64,
    seeds: AtomicU64,
}

pub(super) enum Write {
    /// New values for some fields; the offer has its id and these fields.
    Update {
        number: u64,
        offer: Box<Offer>,
        fields: &'static [&'static str],
    },
    Create {
        number: u64,
        offer: Box<Offer>,
    },
    Move {
        number: u64,
        id: OfferId,
        to: Status,
    },
}

impl Book {
    /// The ids of active offers; the first of them is number 0 of `ads`.
    pub(super) fn new(ads: Ads, ids: Vec<OfferId>) -> Self {
        let (sold, fresh) =
            (ids.iter().map(|_| AtomicBool::new(false)).collect(), AtomicU64::new(ids.len() as u64));
        Self(Arc::new(Inner { ads, ids, sold, fresh, seeds: AtomicU64::new(1) }))
    }

    /// A copy in which all offers are active again, for a side with its own rows.
    pub(super) fn anew(&self) -> Self {
        Self::new(self.0.ads.clone(), self.0.ids.clone())
    }

    pub(super) fn ads(&self) -> &Ads {
        &self.0.ads
    }

    pub(super) fn ids(&self) -> &[OfferId] {
        &self.0.ids
    }

    pub(super) fn numbers(&self) -> Numbers {
        Numbers::new(self.0.seeds.fetch_add(1, Ordering::Relaxed))
    }

    /// The write generator of one of `writers` writers.
    pub(super) fn writer(&self, writer: u64, writers: u64) -> Writer {
        let own = (self.0.ids.len() as u64 / writers).max(1);
        Writer { book: self.clone(), numbers: self.numbers(), number: writer, of: writers, own }
    }

    pub(super) fn pick(&self, numbers: &mut Numbers) -> OfferId {
        self.0.ids[numbers.below(self.0.ids.len() as u64) as usize]
    }
}

pub(super) struct Writer {
    book: Book,
    numbers: Numbers,
    number: u64,
    of: u64,
    own: u64,
}

impl Writer {
    pub(super) fn next(&mut self) -> Write {
        let Inner { ads, ids, sold, fresh, .. } = &*self.book.0;
        let number = (self.numbers.below(self.own) * self.of + self.number) % ids.len() as u64;
        let id = ids[number as usize];
        match self.numbers.below(10) {
            0 => {
                let number = fresh.fetch_add(1, Ordering::Relaxed);
                Write::Create { number, offer: Box::new(ads.typical(number, ads.seller(number))) }
            }
            1 => {
                let was_sold = sold[number as usize].fetch_xor(true, Ordering::Relaxed);
                Write::Move { number, id, to: if was_sold { Status::Active } else { Status::Sold } }
            }
            _ => {
                let fields = if self.numbers.below(4) == 0 { PRICE_AND_TITLE } else { PRICE };
                let mut offer = Offer {
                    id: id.to_string(),
                    price: Some(price(asked(&mut self.numbers))).into(),
                    ..Offer::default()
                };
                if fields.len() > 1 {
                    offer.title = ads.title(&mut self.numbers);
                }
                Write::Update { number, offer: Box::new(offer), fields }
            }
        }
    }
}
