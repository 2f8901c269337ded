//! The files in `deploy` name only measures, settings, commands and files that exist.

mod containers;
mod prometheus;
mod watching;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

use crate::common::{Server, run, torg};
use crate::observe::rig::offer;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(folder().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A YAML file, with aliases and `<<` resolved.
fn yaml(path: &str) -> Value {
    let text = read(path);
    let mut events = Parser::new_from_str(&text).map(|event| event.unwrap().0);
    let mut anchors = BTreeMap::new();
    let first =
        events.find(|event| !matches!(event, Event::StreamStart | Event::DocumentStart(_) | Event::Nothing));
    value(first.unwrap(), &mut events, &mut anchors)
}

fn value<'e>(
    event: Event<'e>,
    events: &mut impl Iterator<Item = Event<'e>>,
    anchors: &mut BTreeMap<usize, Value>,
) -> Value {
    let (anchor, read) = match event {
        Event::Alias(anchor) => return anchors[&anchor].clone(),
        Event::Scalar(text, style, anchor, _) => {
            let plain = style == ScalarStyle::Plain;
            (
                anchor,
                if plain && (text.is_empty() || text == "~") {
                    Value::Null
                } else {
                    text.into_owned().into()
                },
            )
        }
        Event::SequenceStart(anchor, _) => {
            let mut entries = Vec::new();
            while let Some(next) = events.next().filter(|event| *event != Event::SequenceEnd) {
                entries.push(value(next, events, anchors));
            }
            (anchor, Value::Array(entries))
        }
        Event::MappingStart(anchor, _) => {
            let mut fields = Map::new();
            while let Some(next) = events.next().filter(|event| *event != Event::MappingEnd) {
                let key = value(next, events, anchors).as_str().unwrap().to_owned();
                let next = events.next().unwrap();
                match value(next, events, anchors) {
                    Value::Object(merged) if key == "<<" => fields.extend(merged),
                    content => drop(fields.insert(key, content)),
                }
            }
            (anchor, Value::Object(fields))
        }
        other => panic!("{other:?}"),
    };
    anchors.insert(anchor, read.clone());
    read
}

/// Every text under a key of this name, at any depth.
fn all<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v str>) {
    match value {
        Value::Array(entries) => entries.iter().for_each(|entry| all(entry, key, found)),
        Value::Object(fields) => {
            found.extend(fields.get(key).and_then(Value::as_str));
            fields.values().for_each(|value| all(value, key, found));
        }
        _ => {}
    }
}

/// The measures in a Prometheus expression.
fn measures(expression: &str) -> BTreeSet<String> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = expression.split(|letter| !is_of_name(letter));
    words
        .filter(|word| word.starts_with("torg_") || word.starts_with("process_"))
        .map(str::to_owned)
        .collect()
}

/// Labels by measure.
type Labels = BTreeMap<String, BTreeSet<String>>;

/// Labels that Prometheus adds to all samples.
const ADDED: [&str; 2] = ["job", "instance"];

/// The names of the labels in the matchers of a selector, without its braces. A text in quotation
/// marks is a value.
fn matched(matchers: &str) -> impl Iterator<Item = String> {
    let names = matchers.split('"').step_by(2);
    let names = names.map(|name| name.trim_matches([' ', ',', '=', '!', '~']).to_owned());
    names.filter(|name| !name.is_empty())
}

/// Splits a text after its leading parenthesis: the contents and the rest.
fn parenthesis(text: &str) -> (&str, &str) {
    let mut depth = 0;
    for (place, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            assert!(place > 0, "no parenthesis: {text}");
            return (&text[1..place], &text[place + 1..]);
        }
    }
    panic!("never closed: {text}");
}

/// The labels that a Prometheus expression expects of its measures: those in matchers and in
/// grouping clauses. Our files write the clause first: `max by (stage) (...)`.
fn expected_labels(expression: &str, labels: &mut Labels) {
    for name in measures(expression) {
        let found = labels.entry(name.clone()).or_default();
        for (_, behind) in
            expression.match_indices(&name).map(|(place, _)| expression.split_at(place + name.len()))
        {
            let matchers = behind.strip_prefix('{').and_then(|rest| rest.split('}').next());
            found.extend(matchers.into_iter().flat_map(matched));
        }
    }
    for (place, by) in expression.match_indices("by (") {
        let (group, rest) = parenthesis(&expression[place + by.len() - 1..]);
        let (grouped, _) = parenthesis(rest.trim_start());
        for name in measures(grouped) {
            let group = group.split(',').map(|label| label.trim().to_owned());
            labels.entry(name).or_default().extend(group);
        }
    }
}

/// The labels of every measure in `/metrics`.
fn shown_labels(metrics: &str) -> Labels {
    let mut labels = Labels::new();
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let matchers = line[name.len()..].strip_prefix('{').and_then(|rest| rest.rsplit_once('}'));
        let found = labels.entry(name.to_owned()).or_default();
        found.extend(matchers.into_iter().flat_map(|(matchers, _)| matched(matchers)));
    }
    labels
}

