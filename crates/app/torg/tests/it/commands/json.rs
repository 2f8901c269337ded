//! `--json` of every command that reads.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::common::{Server, run, torg};

/// Commands that need a running process, with their arguments.
const ASKED: [&[&str]; 29] = [
    &["config"],
    &["doctor"],
    &["catalog", "find", "city bike"],
    &["catalog", "show"],
    &["catalog", "show", "sg-4-4-3-2"],
    &["catalog", "check"],
    &["catalog", "accuracy"],
    &["explain", "offer", "OFFER"],
    &["stages", "list"],
    &["stages", "show", "expiry"],
    &["stages", "dry-run", "expiry"],
    &["stages", "recrawl", "status"],
    &["feed", "check", "sofas.json"],
    &["feed", "list", "--seller", "ann"],
    &["feed", "show", "--seller", "ann"],
    &["feed", "history", "--seller", "ann"],
    &["feed", "mappings", "--seller", "ann"],
    &["ctl", "get", "sales.loaded_to"],
    &["ctl", "list"],
    &["ctl", "history", "sales.loaded_to"],
    &["tasks", "list"],
    &["tasks", "explain", "report"],
    &["tasks", "queue"],
    &["tasks", "files"],
    &["tasks", "graph", "tasks.yaml"],
    &["tasks", "schema"],
    &["stages", "new", "my-stage"],
    &["topic", "list"],
    &["keys", "list"],
];
/// More of them, whose output needs existing tasks.
const ASKED_OF_TASKS: [&[&str]; 6] = [
    &["tasks", "runs", "report"],
    &["tasks", "history", "report"],
    &["tasks", "state", "get", "report"],
    &["tasks", "plan", "tasks.yaml"],
    &["tasks", "validate", "tasks.yaml"],
    &["tasks", "simulate", "tasks.yaml", "--log", "log.csv"],
];
/// Commands that need exclusive access to the store.
const ALONE: [&[&str]; 3] = [
    &["store", "check"],
    &["store", "copy", "--from", "fjall:data/store", "--to", "fjall:copy"],
    &["catalog", "survey"],
];
/// Commands that print one JSON object per line.
const STREAMS: [&str; 4] = ["ctl watch", "tasks log", "topic tail", "store dump"];
/// Commands without `--json`, and why.
const WITHOUT: [(&str, &str); 4] = [
    ("serve", "it goes on, and its log is JSON if TORG_LOG_FORMAT says so"),
    ("completions", "a script for a shell"),
    ("man", "manual pages"),
    ("feed schema", "XML, which is read by what reads XML"),
];
/// Commands that change something: their own tests cover their output.
const CHANGES: [&str; 38] = [
    "topic create",
    "topic append",
    "keys add",
    "keys revoke",
    "ctl set",
    "ctl delete",
    "stages register",
    "stages remove",
    "stages pause",
    "stages resume",
    "stages release",
    "stages promote",
    "stages recrawl start",
    "stages recrawl pause",
    "stages recrawl resume",
    "stages recrawl cancel",
    "stages limits",
    "feed add",
    "feed update",
    "feed pause",
    "feed resume",
    "feed delete",
    "feed upload",
    "feed fetch",
    "feed confirm",
    "feed map",
    "feed errors",
    "tasks run",
    "tasks pause",
    "tasks resume",
    "tasks cancel",
    "tasks kill",
    "tasks state set",
    "tasks state delete",
    "tasks backfill",
    "tasks backfill-resume",
    "tasks backfill-cancel",
    "tasks apply",
];

