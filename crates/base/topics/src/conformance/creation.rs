use std::time::Duration;

use super::{Bed, CaseResult, NOW, TOPIC, create, message};
use crate::limits::{PARTITIONS_MAX, TOPIC_NAME_BYTES_MAX};
use crate::{Error, ReadLimit, Result, Retention, TopicSpec};

/// How often another client looks whether it sees a change,
const LOOKS_MAX: u32 = 600;
/// and the time from one look to the next.
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(super) async fn creating_a_topic_again_changes_nothing(bed: Bed) -> CaseResult {
    create(&bed.topics, 2).await?;
    bed.topics.append_to(TOPIC, 1, vec![message("k", "kept")]).await?;
    create(&bed.topics, 2).await?;
    create(&bed.other, 2).await?;
    let description = bed.other.describe(TOPIC).await?;
    assert_eq!(description.spec, TopicSpec::new(TOPIC, 2));
    assert_eq!(description.partitions.iter().map(|p| p.end).collect::<Vec<_>>(), [0, 1]);
    Ok(())
}

pub(super) async fn another_number_of_partitions_is_refused(bed: Bed) -> CaseResult {
    create(&bed.topics, 2).await?;
    for topics in [&bed.topics, &bed.other] {
        let error = create(topics, 3).await.expect_err("the number is fixed");
        assert!(matches!(error, Error::PartitionsDiffer { existing: 2, wanted: 3, .. }), "{error}");
        assert!(error.hint().is_some());
        assert_eq!(topics.partition_count(TOPIC).await?, 2);
    }
    Ok(())
}

pub(super) async fn the_retention_can_be_changed(bed: Bed) -> CaseResult {
    for retention in [
        Retention::of_time(Duration::from_secs(3600)),
        Retention { time: Some(Duration::from_millis(1_500)), bytes: Some(1 << 20) },
        Retention::of_bytes(123_456_789),
        Retention::FOREVER,
    ] {
        bed.topics.create(&TopicSpec::new(TOPIC, 1).retention(retention)).await?;
        // The brokers of Kafka hear of it one after the other.
        let mut looks = 0;
        while bed.other.describe(TOPIC).await?.spec.retention != retention {
            looks += 1;
            assert!(looks < LOOKS_MAX, "another client does not see {retention:?}");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    Ok(())
}

pub(super) async fn many_creators_of_one_topic_agree(bed: Bed) -> CaseResult {
    let creators = (0..6).map(|n| {
        let topics = if n % 2 == 0 { bed.topics.clone() } else { bed.other.clone() };
        tokio::spawn(async move { create(&topics, 1 + n / 3).await })
    });
    let mut made = 0;
    for creator in creators.collect::<Vec<_>>() {
        match creator.await? {
            Ok(()) => made += 1,
            Err(error) => assert!(matches!(error, Error::PartitionsDiffer { .. }), "{error}"),
        }
    }
    assert_eq!(made, 3, "those who wanted the number that came first");
    Ok(())
}

pub(super) async fn topics_are_listed_by_name(bed: Bed) -> CaseResult {
    assert!(bed.topics.list().await?.is_empty());
    let specs = [("b.second", 1), ("a.first", 3), ("c-third_3", 2)].map(|(name, n)| TopicSpec::new(name, n));
    for spec in &specs {
        bed.topics.create(spec).await?;
    }
    let [second, first, third] = specs;
    assert_eq!(bed.other.list().await?, [first, second, third]);
    Ok(())
}

pub(super) async fn bad_names_and_numbers_are_refused(bed: Bed) -> CaseResult {
    let long = "x".repeat(TOPIC_NAME_BYTES_MAX + 1);
    for name in ["", ".", "..", "a b", "a/b", "ä", "a\0", "__offsets", long.as_str()] {
        let error = bed.topics.create(&TopicSpec::new(name, 1)).await.expect_err(name);
        assert!(matches!(error, Error::BadName { .. }), "{error}");
        let error = bed.topics.append(name, Vec::new()).await.expect_err(name);
        assert!(matches!(error, Error::BadName { .. }), "{error}");
    }
    for partitions in [0, PARTITIONS_MAX + 1] {
        let error = create(&bed.topics, partitions).await.expect_err("a bad number");
        assert!(matches!(error, Error::BadPartitions { .. }), "{error}");
    }
    create(&bed.topics, 1).await?;
    let error = bed.topics.position("no/name", TOPIC, 0).await.expect_err("a bad name");
    assert!(matches!(error, Error::BadName { .. }), "{error}");
    Ok(())
}

fn error<T>(answer: Result<T>) -> Error {
    answer.err().unwrap_or(Error::Closed)
}

pub(super) async fn an_unknown_topic_is_refused_everywhere(bed: Bed) -> CaseResult {
    let topics = &bed.topics;
    for error in [
        error(topics.describe("nobody").await),
        error(topics.append("nobody", vec![message("k", 0)]).await),
        error(topics.append_to("nobody", 0, vec![message("k", 0)]).await),
        error(topics.read("nobody", 0, 0, ReadLimit::default()).await),
        error(topics.offset_at("nobody", 0, NOW).await),
        error(topics.trim("nobody", NOW).await),
        error(topics.position("group", "nobody", 0).await),
        error(topics.lag("group", "nobody").await),
        error(topics.consumers("nobody").await),
    ] {
        assert!(matches!(&error, Error::UnknownTopic { topic } if topic == "nobody"), "{error}");
    }
    assert!(topics.list().await?.is_empty(), "asking does not create it");
    Ok(())
}

pub(super) async fn an_unknown_partition_is_refused_everywhere(bed: Bed) -> CaseResult {
    create(&bed.topics, 2).await?;
    let topics = &bed.topics;
    for error in [
        topics.append_to(TOPIC, 2, vec![message("k", 0)]).await.map(|_| ()),
        topics.read(TOPIC, 2, 0, ReadLimit::default()).await.map(|_| ()),
        topics.offset_at(TOPIC, 2, NOW).await.map(|_| ()),
        topics.position("group", TOPIC, 2).await.map(|_| ()),
    ] {
        let error = error.expect_err("there are two partitions");
        assert!(matches!(error, Error::UnknownPartition { partition: 2, partitions: 2, .. }), "{error}");
    }
    Ok(())
}
