use std::collections::BTreeSet;

use super::{CaseResult, ENTRIES, LISTS, OFFERS, QUEUE, applied, refused, version};
use crate::{Batch, BatchId, Error, Hint, Read, Store};

pub(super) async fn a_put_row_is_read_back_with_its_version(store: Store) -> CaseResult {
    let keys =
        [OFFERS.key((1, "a")), ENTRIES.key((1, &b"e\0x"[..], "photos")), LISTS.key((1, -5, "n", &b""[..]))];
    let mut batch = Batch::new();
    batch.put(keys[0].clone(), 7, "offer").put(keys[1].clone(), 1, "entry").set(keys[2].clone(), "list");
    applied(&store, batch).await?;
    let absent = OFFERS.key((1, "b"));
    let rows = store.get(&[keys[2].clone(), absent, keys[0].clone(), keys[1].clone()]).await?;
    let seen: Vec<_> = rows.iter().map(|r| r.as_ref().map(|r| (r.version, &*r.value))).collect();
    assert_eq!(seen, [Some((0, &b"list"[..])), None, Some((7, b"offer")), Some((1, b"entry"))]);
    assert_eq!(rows[0].as_ref().map(|r| &r.key), Some(&keys[2]), "rows come in the order of the keys");
    Ok(())
}

pub(super) async fn a_batch_is_applied_as_a_whole_or_not_at_all(store: Store) -> CaseResult {
    let (offer, entry, queue) =
        (OFFERS.key((1, "a")), ENTRIES.key((2, &b"a"[..], "s")), QUEUE.key((3, 10, &b"a"[..])));
    let mut batch = Batch::new();
    batch
        .check(offer.clone(), 4)
        .put(offer.clone(), 5, "x")
        .put(entry.clone(), 1, "y")
        .set(queue.clone(), "z");
    assert_eq!(refused(&store, batch).await?, std::slice::from_ref(&offer));
    assert!(store.get(&[offer, entry, queue]).await?.iter().all(Option::is_none));
    Ok(())
}

pub(super) async fn a_conflict_names_exactly_the_keys_that_failed(store: Store) -> CaseResult {
    let keys: Vec<_> = ["a", "b", "c", "d"].iter().map(|id| OFFERS.key((1, *id))).collect();
    let mut batch = Batch::new();
    batch.put(keys[0].clone(), 1, "").put(keys[1].clone(), 1, "").put(keys[2].clone(), 1, "");
    applied(&store, batch).await?;
    let mut batch = Batch::new();
    batch.check(keys[0].clone(), 1).check(keys[1].clone(), 2).check_absent(keys[2].clone());
    batch.check_absent(keys[3].clone()).put(keys[0].clone(), 2, "");
    let mut named = refused(&store, batch).await?;
    named.sort();
    assert_eq!(named, [keys[1].clone(), keys[2].clone()]);
    Ok(())
}

pub(super) async fn an_absent_row_can_be_demanded_and_only_one_creator_wins(store: Store) -> CaseResult {
    let key = OFFERS.key((1, "new"));
    let creators = (0..32u8).map(|n| {
        let (store, key) = (store.clone(), key.clone());
        tokio::spawn(async move {
            let mut batch = Batch::new();
            batch.check_absent(key.clone()).put(key, 1, vec![n]);
            store.commit(batch).await
        })
    });
    let mut winners = Vec::new();
    for (n, creator) in futures::future::join_all(creators).await.into_iter().enumerate() {
        if creator??.is_applied() {
            winners.push(n as u8);
        }
    }
    assert_eq!(winners.len(), 1);
    let row = store.get_one(&key).await?.ok_or("the row must exist")?;
    assert_eq!(&*row.value, &winners[..]);
    Ok(())
}

pub(super) async fn checks_speak_of_the_state_before_the_batch(store: Store) -> CaseResult {
    let key = ENTRIES.key((1, &b"e"[..], "s"));
    let mut batch = Batch::new();
    batch.put(key.clone(), 1, "").check_absent(key.clone());
    applied(&store, batch).await?;
    assert_eq!(version(&store, &key).await?, 1);
    Ok(())
}

