//! The order of encoded keys is the order of the tuples.

use proptest::prelude::*;
use store::{Key, KeyValue, Table};

static ALL: Table<(u32, String, i64, Vec<u8>, u32)> =
    Table::plain("everything", &["shard", "a", "b", "c", "d"]);

type Parts = (u32, String, i64, Vec<u8>, u32);

/// Values that are often equal, often prefixes of each other, and rich in the bytes that the
/// encoding treats specially.
fn parts() -> impl Strategy<Value = Parts> {
    let shard = prop_oneof![0..3u32, any::<u32>()];
    let text = prop_oneof![
        proptest::collection::vec(prop_oneof![Just('\u{1}'), Just('a'), Just('ÿ')], 0..4)
            .prop_map(|chars| chars.into_iter().collect::<String>()),
        "[^\\x00]{0,12}"
    ];
    let number = prop_oneof![-2..3i64, any::<i64>()];
    let bytes = prop_oneof![
        proptest::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0xFE), Just(0xFF)], 0..6),
        proptest::collection::vec(any::<u8>(), 0..20)
    ];
    (shard, text, number, bytes, prop_oneof![0..3u32, any::<u32>()])
}

fn key(p: &Parts) -> Key {
    ALL.key((p.0, &p.1, p.2, &p.3, p.4))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn encoded_keys_sort_as_their_tuples_do(a in parts(), b in parts()) {
        prop_assert_eq!(key(&a).bytes().cmp(key(&b).bytes()), a.cmp(&b));
    }

    #[test]
    fn a_key_gives_its_parts_back(a in parts()) {
        prop_assert_eq!(ALL.parts(&key(&a)).unwrap(), a.clone());
        prop_assert!(key(&a).validate().is_ok());
        prop_assert_eq!(key(&a).shard(), a.0);
    }

    #[test]
    fn the_first_columns_are_a_prefix_of_exactly_the_keys_that_share_them(a in parts(), b in parts()) {
        let prefix = Key::encode(ALL.def(), &ALL.bound((a.0, &a.1, a.2)));
        prop_assert_eq!(key(&b).bytes().starts_with(prefix.bytes()), (a.0, &a.1, a.2) == (b.0, &b.1, b.2));
    }

    #[test]
    fn damaged_keys_are_noticed_and_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let key = Key::from_encoded(ALL.def(), &bytes);
        let parsed = key.values();
        if let Ok(values) = &parsed {
            prop_assert_eq!(Key::encode(ALL.def(), values), key.clone());
        }
        let has_nul = parsed.as_ref().is_ok_and(|v| v.iter().any(|v| matches!(v, KeyValue::Text(t) if t.contains('\0'))));
        prop_assert_eq!(key.validate().is_ok(), parsed.is_ok() && !has_nul);
        let _ = key.to_string();
    }
}
