//! What holds for every moment, zone and trigger.

use jiff::civil::Weekday;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use triggers::{
    Amount, Calendar, Check, Earliest, Group, Known, Leaf, Parameter, Scale, Trigger, Value, check, earliest,
    find_zone, fires, next_change,
};

/// Zones with an odd offset, with a change of half an hour, with skipped and repeated days, with
/// changes just after midnight, with changes that are listed singly for decades, and without any
/// change.
const ZONES: [&str; 20] = [
    "UTC",
    "Europe/Moscow",
    "Europe/Berlin",
    "Europe/Dublin",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Havana",
    "America/Juneau",
    "Africa/Casablanca",
    "Africa/Monrovia",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Asia/Pyongyang",
    "Asia/Manila",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
];

const SCALES: [Scale; 14] = [
    Scale::Minutes(1),
    Scale::Minutes(15),
    Scale::Minutes(30),
    Scale::Minutes(40),
    Scale::Minutes(60),
    Scale::Minutes(90),
    Scale::Minutes(120),
    Scale::Minutes(360),
    Scale::Minutes(1440),
    Scale::Hour,
    Scale::Day,
    Scale::Week,
    Scale::Month,
    Scale::Year,
];

fn calendars() -> impl Strategy<Value = Calendar> {
    let offset = prop_oneof![2 => Just(0_i64), 1 => -1439_i64..1440];
    (prop::sample::select(ZONES.to_vec()), 1_i8..=7, offset).prop_map(|(zone, day, offset)| {
        let start = Weekday::from_monday_one_offset(day).unwrap();
        Calendar::new(find_zone(zone).unwrap(), start, SignedDuration::from_mins(offset)).unwrap()
    })
}

fn scales() -> impl Strategy<Value = Scale> {
    prop::sample::select(SCALES.to_vec())
}

/// Mostly of our time, some of the past and of the far future.
fn moments() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        4 => 0_i64..2_500_000_000,
        1 => -6_000_000_000_i64..0,
        1 => 4_000_000_000_i64..250_000_000_000,
    ]
    .prop_flat_map(|second| (Just(second), 0_i32..1_000_000_000))
    .prop_map(|(second, nanos)| Timestamp::new(second, if second < 0 { -nanos } else { nanos }).unwrap())
}

/// A moment close to a change of the clock, if the zone has changes after the given one.
fn near_a_change(calendar: &Calendar, at: Timestamp, away: SignedDuration) -> Timestamp {
    let change = calendar.zone().following(at).next().map_or(at, |change| change.timestamp());
    change.saturating_add(away).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_moment_is_in_its_chunk(
        calendar in calendars(), scale in scales(), at in moments(), near in any::<bool>(), away in -200_000_i64..200_000,
    ) {
        let at = if near { near_a_change(&calendar, at, SignedDuration::from_secs(away)) } else { at };
        let index = calendar.index(at, scale);
        prop_assert!(calendar.start_of(index, scale) <= at);
        prop_assert!(at < calendar.start_of(index + 1, scale));
        prop_assert_eq!(calendar.next_border(at, scale), Some(calendar.start_of(index + 1, scale)));
    }

    #[test]
    fn indices_grow_by_one_from_chunk_to_chunk(
        calendar in calendars(), scale in scales(), at in moments(), near in any::<bool>(),
    ) {
        let at = if near { near_a_change(&calendar, at, SignedDuration::from_hours(-30)) } else { at };
        let first = calendar.index(at, scale);
        let mut border = at;
        for step in 1..80 {
            border = calendar.next_border(border, scale).unwrap();
            prop_assert_eq!(calendar.index(border, scale), first + step);
            let before = border - SignedDuration::from_nanos(1);
            prop_assert_eq!(calendar.index(before, scale), first + step - 1);
            prop_assert_eq!(calendar.start_of(first + step, scale), border);
        }
    }

    #[test]
    fn indices_never_go_back(calendar in calendars(), scale in scales(), a in moments(), b in moments()) {
        let (a, b) = (a.min(b), a.max(b));
        prop_assert!(calendar.index(a, scale) <= calendar.index(b, scale));
    }

    #[test]
    fn away_from_changes_of_the_clock_a_day_is_the_date(calendar in calendars(), at in moments()) {
        let shown = |at: Timestamp| calendar.zone().to_datetime(at);
        let later = at + SignedDuration::from_hours(24 * 3);
        let quiet = (-4..=4).all(|day| {
            let at = at + SignedDuration::from_hours(24 * day);
            calendar.zone().to_offset(at) == calendar.zone().to_offset(later)
        });
        prop_assume!(quiet);
        let date = |at| (shown(at) - calendar.day_offset()).date();
        let days = date(later).duration_since(date(at)).as_hours() / 24;
        prop_assert_eq!(calendar.index(later, Scale::Day) - calendar.index(at, Scale::Day), days);
        // Whatever the offset, an hour begins at minute zero.
        let hour = calendar.start_of(calendar.index(at, Scale::Hour), Scale::Hour);
        prop_assert_eq!((shown(hour).minute(), shown(hour).second()), (0, 0));
        let month = calendar.index(at, Scale::Month);
        prop_assert_eq!(month, (i64::from(date(at).year()) - 1970) * 12 + i64::from(date(at).month()) - 1);
    }

    #[test]
    fn no_index_makes_it_panic(calendar in calendars(), scale in scales(), minutes in any::<u16>(), index in any::<i64>()) {
        let starts = [scale, Scale::Minutes(minutes)].map(|scale| calendar.start_of(index, scale));
        prop_assert!(starts.iter().all(|start| (Timestamp::MIN..=Timestamp::MAX).contains(start)));
        let ends = [Timestamp::MIN, Timestamp::MAX].map(|at| calendar.index(at, Scale::Minutes(minutes)));
        prop_assert!(ends[0] < ends[1]);
    }
}

