//! Fingerprints, what a change of the files changes, and the graph.

use crate::common::{examples, sound, task};
use taskfile::{Aspect, Fingerprint, Graph, difference, graph};

fn fingerprint(body: &str) -> Fingerprint {
    task(body).fingerprint()
}

const TASK: &str = "when: {all: [{new_day: a.b}, {fresh: {of: a.b, within: 1h}}]}\n    run: {shell: x, environment: {A: b}}\n    max_silence: 1d";

#[test]
fn a_fingerprint_never_changes_between_versions() {
    assert_eq!(fingerprint(TASK).to_string(), "6013f0b0d570de6c766e2187b0028fbe");
}

#[test]
fn the_same_meaning_has_the_same_fingerprint() {
    let same = [
        "max_silence: 24h\n    run: {environment: {A: b}, shell: x}  # a comment\n    when: {all: [{new_day: a.b}, {fresh: {within: 60m, of: a.b}}]}",
        "when: {all: [{fresh: {of: a.b, within: 1h}}, {new_day: a.b}, {new_day: {of: a.b, by: 1}}]}\n    run: {shell: x, environment: {A: b}}\n    max_silence: 1d",
        "when: {all: [{all: [{new_day: a.b}]}, {any: [{fresh: {of: a.b, within: 1h}}]}]}\n    run: {shell: x, environment: {A: b}}\n    max_silence: 1d\n    about: for people\n    owner: ann\n    labels: {a: b}",
        "when: {all: [{new_chunk: {of: a.b, chunk: day}}, {fresh: {of: a.b, within: 1h}}]}\n    run: {shell: x, environment: {A: b}, timeout: 60m}\n    max_silence: 1d\n    priority: 0\n    timezone: utc",
    ];
    for body in same {
        assert_eq!(fingerprint(body), fingerprint(TASK), "{body}");
    }
}

#[test]
fn another_meaning_has_another_fingerprint() {
    let others = [
        TASK.replace("all:", "any:"),
        TASK.replace("new_day", "new_hour"),
        TASK.replace("a.b", "a.c"),
        TASK.replace("1h", "2h"),
        TASK.replace("shell: x", "shell: y"),
        TASK.replace("shell: x", "command: [x]"),
        TASK.replace("A: b", "A: c"),
        TASK.replace("max_silence: 1d", "max_silence: 2d"),
        format!("{TASK}\n    priority: 1"),
        format!("{TASK}\n    pool: p"),
        format!("{TASK}\n    sets: {{x.y: a.b}}"),
        format!("{TASK}\n    sets: {{x.y: now}}"),
        format!("{TASK}\n    produces: x.y"),
        format!("{TASK}\n    timezone: Europe/Moscow"),
        format!("{TASK}\n    week_start: sunday"),
        format!("{TASK}\n    day_offset: 1h"),
        format!("{TASK}\n    retry: {{attempts: 2}}"),
        format!("{TASK}\n    hold_back: 1m"),
        format!("{TASK}\n    paused: true"),
    ];
    let mut seen = std::collections::BTreeSet::from([fingerprint(TASK)]);
    for other in others {
        assert!(seen.insert(fingerprint(&other)), "{other}");
    }
}

#[test]
fn a_calendar_does_not_matter_to_a_trigger_that_counts_no_chunks() {
    let exact = "when: {grew: {of: a.b, by: 1d}}\n    run: x";
    assert_eq!(fingerprint(exact), fingerprint(&format!("{exact}\n    timezone: Asia/Tokyo")));
}

#[test]
fn a_secret_that_changes_in_the_file_is_a_change() {
    let with = |secret: &str| {
        fingerprint(&format!(
            "when: {{new_day: a.b}}\n    run: {{shell: x, environment: {{TOKEN: {secret}}}}}"
        ))
    };
    assert_ne!(with("abc"), with("abd"));
}

#[test]
fn what_is_written_is_read_back_as_the_same_task() {
    for example in examples() {
        for task in sound(&example).tasks() {
            let pools =
                task.pool.iter().map(|pool| (pool.clone(), 1.into())).collect::<serde_json::Map<_, _>>();
            let file = serde_json::json!({ "limits": { "pools": pools }, "tasks": { task.name.as_str(): task.definition() } });
            let again = sound(&file.to_string());
            let mut again = again.get(task.name.as_str()).unwrap().as_ref().clone();
            again.origin = task.origin.clone();
            assert_eq!(again, **task, "{file:#}");
        }
    }
}

