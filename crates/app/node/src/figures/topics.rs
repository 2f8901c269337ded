//! Monitors topics and the lag of consumers, in the background: a Kafka cluster may answer slowly.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use topics::{TopicSpec, Topics};

use super::limits::{
    CONSUMER_STUCK_AFTER, KNOWN_FOR, LOOK_EVERY, REST, SAMPLE_EVERY, TOPICS_AWAY_AFTER, TOPICS_MAX,
    TOPICS_TIME_MAX,
};
use super::looks::Sources;
use super::moment::{Known, Moment};

/// Ends of topics and lags of consumers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TopicsSeen {
    /// The sum of the end offsets of each topic.
    pub(super) ends: BTreeMap<String, i64>,
    pub(super) lags: BTreeMap<(&'static str, String), u64>,
}

/// A consumer that has lag, and how long it has read nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stalled {
    pub(super) consumer: &'static str,
    pub(super) topic: String,
    pub(super) messages: u64,
    pub(super) stood_for: Duration,
}

/// The position of a consumer and the time of its last progress.
#[derive(Clone, Copy, Debug)]
struct Stand {
    /// The sum of its offsets.
    offset: i64,
    messages: u64,
    since: Instant,
    seen: Instant,
}

/// The result of a reading.
enum Looked {
    /// The topics do not answer.
    Silent(String),
    /// The topics answer. `seen` is set if details were requested and arrived in time; `took` is
    /// the duration of that request.
    Answered { seen: Option<(Instant, TopicsSeen)>, took: Duration },
}

/// Runs readings of topics beside the sampler.
#[derive(Default)]
pub(super) struct TopicsLook {
    under_way: Option<JoinHandle<Looked>>,
    /// When the next check for availability is due.
    due: Option<Instant>,
    /// When the next reading of offsets is due.
    whole_due: Option<Instant>,
    /// Failures in a row, and the last error.
    failed: (u32, String),
    has_answered: bool,
    /// Consumers that have lag.
    stands: BTreeMap<(&'static str, String), Stand>,
    pub(super) seen: Known<TopicsSeen>,
}

impl TopicsLook {
    /// Takes the result of a finished reading, and starts the next one when it is due.
    pub(super) fn step(&mut self, sources: &Sources, now: Moment) {
        if let Some(task) = &mut self.under_way {
            let Some(ended) = task.now_or_never() else { return };
            self.under_way = None;
            // A panic counts as no answer.
            self.note(ended.unwrap_or_else(|error| Looked::Silent(error.to_string())), now);
        }
        let is_due = |due: Option<Instant>| due.is_none_or(|due| due <= now.instant);
        if is_due(self.due) {
            let (topics, consumers) = (sources.topics.clone(), sources.consumers.clone());
            let is_whole = is_due(self.whole_due);
            self.under_way = Some(tokio::spawn(async move { look(&topics, &consumers, is_whole).await }));
        }
    }

    fn note(&mut self, looked: Looked, now: Moment) {
        match looked {
            Looked::Silent(why) => {
                tracing::debug!(error = why, "topics cannot be looked at");
                self.failed = (self.failed.0 + 1, why);
                // The first failure is retried soon, to know whether the topics are really
                // unavailable.
                let next = if self.failed.0 == 1 { 2 * SAMPLE_EVERY } else { LOOK_EVERY };
                self.due = Some(now.instant + next);
            }
            Looked::Answered { seen, took } => {
                (self.failed, self.has_answered) = ((0, String::new()), true);
                self.due = Some(now.instant + LOOK_EVERY);
                if !took.is_zero() {
                    self.whole_due = Some(now.instant + (took * REST).clamp(LOOK_EVERY, KNOWN_FOR / 2));
                }
                if let Some((instant, seen)) = seen {
                    self.stand(instant, &seen);
                    let time = now.time - now.instant.saturating_duration_since(instant);
                    self.seen.learn(Moment { time, instant }, seen);
                }
            }
        }
    }

    /// Records the positions of consumers.
    fn stand(&mut self, now: Instant, seen: &TopicsSeen) {
        let before = std::mem::take(&mut self.stands);
        for (consumer, messages) in seen.lags.iter().filter(|(_, messages)| **messages > 0) {
            let Some(end) = seen.ends.get(&consumer.1) else { continue };
            let offset = end.saturating_sub_unsigned(*messages);
            let stood = before.get(consumer).filter(|before| before.offset == offset);
            let since = stood.map_or(now, |before| before.since);
            let stand = Stand { offset, messages: *messages, since, seen: now };
            self.stands.insert(consumer.clone(), stand);
        }
    }

