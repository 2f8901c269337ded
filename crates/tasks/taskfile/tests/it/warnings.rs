//! Warnings, and what gives none.

use crate::common::{sound, warnings};

#[track_caller]
fn assert_warns(text: &str, expected: &[&str]) {
    assert_eq!(warnings(text), expected, "{text}");
}

#[test]
fn a_trigger_that_may_never_hold_is_a_warning_without_max_silence() {
    let task = |more: &str| {
        format!(
            "tasks:\n  t:\n    when: {{all: [{{new_day: a.b}}, {{fresh: {{of: a.b, within: 1h}}}}]}}\n    run: x\n{more}"
        )
    };
    assert_warns(
        &task(""),
        &[
            "3:5 may_never_fire: the task `t` may never run, unnoticed: it is not certain that a.b is at most 1h behind the time",
        ],
    );
    assert_warns(&task("    max_silence: 1d\n"), &[]);
    assert_warns("tasks:\n  t: {when: {any: [{new_day: a.b}, {grew: {of: a.c, by: 1}}]}, run: x}\n", &[]);
}

#[test]
fn a_trigger_that_a_run_does_not_use_up_is_told() {
    assert_warns(
        "tasks:\n  t: {when: {today: a.b}, run: x, max_silence: 1d}\n",
        &[
            "2:7 would_loop: the task `t` would run again as soon as it has run, as long as a.b is in the same day as the time",
        ],
    );
    assert_warns(
        "tasks:\n  t: {when: {any: [{new_day: a.b}, {today: a.b}]}, run: x}\n",
        &[
            "2:7 would_loop: the task `t` would run again as soon as it has run, as long as a.b is in the same day as the time",
        ],
    );
    assert_warns(
        "tasks:\n  t: {when: {all: [{new_day: a.b}, {today: a.b}]}, run: x, max_silence: 1d}\n",
        &[],
    );
}

#[test]
fn a_task_that_waits_on_what_it_moves_itself_is_told() {
    assert_warns(
        "tasks:\n  t: {when: {all: [{new_day: a.b}, {new_day: t.x}]}, run: x, sets: {t.x: a.b}}\n",
        &[
            "2:7 waits_for_itself: the task `t` waits on `t.x`, which it alone moves: each run starts the next one",
        ],
    );
    assert_warns(
        "tasks:\n  s: {when: {new_day: c.d}, run: x, sets: {t.x: now}}\n  t: {when: {new_day: t.x}, run: x, produces: t.x}\n",
        &[
            "3:7 waits_for_itself: the task `t` waits on `t.x`, which it moves itself: each run starts the next one",
        ],
    );
    // To compare with one's own result is what `caught_up` is for.
    assert_warns(
        "tasks:\n  t: {when: {all: [{new_day: a.b}, {same_day: {of: a.b, with: t.x}}]}, run: x, sets: {t.x: a.b}, max_silence: 1d}\n",
        &[],
    );
}

#[test]
fn tasks_that_wait_on_each_other_in_a_circle_are_told_once() {
    let text = "tasks:\n  a: {when: {new_day: c.x}, run: x, sets: {a.x: c.x}}\n  b: {when: {new_day: a.x}, run: x, produces: b.x}\n  \
                c: {when: {new_day: b.x}, run: x, sets: {c.x: now}}\n  d: {when: {new_day: a.x}, run: x, sets: {d.x: now}}\n";
    assert_warns(
        text,
        &["2:37 cycle: tasks wait on each other in a circle: `a` -> a.x -> `b` -> b.x -> `c` -> c.x -> `a`"],
    );
    let related = sound(text).warnings()[0].related.iter().map(|related| related.at.line).collect::<Vec<_>>();
    assert_eq!(related, [3, 4]);
}

