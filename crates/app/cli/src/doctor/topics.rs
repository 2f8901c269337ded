//! Checks topics: whether they can be reached, whether they match the configuration, and whether
//! consumers keep up with retention.

use stages::limits::EVENTS_TOPIC;
use store::{Store, StoreOptions, StoreUrl};
use topics::{Description, ReadLimit, Topics};

use super::closed::Closed;
use super::finding::{Area, Finding};
use super::limits::RETENTION_PART;
use super::process::Process;
use crate::remote::said;
use crate::topic_server::TopicServer;
use node::config::Config;
use node::parts::{open_topics, schema};

struct Wanted<'c> {
    name: &'c str,
    partitions: u32,
    /// The configuration key of the number of partitions.
    key: &'static str,
}

fn wanted(config: &Config) -> Vec<Wanted<'_>> {
    let offers = (config.offers.topic_partitions, "offers.topic_partitions");
    let moderation = (config.moderation.topic_partitions, "moderation.topic_partitions");
    let feeds = (config.feeds.topic_partitions, "feeds.topic_partitions");
    let tasks = (config.tasks.topic_partitions, "tasks.topic_partitions");
    [
        (&*config.offers.topic, offers),
        (EVENTS_TOPIC, offers),
        (&config.moderation.topic, moderation),
        (&config.moderation.dead_letter_topic, moderation),
        (&config.feeds.offers_topic, feeds),
        (&config.feeds.results_topic, feeds),
        (&config.feeds.dead_letter_topic, feeds),
        (&config.tasks.topic, tasks),
    ]
    .map(|(name, (partitions, key))| Wanted { name, partitions, key })
    .into()
}

/// Asks the owner of the topics: Kafka, the store, or the process that has the store open.
pub(super) async fn check(
    config: &Config,
    store: Option<&Store>,
    process: Option<&Process>,
    now_ms: i64,
    closed: &mut Closed,
) -> Vec<Finding> {
    match (store, process) {
        (Some(store), _) => own(config, store, true, now_ms).await,
        (None, _) if config.topics.url.scheme() == "kafka" => match in_memory().await {
            Ok(memory) => own(config, &memory, false, now_ms).await,
            Err(error) => vec![Finding::failed(Area::Topics, &error.into(), "")],
        },
        (None, Some(process)) => match TopicServer::over(process.calls()).list().await {
            Ok(topics) => judge(config, &topics),
            Err(error) if closed.keeps(&error, &[Area::Topics]) => Vec::new(),
            Err(error) => {
                vec![Finding::failed(Area::Topics, &said(&error), "look at the log of the process")]
            }
        },
        // The store is missing, or its failure is already reported.
        (None, None) => Vec::new(),
    }
}

/// An empty store; topics in Kafka need no data in it.
async fn in_memory() -> store::Result<Store> {
    Store::open(&StoreUrl::Memory, schema()?, &StoreOptions::default()).await
}

async fn own(config: &Config, store: &Store, has_positions: bool, now_ms: i64) -> Vec<Finding> {
    let topics = match open_topics(config, store).await {
        Ok(topics) => topics,
        Err(error) => {
            return vec![Finding::failed(Area::Topics, &error, "check topics.url and [kafka]")];
        }
    };
    let mut found = match described(&topics).await {
        Ok(all) => {
            let mut found = judge(config, &all);
            if has_positions {
                for topic in &all {
                    found.extend(behind(&topics, topic, now_ms).await);
                }
            }
            found
        }
        Err(error) => {
            let hint = error.hint().unwrap_or("check topics.url and [kafka]");
            vec![Finding::error(Area::Topics, error.to_string(), hint)]
        }
    };
    if let Err(error) = topics.close().await {
        found.push(Finding::warning(Area::Topics, error.to_string(), "try again"));
    }
    found
}

async fn described(topics: &Topics) -> topics::Result<Vec<Description>> {
    let mut all = Vec::new();
    for spec in topics.list().await? {
        all.push(topics.describe(&spec.name).await?);
    }
    Ok(all)
}

/// Compares the topics with the configuration.
fn judge(config: &Config, topics: &[Description]) -> Vec<Finding> {
    let mut found = Vec::new();
    let wanted = wanted(config);
    let missing: Vec<&str> = wanted
        .iter()
        .filter(|wanted| topics.iter().all(|topic| topic.spec.name != wanted.name))
        .map(|wanted| wanted.name)
        .collect();
    for Wanted { name, partitions, key } in &wanted {
        let there = topics.iter().find(|topic| topic.spec.name == *name);
        if let Some(there) = there.filter(|topic| topic.spec.partitions != *partitions) {
            let has = there.spec.partitions;
            found.push(Finding::warning(
                Area::Topics,
                format!(
                    "topic {name} has {has} partitions, {key} says {partitions}: the topic keeps its own"
                ),
                format!("set {key} = {has}, or name a new topic"),
            ));
        }
    }
    if !missing.is_empty() {
        let what = format!("not there yet: {}; `torg serve` makes them", missing.join(", "));
        found.push(Finding::note(Area::Topics, what, ""));
    }
    if found.is_empty() {
        found
            .push(Finding::ok(Area::Topics, format!("all {} topics are there, as configured", wanted.len())));
    }
    found
}