pub(super) async fn the_later_of_two_writes_to_one_row_wins(store: Store) -> CaseResult {
    let (kept, gone) = (OFFERS.key((1, "kept")), OFFERS.key((1, "gone")));
    let mut batch = Batch::new();
    batch.put(kept.clone(), 1, "first").put(gone.clone(), 1, "x");
    batch.delete(kept.clone()).put(kept.clone(), 2, "second").delete(gone.clone());
    applied(&store, batch).await?;
    assert_eq!((version(&store, &kept).await?, version(&store, &gone).await?), (2, 0));
    Ok(())
}

pub(super) async fn deleting_what_is_not_there_is_no_error(store: Store) -> CaseResult {
    let mut batch = Batch::new();
    batch.delete(OFFERS.key((1, "nothing"))).delete(QUEUE.key((1, 1, &b"nothing"[..])));
    applied(&store, batch).await?;
    Ok(())
}

pub(super) async fn a_row_can_be_deleted_and_created_again(store: Store) -> CaseResult {
    for key in [OFFERS.key((1, "again")), ENTRIES.key((1, &b"again"[..], "s"))] {
        for round in 1..=3 {
            let mut create = Batch::new();
            create.check_absent(key.clone()).put(key.clone(), round, round.to_string());
            applied(&store, create).await?;
            assert_eq!(version(&store, &key).await?, round);
            let mut delete = Batch::new();
            delete.check(key.clone(), round).delete(key.clone());
            applied(&store, delete).await?;
            assert_eq!(store.get_one(&key).await?, None);
        }
    }
    Ok(())
}

pub(super) async fn a_check_can_guard_a_row_that_the_batch_does_not_write(store: Store) -> CaseResult {
    let (lease, work) = (ENTRIES.key((1, &b"lease"[..], "")), OFFERS.key((1, "work")));
    let mut batch = Batch::new();
    batch.put(lease.clone(), 3, "owner");
    applied(&store, batch).await?;
    let mut fenced = Batch::new();
    fenced.check(lease.clone(), 3).put(work.clone(), 1, "");
    applied(&store, fenced).await?;
    let mut stale = Batch::new();
    stale.check(lease.clone(), 2).put(work.clone(), 2, "");
    assert_eq!(refused(&store, stale).await?, std::slice::from_ref(&lease));
    assert_eq!((version(&store, &lease).await?, version(&store, &work).await?), (3, 1));
    Ok(())
}

pub(super) async fn an_absence_check_can_guard_a_row_that_the_batch_does_not_write(
    store: Store,
) -> CaseResult {
    let (guard, work) = (ENTRIES.key((1, &b"guard"[..], "")), OFFERS.key((1, "work")));
    let mut batch = Batch::new();
    batch.check_absent(guard.clone()).put(work.clone(), 1, "");
    applied(&store, batch).await?;
    assert_eq!(store.get_one(&guard).await?, None, "a check must leave nothing behind");
    let mut batch = Batch::new();
    batch.put(guard.clone(), 1, "");
    applied(&store, batch).await?;
    let mut batch = Batch::new();
    batch.check_absent(guard.clone()).put(work.clone(), 2, "");
    assert_eq!(refused(&store, batch).await?, std::slice::from_ref(&guard));
    Ok(())
}

pub(super) async fn an_empty_batch_is_applied(store: Store) -> CaseResult {
    applied(&store, Batch::new()).await?;
    Ok(())
}

pub(super) async fn an_empty_value_is_a_value(store: Store) -> CaseResult {
    let keys = [OFFERS.key((1, "")), ENTRIES.key((0, &b""[..], "")), LISTS.key((0, 0, "", &b""[..]))];
    let mut batch = Batch::new();
    batch.put(keys[0].clone(), 1, "").put(keys[1].clone(), 1, "").set(keys[2].clone(), "");
    applied(&store, batch).await?;
    let rows = store.get(&keys).await?;
    assert!(rows.iter().all(|row| row.as_ref().is_some_and(|row| row.value.is_empty())));
    Ok(())
}

