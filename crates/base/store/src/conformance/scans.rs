use super::{CaseResult, LISTS, OFFERS, QUEUE, all_rows, applied};
use crate::limits::{PAGE_BYTES_MAX, VALUE_BYTES_MAX};
use crate::{Batch, Read, Result, Row, Scan, Store};

/// Queue rows (shard, due, "e") for shards 1 to 3 and dues 0 to 9.
async fn thirty_rows(store: &Store) -> Result<()> {
    let mut batch = Batch::new();
    for shard in 1..=3 {
        (0..10).for_each(|due| _ = batch.set(QUEUE.key((shard, due, &b"e"[..])), format!("{shard}.{due}")));
    }
    applied(store, batch).await
}

fn names(rows: &[Row]) -> String {
    rows.iter().map(|row| String::from_utf8_lossy(&row.value)).collect::<Vec<_>>().join(" ")
}

async fn found(store: &Store, scan: Scan) -> Result<String> {
    Ok(names(&all_rows(store, scan).await?))
}

pub(super) async fn rows_come_in_key_order_and_against_it(store: Store) -> CaseResult {
    thirty_rows(&store).await?;
    assert_eq!(found(&store, QUEUE.prefix((2,))).await?, "2.0 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9");
    assert_eq!(
        found(&store, QUEUE.prefix((2,)).descending()).await?,
        "2.9 2.8 2.7 2.6 2.5 2.4 2.3 2.2 2.1 2.0"
    );
    let all = all_rows(&store, QUEUE.scan()).await?;
    let mut against = all_rows(&store, QUEUE.scan().descending()).await?;
    against.reverse();
    assert_eq!((all.len(), &all), (30, &against));
    Ok(())
}

pub(super) async fn bounds_take_in_and_leave_out_whole_prefixes(store: Store) -> CaseResult {
    thirty_rows(&store).await?;
    let bound = |shard: u32, due: i64| QUEUE.bound((shard, due));
    let scan = QUEUE.scan();
    assert_eq!(
        found(&store, scan.clone().from(bound(2, 7)).through(bound(3, 1))).await?,
        "2.7 2.8 2.9 3.0 3.1"
    );
    assert_eq!(found(&store, scan.clone().above(bound(2, 7)).below(bound(3, 1))).await?, "2.8 2.9 3.0");
    assert_eq!(found(&store, scan.clone().above(QUEUE.bound((2,))).through(bound(3, 0))).await?, "3.0");
    assert_eq!(found(&store, scan.clone().from(bound(1, 9)).below(QUEUE.bound((2,)))).await?, "1.9");
    assert_eq!(
        found(&store, scan.clone().above(bound(1, 8)).through(bound(2, 0)).descending()).await?,
        "2.0 1.9"
    );
    assert_eq!(found(&store, QUEUE.prefix((3, 4, &b"e"[..]))).await?, "3.4");
    assert_eq!(found(&store, QUEUE.prefix((3,)).below(bound(3, 2))).await?, "3.0 3.1");
    assert_eq!(all_rows(&store, QUEUE.prefix(())).await?.len(), 30);
    Ok(())
}

pub(super) async fn pages_go_on_where_the_last_one_ended(store: Store) -> CaseResult {
    thirty_rows(&store).await?;
    for descending in [false, true] {
        for limit in [1, 3, 10, 11, 29, 30, 31] {
            let scan = QUEUE.scan().limit(limit);
            let scan = if descending { scan.descending() } else { scan };
            let first = store.scan(&scan).await?;
            assert_eq!(
                (first.rows.len(), first.next.is_some()),
                (limit.min(30), limit < 30 || first.next.is_some())
            );
            let rows = all_rows(&store, scan.clone()).await?;
            assert_eq!(rows.len(), 30, "no row twice, none left out");
            assert!(rows.is_sorted_by(|a, b| if descending { a.key > b.key } else { a.key < b.key }));
        }
    }
    assert!(store.scan(&QUEUE.scan().limit(0)).await?.rows.is_empty());
    Ok(())
}

pub(super) async fn pages_go_on_while_rows_come_and_go(store: Store) -> CaseResult {
    thirty_rows(&store).await?;
    let page = store.scan(&QUEUE.prefix((2,)).limit(4)).await?;
    let next = page.next.ok_or("there must be a next page")?;
    let mut batch = Batch::new();
    batch.delete(next.clone()).delete(QUEUE.key((2, 4, &b"e"[..]))).set(QUEUE.key((2, 5, &b"d"[..])), "2.5d");
    applied(&store, batch).await?;
    assert_eq!(found(&store, QUEUE.prefix((2,)).after(next)).await?, "2.5d 2.5 2.6 2.7 2.8 2.9");
    Ok(())
}

