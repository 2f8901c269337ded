//! Where pictures are worked on: a few at a time, within a budget of memory.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::decode::{self, Head};
use crate::error::Refusal;
use crate::limits::MEMORY_UNIT_BYTES;
use crate::make::{self, Made};

/// Makes photos on threads that may block, as many at a time as configured. What a picture needs is reserved by its head, before it is
/// decoded; whoever finds the budget used up waits. Cheap to clone; all clones share one budget.
#[derive(Clone)]
pub struct Workshop {
    config: Arc<Config>,
    workers: Arc<Semaphore>,
    memory: Arc<Semaphore>,
}

impl Workshop {
    /// A workshop of this configuration.
    #[must_use]
    pub fn new(config: Arc<Config>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let workers = if config.workers == 0 { processors } else { config.workers };
        let units = units(config.memory_bytes).max(1);
        Self {
            config,
            workers: Arc::new(Semaphore::new(workers)),
            memory: Arc::new(Semaphore::new(units as usize)),
        }
    }

    /// Makes a photo in the configured sizes.
    ///
    /// Work that has begun goes on to its end even if the future is dropped, and keeps its share of the budget until then. A decoder
    /// that panics over a file is a refusal of that file.
    pub async fn make(&self, bytes: Bytes) -> Result<Made, Refusal> {
        let worker = Arc::clone(&self.workers).acquire_owned().await.map_err(closed)?;
        let (config, file) = (Arc::clone(&self.config), bytes.clone());
        let head = run(move || decode::head(&file, &config)).await?;
        let needed = self.needed(&head)?;
        let memory = Arc::clone(&self.memory).acquire_many_owned(needed).await.map_err(closed)?;
        let config = Arc::clone(&self.config);
        run(move || {
            let made = make::make(&bytes, &head, &config);
            drop((worker, memory));
            made
        })
        .await
    }

    /// Bytes of the budget that nobody uses.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.memory.available_permits() as u64 * MEMORY_UNIT_BYTES
    }

    /// What a picture takes of the budget.
    fn needed(&self, head: &Head) -> Result<u32, Refusal> {
        let bytes = make::memory_bytes(head, &self.config);
        if bytes > self.config.memory_bytes {
            let Head { width, height, .. } = *head;
            return Err(Refusal::TooMuchMemory { width, height, bytes, max: self.config.memory_bytes });
        }
        Ok(units(bytes))
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes / MEMORY_UNIT_BYTES).unwrap_or(u32::MAX)
}

async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Refusal::Damaged("the decoder gave up".to_owned())))
}

fn closed(_: tokio::sync::AcquireError) -> Refusal {
    Refusal::Damaged("the workshop is closed".to_owned())
}
