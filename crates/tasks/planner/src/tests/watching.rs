//! R9, R10: alerts.

use triggers::Value::Number;

use super::kit::*;
use crate::{Alert, Plan, actions};

fn alerts(kit: &mut Kit) -> Vec<Alert> {
    kit.settle().into_iter().flat_map(|decision| decision.alerts).collect()
}

#[test]
fn a_parameter_that_was_moved_back_is_told_once_with_the_commands_that_mend_it() {
    let mut kit = Kit::new(8, vec![Plan::new("daily", triggers::Trigger::Leaf(new_day("sales.loaded_to")))]);
    kit.set_time("sales.loaded_to", "2021-04-25T00:00:00Z");
    kit.succeed("daily");
    kit.put("sales.loaded_to", time("2021-04-20T00:00:00Z"));
    let parameter = parameter("sales.loaded_to");
    assert_eq!(alerts(&mut kit), [Alert::Regressed { parameter: parameter.clone() }]);
    kit.put("sales.loaded_to", time("2021-04-21T00:00:00Z"));
    assert_eq!(alerts(&mut kit), [], "still below: told once");
    let explanation = kit.planner.explain("daily", kit.now).unwrap();
    let fixes: Vec<String> = explanation.regressions[0].fixes.iter().map(ToString::to_string).collect();
    let expected = [
        "torg tasks state set daily sales.loaded_to 2021-04-21T00:00:00Z --reason '...'",
        "torg tasks state delete daily sales.loaded_to --reason '...'",
        "torg tasks run daily --record --reason '...'",
    ];
    assert_eq!(fixes, expected);
    assert_eq!(explanation.regressions[0].since, Some(kit.now));
}

#[test]
fn each_of_the_commands_mends_it() {
    let plan = counts("t", "a.rows");
    let regressed = || {
        let mut kit = Kit::new(8, vec![plan.clone()]);
        kit.set("a.rows", 5);
        kit.succeed("t");
        assert_eq!(kit.set("a.rows", 3), [""; 0]);
        assert_eq!(kit.state("t").regressed.len(), 1);
        kit
    };
    let ended_alert = [Alert::RegressionEnded { parameter: parameter("a.rows") }];

    let mut kit = regressed();
    kit.act("t", |state| actions::set_remembered(state, &plan, &parameter("a.rows"), Number(3), &signed()));
    assert_eq!(alerts(&mut kit), ended_alert);
    assert_eq!(kit.set("a.rows", 4), ["t"]);

    let mut kit = regressed();
    kit.act("t", |state| actions::delete_remembered(state, Some(&parameter("a.rows")), &signed()));
    let decisions = kit.settle();
    assert_eq!(started(&decisions).len(), 1);
    assert_eq!(decisions[0].alerts, ended_alert);

    let mut kit = regressed();
    kit.act("t", |state| actions::run_now(state, true, &signed()));
    kit.settle();
    assert_eq!(kit.end("t", crate::Outcome::success())[0].alerts, ended_alert);
    assert_eq!(kit.set("a.rows", 4), ["t"]);

    let mut kit = regressed();
    kit.put("a.rows", Number(5));
    assert_eq!(alerts(&mut kit), ended_alert, "or the value comes back by itself");
}

#[test]
fn the_name_of_a_task_is_one_word_for_the_shell() {
    let fix = |task: &str| crate::Fix::RunAndRecord { task: task.into() }.to_string();
    assert_eq!(fix("-it's"), r"torg tasks run '-it'\''s' --record --reason '...'");
}

#[test]
fn silence_is_told_once_when_it_begins_and_once_when_it_ends() {
    let mut kit = Kit::new(8, vec![Plan { max_silence: Some(duration("2d")), ..counts("t", "a.rows") }]);
    let known = at("2021-04-25T10:00:00Z");
    assert_eq!(kit.planner.next_moment(), Some(at("2021-04-27T10:00:00Z")));
    kit.now = at("2021-04-27T09:59:59Z");
    assert_eq!(alerts(&mut kit), []);
    kit.now = at("2021-04-27T10:00:00Z");
    assert_eq!(alerts(&mut kit), [Alert::Silent { since: known }]);
    assert_eq!(kit.planner.next_moment(), None);
    kit.now = at("2021-04-30T10:00:00Z");
    assert_eq!(alerts(&mut kit), []);
    kit.set("a.rows", 1);
    kit.fail("t");
    assert!(kit.state("t").silent_since.is_some(), "a failure does not end it");
    kit.pass("30s");
    let ended = kit.end("t", crate::Outcome::success());
    assert_eq!(ended[0].alerts, [Alert::SilenceEnded]);
    let success = kit.now;
    kit.now += duration("2d");
    assert_eq!(alerts(&mut kit), [Alert::Silent { since: success }]);
}

#[test]
fn a_task_that_its_definition_pauses_may_be_silent_and_one_that_a_person_has_paused_may_not() {
    let watched = Plan { max_silence: Some(duration("2d")), ..counts("t", "a.rows") };
    let mut kit = Kit::new(8, vec![Plan { paused: true, ..watched.clone() }]);
    kit.now += duration("9d");
    assert_eq!(alerts(&mut kit), []);
    let mut kit = Kit::new(8, vec![watched]);
    kit.act("t", |state| actions::pause(state, &signed()));
    kit.now += duration("9d");
    assert_eq!(alerts(&mut kit).len(), 1, "a pause that was forgotten is noticed");
}

#[test]
fn a_definition_that_allows_a_longer_silence_ends_it() {
    let plan = |max: &str| Plan { max_silence: Some(duration(max)), ..counts("t", "a.rows") };
    let mut kit = Kit::new(8, vec![plan("1h")]);
    kit.now += duration("2h");
    assert_eq!(alerts(&mut kit).len(), 1);
    kit.planner.plans_changed(None, vec![crate::Change::Put(Box::new(plan("3h")))], kit.now);
    assert_eq!(alerts(&mut kit), [Alert::SilenceEnded]);
    kit.now += duration("1h");
    assert_eq!(alerts(&mut kit).len(), 1);
}