#[test]
fn a_difference_says_which_tasks_change_and_in_what() {
    let old = sound(
        "tasks:\n  a: {when: {new_day: a.b}, run: x}\n  b: {when: {new_day: a.b}, run: x}\n  c: {when: {new_day: a.b}, run: x}\n",
    );
    let new = sound(
        "timezone: Asia/Tokyo\nlimits: {running: 2}\ntasks:\n  b: {timezone: UTC, run: x, when: {new_day: a.b}}\n  \
         c: {timezone: UTC, when: {new_hour: a.b}, run: y, sets: {x.y: now}, produces: q.r, priority: 2, about: z, owner: z, labels: {z: z}, \
         paused: true, retry: {attempts: 1}, max_silence: 1d, hold_back: 0s}\n  d: {when: {new_day: a.b}, run: x}\n",
    );
    let found = difference(&old, &new);
    assert_eq!(
        found.to_string(),
        "+ d\n~ c: when, run, sets, produces, priority, retry, max_silence, hold_back, paused, about, owner, labels\n- a\n~ limits\n"
    );
    assert_eq!(found.to_json()["changed"]["c"][1], "run");
    assert!(difference(&new, &new).is_empty());
    assert_eq!(difference(&new, &new).to_string(), "nothing changes\n");
    let moved = sound("timezone: Asia/Tokyo\ntasks:\n  a: {when: {new_day: a.b}, run: x}\n");
    assert_eq!(difference(&old, &moved).changed, [(taskfile::TaskName::new("a"), vec![Aspect::Calendar])]);
}

const WAREHOUSE: &str = "tasks:\n  load: {when: {new_day: shop.x}, run: x, produces: sales.x}\n  \
                         report: {when: {same_day: {of: sales.x, with: rates.x}}, run: x, sets: {report.x: sales.x}}\n  \
                         far: {when: {new_day: other.x}, run: x}\n";

fn warehouse() -> Graph {
    graph(&sound(WAREHOUSE))
}

#[test]
fn the_graph_has_every_task_and_parameter_and_follows_the_data() {
    let graph = warehouse();
    let edges: Vec<String> = graph
        .edges
        .iter()
        .map(|edge| format!("{} {} {}", edge.task, edge.link.name(), edge.parameter))
        .collect();
    assert_eq!(
        edges,
        [
            "far reads other.x",
            "load reads shop.x",
            "load produces sales.x",
            "report reads rates.x",
            "report reads sales.x",
            "report sets report.x"
        ]
    );
    assert_eq!(
        graph.to_json()["edges"][2],
        serde_json::json!({"task": "load", "link": "produces", "parameter": "sales.x"})
    );
}

#[test]
fn the_graph_is_drawn_for_graphviz_and_for_mermaid() {
    let graph = warehouse().near("load", 1);
    assert_eq!(
        graph.to_mermaid(),
        "flowchart LR\n  p1([\"sales.x\"])\n  p2([\"shop.x\"])\n  t1[\"load\"]\n  p2 --> t1\n  t1 -.-> p1\n"
    );
    let dot = graph.to_dot();
    assert!(
        dot.starts_with("digraph tasks {\n") && dot.ends_with("  p2 -> t1;\n  t1 -> p1 [style=dashed];\n}\n"),
        "{dot}"
    );
    assert!(
        dot.contains("  t1 [shape=box, style=\"rounded,filled\", fillcolor=\"#e8f0fe\", label=\"load\"];\n"),
        "{dot}"
    );
}

#[test]
fn a_part_of_the_graph_is_what_is_near() {
    let near = |name: &str, edges| {
        let part = warehouse().near(name, edges);
        (part.tasks.len(), part.parameters.len(), part.edges.len())
    };
    assert_eq!(near("load", 0), (1, 0, 0));
    assert_eq!(near("sales.x", 1), (2, 1, 2));
    assert_eq!(near("load", 3), (2, 4, 5));
    assert_eq!(near("nobody", 3), (0, 0, 0));
}