fn value(server: &Server, arguments: &[&str]) -> Value {
    let address = server.address.to_string();
    let ended = run(torg(&server.folder, &[arguments, &["--json", "--listen", &address]].concat()));
    assert_eq!(ended.code, Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", ended.stdout))
}

fn prepare(server: &Server) -> String {
    let write = |name: &str, text: &str| std::fs::write(server.folder.path().join(name), text).unwrap();
    write("sofas.json", r#"{"offers": []}"#);
    write("tasks.yaml", "tasks: {report: {when: {new_day: sales.loaded_to}, run: echo made}}");
    write("log.csv", "2026-03-25T08:05:00Z,sales.loaded_to,2026-03-25T08:05:00Z\n");
    value(server, &["feed", "add", "--seller", "ann"]);
    value(server, &["tasks", "apply", "tasks.yaml", "--reason", "a test"]);
    value(server, &["ctl", "set", "sales.loaded_to=2026-03-25T08:05:00Z"]);
    let offer = r#"{"offer": {"seller": "eve", "category": "sg-4-4-3-2", "title": "Red bicycle", "price": {"free": {}}}}"#;
    let made = server.post_json("/torg.offers.v1.OfferService/CreateOffer", offer).json();
    made["offer"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn json_of_every_command_that_reads_is_one_value() {
    let server = Server::start(&[]);
    let offer = prepare(&server);
    for arguments in ASKED.iter().chain(&ASKED_OF_TASKS) {
        let arguments: Vec<&str> =
            arguments.iter().map(|word| if *word == "OFFER" { &*offer } else { *word }).collect();
        let value = value(&server, &arguments);
        assert!(value.is_object() || value.is_array(), "{arguments:?}: {value}");
    }
    let keys = value(&server, &["keys", "add", "x", "--role", "admin"]);
    assert_eq!(value(&server, &["keys", "list"])[0]["id"], keys["id"]);
    assert_eq!(value(&server, &["topic", "create", "t", "--partitions", "3"])["partitions"], 3);
    let folder = std::sync::Arc::clone(&server.folder);
    server.stop();
    for arguments in ALONE {
        let ended = run(torg(&folder, &[arguments, &["--json"]].concat()));
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
        let value: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert!(value.is_object(), "{arguments:?}: {value}");
    }
}

#[test]
fn streams_take_json_though_they_print_nothing_else() {
    let server = Server::start(&[]);
    let address = server.address.to_string();
    value(&server, &["topic", "create", "t", "--partitions", "1"]);
    let file = server.folder.path().join("lines");
    std::fs::write(&file, "hello\n").unwrap();
    let mut append = torg(&server.folder, &["topic", "append", "t", "--listen", &address]);
    append.stdin(std::fs::File::open(file).unwrap());
    assert_eq!(run(append).code, Some(0));
    let objects = |folder: &tempfile::TempDir, arguments: &[&str]| {
        let ended = run(torg(folder, arguments));
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
        let lines: Vec<Value> =
            ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(!lines.is_empty() && lines.iter().all(Value::is_object), "{arguments:?}: {}", ended.stdout);
    };
    let tail = ["topic", "tail", "t", "--from-start", "--no-follow", "--json", "--listen", &address];
    objects(&server.folder, &tail);
    let folder = std::sync::Arc::clone(&server.folder);
    server.stop();
    objects(&folder, &["store", "dump", "--json"]);
}

/// The manual pages of the commands without subcommands, by their names with dashes for spaces.
fn pages() -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(torg(&folder, &["man", "--out", "pages"])).code, Some(0));
    let entries = std::fs::read_dir(folder.path().join("pages")).unwrap();
    let all: BTreeMap<String, String> = entries
        .map(|entry| {
            let page = entry.unwrap().path();
            let name = page.file_stem().unwrap().to_string_lossy().trim_start_matches("torg-").to_owned();
            (name, std::fs::read_to_string(page).unwrap())
        })
        .collect();
    let has_below = |text: &str| text.contains(".SH SUBCOMMANDS");
    let leaves = all.into_iter().filter(|(_, text)| !has_below(text)).collect::<BTreeMap<_, _>>();
    assert!(leaves.len() > 60, "{:?}", leaves.keys());
    leaves
}

/// Words of commands may have dashes, as those of pages do.
fn dashed(command: &str) -> String {
    command.replace(' ', "-")
}

#[test]
fn every_command_takes_json_but_for_a_few_with_a_reason() {
    let without: BTreeSet<String> =
        pages().into_iter().filter(|(_, text)| !text.contains("\\-\\-json")).map(|(name, _)| name).collect();
    let told: BTreeSet<String> = WITHOUT.iter().map(|(command, _)| dashed(command)).collect();
    assert_eq!(without, told);
}

#[test]
fn every_command_with_json_is_tried_or_changes_something() {
    let tried: Vec<String> =
        ASKED.iter().chain(&ASKED_OF_TASKS).chain(&ALONE).map(|words| words.join(" ")).collect();
    let is_known = |name: &str| {
        tried.iter().any(|command| dashed(command).starts_with(name))
            || STREAMS.iter().chain(&CHANGES).any(|command| dashed(command) == name)
    };
    let missing: Vec<String> = pages()
        .into_iter()
        .filter(|(name, text)| text.contains("\\-\\-json") && !is_known(name) && !name.starts_with("bench"))
        .map(|(name, _)| name)
        .collect();
    assert!(missing.is_empty(), "neither tried nor known to change something: {missing:?}");
}
