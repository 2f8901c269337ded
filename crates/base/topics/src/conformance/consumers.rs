use std::collections::BTreeSet;

use store::{Batch, Outcome, Read};

use super::{APPLIED, Bed, CaseResult, TOPIC, create, messages, text};
use crate::{Lag, ReadLimit};

pub(super) async fn a_new_consumer_starts_at_zero(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    let position = bed.topics.position("group", TOPIC, 0).await?;
    assert_eq!((position.offset(), position.is_new()), (0, true));
    assert!(bed.topics.consumers(TOPIC).await?.is_empty(), "asking does not register");
    Ok(())
}

pub(super) async fn an_offset_moves_with_the_batch_that_applies_the_messages(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    let mut position = bed.topics.position("group", TOPIC, 0).await?;
    for offset in [3, 10, 4] {
        let mut batch = Batch::new();
        let key = APPLIED.key((1, offset.to_string()));
        let moved = position.commit_into(batch.put(key.clone(), 1, ""), offset);
        assert_eq!(bed.store.commit(batch).await?, Outcome::Applied);
        position = moved;
        assert!(bed.store.get_one(&key).await?.is_some());
        let stored = bed.other.position("group", TOPIC, 0).await?;
        assert_eq!((stored.offset(), stored.is_new()), (offset, false));
    }
    Ok(())
}

pub(super) async fn a_stale_consumer_applies_nothing(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    let (fast, slow) =
        (bed.topics.position("group", TOPIC, 0).await?, bed.other.position("group", TOPIC, 0).await?);
    let mut batch = Batch::new();
    let _ = fast.commit_into(&mut batch, 5);
    assert_eq!(bed.store.commit(batch).await?, Outcome::Applied);
    let mut batch = Batch::new();
    let key = APPLIED.key((1, "stale"));
    let _ = slow.commit_into(batch.put(key.clone(), 1, ""), 3);
    assert!(matches!(bed.store.commit(batch).await?, Outcome::Conflict(keys) if keys.len() == 1));
    assert!(bed.store.get_one(&key).await?.is_none());
    assert_eq!(bed.topics.position("group", TOPIC, 0).await?.offset(), 5);
    Ok(())
}

/// Consumes a partition to its end, beside others of the same group.
async fn consume(bed: Bed, partition: u32) -> crate::Result<()> {
    loop {
        let position = bed.topics.position("group", TOPIC, partition).await?;
        let page = bed.topics.read(TOPIC, partition, position.offset(), ReadLimit::messages(3)).await?;
        if page.messages.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::new();
        for delivered in &page.messages {
            let key = APPLIED.key((partition, text(&delivered.message)));
            batch.check_absent(key.clone()).put(key, 1, "");
        }
        let _ = position.commit_into(&mut batch, page.next);
        if let Outcome::Conflict(keys) = bed.store.commit(batch).await? {
            assert!(keys.iter().any(|key| key.table().name != APPLIED.def().name), "applied twice: {keys:?}");
        }
    }
}

pub(super) async fn competing_consumers_apply_each_message_once(bed: Bed) -> CaseResult {
    create(&bed.topics, 2).await?;
    for partition in 0..2 {
        bed.topics.append_to(TOPIC, partition, messages("k", 0..40)).await?;
    }
    let consumers: Vec<_> = (0..6).map(|n| tokio::spawn(consume(bed.clone(), n % 2))).collect();
    for consumer in consumers {
        consumer.await??;
    }
    for partition in 0..2 {
        let applied = bed.store.scan(&APPLIED.prefix((partition,))).await?.rows;
        assert_eq!(applied.len(), 40);
        assert_eq!(bed.topics.position("group", TOPIC, partition).await?.offset(), 40);
    }
    Ok(())
}

pub(super) async fn consumers_do_not_touch_each_other(bed: Bed) -> CaseResult {
    create(&bed.topics, 2).await?;
    for (group, partition, offset) in [("a", 0, 1), ("b", 0, 2), ("a", 1, 3)] {
        let mut batch = Batch::new();
        let _ = bed.topics.position(group, TOPIC, partition).await?.commit_into(&mut batch, offset);
        assert_eq!(bed.store.commit(batch).await?, Outcome::Applied);
    }
    for (group, partition, offset) in [("a", 0, 1), ("b", 0, 2), ("a", 1, 3), ("b", 1, 0)] {
        assert_eq!(bed.other.position(group, TOPIC, partition).await?.offset(), offset);
    }
    let both = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
    assert_eq!(bed.other.consumers(TOPIC).await?, both);
    Ok(())
}

pub(super) async fn the_lag_is_told_by_partition(bed: Bed) -> CaseResult {
    create(&bed.topics, 3).await?;
    bed.topics.append_to(TOPIC, 0, messages("k", 0..10)).await?;
    bed.topics.append_to(TOPIC, 2, messages("k", 0..4)).await?;
    let mut batch = Batch::new();
    let _ = bed.topics.position("group", TOPIC, 0).await?.commit_into(&mut batch, 7);
    assert_eq!(bed.store.commit(batch).await?, Outcome::Applied);
    let lag = |partition, offset, end, messages| Lag { partition, offset, end, messages };
    let expected = [lag(0, 7, 10, 3), lag(1, 0, 0, 0), lag(2, 0, 4, 4)];
    assert_eq!(bed.other.lag("group", TOPIC).await?, expected);
    Ok(())
}