#[test]
fn a_long_chain_is_no_circle_and_a_long_circle_is_one() {
    use std::fmt::Write;
    let mut text = "tasks:\n".to_owned();
    for number in 0..20_000 {
        let _ = writeln!(
            text,
            "  t{number}: {{when: {{new_day: p{number}.x}}, run: x, sets: {{p{}.x: now}}}}",
            number + 1
        );
    }
    assert_warns(&text, &[]);
    text.push_str("  last: {when: {new_day: p20000.x}, run: x, sets: {p0.x: now}}\n");
    let found = warnings(&text);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("-> ... -> `last`") && found[0].len() < 2_000, "{}", found[0]);
}

#[test]
fn a_hold_back_that_holds_nothing_back_is_told() {
    let tasks = |priority: i32, made: &str| {
        format!(
            "tasks:\n  feed: {{when: {{new_day: a.b}}, run: x, produces: {made}}}\n  \
             t: {{when: {{new_day: c.d}}, run: x, priority: {priority}, hold_back: 5m}}\n"
        )
    };
    assert_warns(&tasks(5, "c.d"), &[]);
    assert_warns(
        &tasks(0, "c.d"),
        &["3:50 idle_hold_back: nothing is ever held back for the task `t`: no task is less important"],
    );
    assert_warns(
        &tasks(5, "x.y"),
        &["3:50 idle_hold_back: nothing is ever held back for the task `t`: no task makes what it waits on"],
    );
    assert_warns(&tasks(5, "x.y").replace("5m", "0s"), &[]);
}

#[test]
fn a_pool_without_a_limit_is_told() {
    assert_warns(
        "limits:\n  pools:\n    a: 1\n    b:\n",
        &["4:5 unlimited_pool: the pool `b` has no limit, so it limits nothing"],
    );
}

#[test]
fn a_parameter_that_is_a_time_and_a_number_is_told() {
    assert_warns(
        "tasks:\n  a: {when: {new_day: p.x}, run: x}\n  b: {when: {grew: {of: p.x, by: 5}}, run: x}\n",
        &["3:7 mixed_kinds: the task `b` takes `p.x` for a number"],
    );
    assert_warns(
        "tasks:\n  a: {when: {new_day: p.x}, run: x}\n  b: {when: {new_day: q.x}, run: x, sets: {p.x: 7}}\n",
        &["3:37 mixed_kinds: the task `b` takes `p.x` for a number"],
    );
}

#[test]
fn a_parameter_that_a_shorthand_does_not_use_is_told() {
    assert_warns(
        "shorthands:\n  s: {parameters: [a, b: 1], when: {new_day: $a}}\n",
        &["2:3 unused_parameter: the shorthand `s` does not use its parameter `b`"],
    );
}

#[test]
fn a_secret_that_is_written_into_the_file_is_told_and_shown_nowhere() {
    let text = "tasks:\n  t:\n    when: {new_day: a.b}\n    run:\n      http: {url: 'http://x.example', headers: {Authorization: Bearer s3cr3t, x-team: sales}}\n    priority: 1\n";
    let set = sound(text);
    assert_eq!(
        warnings(text),
        ["5:64 written_secret: `Authorization` seems to be a secret that is written into the file"]
    );
    let task = set.get("t").unwrap();
    let shown = [
        taskfile::render(set.warnings(), 0, 0),
        taskfile::problems_to_json(set.warnings()).to_string(),
        task.to_json().to_string(),
        format!("{task:?} {set:?}"),
        sound(&text.replace("Bearer s3cr3t", "'Bearer ${TOKEN}'")).get("t").unwrap().to_json().to_string(),
    ];
    for shown in &shown {
        assert!(!shown.contains("s3cr3t"), "{shown}");
    }
    assert!(shown[0].contains("Authorization: *************, x-team"), "{}", shown[0]);
    assert!(shown[2].contains("\"authorization\":\"***\",\"x-team\":\"sales\""), "{}", shown[2]);
    assert!(shown[4].contains("Bearer ${TOKEN}"), "{}", shown[4]);
    // Nor when something else is wrong in its line.
    let wrong = text.replace("x-team: sales", "x-team: $sales");
    let errors = crate::common::read(&wrong).unwrap_err();
    assert!(
        !errors.to_string().contains("s3cr3t") && !errors.to_json().to_string().contains("s3cr3t"),
        "{errors}"
    );
}