/// Consumers with unread messages that retention has removed or will remove soon.
async fn behind(topics: &Topics, topic: &Description, now_ms: i64) -> Vec<Finding> {
    let name = &topic.spec.name;
    let mut found = Vec::new();
    let Ok(consumers) = topics.consumers(name).await else { return found };
    for consumer in consumers {
        let Ok(lags) = topics.lag(&consumer, name).await else { continue };
        for lag in lags.iter().filter(|lag| lag.messages > 0) {
            let first = topic.partitions.iter().find(|info| info.partition == lag.partition);
            let lost = first.is_some_and(|info| lag.offset > 0 && lag.offset < info.first);
            let age = match topics.read(name, lag.partition, lag.offset, ReadLimit::messages(1)).await {
                Ok(page) => page.messages.first().map(|oldest| now_ms - oldest.message.time),
                Err(_) => None,
            };
            let kept = topic.spec.retention.time.map(|time| time.as_millis() as i64);
            let late = Late { consumer: &consumer, topic: name, partition: lag.partition, lost, age, kept };
            found.extend(late.judge());
        }
    }
    found
}

/// The lag of a consumer in one partition.
struct Late<'t> {
    consumer: &'t str,
    topic: &'t str,
    partition: u32,
    /// Whether retention removed messages before the consumer read them.
    lost: bool,
    /// The age of the oldest unread message, in milliseconds.
    age: Option<i64>,
    /// The retention time, in milliseconds.
    kept: Option<i64>,
}

impl Late<'_> {
    fn judge(&self) -> Option<Finding> {
        let Late { consumer, topic, partition, .. } = self;
        let remedy =
            "see why it does not keep up, and keep messages longer with `torg topic create` of the same name";
        if self.lost {
            let what = format!(
                "messages of topic {topic}, partition {partition}, were removed before {consumer} read them"
            );
            return Some(Finding::error(Area::Topics, what, remedy));
        }
        let (age, kept) = (self.age?, self.kept?);
        (age > kept / RETENTION_PART).then(|| {
            let what = format!(
                "{consumer} has not read messages of topic {topic}, partition {partition}, for {} s; they are kept for {} s",
                age / 1000,
                kept / 1000
            );
            Finding::warning(Area::Topics, what, remedy)
        })
    }
}

#[cfg(test)]
mod tests {
    use topics::TopicSpec;

    use super::super::finding::Severity;
    use super::*;

    fn there(name: &str, partitions: u32) -> Description {
        Description { spec: TopicSpec::new(name, partitions), partitions: Vec::new() }
    }

    #[test]
    fn topics_that_are_missing_or_have_other_partitions_are_told() {
        let config = Config::default();
        let mut topics: Vec<Description> =
            wanted(&config).iter().map(|wanted| there(wanted.name, wanted.partitions)).collect();
        assert_eq!(judge(&config, &topics).len(), 1);
        assert_eq!(judge(&config, &topics)[0].severity, Severity::Ok);
        topics[0].spec.partitions = 3;
        let told = judge(&config, &topics);
        assert!(told.len() == 1 && told[0].severity == Severity::Warning, "{told:?}");
        assert!(told[0].what.contains("topic offers has 3 partitions"), "{told:?}");
        assert!(told[0].remedy.contains("offers.topic_partitions = 3"), "{told:?}");
        topics.remove(0);
        let told = judge(&config, &topics);
        assert!(told[0].severity == Severity::Note && told[0].what.contains("offers;"), "{told:?}");
    }

    #[test]
    fn a_consumer_is_late_when_half_of_the_retention_is_over_and_too_late_when_messages_are_gone() {
        let late = |lost, age, kept| Late { consumer: "c", topic: "t", partition: 1, lost, age, kept };
        let severity = |late: Late<'_>| late.judge().map(|finding| finding.severity);
        assert_eq!(severity(late(false, Some(50), Some(100))), None);
        assert_eq!(severity(late(false, Some(51), Some(100))), Some(Severity::Warning));
        assert_eq!(severity(late(false, Some(51), None)), None);
        assert_eq!(severity(late(true, None, None)), Some(Severity::Error));
    }
}
