use super::{COUNTS, CaseResult, OFFERS, applied, refused};
use crate::limits::ADD_MAX;
use crate::{Batch, Error, Read, Store};

pub(super) async fn adds_sum_up_over_batches_and_callers(store: Store) -> CaseResult {
    let callers = (1..=20i64).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..10 {
                let mut batch = Batch::new();
                batch
                    .add(COUNTS.key((1, "hot")), n)
                    .add(COUNTS.key((1, "hot")), 1)
                    .add(COUNTS.key((2, "other")), -1);
                applied(&store, batch).await?;
            }
            Ok::<_, Error>(())
        })
    });
    for caller in futures::future::join_all(callers).await {
        caller??;
    }
    assert_eq!(store.amount(&COUNTS.key((1, "hot"))).await?, 10 * (20 * 21 / 2) + 200);
    assert_eq!(store.amount(&COUNTS.key((2, "other"))).await?, -200);
    Ok(())
}

pub(super) async fn a_counter_that_was_never_touched_reads_as_zero(store: Store) -> CaseResult {
    assert_eq!(store.amount(&COUNTS.key((1, "nothing"))).await?, 0);
    Ok(())
}

pub(super) async fn a_counter_may_go_below_zero(store: Store) -> CaseResult {
    let key = COUNTS.key((1, "debt"));
    for delta in [-5, 3, -ADD_MAX] {
        let mut batch = Batch::new();
        batch.add(key.clone(), delta);
        applied(&store, batch).await?;
    }
    assert_eq!(store.amount(&key).await?, -2 - ADD_MAX);
    Ok(())
}

pub(super) async fn adds_of_a_refused_batch_do_not_count(store: Store) -> CaseResult {
    let (offer, count) = (OFFERS.key((1, "a")), COUNTS.key((1, "n")));
    let mut batch = Batch::new();
    batch.check(offer, 9).add(count.clone(), 1);
    refused(&store, batch).await?;
    assert_eq!(store.amount(&count).await?, 0);
    Ok(())
}

pub(super) async fn an_overflow_is_refused_and_its_neighbours_are_not(store: Store) -> CaseResult {
    let (full, other) = (COUNTS.key((1, "full")), COUNTS.key((1, "other")));
    // 1023 steps of 2^53 fit into 63 bits, 1024 do not.
    for _ in 0..3 {
        let mut batch = Batch::new();
        (0..341).for_each(|_| _ = batch.add(full.clone(), ADD_MAX));
        applied(&store, batch).await?;
    }
    let commits = (0..8).map(|n| {
        let mut batch = Batch::new();
        batch.add(other.clone(), 1).add(full.clone(), if n == 3 { ADD_MAX } else { 0 });
        let store = store.clone();
        tokio::spawn(async move { store.commit(batch).await })
    });
    let mut overflows = 0;
    for commit in futures::future::join_all(commits).await {
        match commit? {
            Ok(outcome) => assert!(outcome.is_applied()),
            Err(Error::CounterOverflow { key }) => {
                assert!(key.contains("full"), "the error must name the counter, not {key}");
                overflows += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    assert_eq!((overflows, store.amount(&other).await?), (1, 7));
    assert_eq!(store.amount(&full).await?, 1023 * ADD_MAX);
    Ok(())
}