#[test]
fn labels_are_read_from_expressions_and_from_what_is_shown() {
    let mut labels = Labels::new();
    expected_labels(
        "max by (le, stage) (rate(torg_a{job=\"$job\",code!~\"x,y|(z)\"}[5m])) > 2 * max(torg_ab)",
        &mut labels,
    );
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(labels["torg_a"], of(&["code", "job", "le", "stage"]));
    assert_eq!(labels["torg_ab"], of(&[]));
    let shown = shown_labels("# TYPE torg_a counter\ntorg_a{code=\"x, {y}\",stage=\"z\"} 1\ntorg_ab 2\n");
    assert_eq!((&shown["torg_a"], &shown["torg_ab"]), (&of(&["code", "stage"]), &of(&[])));
}

#[test]
fn every_measure_of_the_dashboard_and_the_alerts_is_in_metrics_with_its_labels() {
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/torg.json")).unwrap();
    let (alerts, mut expressions) = (yaml("deploy/prometheus/alerts.yml"), Vec::new());
    all(&dashboard, "expr", &mut expressions);
    assert!(expressions.len() > 30, "{}", expressions.len());
    all(&alerts, "expr", &mut expressions);
    let mut wanted = Labels::new();
    for expression in &expressions {
        expected_labels(expression, &mut wanted);
    }
    assert!(wanted.len() > 30 && wanted["torg_stage_visits_total"].contains("stage"), "{wanted:?}");

    let server = Server::start(&[]);
    offer(&server, "Bicycle");
    let until = std::time::Instant::now() + crate::common::PATIENCE;
    let shown = loop {
        let shown = shown_labels(&server.get("/metrics").body);
        let missing: Vec<&String> = wanted.keys().filter(|name| !shown.contains_key(*name)).collect();
        if missing.is_empty() {
            break shown;
        }
        assert!(std::time::Instant::now() < until, "not in /metrics: {missing:?}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    for (name, labels) in &wanted {
        let unknown: Vec<&String> =
            labels.difference(&shown[name]).filter(|label| !ADDED.contains(&label.as_str())).collect();
        assert!(unknown.is_empty(), "{name} has no {unknown:?}, only {:?}", shown[name]);
    }
}

/// The complaints of systemd about a unit; empty if it is valid.
fn judged_by_systemd(unit: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torg.service");
    std::fs::write(&path, unit).unwrap();
    let output = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // It also reports other units of this machine.
    let ours = said.lines().filter(|line| line.contains("torg.service"));
    let ours: Vec<&str> = ours.collect();
    assert!(output.status.success() || !ours.is_empty(), "{said}");
    ours.join("\n")
}

#[test]
fn the_unit_is_one_that_systemd_takes_without_a_word() {
    if !answers("systemd-analyze", &["--version"]) {
        return testkit::skip(
            "the unit for systemd",
            "systemd-analyze is missing: Debian's package systemd has it",
        );
    }
    let unit = read("deploy/systemd/torg.service");
    // The installed path does not exist on this machine.
    let installed = "ExecStart=/usr/local/bin/torg ";
    assert_eq!(unit.matches(installed).count(), 1);
    let unit = unit.replace(installed, &format!("ExecStart={} ", env!("CARGO_BIN_EXE_torg")));
    assert_eq!(judged_by_systemd(&unit), "");
    // The check itself finds a mistake.
    let told = judged_by_systemd(&unit.replace("KillMode=", "KilMode="));
    assert!(told.contains("KilMode"), "{told}");
}

#[test]
fn commands_of_tasks_can_make_temporary_files_under_the_unit() {
    let unit = read("deploy/systemd/torg.service");
    let has = |line: &str| unit.lines().any(|shown| shown == line);
    assert!(has("ProtectSystem=strict") && has("ReadWritePaths=/tmp /var/tmp"));
    // `PrivateTmp` is removed with the process, and runs outlive the process.
    assert!(has("KillMode=process") && !unit.lines().any(|line| line.starts_with("PrivateTmp=")));
}

#[test]
fn what_the_file_of_the_unit_says_counts_and_no_variable_of_the_unit_wins_over_it() {
    let unit = read("deploy/systemd/torg.service");
    assert!(unit.contains("serve --config /etc/torg/torg.toml\n") && !unit.contains("TORG_DATA_DIR"));
    let sets = |line: &str| line.starts_with("Environment=") && line.contains("TORG_");
    assert!(!unit.lines().any(sets), "a variable wins over the file");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("torg.toml"), read("deploy/systemd/torg.toml")).unwrap();
    let shown = run(torg(&folder, &["config", "--config", "torg.toml"]));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    // The folder that systemd creates, writable for the process.
    assert!(unit.contains("\nStateDirectory=torg\n") && unit.contains("\nProtectSystem=strict\n"));
    for begin in [
        "data_dir = \"/var/lib/torg\"  # from torg.toml:",
        "url = \"fjall:/var/lib/torg/store\"  # follows data_dir",
        "format = \"json\"  # from torg.toml:",
    ] {
        assert!(shown.stdout.lines().any(|line| line.starts_with(begin)), "{begin}\n{}", shown.stdout);
    }
    assert!(unit.contains("\n#ReadWritePaths=/"), "another folder has a line that waits for it");
}

/// Whether a program is installed and this call of it succeeds.
fn answers(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Not reported as skipped: the tests of containers read this file too, and the tool is not among
/// those that the tests install.
#[test]
fn docker_takes_the_file_of_the_containers_where_it_is_there() {
    if !answers("docker", &["compose", "version"]) {
        return;
    }
    let output = Command::new("docker")
        .args(["compose", "--file", "deploy/compose.yaml", "config", "--quiet"])
        .env("TORG_PASSWORD", "s3cret")
        .current_dir(folder())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
