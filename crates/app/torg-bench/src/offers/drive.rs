//! A load generator: callers read and write offers for some time, each waiting for its response, in
//! a closed loop or at set rates.

use std::time::{Duration, Instant};

use super::book::Book;
use super::door::Door;
use crate::measure::{Measure, Worker, join};

#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) writers: u64,
    pub(super) readers: u64,
    pub(super) pace: Pace,
    pub(super) time: Duration,
}

#[derive(Clone, Copy)]
pub(super) enum Pace {
    /// Closed loop: the next call begins when the last response arrives.
    Closed,
    /// This many writes and reads per second of all callers together, also while responses are
    /// late: the latency of a call counts from its scheduled time.
    Rates { writes: u64, reads: u64 },
}

#[derive(Default)]
pub(super) struct Reached {
    pub(super) writes: Measure,
    pub(super) reads: Measure,
}

impl Load {
    pub(super) fn writes(callers: u64, time: Duration) -> Self {
        Self { writers: callers, readers: 0, pace: Pace::Closed, time }
    }

    pub(super) fn reads(callers: u64, time: Duration) -> Self {
        Self { writers: 0, readers: callers, pace: Pace::Closed, time }
    }

    /// Runs the load through these doors, in turn.
    pub(super) async fn run(self, doors: &[Door], book: &Book) -> anyhow::Result<Reached> {
        let begin = Instant::now() + Duration::from_millis(1);
        let door = |caller: u64| doors[caller as usize % doors.len()].clone();
        let writers = (0..self.writers).map(|caller| -> Worker {
            let (door, mut writer) = (door(caller), book.writer(caller, self.writers));
            let mut beat = self.beat(begin, caller, self.writers, true);
            tokio::spawn(async move {
                let mut measure = Measure::default();
                while let Some(due) = beat.next().await {
                    door.write(writer.next()).await?;
                    measure.note(due, 1);
                }
                measure.elapsed = begin.elapsed();
                Ok(measure)
            })
        });
        let writers: Vec<Worker> = writers.collect();
        let readers = (0..self.readers).map(|caller| -> Worker {
            let (door, book) = (door(caller), book.clone());
            let mut beat = self.beat(begin, caller, self.readers, false);
            tokio::spawn(async move {
                let (mut measure, mut numbers) = (Measure::default(), book.numbers());
                while let Some(due) = beat.next().await {
                    door.read(book.pick(&mut numbers)).await?;
                    measure.note(due, 1);
                }
                measure.elapsed = begin.elapsed();
                Ok(measure)
            })
        });
        let readers: Vec<Worker> = readers.collect();
        Ok(Reached { writes: join(writers).await?, reads: join(readers).await? })
    }

    fn beat(&self, begin: Instant, caller: u64, callers: u64, is_writer: bool) -> Beat {
        let step = match self.pace {
            Pace::Closed => None,
            Pace::Rates { writes, reads } => {
                let rate = if is_writer { writes } else { reads };
                Some(Duration::from_secs_f64(callers as f64 / rate as f64))
            }
        };
        // The starts of callers are spread over the interval.
        let first = begin + step.unwrap_or_default().mul_f64(caller as f64 / callers.max(1) as f64);
        Beat { end: begin + self.time, step, due: first }
    }
}

/// The schedule of one caller.
struct Beat {
    end: Instant,
    step: Option<Duration>,
    due: Instant,
}

impl Beat {
    /// Waits until the next call is due; none when the time is over.
    async fn next(&mut self) -> Option<Instant> {
        let now = Instant::now();
        if now >= self.end {
            return None;
        }
        let Some(step) = self.step else { return Some(now) };
        let due = self.due;
        self.due += step;
        if due > now {
            tokio::time::sleep_until(due.min(self.end).into()).await;
        }
        (due < self.end).then_some(due)
    }
}