    /// Consumers without progress for too long.
    pub(super) fn stalled(&self) -> Vec<Stalled> {
        let stalled = self.stands.iter().filter_map(|((consumer, topic), stand)| {
            let stood_for = stand.seen.duration_since(stand.since);
            let (topic, messages) = (topic.clone(), stand.messages);
            (stood_for >= CONSUMER_STUCK_AFTER).then_some(Stalled { consumer, topic, messages, stood_for })
        });
        stalled.collect()
    }

    /// Whether the topics answer; `None` if unknown.
    pub(super) fn answers(&self) -> Option<bool> {
        if self.away().is_some() { Some(false) } else { self.has_answered.then_some(true) }
    }

    /// The last error, if the topics do not answer.
    pub(super) fn away(&self) -> Option<&str> {
        (self.failed.0 >= TOPICS_AWAY_AFTER).then_some(&*self.failed.1)
    }

    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Drop for TopicsLook {
    fn drop(&mut self) {
        if let Some(task) = &self.under_way {
            task.abort();
        }
    }
}

async fn look(topics: &Topics, consumers: &[(&'static str, String)], is_whole: bool) -> Looked {
    let list = match timeout(TOPICS_TIME_MAX, topics.list()).await {
        Ok(Ok(list)) => list,
        Ok(Err(error)) => return Looked::Silent(error.to_string()),
        Err(_) => return Looked::Silent(format!("no answer in {} s", TOPICS_TIME_MAX.as_secs())),
    };
    if !is_whole {
        return Looked::Answered { seen: None, took: Duration::ZERO };
    }
    let began = Instant::now();
    let seen = timeout(TOPICS_TIME_MAX, look_at(topics, list, consumers)).await;
    let seen = seen.ok().and_then(Result::ok).map(|seen| (Instant::now(), seen));
    Looked::Answered { seen, took: began.elapsed() }
}

async fn look_at(
    topics: &Topics,
    list: Vec<TopicSpec>,
    consumers: &[(&'static str, String)],
) -> topics::Result<TopicsSeen> {
    let mut seen = TopicsSeen::default();
    for topic in list.into_iter().take(TOPICS_MAX) {
        let ends = topics.describe(&topic.name).await?.partitions;
        seen.ends.insert(topic.name, ends.iter().map(|partition| partition.end).sum());
    }
    for (consumer, topic) in consumers {
        let lags = topics.lag(consumer, topic).await?;
        let messages = lags.iter().map(|lag| lag.messages).sum();
        seen.lags.insert((consumer, topic.clone()), messages);
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use clock::Clock;

    use super::*;

    #[test]
    fn topics_are_away_after_two_looks_that_failed_and_not_because_one_says_little() {
        let (mut topics, now) = (TopicsLook::default(), Moment::now(&Clock::system()));
        assert_eq!(topics.answers(), None, "nobody has looked yet");
        let mut note = |looked| {
            topics.note(looked, now);
            let waits = topics.due.map(|due| due.duration_since(now.instant));
            (topics.answers(), topics.away().map(str::to_owned), waits)
        };
        let silent = || Looked::Silent("timed out".to_owned());
        let little = || Looked::Answered { seen: None, took: Duration::from_secs(1) };
        assert_eq!(note(silent()), (None, None, Some(2 * SAMPLE_EVERY)));
        assert_eq!(note(silent()), (Some(false), Some("timed out".to_owned()), Some(LOOK_EVERY)));
        assert_eq!(note(little()), (Some(true), None, Some(LOOK_EVERY)));
        assert_eq!(note(silent()).0, Some(true), "one look may fail");
        let whole = topics.whole_due.map(|due| due.duration_since(now.instant));
        assert_eq!(whole, Some(REST * Duration::from_secs(1)), "what takes long is asked seldom");
    }

    #[test]
    fn a_consumer_is_stuck_that_has_messages_before_it_and_reads_none() {
        let (mut topics, began) = (TopicsLook::default(), Instant::now());
        let mut at = |s, end, lag| {
            let seen = TopicsSeen {
                ends: BTreeMap::from([("offers".to_owned(), end)]),
                lags: BTreeMap::from([(("prices", "offers".to_owned()), lag)]),
            };
            topics.stand(began + Duration::from_secs(s), &seen);
            topics.stalled().into_iter().map(|stalled| stalled.messages).collect::<Vec<_>>()
        };
        let long = CONSUMER_STUCK_AFTER.as_secs();
        assert!(at(0, 100, 40).is_empty());
        assert!(at(long, 120, 59).is_empty(), "it has read one");
        assert!(at(2 * long - 1, 130, 69).is_empty());
        assert_eq!(at(2 * long, 140, 79), [79], "others write, and it reads none");
        assert!(at(3 * long, 140, 0).is_empty());
        assert!(at(4 * long, 150, 10).is_empty(), "these came just now");
    }
}
