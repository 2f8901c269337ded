//! A pool that processes pictures: limited in concurrency and memory.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::decode::{self, Head};
use crate::error::Refusal;
use crate::limits::MEMORY_UNIT_BYTES;
use crate::make::{self, Made};

/// Makes photos on blocking threads. Memory for a picture is reserved by its header before it is
/// decoded; callers wait while the budget is used up. Cheap to clone; all clones share one budget.
#[derive(Clone)]
pub struct ImagePool {
    config: Arc<Config>,
    workers: Arc<Semaphore>,
    memory: Arc<Semaphore>,
}

impl ImagePool {
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
    /// Work continues when the future is dropped, and keeps its share of the budget until the end.
    /// A panic of a decoder is a refusal of the file.
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

    /// The unused part of the budget.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.memory.available_permits() as u64 * MEMORY_UNIT_BYTES
    }

    /// The share of a picture in the budget.
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
    done.unwrap_or_else(|_| Err(Refusal::Damaged("the decoder failed".to_owned())))
}

fn closed(_: tokio::sync::AcquireError) -> Refusal {
    Refusal::Damaged("the pool is closed".to_owned())
}
