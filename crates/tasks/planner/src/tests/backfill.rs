//! Past chunks, in order.

use triggers::{Calendar, Scale, Trigger};

use super::kit::*;
use crate::Error;
use crate::{Alert, BackfillOrder, Cause, Chunk, Phase, Plan, actions, backfill};

fn daily() -> Plan {
    Plan::new("daily", Trigger::Leaf(new_day("sales.loaded_to")))
}

fn order(from: &str, to: &str) -> BackfillOrder {
    BackfillOrder { scale: None, from: at(from), to: at(to), limit: 100, record: false }
}

fn chunk_of(kit: &Kit) -> Option<Chunk> {
    match &kit.state("daily").phase {
        Phase::Running { cause: Cause::Chunk(chunk), .. } => Some(*chunk),
        _ => None,
    }
}

/// The task has run for the current value, and three days are to be filled.
fn kit(order: &BackfillOrder) -> Kit {
    let mut kit = Kit::new(8, vec![daily()]);
    kit.set_time("sales.loaded_to", "2021-04-25T09:00:00Z");
    kit.succeed("daily");
    kit.act("daily", |state| backfill::start(state, &daily(), order, &signed()));
    kit
}

#[test]
fn chunks_are_those_of_the_calendar_of_the_task() {
    let calendar = Calendar::of_zone("America/New_York").unwrap();
    let days =
        backfill::chunks(&calendar, Scale::Day, at("2021-03-13T12:00:00Z"), at("2021-03-16T00:00:00Z"), 100);
    let starts: Vec<String> = days.iter().map(|chunk| chunk.start.to_string()).collect();
    let expected = ["2021-03-13T05:00:00Z", "2021-03-14T05:00:00Z", "2021-03-15T04:00:00Z"];
    assert_eq!(starts, expected, "the second has 23 hours");
    assert!(days.windows(2).all(|pair| pair[0].end == pair[1].start));
    let two = backfill::chunks(&calendar, Scale::Day, days[0].start, at("2021-03-16T00:00:00Z"), 2);
    assert_eq!(two, days[..2]);
}

#[test]
fn chunks_are_run_one_after_the_other_before_regular_firings_and_change_nothing_that_is_remembered() {
    let mut kit = kit(&order("2021-04-20T10:00:00Z", "2021-04-23T00:00:00Z"));
    let before = kit.remembered("daily");
    kit.set_time("sales.loaded_to", "2021-04-26T01:00:00Z");
    for day in ["2021-04-20", "2021-04-21", "2021-04-22"] {
        assert_eq!(chunk_of(&kit).unwrap().start, at(&format!("{day}T00:00:00Z")));
        assert_eq!(kit.remembered("daily"), before);
        assert_eq!(kit.succeed("daily"), ["daily"]);
    }
    assert_eq!(chunk_of(&kit), None, "the regular firing comes after the chunks");
    assert_eq!(kit.state("daily").backfill, None);
    kit.succeed("daily");
    assert_eq!(kit.remembered("daily"), seen(&[("sales.loaded_to", time("2021-04-26T01:00:00Z"))]));
}

#[test]
fn a_failed_chunk_stops_the_others_and_can_be_resumed() {
    let mut kit = kit(&order("2021-04-20T00:00:00Z", "2021-04-22T00:00:00Z"));
    kit.settle();
    let decisions = kit.fail("daily");
    let stopped =
        Alert::BackfillStopped { chunk: at("2021-04-20T00:00:00Z"), error: "exit code 1".to_owned() };
    assert_eq!(decisions[0].alerts, [stopped]);
    assert_eq!(kit.pass("1d"), [""; 0]);
    assert_eq!(kit.set_time("sales.loaded_to", "2021-04-26T01:00:00Z"), ["daily"], "regular firings go on");
    assert_eq!(chunk_of(&kit), None);
    kit.succeed("daily");
    kit.act("daily", |state| backfill::resume(state, &signed()));
    assert_eq!(kit.starts(), ["daily"]);
    assert_eq!(chunk_of(&kit).unwrap().start, at("2021-04-20T00:00:00Z"), "the one that has failed");
    kit.succeed("daily");
    kit.succeed("daily");
    assert_eq!(kit.state("daily").backfill, None);
    assert_eq!(backfill::resume(kit.state("daily"), &signed()), Err(Error::NoBackfill("is under way")));
}

#[test]
fn a_backfill_that_records_moves_what_is_remembered_forward_and_never_back() {
    let mut kit = Kit::new(8, vec![daily()]);
    kit.act("daily", |state| actions::pause(state, &signed()));
    kit.set_time("sales.loaded_to", "2021-04-21T09:00:00Z");
    kit.act("daily", |state| actions::resume(state, &daily(), &signed()));
    let order = BackfillOrder { record: true, ..order("2021-04-20T00:00:00Z", "2021-04-22T00:00:00Z") };
    kit.act("daily", |state| backfill::start(state, &daily(), &order, &signed()));
    kit.settle();
    kit.succeed("daily");
    assert_eq!(kit.remembered("daily"), seen(&[("sales.loaded_to", time("2021-04-21T00:00:00Z"))]));
    kit.succeed("daily");
    let seen = seen(&[("sales.loaded_to", time("2021-04-21T09:00:00Z"))]);
    assert_eq!(kit.remembered("daily"), seen, "not beyond the value that the run saw");
}

#[test]
fn a_pause_stops_chunks_and_cancelling_gives_them_up() {
    let mut kit = kit(&order("2021-04-20T00:00:00Z", "2021-04-24T00:00:00Z"));
    kit.settle();
    kit.act("daily", |state| actions::pause(state, &signed()));
    assert_eq!(kit.succeed("daily"), [""; 0]);
    kit.act("daily", |state| actions::resume(state, &daily(), &signed()));
    assert_eq!(kit.starts(), ["daily"]);
    kit.act("daily", |state| backfill::cancel(state, &signed()));
    assert_eq!(kit.succeed("daily"), [""; 0]);
    assert_eq!(kit.state("daily").phase, Phase::Idle);
}

#[test]
fn what_cannot_be_filled_is_refused() {
    let state = crate::TaskState::new(at("2021-04-25T00:00:00Z"));
    let start = |plan: &Plan, order: BackfillOrder| backfill::start(&state, plan, &order, &signed());
    let days = || order("2021-04-20T00:00:00Z", "2021-04-24T00:00:00Z");
    let backwards = order("2021-04-24T00:00:00Z", "2021-04-20T00:00:00Z");
    assert_eq!(start(&daily(), backwards), Err(Error::EmptyRange));
    assert_eq!(start(&daily(), BackfillOrder { limit: 0, ..days() }), Err(Error::BackfillLimit));
    let none = start(&counts("t", "a.rows"), days()).unwrap_err().to_string();
    assert!(none.starts_with("it is not clear which chunks to fill: the trigger has none"), "{none}");
    let scale = Some(Scale::Hour);
    assert!(start(&counts("t", "a.rows"), BackfillOrder { scale, ..days() }).is_ok());
    let under_way = start(&daily(), days()).unwrap();
    assert_eq!(backfill::start(&under_way, &daily(), &days(), &signed()), Err(Error::BackfillRunning));
}
