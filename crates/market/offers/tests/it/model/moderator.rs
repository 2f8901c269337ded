//! A moderator: puts opinions into their topic, old ones after new ones too, and now and then
//! something that is none.

use std::time::Duration;

use buffa::Message as _;
use offers::{OfferId, time};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::time::sleep;
use topics::{Message, Topics};
use watcher::{Clock, Time};
use wire::torg::offers::v1::{Opinion, opinion};

use crate::model::dice::Dice;
use crate::model::journal::{Given, Journal, Token};
use crate::model::plan::SELLERS;

/// The header that has the token of an opinion.
pub(crate) const TOKEN: &str = "token";
/// How old opinions are at most when they are given.
const AGE_MAX_MS: u64 = 1500;
/// The number of recent offers that get most opinions.
const RECENT: usize = 20;

/// A moderator.
pub(crate) struct Moderator {
    pub(crate) topics: Topics,
    pub(crate) topic: String,
    pub(crate) clock: Clock,
    pub(crate) journal: Journal,
    pub(crate) dice: Dice,
    pub(crate) opinions: u64,
    pub(crate) pause: Duration,
}

impl Moderator {
    pub(crate) async fn run(mut self) {
        for _ in 0..self.opinions {
            sleep(self.dice.ms(0..self.pause.as_millis() as u64)).await;
            self.act().await;
        }
    }

    async fn act(&mut self) {
        let (token, now_ms) = (self.journal.token(), self.clock.now().as_ms());
        if self.dice.percent(4) {
            let unknown = OfferId::random(&mut StdRng::seed_from_u64(token));
            let payload = self.opinion(token, unknown, true, None);
            let payload = if self.dice.percent(50) { payload } else { b"no opinion at all".to_vec() };
            let given = Given { token, offer: None, bans: true, formed_ms: now_ms };
            self.give(given, unknown, payload, now_ms).await;
            return;
        }
        let Some(offer) = self.some_offer() else { return };
        let bans = self.dice.percent(50);
        let formed_ms = match self.dice.within(0..10) {
            0..4 => None,
            4 => Some(now_ms + 3_600_000),
            _ => Some(now_ms - self.dice.within(0..AGE_MAX_MS).cast_signed()),
        };
        let payload = self.opinion(token, offer, bans, formed_ms);
        // One from the future is one of now.
        let formed_ms = formed_ms.unwrap_or(now_ms).min(now_ms);
        self.give(Given { token, offer: Some(offer), bans, formed_ms }, offer, payload, now_ms).await;
    }

    /// An opinion as a message carries it.
    fn opinion(&mut self, token: Token, offer: OfferId, bans: bool, formed_ms: Option<i64>) -> Vec<u8> {
        let reason = opinion::Reason { code: format!("reason {token}"), ..opinion::Reason::default() };
        let verdict = if bans { opinion::Verdict::VERDICT_BAN } else { opinion::Verdict::VERDICT_ALLOW };
        let opinion = Opinion {
            offer: offer.to_string(),
            verdict: verdict.into(),
            reasons: vec![reason],
            moderator: moderator(token),
            time: formed_ms.map(|ms| time::from_time(Time::from_ms(ms))).into(),
            ..Opinion::default()
        };
        if self.dice.percent(50) { serde_json::to_vec(&opinion).unwrap() } else { opinion.encode_to_vec() }
    }

    async fn give(&self, given: Given, key: OfferId, payload: Vec<u8>, now_ms: i64) {
        let message = Message::new(key.to_string(), payload, now_ms).header(TOKEN, given.token.to_string());
        let places = self.topics.append(&self.topic, vec![message]).await;
        self.journal.event(format_args!("{given:?}: {places:?}"));
        if places.is_ok() {
            self.journal.notes().given.push(given);
        }
    }

    fn some_offer(&mut self) -> Option<OfferId> {
        let notes = self.journal.notes();
        let known = notes.known.get(self.dice.one_of(&SELLERS)?)?;
        let recent = &known[known.len().saturating_sub(RECENT)..];
        let among = if self.dice.percent(85) { recent } else { known };
        self.dice.one_of(among).copied()
    }
}

/// The author of this opinion.
pub(crate) fn moderator(token: Token) -> String {
    format!("moderator {token}")
}
