use super::{COUNTS, CaseResult, ENTRIES, LISTS, OFFERS, QUEUE, STRANGER, applied};
use crate::limits::{ADD_MAX, BATCH_BYTES_MAX, BATCH_OPS_MAX, GET_KEYS_MAX, KEY_BYTES_MAX, VALUE_BYTES_MAX};
use crate::{Batch, Error, Key, KeyValue, Read, Store};

pub(super) async fn too_large_a_value_is_refused_with_its_key(store: Store) -> CaseResult {
    let mut batch = Batch::new();
    batch.put(OFFERS.key((1, "huge")), 1, vec![0; VALUE_BYTES_MAX + 1]);
    match store.commit(batch).await {
        Err(Error::ValueTooLarge { key, bytes, max }) => {
            assert!(key.contains("huge"));
            assert_eq!((bytes, max), (VALUE_BYTES_MAX + 1, VALUE_BYTES_MAX));
        }
        other => return Err(format!("{other:?}").into()),
    }
    Ok(())
}

pub(super) async fn a_value_of_the_largest_size_is_kept(store: Store) -> CaseResult {
    let value: Vec<u8> = (0..VALUE_BYTES_MAX).map(|i| (i * 31 % 251) as u8).collect();
    let keys = [OFFERS.key((1, "large")), ENTRIES.key((1, &b"small"[..], "")), QUEUE.key((1, 1, &b"q"[..]))];
    let mut batch = Batch::new();
    batch.put(keys[0].clone(), 1, value.clone()).put(keys[1].clone(), 1, value.clone());
    batch.set(keys[2].clone(), value.clone());
    applied(&store, batch).await?;
    for row in store.get(&keys).await? {
        assert!(row.is_some_and(|row| *row.value == *value));
    }
    Ok(())
}

pub(super) async fn too_large_a_key_is_refused(store: Store) -> CaseResult {
    let key = OFFERS.key((1, "x".repeat(KEY_BYTES_MAX)));
    assert!(matches!(store.get_one(&key).await, Err(Error::KeyTooLarge { table: "offers", .. })));
    let mut batch = Batch::new();
    batch.put(key, 1, "");
    assert!(matches!(store.commit(batch).await, Err(Error::KeyTooLarge { table: "offers", .. })));
    let many = vec![OFFERS.key((1, "x")); GET_KEYS_MAX + 1];
    assert!(matches!(store.get(&many).await, Err(Error::TooManyKeys { .. })));
    Ok(())
}

pub(super) async fn a_key_of_the_largest_size_is_kept(store: Store) -> CaseResult {
    let (shard_bytes, end_bytes) = (4, 2);
    // Text that does not compress, so that no engine gets away with storing less than it was given.
    let mut id = String::new();
    let mut state = 1u32;
    while id.len() < KEY_BYTES_MAX - shard_bytes - end_bytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        id.push(char::from(b' ' + (state >> 24) as u8 % 94));
    }
    let key = OFFERS.key((1, &id));
    assert_eq!(key.bytes().len(), KEY_BYTES_MAX);
    let mut batch = Batch::new();
    batch.check_absent(key.clone()).put(key.clone(), 1, "v");
    applied(&store, batch).await?;
    assert_eq!(OFFERS.parts(&store.get_one(&key).await?.ok_or("missing")?.key)?, (1, id));
    Ok(())
}

pub(super) async fn too_large_a_batch_is_refused(store: Store) -> CaseResult {
    let mut batch = Batch::new();
    (0..=BATCH_OPS_MAX as i64).for_each(|n| _ = batch.set(QUEUE.key((1, n, &b""[..])), ""));
    let answer = store.commit(batch).await;
    assert!(matches!(answer, Err(Error::BatchTooLarge { unit: "operations", .. })), "{answer:?}");
    let mut batch = Batch::new();
    let value = bytes::Bytes::from(vec![0; VALUE_BYTES_MAX]);
    (0..=(BATCH_BYTES_MAX / VALUE_BYTES_MAX) as i64)
        .for_each(|n| _ = batch.set(QUEUE.key((1, n, &b""[..])), value.clone()));
    let answer = store.commit(batch).await;
    assert!(matches!(answer, Err(Error::BatchTooLarge { unit: "bytes", .. })), "{answer:?}");
    assert!(store.scan(&QUEUE.scan().limit(1)).await?.rows.is_empty());
    Ok(())
}

