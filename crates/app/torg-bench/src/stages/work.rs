//! The stages of a run, in process and as a plug-in serves them. Both variants do the same work.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use offers::StoredOffer;
use serde::Serialize;
use stagekit::{Description, Failure};
use watcher::{Answer, Fields, Interest, Schedule, Stage, StageError, Subject};
use wire::torg::offers::v1::{Offer, Price, price};

/// Reads the offer and does nothing.
pub(super) const NOOP: &str = "noop";
/// Changes the offer and its state, and arms a timer far ahead.
pub(super) const STATEFUL: &str = "stateful";
/// Answers everything, but late.
pub(super) const SLOW: &str = "slow";
/// Has an address where nothing listens.
pub(super) const DEAD: &str = "dead";
/// Healthy stages that do nothing, beside the two troubled ones.
pub(super) const OTHERS: usize = 8;

const SLOW_BY: Duration = Duration::from_secs(2);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Characters of the private state.
const STATE_CHARS: usize = 64;

pub(super) fn other(number: usize) -> String {
    format!("other-{number}")
}

/// The offer with a higher price.
fn dearer(offer: &Offer) -> Offer {
    let mut fixed = match offer.price.as_option().and_then(|price| price.kind.as_ref()) {
        Some(price::Kind::Fixed(fixed)) => (**fixed).clone(),
        _ => wire::torg::offers::v1::Money::default(),
    };
    fixed.micros += 10_000;
    Offer { price: Price { kind: Some(fixed.into()), ..Price::default() }.into(), ..Offer::default() }
}

fn state_of(offer: &Offer) -> String {
    format!("{:>STATE_CHARS$}", offer.id)
}

/// The private state of [`STATEFUL`] in a plug-in.
#[derive(Serialize)]
struct State {
    seen: String,
}

/// [`NOOP`] in process.
pub(super) struct Noop;

#[async_trait]
impl Stage<StoredOffer> for Noop {
    fn id(&self) -> &'static str {
        NOOP
    }

    async fn should_process(&self, _: &Subject<StoredOffer>) -> Result<Schedule, StageError> {
        Ok(Schedule::Now)
    }

    async fn process(&self, _: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        Ok(Answer::untouched())
    }
}

/// [`STATEFUL`] in process.
pub(super) struct Stateful;

#[async_trait]
impl Stage<StoredOffer> for Stateful {
    fn id(&self) -> &'static str {
        STATEFUL
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::all())
    }

    async fn process(&self, subject: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        let mut changed = subject.entity.clone();
        let state = Bytes::from(state_of(&changed.offer));
        changed.offer.price = dearer(&changed.offer).price;
        Ok(Answer::patch(Fields::of(["price"]), changed).with_state(state).visit_at(subject.now + DAY))
    }
}

/// A plug-in stage that does nothing, with its delay.
struct StageSpec {
    id: String,
    late: Duration,
}

impl StageSpec {
    async fn be_late(&self) {
        // Even a sleep of zero waits for the next millisecond.
        if !self.late.is_zero() {
            tokio::time::sleep(self.late).await;
        }
    }
}

#[async_trait]
impl stagekit::Stage for StageSpec {
    fn describe(&self) -> Description {
        Description::new(&self.id, "bench").asked()
    }

    async fn should_process(&self, _: &stagekit::Subject) -> Result<stagekit::Schedule, Failure> {
        self.be_late().await;
        Ok(stagekit::Schedule::Now)
    }

    async fn process(&self, _: &stagekit::Subject) -> Result<stagekit::Answer, Failure> {
        self.be_late().await;
        Ok(stagekit::Answer::untouched())
    }
}

/// [`STATEFUL`] in a plug-in.
struct OutsideStateful;

#[async_trait]
impl stagekit::Stage for OutsideStateful {
    fn describe(&self) -> Description {
        Description::new(STATEFUL, "bench").sets(["price"])
    }

    async fn process(&self, subject: &stagekit::Subject) -> Result<stagekit::Answer, Failure> {
        let patch = stagekit::Answer::patch(["price"], dearer(&subject.offer));
        Ok(patch.with_state(&State { seen: state_of(&subject.offer) })?.visit_in(DAY))
    }
}

/// All stages that a plug-in of a run serves.
pub(super) fn served() -> Vec<Arc<dyn stagekit::Stage>> {
    let quick = std::iter::once(NOOP.to_owned()).chain((0..OTHERS).map(other));
    let mut stages: Vec<Arc<dyn stagekit::Stage>> = vec![Arc::new(OutsideStateful)];
    stages
        .extend(quick.map(|id| Arc::new(StageSpec { id, late: Duration::ZERO }) as Arc<dyn stagekit::Stage>));
    stages.push(Arc::new(StageSpec { id: SLOW.to_owned(), late: SLOW_BY }));
    stages
}