const BASE: i64 = 1_619_000_000;
const NAMES: [&str; 3] = ["sales.loaded_to", "orders.loaded_to", "rates.version"];

fn parameters() -> impl Strategy<Value = Parameter> {
    prop::sample::select(NAMES.to_vec()).prop_map(|name| name.parse().unwrap())
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (-400_i64..400).prop_map(|quarters| Value::Time(Timestamp::from_second(BASE + quarters * 900).unwrap())),
        1 => any::<i64>().prop_map(Value::Number),
        2 => (-5_i64..5).prop_map(Value::Number),
    ]
}

fn durations() -> impl Strategy<Value = SignedDuration> {
    prop_oneof![
        8 => (-10_i64..400).prop_map(|quarters| SignedDuration::from_secs(quarters * 900)),
        1 => prop::sample::select(vec![SignedDuration::MIN, SignedDuration::MAX]),
    ]
}

fn amounts() -> impl Strategy<Value = Amount> {
    prop_oneof![
        3 => durations().prop_map(Amount::Time),
        1 => (-2_i64..5).prop_map(Amount::Number),
        1 => any::<i64>().prop_map(Amount::Number),
    ]
}

fn checks() -> impl Strategy<Value = Check> {
    let chunks = || prop::option::of(prop_oneof![9 => 0_u32..4, 1 => any::<u32>()]);
    prop_oneof![
        amounts().prop_map(|by| Check::Delta { by }),
        durations().prop_map(|within| Check::Delay { within }),
        (parameters(), amounts()).prop_map(|(with, within)| Check::RefDelay { with, within }),
        (scales(), chunks()).prop_map(|(scale, by)| Check::ChunkDelta { scale, by }),
        (scales(), chunks()).prop_map(|(scale, within)| Check::ChunkDelay { scale, within }),
        (parameters(), scales(), chunks()).prop_map(|(with, scale, within)| Check::ChunkRefDelay {
            with,
            scale,
            within
        }),
    ]
}

fn leaves() -> impl Strategy<Value = Leaf> {
    (parameters(), checks()).prop_map(|(of, check)| Leaf { of, check })
}

fn all_triggers() -> impl Strategy<Value = Trigger> {
    let group = || {
        prop_oneof![leaves().prop_map(Group::Leaf), prop::collection::vec(leaves(), 0..4).prop_map(Group::Of),]
    };
    prop_oneof![
        leaves().prop_map(Trigger::Leaf),
        prop::collection::vec(group(), 0..4).prop_map(Trigger::All),
        prop::collection::vec(group(), 0..4).prop_map(Trigger::Any),
    ]
}

fn known() -> impl Strategy<Value = Known> {
    let map = || prop::collection::btree_map(parameters(), values(), 0..4);
    (map(), map()).prop_map(|(current, remembered)| Known { current, remembered })
}

