use std::time::Duration;

use super::{Bed, CaseResult, NOW, TOPIC, create, messages, read_all, texts};
use crate::{Error, Message, ReadLimit, Retention, TopicSpec, Topics};

const DAY_MS: i64 = 24 * 3600 * 1000;

async fn create_for_a_day(topics: &Topics, partitions: u32) -> crate::Result<()> {
    let day = Retention::of_time(Duration::from_millis(DAY_MS.unsigned_abs()));
    topics.create(&TopicSpec::new(TOPIC, partitions).retention(day)).await
}

fn aged(numbers: std::ops::Range<i64>, time: i64) -> Vec<Message> {
    numbers.map(|n| Message::new("k", n.to_string(), time)).collect()
}

pub(super) async fn old_messages_are_trimmed_from_the_front(bed: Bed) -> CaseResult {
    create_for_a_day(&bed.topics, 2).await?;
    bed.topics.append_to(TOPIC, 0, aged(0..5, NOW - DAY_MS - 1)).await?;
    bed.topics.append_to(TOPIC, 0, aged(5..8, NOW - DAY_MS)).await?;
    bed.topics.append_to(TOPIC, 1, aged(0..2, NOW)).await?;
    assert_eq!(read_all(&bed.topics, 0, 0).await?.len(), 8);

    assert_eq!(bed.topics.trim(TOPIC, NOW).await?.messages, 5);
    let description = bed.other.describe(TOPIC).await?;
    let bounds: Vec<_> = description.partitions.iter().map(|p| (p.first, p.end)).collect();
    assert_eq!(bounds, [(5, 8), (0, 2)]);
    for topics in [&bed.topics, &bed.other] {
        let answer = topics.read(TOPIC, 0, 4, ReadLimit::default()).await;
        assert!(
            matches!(answer, Err(Error::OffsetOutOfRange { offset: 4, first: 5, end: 8, .. })),
            "{answer:?}"
        );
        assert_eq!(texts(&read_all(topics, 0, 5).await?), ["5", "6", "7"]);
        assert_eq!(topics.offset_at(TOPIC, 0, 0).await?, 5);
    }
    assert_eq!(bed.topics.lag("new", TOPIC).await?[0].messages, 3, "what is gone is not behind");
    assert_eq!(bed.other.trim(TOPIC, NOW).await?.messages, 0, "nothing is left to do");
    Ok(())
}

pub(super) async fn offsets_go_on_after_everything_was_trimmed(bed: Bed) -> CaseResult {
    create_for_a_day(&bed.topics, 1).await?;
    bed.topics.append(TOPIC, aged(0..3, NOW)).await?;
    assert_eq!(bed.topics.trim(TOPIC, NOW + 2 * DAY_MS).await?.messages, 3);
    let info = bed.other.describe(TOPIC).await?.partitions[0];
    assert_eq!((info.first, info.end, info.bytes.unwrap_or(0)), (3, 3, 0));
    assert!(bed.other.read(TOPIC, 0, 3, ReadLimit::default()).await?.messages.is_empty());
    assert_eq!(bed.other.append(TOPIC, aged(3..4, NOW)).await?[0].offset, 3);
    assert_eq!(bed.topics.append(TOPIC, aged(4..5, NOW)).await?[0].offset, 4);
    assert_eq!(texts(&read_all(&bed.topics, 0, 3).await?), ["3", "4"]);
    Ok(())
}

pub(super) async fn without_a_retention_nothing_is_trimmed(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    bed.topics.append(TOPIC, messages("k", 0..3)).await?;
    assert_eq!(bed.topics.trim(TOPIC, i64::MAX).await?.messages, 0);
    assert_eq!(read_all(&bed.topics, 0, 0).await?.len(), 3);
    Ok(())
}
