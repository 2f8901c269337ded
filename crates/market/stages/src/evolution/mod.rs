//! Evolution: an offer of an earlier catalogue is moved to the present one, by the catalogue's own migrations.

mod item;
mod lineage;

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use catalog::{MigrationReport, Outcome};
use offers::StoredOffer;
use store::{Read, Store};
use watcher::{Answer, Entity, Fields, Interest, Saved, Stage, StageError, Subject, Time, Schedule};
use wire::torg::offers::v1::{Offer, Status};

use crate::patch::patch;

pub use lineage::{Evolved, Lineage, LineageError};

/// What a move to another catalogue sets.
const MOVED: [&str; 4] = ["category", "attributes", "catalogue_version", "obstacles"];
/// What is set if an offer cannot be moved.
const STUCK: [&str; 1] = ["obstacles"];

/// Moves offers to the present catalogue, each the whole way or not at all. What cannot be moved keeps its version, and says why in `obstacles`.
///
/// An offer of the present version costs nothing. After a new catalogue was installed a re-crawl finds the offers of earlier ones; a seller's own change is checked by
/// the present catalogue, and makes the offer one of it.
pub struct Evolution {
    lineage: Lineage,
    report: Mutex<MigrationReport>,
}

impl Evolution {
    /// Moves offers along this lineage.
    #[must_use]
    pub fn new(lineage: Lineage) -> Self {
        Self { lineage, report: Mutex::default() }
    }

    /// What this process moved and what it could not move, since it was started. A change that is told again after a crash is counted again.
    #[must_use]
    pub fn report(&self) -> MigrationReport {
        self.counts().clone()
    }

    /// What would become of every offer that is in the active tables now. Reads all of them and changes nothing.
    pub async fn survey(&self, store: &Store, shards: u32) -> Result<MigrationReport, store::Error> {
        let mut report = MigrationReport::default();
        for shard in 0..shards {
            let all = StoredOffer::scan(shard);
            let mut next = Some(all.clone());
            while let Some(scan) = next.take() {
                let page = store.scan(&scan).await?;
                for row in &page.rows {
                    match StoredOffer::decode(&row.value) {
                        Ok(offer) => note(&mut report, &offer.offer, &self.wanted(&offer)),
                        Err(error) => tracing::warn!(key = %row.key, error, "an offer cannot be read"),
                    }
                }
                next = page.next.map(|key| all.clone().after(key));
            }
        }
        Ok(report)
    }

    fn counts(&self) -> MutexGuard<'_, MigrationReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to become of an offer. One that is archived is not changed any more.
    fn wanted(&self, offer: &StoredOffer) -> Evolved {
        if self.is_old(offer) { self.lineage.evolve(&offer.offer) } else { Evolved::Already }
    }

    fn is_old(&self, offer: &StoredOffer) -> bool {
        self.lineage.version_of(&offer.offer) < self.lineage.version() && offer.status() != Status::Archived
    }
}

#[async_trait]
impl Stage<StoredOffer> for Evolution {
    fn id(&self) -> &'static str {
        "evolution"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["category", "attributes", "catalogue_version"]))
            .reading(&Fields::of(STUCK))
    }

    fn visit_after_change(&self, offer: &StoredOffer, _now: Time) -> Schedule {
        if self.is_old(offer) { Schedule::Now } else { Schedule::No }
    }

    async fn should_process(&self, subject: &Subject<StoredOffer>) -> Result<Schedule, StageError> {
        Ok(self.visit_after_change(&subject.entity, subject.now))
    }

    async fn process(&self, subject: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        let (id, now) = (subject.entity.id, subject.now);
        Ok(match self.wanted(&subject.entity) {
            Evolved::Already => Answer::untouched(),
            Evolved::Moved(offer) => patch(MOVED, StoredOffer::new(id, *offer), now),
            Evolved::Stuck(obstacles) => {
                let obstacles = self.lineage.kept(&obstacles);
                if obstacles == subject.entity.offer.obstacles {
                    return Ok(Answer::untouched());
                }
                let offer = Offer { obstacles, ..subject.entity.offer.clone() };
                patch(STUCK, StoredOffer::new(id, offer), now)
            }
        })
    }

    fn wants_saved(&self) -> bool {
        true
    }

    async fn on_saved(&self, saved: &Saved<StoredOffer>) -> Result<(), StageError> {
        let mut report = self.counts();
        match self.wanted(&saved.entity) {
            Evolved::Already => report.moved += 1,
            stuck => note(&mut report, &saved.entity.offer, &stuck),
        }
        Ok(())
    }
}

fn note(report: &mut MigrationReport, offer: &Offer, evolved: &Evolved) {
    match evolved {
        Evolved::Already => report.already += 1,
        Evolved::Moved(_) => report.moved += 1,
        Evolved::Stuck(obstacles) => report.note(&offer.id, &Outcome::Stuck(obstacles.clone())),
    }
}