fn nows() -> impl Strategy<Value = Timestamp> {
    (-300_000_i64..300_000).prop_map(|second| Timestamp::from_second(BASE + second).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    #[test]
    fn the_quick_answer_is_the_explained_one(
        trigger in all_triggers(), known in known(), now in nows(), calendar in calendars(),
    ) {
        let verdict = check(&trigger, &known, now, &calendar);
        prop_assert_eq!(verdict.fires, fires(&trigger, &known, now, &calendar));
        prop_assert_eq!(verdict.next, next_change(&trigger, &known, now, &calendar));
        prop_assert_eq!(verdict.until, verdict.next.filter(|_| verdict.fires));
        prop_assert_eq!(verdict.leaves.len(), trigger.leaves().count());
        for (parameter, value) in &verdict.seen {
            prop_assert_eq!(known.current.get(parameter), Some(value));
        }
        let seen = |parameter: &&Parameter| verdict.seen.contains_key(*parameter);
        let current = |parameter: &&Parameter| known.current.contains_key(*parameter);
        prop_assert!(trigger.parameters().iter().all(|parameter| seen(parameter) == current(parameter)));
        prop_assert!(!calendar.show(&verdict).to_string().is_empty());
    }

    #[test]
    fn until_the_next_moment_nothing_changes_and_at_it_something_does(
        trigger in all_triggers(), known in known(), now in nows(), calendar in calendars(),
        samples in prop::collection::vec(0.0..1.0_f64, 20),
    ) {
        let says = fires(&trigger, &known, now, &calendar);
        let next = next_change(&trigger, &known, now, &calendar);
        prop_assert!(next.is_none() || trigger.time_dependent());
        let horizon = Timestamp::from_second(BASE + 40_000_000_000).unwrap();
        let end = next.unwrap_or(horizon);
        let length = end.duration_since(now);
        let nanosecond = SignedDuration::from_nanos(1);
        for sample in samples {
            // Close to both ends as well as between them.
            let part = SignedDuration::from_nanos_i128((length.as_nanos() as f64 * sample.powi(4)) as i128);
            for at in [now + part, end - part - nanosecond] {
                let at = at.clamp(now, (end - nanosecond).max(now));
                prop_assert_eq!(fires(&trigger, &known, at, &calendar), says, "at {}", at);
            }
        }
        if let Some(next) = next {
            prop_assert!(next > now);
            prop_assert_ne!(fires(&trigger, &known, next, &calendar), says);
        }
    }

    #[test]
    fn every_leaf_says_when_the_time_turns_it(leaf in leaves(), known in known(), now in nows(), calendar in calendars()) {
        let trigger = Trigger::Leaf(leaf);
        let verdict = check(&trigger, &known, now, &calendar);
        prop_assert_eq!(verdict.leaves[0].next, verdict.next);
        prop_assert_eq!(verdict.leaves[0].holds, verdict.fires);
    }

    #[test]
    fn the_earliest_firing_is_told_right(
        trigger in all_triggers(), known in known(), now in nows(), calendar in calendars(),
    ) {
        let earliest = earliest(&trigger, &known, now, &calendar);
        let says = fires(&trigger, &known, now, &calendar);
        prop_assert_eq!(says, earliest == Earliest::Now);
        if let Earliest::At(moment) = earliest {
            prop_assert!(fires(&trigger, &known, moment, &calendar));
        }
        prop_assert!(!calendar.show(&earliest).to_string().is_empty());
    }

    #[test]
    fn a_value_that_is_waited_for_is_the_least_that_will_do(
        leaf in leaves(), known in known(), now in nows(), calendar in calendars(),
    ) {
        use triggers::Wait;
        let trigger = Trigger::Leaf(leaf);
        if trigger.validate().is_err() {
            return Ok(());
        }
        let Earliest::When(Wait::Reach { parameter, value, .. }) = earliest(&trigger, &known, now, &calendar) else {
            return Ok(());
        };
        let with = |value| {
            let mut known = known.clone();
            known.current.insert(parameter.clone(), value);
            fires(&trigger, &known, now, &calendar)
        };
        prop_assert!(with(value));
        let less = match value {
            Value::Time(time) => time.checked_sub(SignedDuration::from_nanos(1)).ok().map(Value::Time),
            Value::Number(number) => number.checked_sub(1).map(Value::Number),
        };
        prop_assert!(less.is_none_or(|less| !with(less)));
    }

    #[test]
    fn a_trigger_that_cannot_loop_is_silent_after_a_run(
        trigger in all_triggers(), known in known(), now in nows(), calendar in calendars(),
    ) {
        let verdict = check(&trigger, &known, now, &calendar);
        let after = Known { current: known.current.clone(), remembered: verdict.seen };
        if trigger.may_loop().is_none() {
            prop_assert!(!fires(&trigger, &after, now, &calendar));
        }
    }
}