pub(super) async fn a_page_is_limited_in_bytes(store: Store) -> CaseResult {
    let rows = PAGE_BYTES_MAX / VALUE_BYTES_MAX + 4;
    for table in [0, 1] {
        for n in 0..rows {
            let (id, value) = (format!("{n:03}"), vec![n as u8; VALUE_BYTES_MAX]);
            let mut batch = Batch::new();
            match table {
                0 => batch.put(OFFERS.key((1, id)), 1, value),
                _ => batch.set(QUEUE.key((1, n as i64, &b""[..])), value),
            };
            applied(&store, batch).await?;
        }
        let scan = if table == 0 { OFFERS.scan() } else { QUEUE.scan() };
        let page = store.scan(&scan).await?;
        assert!(page.rows.len() < rows && page.next.is_some(), "{} rows in one page", page.rows.len());
        assert!(
            page.rows.iter().map(|row| row.value.len()).sum::<usize>() < PAGE_BYTES_MAX + VALUE_BYTES_MAX
        );
        assert_eq!(all_rows(&store, scan.clone()).await?.len(), rows);
        assert_eq!(all_rows(&store, scan.descending()).await?.len(), rows);
    }
    Ok(())
}

pub(super) async fn tables_do_not_run_into_each_other(store: Store) -> CaseResult {
    let mut batch = Batch::new();
    batch.set(QUEUE.key((u32::MAX, i64::MAX, &[0xFF; 8][..])), "q");
    batch.set(LISTS.key((u32::MAX, i64::MAX, "\u{10FFFF}", &[0xFF; 8][..])), "l");
    batch.put(OFFERS.key((0, "")), 1, "o");
    applied(&store, batch).await?;
    for (scan, expected) in [(QUEUE.scan(), "q"), (LISTS.scan(), "l"), (OFFERS.scan(), "o")] {
        assert_eq!(found(&store, scan.clone()).await?, expected);
        assert_eq!(found(&store, scan.descending()).await?, expected);
    }
    assert_eq!(found(&store, QUEUE.prefix((u32::MAX,))).await?, "q");
    assert_eq!(found(&store, LISTS.scan().above(LISTS.bound((u32::MAX,)))).await?, "");
    Ok(())
}

pub(super) async fn an_empty_range_is_empty(store: Store) -> CaseResult {
    thirty_rows(&store).await?;
    let bound = |shard: u32, due: i64| QUEUE.bound((shard, due));
    assert_eq!(found(&store, QUEUE.scan().from(bound(2, 5)).below(bound(2, 5))).await?, "");
    assert_eq!(found(&store, QUEUE.scan().from(bound(3, 0)).through(bound(1, 0))).await?, "");
    assert_eq!(found(&store, QUEUE.scan().above(bound(2, 5)).through(bound(2, 5))).await?, "");
    assert_eq!(found(&store, QUEUE.prefix((9,))).await?, "");
    Ok(())
}

pub(super) async fn a_queue_is_drained_from_a_remembered_place(store: Store) -> CaseResult {
    thirty_rows(&store).await?;
    let mut drained = Vec::new();
    let mut cursor = None;
    loop {
        let scan = QUEUE.prefix((1,)).limit(3);
        let page = store.scan(&cursor.clone().map_or(scan.clone(), |key| scan.after(key))).await?;
        let Some(last) = page.rows.last() else { break };
        cursor = Some(last.key.clone());
        let mut batch = Batch::new();
        page.rows.iter().for_each(|row| _ = batch.delete(row.key.clone()));
        applied(&store, batch).await?;
        drained.extend(page.rows);
    }
    assert_eq!(names(&drained), "1.0 1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9");
    assert_eq!(found(&store, QUEUE.prefix((1,))).await?, "");
    assert_eq!(all_rows(&store, QUEUE.scan()).await?.len(), 20);
    Ok(())
}

pub(super) async fn a_page_sees_each_batch_whole(store: Store) -> CaseResult {
    const ROWS: i64 = 500;
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for round in 0..40u8 {
                let mut batch = Batch::new();
                (0..ROWS).for_each(|n| _ = batch.set(QUEUE.key((1, n, &b""[..])), vec![round]));
                applied(&store, batch).await?;
            }
            Ok::<_, crate::Error>(())
        }
    });
    let mut pages = 0;
    while !writer.is_finished() || pages == 0 {
        let rows = store.scan(&QUEUE.scan()).await?.rows;
        assert!(rows.is_empty() || rows.len() == ROWS as usize, "{} rows", rows.len());
        assert!(rows.windows(2).all(|pair| pair[0].value == pair[1].value), "rows of two batches");
        pages += 1;
        tokio::task::yield_now().await;
    }
    Ok(writer.await??)
}
