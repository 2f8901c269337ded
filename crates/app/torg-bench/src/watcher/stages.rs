//! The stages under measurement. Both subscribe to every change.

use std::time::Duration;

use async_trait::async_trait;
use bytes::{BufMut, Bytes, BytesMut};
use watcher::{Answer, Fields, Interest, Stage, StageError, Subject, Time};

use super::ad::Ad;
use crate::observe::Log;

/// Bytes of the private state of [`Stateful`].
const STATE_BYTES: usize = 64;
/// All timers are due within this time.
pub(super) const TIMERS_WITHIN: Duration = Duration::from_secs(1);

/// Reads the ad and does nothing.
pub(super) struct Noop {
    pub(super) id: String,
    pub(super) log: Log,
}

#[async_trait]
impl Stage<Ad> for Noop {
    fn id(&self) -> &str {
        &self.id
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::all())
    }

    async fn process(&self, subject: &Subject<Ad>) -> Result<Answer<Ad>, StageError> {
        self.log.visit(subject.entity.number);
        Ok(Answer::untouched())
    }
}

/// Changes the ad and its state, and arms a timer far ahead.
pub(super) struct Stateful {
    pub(super) log: Log,
    /// The second in which all timers are due.
    pub(super) timers_at: Time,
}

impl Stateful {
    pub(super) const ID: &str = "stateful";
}

#[async_trait]
impl Stage<Ad> for Stateful {
    fn id(&self) -> &str {
        Self::ID
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::all())
    }

    async fn process(&self, subject: &Subject<Ad>) -> Result<Answer<Ad>, StageError> {
        let Subject { entity, version, .. } = subject;
        self.log.visit(entity.number);
        let dearer = Ad { price: entity.price + 1, ..entity.clone() };
        let answer = Answer::patch(Fields::of(["price"]), dearer);
        let state = state_of(entity.number, *version);
        Ok(answer.with_state(state).visit_at(timer_of(entity.number, self.timers_at)))
    }
}

/// When the timer of an ad is due.
pub(super) fn timer_of(number: u64, timers_at: Time) -> Time {
    timers_at + Duration::from_millis(number % TIMERS_WITHIN.as_millis() as u64)
}

/// The state after a visit.
pub(super) fn state_of(number: u64, version: u64) -> Bytes {
    let mut state = BytesMut::zeroed(STATE_BYTES - 16);
    state.put_u64(number);
    state.put_u64(version);
    state.freeze()
}
