//! A stage that is made of closures.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Semaphore;
use watcher::{Answer, Fields, Interest, Saved, Schedule, Stage, StageError, Subject, Time};

use super::Thing;

pub(crate) type Process = dyn Fn(&Subject<Thing>) -> Result<Answer<Thing>, StageError> + Send + Sync;
pub(crate) type Decide = dyn Fn(&Subject<Thing>) -> Result<Schedule, StageError> + Send + Sync;

/// A stage made of closures, which notes whom it visited and when, and of what it heard.
pub(crate) struct Doing {
    pub(crate) id: &'static str,
    pub(crate) interest: Interest,
    pub(crate) decide: Box<Decide>,
    pub(crate) process: Box<Process>,
    /// When it wants to come after a change.
    pub(crate) after_change: fn(&Thing, Time) -> Schedule,
    /// How long a call takes.
    pub(crate) takes: Duration,
    /// Calls wait here before they answer.
    pub(crate) gate: Option<Arc<Semaphore>>,
    pub(crate) wants_saved: bool,
    /// The id, the version and the time of each visit.
    pub(crate) visits: Mutex<Vec<(String, u64, Time)>>,
    pub(crate) heard: Mutex<Vec<(String, u64)>>,
}

impl Doing {
    /// Visited whenever the field changes.
    pub(crate) fn on(
        id: &'static str,
        field: &str,
        process: impl Fn(&Subject<Thing>) -> Result<Answer<Thing>, StageError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self::with(id, visit_on(field), process))
    }

    pub(crate) fn with(
        id: &'static str,
        interest: Interest,
        process: impl Fn(&Subject<Thing>) -> Result<Answer<Thing>, StageError> + Send + Sync + 'static,
    ) -> Self {
        let (decide, process) = (Box::new(|_: &Subject<Thing>| Ok(Schedule::Now)), Box::new(process));
        let (takes, gate, wants_saved) = (Duration::ZERO, None, false);
        let (visits, heard) = (Mutex::default(), Mutex::default());
        let after_change = |_: &Thing, _| Schedule::Now;
        Self { id, interest, decide, process, after_change, takes, gate, wants_saved, visits, heard }
    }

    pub(crate) fn deciding(
        mut self,
        decide: impl Fn(&Subject<Thing>) -> Result<Schedule, StageError> + Send + Sync + 'static,
    ) -> Self {
        self.decide = Box::new(decide);
        self
    }

    /// Answers only when the gate lets it: each permit is for one visit.
    pub(crate) fn behind(mut self, gate: &Arc<Semaphore>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }

    /// Wants to hear of its saved changes.
    pub(crate) fn hearing(mut self) -> Self {
        self.wants_saved = true;
        self
    }

    /// The version and the time of each visit.
    pub(crate) fn visits(&self) -> Vec<(u64, Time)> {
        self.visits.lock().unwrap().iter().map(|(_, version, time)| (*version, *time)).collect()
    }

    /// The same for one entity.
    pub(crate) fn visits_of(&self, id: &str) -> Vec<(u64, Time)> {
        let visits = self.visits.lock().unwrap();
        visits.iter().filter(|visit| visit.0 == id).map(|(_, version, time)| (*version, *time)).collect()
    }

    /// The id and the version of each saved change that it heard of.
    pub(crate) fn heard(&self) -> Vec<(String, u64)> {
        self.heard.lock().unwrap().clone()
    }
}

#[async_trait]
impl Stage<Thing> for Doing {
    fn id(&self) -> &str {
        self.id
    }

    fn interest(&self) -> Interest {
        self.interest.clone()
    }

    fn visit_after_change(&self, thing: &Thing, now: Time) -> Schedule {
        (self.after_change)(thing, now)
    }

    async fn should_process(&self, subject: &Subject<Thing>) -> Result<Schedule, StageError> {
        (self.decide)(subject)
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        self.visits.lock().unwrap().push((subject.entity.id.clone(), subject.version, subject.now));
        if !self.takes.is_zero() {
            tokio::time::sleep(self.takes).await;
        }
        if let Some(gate) = &self.gate {
            gate.acquire().await.unwrap().forget();
        }
        (self.process)(subject)
    }

    fn wants_saved(&self) -> bool {
        self.wants_saved
    }

    async fn on_saved(&self, saved: &Saved<Thing>) -> Result<(), StageError> {
        self.heard.lock().unwrap().push((saved.entity.id.clone(), saved.version));
        Ok(())
    }
}

/// A visit whenever the field changes.
pub(crate) fn visit_on(field: &str) -> Interest {
    Interest::visit_on(Fields::of([field]))
}

/// The entity with another title.
pub(crate) fn titled(subject: &Subject<Thing>, title: &str) -> Thing {
    Thing { title: title.to_owned(), ..subject.entity.clone() }
}
