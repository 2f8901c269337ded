//! A stage that is made of closures.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::sync::Semaphore;
use watcher::{Answer, Fields, Interest, Saved, Stage, StageError, Subject, Time, Wish};

use crate::common::Thing;

type Process = dyn Fn(&Subject<Thing>) -> Result<Answer<Thing>, StageError> + Send + Sync;
type Decide = dyn Fn(&Subject<Thing>) -> Result<Wish, StageError> + Send + Sync;

/// A call of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    pub(crate) id: String,
    pub(crate) version: u64,
    pub(crate) now: Time,
}

/// A stage that notes what it is called with.
pub(crate) struct Doing {
    id: &'static str,
    interest: Interest,
    process: Box<Process>,
    decide: Box<Decide>,
    /// Calls wait here before they answer.
    gate: Option<Arc<Semaphore>>,
    wants_saved: bool,
    visits: Mutex<Vec<Visit>>,
    heard: Mutex<Vec<(String, u64)>>,
}

impl Doing {
    /// Visited whenever the field changes.
    pub(crate) fn on(
        id: &'static str,
        field: &str,
        process: impl Fn(&Subject<Thing>) -> Result<Answer<Thing>, StageError> + Send + Sync + 'static,
    ) -> Self {
        Self::with(id, Interest::visit_on(Fields::of([field])), process)
    }

    pub(crate) fn with(
        id: &'static str,
        interest: Interest,
        process: impl Fn(&Subject<Thing>) -> Result<Answer<Thing>, StageError> + Send + Sync + 'static,
    ) -> Self {
        let decide = Box::new(|_: &Subject<Thing>| Ok(Wish::Now));
        let (visits, heard) = (Mutex::default(), Mutex::default());
        let (process, gate, wants_saved) = (Box::new(process), None, false);
        Self { id, interest, process, decide, gate, wants_saved, visits, heard }
    }

    pub(crate) fn deciding(
        mut self,
        decide: impl Fn(&Subject<Thing>) -> Result<Wish, StageError> + Send + Sync + 'static,
    ) -> Self {
        self.decide = Box::new(decide);
        self
    }

    /// Answers only when the gate lets it: each permit is for one call.
    pub(crate) fn behind(mut self, gate: &Arc<Semaphore>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }

    /// Wants to hear of its saved changes.
    pub(crate) fn hearing(mut self) -> Self {
        self.wants_saved = true;
        self
    }

    pub(crate) fn visits(&self) -> Vec<Visit> {
        self.visits.lock().unwrap().clone()
    }

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

    async fn should_process(&self, subject: &Subject<Thing>) -> Result<Wish, StageError> {
        (self.decide)(subject)
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        let (id, version, now) = (subject.entity.id.clone(), subject.version, subject.now);
        self.visits.lock().unwrap().push(Visit { id, version, now });
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

/// The entity with another title.
pub(crate) fn titled(subject: &Subject<Thing>, title: &str) -> Thing {
    Thing { title: title.to_owned(), ..subject.entity.clone() }
}
