//! Whatever a trigger is, it is written in the words of the language and read back as the same.

use crate::common::sound;
use jiff::SignedDuration;
use proptest::prelude::*;
use triggers::{Amount, Check, Group, Leaf, Parameter, Scale, Trigger};

fn parameter(prefix: &'static str) -> impl Strategy<Value = Parameter> {
    ("[a-z]{1,4}(\\.[a-z_]{1,4})?", "[a-z_][a-z0-9_]{0,6}")
        .prop_map(move |(entity, name)| Parameter { entity: format!("{prefix}{entity}"), name })
}

fn scale() -> impl Strategy<Value = Scale> {
    prop_oneof![
        prop::sample::select(vec![1_u16, 5, 15, 30, 90, 720]).prop_map(Scale::Minutes),
        Just(Scale::Hour),
        Just(Scale::Day),
        Just(Scale::Week),
        Just(Scale::Month),
        Just(Scale::Year),
    ]
}

fn amount(least: i64) -> impl Strategy<Value = Amount> {
    prop_oneof![
        (least..1_000_000).prop_map(Amount::Number),
        (least..100_000_000).prop_map(|seconds| Amount::Time(SignedDuration::from_secs(seconds))),
    ]
}

fn check() -> impl Strategy<Value = Check> {
    let with = || parameter("w");
    prop_oneof![
        amount(1).prop_map(|by| Check::Delta { by }),
        (0..1_000_000_i64).prop_map(|seconds| Check::Delay { within: SignedDuration::from_secs(seconds) }),
        (with(), amount(0)).prop_map(|(with, within)| Check::RefDelay { with, within }),
        (scale(), prop::option::of(2..100_u32)).prop_map(|(scale, by)| Check::ChunkDelta { scale, by }),
        (scale(), prop::option::of(0..100_u32))
            .prop_map(|(scale, within)| Check::ChunkDelay { scale, within }),
        (with(), scale(), prop::option::of(0..100_u32))
            .prop_map(|(with, scale, within)| Check::ChunkRefDelay { with, scale, within }),
    ]
}

fn leaf() -> impl Strategy<Value = Leaf> {
    (parameter("p"), check()).prop_map(|(of, check)| Leaf { of, check })
}

fn groups() -> impl Strategy<Value = Vec<Group>> {
    let inner = prop::collection::vec(leaf(), 2..4).prop_map(Group::Of);
    prop::collection::vec(prop_oneof![leaf().prop_map(Group::Leaf), inner], 2..5)
}

fn trigger() -> impl Strategy<Value = Trigger> {
    prop_oneof![
        leaf().prop_map(Trigger::Leaf),
        groups().prop_map(Trigger::All),
        groups().prop_map(Trigger::Any)
    ]
}

proptest! {
    #[test]
    fn every_trigger_is_read_back_as_it_was_written(trigger in trigger()) {
        let mut task = crate::common::when("{new_day: a.b}");
        task.trigger = trigger;
        let file = serde_json::json!({ "tasks": { "t": task.definition() } }).to_string();
        let set = sound(&file);
        let again = set.get("t").unwrap();
        prop_assert_eq!(&again.trigger, &task.trigger, "{}", file);
        prop_assert_eq!(again.fingerprint(), task.fingerprint());
        prop_assert!(task.trigger.validate().is_ok());
    }
}