pub(super) async fn operations_that_do_not_fit_the_table_are_refused(store: Store) -> CaseResult {
    let (offer, list, count) = (OFFERS.key((1, "a")), LISTS.key((1, 1, "a", &b""[..])), COUNTS.key((1, "n")));
    let mut wrong: Vec<Batch> = vec![Batch::new(); 10];
    wrong[0].set(offer.clone(), "");
    wrong[1].put(list.clone(), 1, "");
    wrong[2].check(list.clone(), 1);
    wrong[3].check(count.clone(), 1);
    wrong[4].put(count.clone(), 1, "");
    wrong[5].delete(count.clone());
    wrong[6].add(offer.clone(), 1);
    wrong[7].add(list, 1);
    wrong[8].put(offer, u64::MAX, "");
    wrong[9].add(count, ADD_MAX + 1);
    for (n, batch) in wrong.into_iter().enumerate() {
        let answer = store.commit(batch).await;
        assert!(matches!(answer, Err(Error::BadOperation { .. })), "operation {n}: {answer:?}");
    }
    Ok(())
}

pub(super) async fn a_nul_in_text_is_refused_everywhere_and_allowed_in_bytes(store: Store) -> CaseResult {
    let text = OFFERS.key((1, "a\0b"));
    assert!(matches!(store.get_one(&text).await, Err(Error::BadKey { table: "offers", .. })));
    let mut batch = Batch::new();
    batch.put(text.clone(), 1, "");
    assert!(matches!(store.commit(batch).await, Err(Error::BadKey { .. })));
    assert!(matches!(store.scan(&OFFERS.prefix((1, "a\0b"))).await, Err(Error::BadKey { .. })));
    assert!(matches!(store.scan(&OFFERS.scan().after(text)).await, Err(Error::BadKey { .. })));
    let bytes = QUEUE.key((1, 1, &b"\0\0\xFF\0"[..]));
    let mut batch = Batch::new();
    batch.set(bytes.clone(), "");
    applied(&store, batch).await?;
    assert_eq!(store.scan(&QUEUE.scan()).await?.rows[0].key, bytes);
    Ok(())
}

pub(super) async fn an_unknown_table_is_refused(store: Store) -> CaseResult {
    let key = STRANGER.key((1,));
    assert!(matches!(store.get_one(&key).await, Err(Error::UnknownTable { table: "stranger" })));
    assert!(matches!(store.scan(&STRANGER.scan()).await, Err(Error::UnknownTable { .. })));
    let mut batch = Batch::new();
    batch.set(key, "");
    assert!(matches!(store.commit(batch).await, Err(Error::UnknownTable { .. })));
    Ok(())
}

pub(super) async fn a_key_with_wrong_columns_is_refused(store: Store) -> CaseResult {
    let short = Key::encode(OFFERS.def(), &[KeyValue::U32(1)]);
    let wrong = Key::encode(OFFERS.def(), &[KeyValue::U32(1), KeyValue::I64(2)]);
    let long = Key::encode(OFFERS.def(), &[KeyValue::U32(1), KeyValue::Text("a".into()), KeyValue::U32(2)]);
    for key in [short, wrong, long] {
        assert!(matches!(store.get_one(&key).await, Err(Error::BadKey { .. })), "{key}");
        let mut batch = Batch::new();
        batch.put(key, 1, "");
        assert!(matches!(store.commit(batch).await, Err(Error::BadKey { .. })));
    }
    let bound = vec![KeyValue::U32(1), KeyValue::I64(3)];
    assert!(matches!(store.scan(&OFFERS.scan().from(bound)).await, Err(Error::BadKey { .. })));
    Ok(())
}

pub(super) async fn extreme_key_values_survive_the_round_trip(store: Store) -> CaseResult {
    let mut expected = Vec::new();
    for shard in [0, 1, i32::MAX as u32 + 1, u32::MAX] {
        for at in [i64::MIN, -1, 0, 1, i64::MAX] {
            for name in ["", "\u{1}", "a", "a\u{10FFFF}", "Ж", "\u{FFFD}"] {
                for tail in [&b""[..], &[0], &[0, 0xFF], &[0xFF; 4], &[1, 0, 1]] {
                    expected.push((shard, at, name.to_owned(), tail.to_vec()));
                }
            }
        }
    }
    expected.sort();
    for part in expected.chunks(200) {
        let mut batch = Batch::new();
        for (a, b, c, d) in part {
            batch.set(LISTS.key((*a, *b, c, d)), "");
        }
        applied(&store, batch).await?;
    }
    let rows = super::all_rows(&store, LISTS.scan().limit(97)).await?;
    let seen: Vec<_> = rows.iter().map(|row| LISTS.parts(&row.key)).collect::<Result<_, _>>()?;
    assert!(seen == expected, "rows must come in the order of their tuples");
    let rows = store.get(&rows.iter().map(|row| row.key.clone()).collect::<Vec<_>>()).await?;
    assert!(rows.iter().all(Option::is_some));
    Ok(())
}