pub(super) async fn of_many_racing_updates_each_version_has_one_winner(store: Store) -> CaseResult {
    const CALLERS: usize = 16;
    const UPDATES: u64 = 10;
    let key = OFFERS.key((1, "hot"));
    let callers = (0..CALLERS).map(|_| {
        let (store, key) = (store.clone(), key.clone());
        tokio::spawn(async move {
            let mut mine = Vec::new();
            while mine.len() < UPDATES as usize {
                let seen = version(&store, &key).await?;
                let mut batch = Batch::new();
                batch.check(key.clone(), seen).put(key.clone(), seen + 1, vec![0; 100]);
                if store.commit(batch).await?.is_applied() {
                    assert!(
                        version(&store, &key).await? > seen,
                        "a read after the answer must see the write"
                    );
                    mine.push(seen + 1);
                }
            }
            Ok::<_, Error>(mine)
        })
    });
    let mut versions = Vec::new();
    for caller in futures::future::join_all(callers).await {
        versions.extend(caller??);
    }
    versions.sort_unstable();
    assert!(versions.into_iter().eq(1..=CALLERS as u64 * UPDATES));
    Ok(())
}

pub(super) async fn an_applied_batch_is_known_by_its_id(store: Store) -> CaseResult {
    let key = OFFERS.key((1, "a"));
    let (first, second) = (BatchId(0xA11CE), BatchId(0xB0B));
    let mut batch = Batch::with_id(first);
    batch.check_absent(key.clone()).put(key.clone(), 1, "");
    applied(&store, batch).await?;
    let mut batch = Batch::with_id(second);
    batch.check_absent(key.clone()).put(key, 1, "");
    refused(&store, batch).await?;
    assert!(store.applied(first).await?);
    assert!(!store.applied(second).await?, "a refused batch was not applied");
    assert!(!store.applied(BatchId(3)).await?);
    Ok(())
}

pub(super) async fn a_dropped_commit_is_still_whole(store: Store) -> CaseResult {
    for n in 0..20u32 {
        let mut batch = Batch::new();
        batch.put(OFFERS.key((n, "dropped")), 1, "").set(QUEUE.key((n, 1, &b"dropped"[..])), "");
        let commit = store.commit(batch);
        futures::pin_mut!(commit);
        let _ = futures::poll!(commit);
    }
    // A later batch of the same caller comes behind the dropped ones or beside them; each of those
    // is whole.
    let mut batch = Batch::new();
    batch.put(OFFERS.key((100, "last")), 1, "");
    applied(&store, batch).await?;
    let view = store.snapshot().await?;
    for n in 0..20u32 {
        let rows = view.get(&[OFFERS.key((n, "dropped")), QUEUE.key((n, 1, &b"dropped"[..]))]).await?;
        assert_eq!(rows[0].is_some(), rows[1].is_some());
    }
    Ok(())
}

pub(super) async fn hints_name_the_rows_of_queues_and_the_shards_of_other_tables(store: Store) -> CaseResult {
    let mut hints = store.hints();
    let (kept, lost) = (QUEUE.key((42, 1, &b"x"[..])), QUEUE.key((42, 2, &b"x"[..])));
    let mut batch = Batch::new();
    batch.check(OFFERS.key((42, "nobody")), 7).set(lost, "");
    assert!(!store.commit(batch).await?.is_applied());
    let mut batch = Batch::new();
    batch.set(kept.clone(), "").put(OFFERS.key((42, "a")), 1, "").delete(OFFERS.key((43, "gone")));
    applied(&store, batch).await?;
    let mut expected = BTreeSet::from([Hint::Put(kept), Hint::Changed { table: "offers", shard: 42 }]);
    while !expected.is_empty() {
        match hints.next().await {
            Some(Hint::Anything) => return Ok(()),
            Some(hint) => assert!(expected.remove(&hint), "{hint:?}"),
            None => return Err("the hints ended".into()),
        }
    }
    Ok(())
}

pub(super) async fn a_closed_store_says_so(store: Store) -> CaseResult {
    let mut batch = Batch::new();
    batch.put(OFFERS.key((1, "a")), 1, "");
    applied(&store, batch.clone()).await?;
    let mut hints = store.hints();
    store.close().await?;
    assert!(matches!(store.commit(batch).await, Err(Error::Closed)));
    assert!(matches!(store.get_one(&OFFERS.key((1, "a"))).await, Err(Error::Closed)));
    assert!(matches!(store.scan(&OFFERS.scan()).await, Err(Error::Closed)));
    assert!(matches!(store.snapshot().await.err(), Some(Error::Closed)));
    assert_eq!((hints.next().await, store.hints().next().await), (None, None));
    Ok(())
}
