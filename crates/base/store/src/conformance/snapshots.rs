use super::{COUNTS, CaseResult, LISTS, OFFERS, QUEUE, all_rows, applied};
use crate::{Batch, Error, Read, Store};

pub(super) async fn a_snapshot_does_not_see_later_batches(store: Store) -> CaseResult {
    let (offer, count) = (OFFERS.key((1, "a")), COUNTS.key((1, "n")));
    let mut batch = Batch::new();
    batch.put(offer.clone(), 1, "before").add(count.clone(), 5);
    applied(&store, batch).await?;
    let before = store.snapshot().await?;
    let mut batch = Batch::new();
    batch.put(offer.clone(), 2, "after").put(OFFERS.key((1, "b")), 1, "").add(count.clone(), 1);
    batch.set(QUEUE.key((1, 1, &b"q"[..])), "");
    applied(&store, batch).await?;
    let row = before.get_one(&offer).await?.ok_or("missing")?;
    assert_eq!((row.version, &*row.value, before.amount(&count).await?), (1, &b"before"[..], 5));
    assert_eq!(before.scan(&OFFERS.scan()).await?.rows.len(), 1);
    assert!(before.scan(&QUEUE.scan()).await?.rows.is_empty());
    let after = store.snapshot().await?;
    assert_eq!((after.scan(&OFFERS.scan()).await?.rows.len(), after.amount(&count).await?), (2, 6));
    Ok(())
}

pub(super) async fn a_snapshot_sees_each_batch_whole(store: Store) -> CaseResult {
    let writers = (0..4u32).map(|shard| {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..50 {
                let mut batch = Batch::new();
                batch.set(LISTS.key((shard, n, "row", &b""[..])), "").add(COUNTS.key((shard, "rows")), 1);
                batch.put(OFFERS.key((shard, "last")), n as u64 + 1, vec![0; 2000]);
                applied(&store, batch).await?;
            }
            Ok::<_, Error>(())
        })
    });
    let writers = tokio::spawn(futures::future::join_all(writers.collect::<Vec<_>>()));
    while !writers.is_finished() {
        let view = store.snapshot().await?;
        for shard in 0..4u32 {
            let count = view.amount(&COUNTS.key((shard, "rows"))).await?;
            let rows = all_rows(&view, LISTS.prefix((shard,))).await?.len() as i64;
            let last = view.get_one(&OFFERS.key((shard, "last"))).await?.map_or(0, |row| row.version) as i64;
            assert_eq!((count, count), (rows, last), "the three tables must be of one moment");
        }
        tokio::task::yield_now().await;
    }
    for writer in writers.await? {
        writer??;
    }
    Ok(())
}

pub(super) async fn a_drifted_counter_is_repaired_while_writes_go_on(store: Store) -> CaseResult {
    let count = COUNTS.key((1, "rows"));
    let mut batch = Batch::new();
    batch.add(count.clone(), 1234);
    applied(&store, batch).await?;
    let writer = {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..200 {
                let mut batch = Batch::new();
                batch.set(LISTS.key((1, n, "row", &b""[..])), "").add(COUNTS.key((1, "rows")), 1);
                applied(&store, batch).await?;
            }
            Ok::<_, Error>(())
        })
    };
    let view = store.snapshot().await?;
    let real = all_rows(&view, LISTS.prefix((1,)).limit(7)).await?.len() as i64;
    let drift = real - view.amount(&count).await?;
    let mut repair = Batch::new();
    repair.add(count.clone(), drift);
    applied(&store, repair).await?;
    writer.await??;
    assert_eq!((drift, store.amount(&count).await?), (-1234, 200));
    Ok(())
}
