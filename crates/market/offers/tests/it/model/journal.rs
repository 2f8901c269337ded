//! The journal: what everybody who takes part asked for and heard, in the order in which it
//! happened.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offers::{Drift, Error, OfferId};
use tokio::time::Instant;
use wire::torg::offers::v1::{Billing, Money, Offer, Price, Status};
use xxhash_rust::xxh3::Xxh3;

use crate::model::filters::Feed;

/// A number that belongs to one call and its repeats, and is found in whatever they change.
pub(crate) type Token = u64;

/// What a call asks for.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Create {
        category: &'static str,
        price: Price,
        /// `None` for an offer that was added by hand.
        feed: Option<Feed>,
    },
    /// Publishes a draft; the token is that of the draft's last change.
    Publish {
        draft: OfferId,
    },
    /// A title, a price, or both.
    Update {
        renames: bool,
        price: Option<Price>,
    },
    Move {
        to: Status,
        paid: Option<Money>,
    },
}

/// How a call ended.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Done(Box<Offer>),
    Refused(Error),
    /// Its caller went away before it ended.
    Open,
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    pub(crate) token: Token,
    pub(crate) seller: &'static str,
    pub(crate) target: Option<OfferId>,
    pub(crate) asked: Asked,
    pub(crate) keyed: bool,
    pub(crate) expected: Option<u64>,
    /// The versions between which the offer was when the call was made.
    pub(crate) between: (u64, u64),
    pub(crate) answer: Answer,
}

/// A change of a draft.
#[derive(Clone, Debug)]
pub(crate) struct DraftChange {
    pub(crate) draft: OfferId,
    pub(crate) token: Token,
    pub(crate) seller: &'static str,
    pub(crate) price: Price,
    /// How many events there were when it was asked for, and when it was done.
    pub(crate) asked: u64,
    pub(crate) done: u64,
}

/// An opinion that was accepted by its topic, or something that is none.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) token: Token,
    pub(crate) offer: Option<OfferId>,
    pub(crate) bans: bool,
    pub(crate) formed_ms: i64,
}

/// A message of the topic of changes, as the consumer got it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Received {
    pub(crate) partition: u32,
    pub(crate) offset: i64,
    pub(crate) id: OfferId,
    pub(crate) version: u64,
    /// Kind and name.
    pub(crate) author: (String, String),
    pub(crate) changed: String,
    pub(crate) time_ms: i64,
    /// `None` if it left the active tables.
    pub(crate) offer: Option<Offer>,
}

/// Everything that was noted.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) calls: Vec<Called>,
    pub(crate) draft_changes: Vec<DraftChange>,
    /// Changes of drafts that were made twice at once under one key, done, and refused all the
    /// same.
    pub(crate) drafts_refused: Vec<(Token, Error)>,
    pub(crate) given: Vec<Given>,
    pub(crate) received: Vec<Received>,
    pub(crate) repairs: Vec<(String, Vec<Drift>)>,
    pub(crate) billing: BTreeMap<OfferId, Vec<Billing>>,
    /// Offers by seller, in the order in which their makers heard of them.
    pub(crate) known: BTreeMap<&'static str, Vec<OfferId>>,
    pub(crate) consumer_kills: u64,
    tokens: Token,
    hash: Xxh3,
    pub(crate) events: u64,
    trace: Option<Vec<String>>,
}

/// The journal of one run. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Journal {
    began: Instant,
    notes: Arc<Mutex<Notes>>,
}

impl Journal {
    /// An empty one; `keep` keeps every line, to compare two runs.
    pub(crate) fn new(keep: bool) -> Self {
        let notes = Notes { trace: keep.then(Vec::new), ..Notes::default() };
        Self { began: Instant::now(), notes: Arc::new(Mutex::new(notes)) }
    }

    pub(crate) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A token that was not used.
    pub(crate) fn token(&self) -> Token {
        let mut notes = self.notes();
        notes.tokens += 1;
        notes.tokens
    }

    /// Notes that something happened, with the time.
    pub(crate) fn event(&self, event: fmt::Arguments<'_>) {
        let line = format!("{:>7} {event}", self.began.elapsed().as_millis());
        let mut notes = self.notes();
        notes.hash.update(line.as_bytes());
        notes.events += 1;
        if let Some(trace) = &mut notes.trace {
            trace.push(line);
        }
    }

    pub(crate) fn called(&self, call: Called) {
        match &call.answer {
            Answer::Done(offer) => self.event(format_args!(
                "{:?} {:?} {:?}: {} v{} {:?}",
                call.token, call.asked, call.target, offer.id, offer.version, offer.status
            )),
            Answer::Refused(error) => {
                self.event(format_args!("{:?} {:?} {:?}: {error}", call.token, call.asked, call.target));
            }
            Answer::Open => self.event(format_args!("{:?} {:?} {:?}", call.token, call.asked, call.target)),
        }
        self.notes().calls.push(call);
    }

    /// Everything that was noted, for those who judge.
    pub(crate) fn take(&self) -> Notes {
        std::mem::take(&mut *self.notes())
    }
}

impl Notes {
    /// A hash over all events.
    pub(crate) fn hash(&self) -> u64 {
        self.hash.digest()
    }

    pub(crate) fn trace(&self) -> &[String] {
        self.trace.as_deref().unwrap_or_default()
    }
}
