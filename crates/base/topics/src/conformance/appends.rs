use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Bed, CaseResult, NOW, TOPIC, create, message, messages, read_all, text, texts};
use crate::limits::{
    APPEND_BYTES_MAX, APPEND_MESSAGES_MAX, HEADER_NAME_BYTES_MAX, HEADERS_MAX, MESSAGE_BYTES_MAX,
};
use crate::{Error, Message, Topics, partition_of};

pub(super) async fn messages_come_back_whole_and_in_order(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    let sent: Vec<Message> = (0..50u8)
        .map(|n| {
            let message = Message::new(vec![n, 0, 255], vec![n; usize::from(n)], NOW + i64::from(n));
            message.header("kind", "first").header("", vec![0, n]).header("kind", "last")
        })
        .collect();
    bed.topics.append(TOPIC, sent.clone()).await?;
    let read = read_all(&bed.topics, 0, 0).await?;
    assert_eq!(read.iter().map(|d| d.offset).collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
    assert_eq!(read.into_iter().map(|d| d.message).collect::<Vec<_>>(), sent);
    assert_eq!(sent[0].header_value("kind"), Some(&Bytes::from("last")));
    Ok(())
}

pub(super) async fn a_key_decides_the_partition_and_an_explicit_one_wins(bed: Bed) -> CaseResult {
    create(&bed.topics, 5).await?;
    let sent: Vec<Message> = (0..40).map(|n| message(&format!("key-{n}"), n)).collect();
    let ids = bed.topics.append(TOPIC, sent.clone()).await?;
    for (message, place) in sent.iter().zip(&ids) {
        assert_eq!(place.partition, partition_of(&message.key, 5));
    }
    // These must never change: stored data depends on them.
    assert_eq!(
        ["", "a", "offer-1", "Москва"].map(|key| partition_of(key.as_bytes(), 1000)),
        [138, 719, 576, 729]
    );
    for partition in 0..5 {
        let ids = bed.topics.append_to(TOPIC, partition, vec![message("key-0", "explicit")]).await?;
        assert_eq!(ids[0].partition, partition);
        let read = read_all(&bed.other, partition, 0).await?;
        assert_eq!(read.last().map(|d| text(&d.message)), Some("explicit"));
    }
    Ok(())
}

pub(super) async fn offsets_are_acknowledged_in_the_order_of_the_call(bed: Bed) -> CaseResult {
    create(&bed.topics, 3).await?;
    let sent: Vec<Message> = (0..300).map(|n| message(&format!("key-{}", n % 7), n)).collect();
    let mut ids = Vec::new();
    for part in sent.chunks(70) {
        ids.extend(bed.topics.append(TOPIC, part.to_vec()).await?);
    }
    let mut next = BTreeMap::new();
    for (message, place) in sent.iter().zip(&ids) {
        let next = next.entry(place.partition).or_insert(0);
        assert_eq!(place.offset, *next, "of {}", text(message));
        *next += 1;
    }
    for (partition, end) in next {
        let info = &bed.other.describe(TOPIC).await?.partitions[partition as usize];
        assert_eq!((info.partition, info.first, info.end), (partition, 0, end));
        assert!(info.bytes.is_none_or(|bytes| bytes > 0));
    }
    Ok(())
}

/// Appends numbered messages of some keys, a few at a time.
async fn append_numbered(topics: Topics, keys: Vec<String>, count: usize) -> crate::Result<()> {
    for n in 0..count {
        let messages = keys.iter().map(|key| message(key, n)).collect();
        topics.append(TOPIC, messages).await?;
    }
    Ok(())
}

/// Each key has the numbers up to `count`, in order, once.
async fn check_numbered(bed: &Bed, partitions: u32, keys: usize, count: usize) -> CaseResult {
    let mut by_key: BTreeMap<Bytes, Vec<String>> = BTreeMap::new();
    for partition in 0..partitions {
        for (at, delivered) in read_all(&bed.topics, partition, 0).await?.into_iter().enumerate() {
            assert_eq!(delivered.offset, at as i64, "no gaps");
            assert_eq!(partition_of(&delivered.message.key, partitions), partition);
            let text = text(&delivered.message).to_owned();
            by_key.entry(delivered.message.key).or_default().push(text);
        }
    }
    assert_eq!(by_key.len(), keys);
    let expected: Vec<String> = (0..count).map(|n| n.to_string()).collect();
    for (key, numbers) in by_key {
        assert_eq!(numbers, expected, "of {key:?}");
    }
    Ok(())
}

async fn append_from(handles: Vec<Topics>, count: usize) -> CaseResult {
    let tasks: Vec<_> = handles
        .into_iter()
        .enumerate()
        .map(|(n, topics)| {
            let keys = vec![format!("{n}-a"), format!("{n}-b"), format!("{n}-c")];
            tokio::spawn(append_numbered(topics, keys, count))
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

pub(super) async fn concurrent_appenders_lose_nothing_and_keep_the_order_of_each_key(bed: Bed) -> CaseResult {
    create(&bed.topics, 4).await?;
    append_from(vec![bed.topics.clone(); 16], 25).await?;
    check_numbered(&bed, 4, 48, 25).await
}

pub(super) async fn two_processes_append_to_one_topic(bed: Bed) -> CaseResult {
    create(&bed.topics, 2).await?;
    let handles = [vec![bed.topics.clone(); 4], vec![bed.other.clone(); 4]].concat();
    append_from(handles, 25).await?;
    check_numbered(&bed, 2, 24, 25).await
}

pub(super) async fn an_append_of_nothing_is_fine(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    assert!(bed.topics.append(TOPIC, Vec::new()).await?.is_empty());
    assert_eq!(bed.topics.describe(TOPIC).await?.partitions[0].end, 0);
    Ok(())
}

pub(super) async fn what_is_empty_stays_empty(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    let empty = Message { time: 1, ..Message::default() };
    bed.topics.append(TOPIC, vec![empty.clone(), empty.clone().header("", "")]).await?;
    let read = read_all(&bed.topics, 0, 0).await?;
    assert_eq!(read[0].message, empty);
    assert_eq!(read[1].message, empty.header("", ""));
    Ok(())
}

pub(super) async fn a_message_of_the_largest_size_is_kept(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    // Bytes that no compression makes smaller.
    let noise =
        |n: usize| (0..n).map(|i| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes()) as u8).collect::<Vec<_>>();
    let name = "n".repeat(HEADER_NAME_BYTES_MAX);
    let mut message = Message::new(noise(1_000), Vec::new(), NOW);
    for _ in 0..HEADERS_MAX {
        message = message.header(name.clone(), noise(10));
    }
    message.payload = noise(MESSAGE_BYTES_MAX - message.bytes()).into();
    assert_eq!(message.bytes(), MESSAGE_BYTES_MAX);
    bed.topics.append(TOPIC, vec![message.clone(), message.clone()]).await?;
    let read = read_all(&bed.other, 0, 0).await?;
    assert_eq!(read.len(), 2);
    assert!(read.iter().all(|delivered| delivered.message == message));
    Ok(())
}

pub(super) async fn what_is_too_large_is_refused(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    let large = |bytes: usize| Message::new("k", vec![0; bytes - 1], NOW);
    let many_headers =
        (0..=HEADERS_MAX).fold(message("k", 0), |message, n| message.header(n.to_string(), ""));
    let long_name = message("k", 0).header("n".repeat(HEADER_NAME_BYTES_MAX + 1), "");
    for refused in [
        vec![message("k", "good"), large(MESSAGE_BYTES_MAX + 1)],
        vec![message("k", "good"), many_headers],
        vec![message("k", "good"), long_name],
        messages("k", 0..APPEND_MESSAGES_MAX + 1),
        vec![large(MESSAGE_BYTES_MAX); APPEND_BYTES_MAX / MESSAGE_BYTES_MAX + 1],
    ] {
        let error = bed.topics.append(TOPIC, refused).await.expect_err("too large");
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }
    assert_eq!(bed.topics.describe(TOPIC).await?.partitions[0].end, 0, "nothing of them is there");
    bed.topics.append(TOPIC, messages("k", 0..APPEND_MESSAGES_MAX)).await?;
    let read = read_all(&bed.topics, 0, 0).await?;
    assert_eq!(texts(&read), (0..APPEND_MESSAGES_MAX).map(|n| n.to_string()).collect::<Vec<_>>());
    Ok(())
}

pub(super) async fn what_cannot_be_kept_is_refused(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    for refused in [Message::new("k", "p", -1), Message::default(), message("k", 0).header("a\0b", "")] {
        let error = bed.topics.append(TOPIC, vec![refused]).await.expect_err("cannot be kept");
        assert!(matches!(error, Error::BadMessage { .. }), "{error}");
    }
    Ok(())
}
