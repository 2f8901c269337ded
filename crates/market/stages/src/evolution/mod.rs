//! Evolution: moves offers of earlier catalogues to the current one by the catalogue's migrations.

mod item;
mod lineage;

use async_trait::async_trait;
use catalog::{MigrationReport, Outcome};
use offers::StoredOffer;
use parking_lot::Mutex;
use store::{Read, Store};
use watcher::{Answer, Entity, Fields, Interest, Saved, Schedule, Stage, StageError, Subject, Time};
use wire::torg::offers::v1::{Offer, Status};

use crate::patch::patch;

pub use lineage::{Evolved, Lineage, LineageError};

/// Fields set by a move.
const MOVED: [&str; 4] = ["category", "attributes", "catalogue_version", "obstacles"];
/// Fields set if an offer cannot be moved.
const STUCK: [&str; 1] = ["obstacles"];

/// Moves offers to the current catalogue, each completely or not at all. An offer that cannot be
/// moved keeps its version and gets `obstacles`.
///
/// Offers of the current version are skipped. After a new catalogue is installed a re-crawl finds
/// older offers. A change by a seller is validated by the current catalogue, and gives the offer
/// its version.
pub struct Evolution {
    lineage: Lineage,
    report: Mutex<MigrationReport>,
}

impl Evolution {
    #[must_use]
    pub fn new(lineage: Lineage) -> Self {
        Self { lineage, report: Mutex::default() }
    }

    /// Counts of this process since its start. A change that is repeated after a crash counts
    /// again.
    #[must_use]
    pub fn report(&self) -> MigrationReport {
        self.report.lock().clone()
    }

    /// A dry run over all offers in the active tables.
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
                        Err(error) => tracing::warn!(key = %row.key, error, "cannot decode an offer"),
                    }
                }
                next = page.next.map(|key| all.clone().after(key));
            }
        }
        Ok(report)
    }

    /// Archived offers do not change.
    fn wanted(&self, offer: &StoredOffer) -> Evolved {
        if self.is_old(offer) { self.lineage.evolve(&offer.offer) } else { Evolved::UpToDate }
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
            Evolved::UpToDate => Answer::untouched(),
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
        let mut report = self.report.lock();
        match self.wanted(&saved.entity) {
            Evolved::UpToDate => report.moved += 1,
            stuck => note(&mut report, &saved.entity.offer, &stuck),
        }
        Ok(())
    }
}

fn note(report: &mut MigrationReport, offer: &Offer, evolved: &Evolved) {
    match evolved {
        Evolved::UpToDate => report.up_to_date += 1,
        Evolved::Moved(_) => report.moved += 1,
        Evolved::Stuck(obstacles) => report.note(&offer.id, &Outcome::Stuck(obstacles.clone())),
    }
}
