//! Values that tasks wait for, on a running process: by the command line, and in JSON by a plain
//! HTTP client.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::{Arc, mpsc};

use crate::common::{Answer, Ended, PATIENCE, Server, post_json, run, torg};
use serde_json::{Value, json};

const SERVICE: &str = "/torg.tasks.v1.CtlService";
const LOADED: &str = "sales.loaded_to";
/// Roles with which a process sets no values itself.
const WITHOUT_OWN: [(&str, &str); 1] = [("TORG_ROLES", "api,feeds")];

/// Runs `torg ctl` against a server.
fn ctl(server: &Server, arguments: &[&str]) -> Ended {
    run(torg(&server.folder, &[&["ctl"], arguments, &["--server", &server.url()]].concat()))
}

fn done(server: &Server, arguments: &[&str]) -> String {
    let ended = ctl(server, arguments);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{arguments:?}: {}", ended.stdout);
    ended.stdout
}

/// The error of a command that has to fail with this code.
fn refused(server: &Server, code: i32, arguments: &[&str]) -> String {
    let ended = ctl(server, arguments);
    assert_eq!((ended.code, &*ended.stdout), (Some(code), ""), "{arguments:?}: {}", ended.stderr);
    assert!(ended.stderr.starts_with("error: "), "{arguments:?}: {}", ended.stderr);
    ended.stderr
}

fn call(server: &Server, method: &str, request: &Value) -> Answer {
    server.post_json(&format!("{SERVICE}/{method}"), &request.to_string())
}

fn told(server: &Server, method: &str, request: &Value) -> Value {
    let answer = call(server, method, request);
    assert_eq!(answer.status, 200, "{method} {request}: {answer:?}");
    answer.json()
}

/// The code and the machine-readable reason of a call that has to be refused.
fn reason(server: &Server, method: &str, request: &Value) -> (String, String) {
    let answer = call(server, method, request);
    assert_ne!(answer.status, 200, "{method} {request}: {answer:?}");
    let json = answer.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&json["code"]), text(&json["details"][0]["debug"]["reason"]))
}

/// A running command and the lines that it prints; killed when dropped.
struct Watching {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Watching {
    fn start(server: &Server, arguments: &[&str]) -> Watching {
        let url = server.url();
        let mut command = torg(&server.folder, &[&["ctl", "watch"], arguments, &["--server", &url]].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Watching { child, lines: receiver }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Waits for its end; returns its exit code and its last output.
    fn end(&mut self) -> (Option<i32>, String) {
        while self.lines.recv_timeout(PATIENCE).is_ok() {}
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A stream of the Connect protocol over HTTP/1.1, read on demand.
struct PlainStream {
    stream: TcpStream,
    seen: String,
}

impl PlainStream {
    fn open(server: &Server, request: &Value) -> PlainStream {
        let message = request.to_string();
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        let body = [&[0], &length[..], message.as_bytes()].concat();
        let head = post_json(&format!("{SERVICE}/WatchValues"), &"x".repeat(body.len()));
        let head =
            head.split("\r\n\r\n").next().unwrap().replace("application/json", "application/connect+json");
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&[head.as_bytes(), b"\r\n\r\n", &body].concat()).unwrap();
        PlainStream { stream, seen: String::new() }
    }

    /// Reads until this text has come.
    fn read_to(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        while !self.seen.contains(text) {
            let count = self.stream.read(&mut bytes).unwrap();
            assert!(count > 0, "ended without {text:?}: {}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }
}

#[test]
fn values_are_set_shown_listed_and_deleted_and_survive_a_restart() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = Server::start_in(&folder, &WITHOUT_OWN);
    assert_eq!(done(&server, &["list"]), "there is no value yet: torg ctl set NAME=VALUE\n");
    let set =
        ["set", "sales.loaded_to=2026-03-25T09:00:00+01:00", "default/sales.rows=5", "dwh/sales.rows=-7"];
    assert_eq!(
        done(&server, &set),
        "sales.loaded_to: no value -> 2026-03-25T08:00:00Z (version 1)\n\
         sales.rows: no value -> 5 (version 1)\ndwh/sales.rows: no value -> -7 (version 1)\n"
    );
    assert_eq!(done(&server, &["set", "sales.rows=5"]), "sales.rows is 5 already (version 1)\n");
    assert!(done(&server, &["set", "other.seen_at=now"]).starts_with("other.seen_at: no value -> 20"));
    server.stop();

    let server = Server::start_in(&folder, &WITHOUT_OWN);
    let names = |arguments: &[&str]| -> Vec<String> {
        let shown = done(&server, arguments);
        let rows = shown.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        rows.map(str::to_owned).collect()
    };
    assert_eq!(names(&["list"]), ["other.seen_at", LOADED, "sales.rows", "dwh/sales.rows"]);
    assert_eq!(names(&["list", "sal"]), [LOADED, "sales.rows"]);
    assert_eq!(names(&["list", "sales.r"]), ["sales.rows"]);
    assert_eq!(names(&["list", "dwh/"]), ["dwh/sales.rows"]);
    assert_eq!(done(&server, &["list", "zoo"]), "no value begins with zoo: torg ctl list shows all\n");
    let shown = done(&server, &["get", "sales.rows"]);
    let row: Vec<&str> = shown.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((row[0], row[1], row[2], row[4]), ("sales.rows", "5", "1", "local"));

    assert_eq!(done(&server, &["delete", "sales.rows"]), "sales.rows: 5 -> no value\n");
    assert_eq!(done(&server, &["delete", "sales.rows"]), "sales.rows has no value already\n");
    let ended = ctl(&server, &["get", "sales.rows", LOADED]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.contains(LOADED) && !ended.stdout.contains("sales.rows"), "{}", ended.stdout);
    assert!(
        ended.stderr.starts_with("error: no value: sales.rows\nhint: `torg ctl list`"),
        "{}",
        ended.stderr
    );
    assert_eq!(done(&server, &["set", "sales.rows=1"]), "sales.rows: no value -> 1 (version 3)\n");
}

#[test]
fn every_command_of_the_guide_works() {
    let guide =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/tasks.md")).unwrap();
    let lines: Vec<&str> = guide.lines().filter(|line| line.starts_with("torg ctl ")).collect();
    assert_eq!(lines.len(), 8, "{lines:?}");
    let server = Server::start(&[]);
    for line in lines {
        let mut arguments: Vec<String> = Vec::new();
        for (place, part) in line.split(" #").next().unwrap().split('"').enumerate() {
            // Every second part is in quotation marks.
            match place % 2 {
                0 => arguments.extend(part.split_whitespace().map(str::to_owned)),
                _ => arguments.push(part.to_owned()),
            }
        }
        let arguments: Vec<&str> = arguments.iter().map(|argument| &**argument).skip(2).collect();
        match &*arguments {
            ["watch", about @ ..] => {
                let watching = Watching::start(&server, about);
                assert!(watching.line().starts_with("sales.loaded_to = 2026-03-25T08:05:00Z"));
                assert!(watching.line().starts_with("sales.rows = 1250"));
            }
            arguments => drop(done(&server, arguments)),
        }
    }
    assert_eq!(ctl(&server, &["get", "sales.rows"]).code, Some(1), "the last one deletes it");
}

#[test]
fn a_value_moves_back_only_if_it_is_allowed_and_the_history_tells_by_whom_and_why() {
    let server = Server::start(&[]);
    done(&server, &["set", "sales.rows=5", "--reason", "first load"]);
    let said = refused(&server, 1, &["set", "sales.rows=4", "other.rows=1"]);
    assert!(said.contains("sales.rows would move back from 5 to 4"), "{said}");
    assert!(said.contains("\nhint: with --back it is set all the same"), "{said}");
    assert_eq!(ctl(&server, &["get", "other.rows"]).code, Some(1), "all or none");
    let moved = done(&server, &["set", "sales.rows=4", "--back", "--reason", "counted\nanew"]);
    assert_eq!(moved, "sales.rows: 5 -> 4 (version 2), moved back\n");
    done(&server, &["delete", "sales.rows"]);

    let shown = done(&server, &["history", "sales.rows"]);
    let rows: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["VERSION", "CHANGED", "BY", "BEFORE", "AFTER", "REASON"]);
    assert_eq!((rows[1][0], &rows[1][2..]), ("3", &["local", "4", "no", "value"][..]));
    assert_eq!(
        (rows[2][0], &rows[2][2..]),
        ("2", &["local", "5", "4", "moved", "back", "counted", "anew"][..])
    );
    assert_eq!((rows[3][0], &rows[3][2..]), ("1", &["local", "no", "value", "5", "first", "load"][..]));
    assert_eq!(rows.len(), 4);
    let last: Value =
        serde_json::from_str(&done(&server, &["history", "sales.rows", "--limit", "1", "--json"])).unwrap();
    assert_eq!((&last["changes"][0]["version"], last["changes"].as_array().unwrap().len()), (&json!("3"), 1));
    assert!(done(&server, &["history", "no.body"]).starts_with("no.body was never changed"));

    // Pages by JSON.
    let first = told(&server, "ListHistory", &json!({"parameter": "sales.rows", "pageSize": 2}));
    let versions = |page: &Value| -> Vec<String> {
        page["changes"].as_array().unwrap().iter().map(|one| one["version"].to_string()).collect()
    };
    assert_eq!(versions(&first), ["\"3\"", "\"2\""]);
    assert_eq!(first["changes"][1]["movedBack"], true);
    let token = &first["nextPageToken"];
    let next = json!({"parameter": "sales.rows", "pageSize": 2, "pageToken": token});
    let next = told(&server, "ListHistory", &next);
    assert_eq!((versions(&next), next.get("nextPageToken")), (vec!["\"1\"".to_owned()], None));
    let other = json!({"parameter": "other.rows", "pageToken": token});
    assert_eq!(reason(&server, "ListHistory", &other), ("invalid_argument".into(), "WRONG_TOKEN".into()));
}

#[test]
fn a_change_is_made_only_if_the_value_is_what_the_caller_takes_it_to_be() {
    let server = Server::start(&[]);
    done(&server, &["set", "sales.rows=5", "--if-value", "none"]);
    let said = refused(&server, 1, &["set", "sales.rows=6", "--if-value", "none"]);
    assert!(said.contains("sales.rows has version 1 (5), not 0"), "{said}");
    assert!(said.contains("\nhint: `torg ctl get NAME`"), "{said}");
    done(&server, &["set", "sales.rows=6", "--if-version", "1"]);
    refused(&server, 1, &["set", "sales.rows=7", "--if-version", "1"]);
    let said = refused(&server, 1, &["set", "sales.rows=7", "--if-value", "-5"]);
    assert!(said.contains("sales.rows is 6, not -5"), "{said}");
    done(&server, &["set", "sales.rows=7", "--if-value", "6"]);
    refused(&server, 1, &["delete", "sales.rows", "--if-value", "6"]);
    done(&server, &["delete", "sales.rows", "--if-version", "3"]);
    let said = refused(&server, 1, &["set", "a.b=1", "c.d=1", "--if-version", "0"]);
    assert!(said.contains("about one value"), "{said}");

    let set = |change: Value| json!({ "changes": [change] });
    let number = |number: i64| json!({ "number": number });
    let change = json!({"parameter": "sales.rows", "value": number(9), "expectedVersion": "1"});
    assert_eq!(reason(&server, "SetValues", &set(change)), ("aborted".into(), "VERSION_CONFLICT".into()));
    let change = json!({"parameter": "sales.rows", "value": number(9), "expectedValue": number(7)});
    assert_eq!(reason(&server, "SetValues", &set(change)), ("aborted".into(), "VALUE_CONFLICT".into()));
    let change = json!({"parameter": "sales.rows", "value": number(9), "expectedVersion": 0});
    let done = told(&server, "SetValues", &set(change));
    assert_eq!(
        done["done"][0],
        json!({"parameter": "sales.rows", "after": {"number": "9"}, "version": "5", "changed": true})
    );
    let again = told(&server, "SetValues", &set(json!({"parameter": "sales.rows", "value": number(9)})));
    assert_eq!((again["done"][0].get("changed"), &again["done"][0]["version"]), (None, &json!("5")));
    let forced = json!({"parameter": "sales.rows", "value": number(9), "evenIfSame": true});
    assert_eq!(told(&server, "SetValues", &set(forced))["done"][0]["version"], "6");
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let server = Server::start(&[]);
    done(&server, &["set", "sales.rows=5"]);
    for (arguments, part) in [
        (&["set", "sales.rows"][..], "there is no = in it"),
        (&["set", "sales=5"], "there is no dot in it"),
        (
            &["set", "sales.rows=tomorrow"],
            "a time such as 2026-03-25T08:05:00Z, the word now, or a whole number",
        ),
        (&["set", "sales.rows=2026-03-25T08:05:00"], "a time such as"),
        (&["get", "sales"], "there is no dot in it"),
        (&["get"], "required"),
        (&["set", "a.b=1", "--if-version", "1", "--if-value", "1"], "cannot be used with"),
    ] {
        let said = refused(&server, 2, arguments);
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
    for (arguments, part) in [
        (&["set", "sales.rows=now"][..], "delete the value first"),
        (&["set", "a.b=1", "default/a.b=2"], "a.b is changed twice in one call"),
        (&["set", "a.b=1", "--reason", &"x".repeat(1001)], "reason: at most 1000 characters"),
        (&["list", "/x"], "no / in front"),
        (&["watch", "sales.rows", "x"], "there is no dot in it"),
    ] {
        let said = refused(&server, 1, arguments);
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
    let many: Vec<Value> =
        (0..1001).map(|n| json!({"parameter": format!("a{n}.b"), "delete": true})).collect();
    let names: Vec<String> = (0..1001).map(|n| format!("a{n}.b")).collect();
    let time = |time: &str| json!({"changes": [{"parameter": "a.b", "value": {"time": time}}]});
    for (method, request, expected) in [
        ("SetValues", json!({}), "REQUIRED"),
        ("SetValues", json!({"changes": [{"parameter": "a.b"}]}), "WRONG_VALUES"),
        ("SetValues", json!({"changes": [{"parameter": "a.b", "value": {}}]}), "WRONG_VALUES"),
        (
            "SetValues",
            json!({"changes": [{"parameter": "a.b", "value": {"number": 1}, "delete": true}]}),
            "WRONG_VALUES",
        ),
        ("SetValues", json!({"changes": [{"parameter": "a b.c", "delete": true}]}), "WRONG_VALUES"),
        ("SetValues", json!({ "changes": many }), "LIMIT_EXCEEDED"),
        ("SetValues", time("9999-12-31T23:59:59Z"), "WRONG_VALUES"),
        (
            "SetValues",
            json!({"reason": "\u{1b}[2J", "changes": [{"parameter": "a.b", "delete": true}]}),
            "BAD_CHARACTER",
        ),
        ("GetValues", json!({}), "REQUIRED"),
        ("GetValues", json!({ "parameters": names }), "LIMIT_EXCEEDED"),
        ("ListValues", json!({"pageSize": 1001}), "LIMIT_EXCEEDED"),
        ("ListValues", json!({"pageToken": "x"}), "WRONG_TOKEN"),
        ("ListHistory", json!({}), "REQUIRED"),
    ] {
        let shown = request.to_string().chars().take(100).collect::<String>();
        let expected = ("invalid_argument".to_owned(), expected.to_owned());
        assert_eq!(reason(&server, method, &request), expected, "{method} {shown}");
    }
    let both = [json!({"parameter": "a.b"}), json!({"parameter": "x", "delete": true})];
    let answer = call(&server, "SetValues", &json!({ "changes": both })).json();
    let fields = answer["details"][1]["debug"]["fieldViolations"].as_array().unwrap();
    let fields: Vec<&Value> = fields.iter().map(|field| &field["field"]).collect();
    assert_eq!(fields, ["changes[0].value", "changes[1].parameter"], "everything at once");
    assert!(
        call(&server, "SetValues", &json!({"chnages": []})).body.contains("did you mean \\\"changes\\\"?")
    );
}

#[test]
fn a_watch_tells_what_there_is_and_hears_what_another_client_changes() {
    let server = Server::start(&[]);
    done(&server, &["set", "sales.rows=5", "other.rows=1"]);
    let named = Watching::start(&server, &["sales.rows", LOADED]);
    assert_eq!(named.line(), "sales.loaded_to has no value");
    assert!(named.line().starts_with("sales.rows = 5 (version 1, by local at 20"));
    let beginning = Watching::start(&server, &["sal"]);
    assert!(beginning.line().starts_with("sales.rows = 5"));
    let empty = Watching::start(&server, &["dwh/", "--json"]);
    assert_eq!(empty.json(), json!({"caughtUp": true}));
    let mut plain = PlainStream::open(&server, &json!({}));
    plain.read_to("\"caughtUp\":true");

    told(&server, "SetValues", &json!({"changes": [{"parameter": "sales.rows", "value": {"number": 6}}]}));
    for watching in [&named, &beginning] {
        assert!(watching.line().starts_with("sales.rows = 6 (version 2, by local at 20"));
    }
    plain.read_to("\"number\":\"6\"");
    done(&server, &["set", "dwh/sales.rows=1"]);
    assert_eq!(empty.json()["values"][0]["parameter"], "dwh/sales.rows");
    done(&server, &["delete", "sales.rows", "dwh/sales.rows"]);
    for watching in [&named, &beginning] {
        assert!(watching.line().starts_with("sales.rows has no value (deleted by local at 20"));
    }
    let gone = empty.json();
    assert_eq!((&gone["values"][0]["author"], gone["values"][0].get("value")), (&json!("local"), None));
    done(&server, &["set", "sales.rows=1", "sales.loaded_to=2026-03-25T08:00:00Z"]);
    assert!(beginning.line().starts_with("sales.loaded_to = 2026-03-25T08:00:00Z (version 1"));
    assert!(beginning.line().starts_with("sales.rows = 1 (version 4"));
}

#[test]
fn who_does_not_read_for_a_while_hears_the_last_value_all_the_same() {
    let server = Server::start(&[("TORG_STORE_DURABILITY", "os")]);
    let mut slow = PlainStream::open(&server, &json!({"parameters": ["sales.rows"]}));
    // Wide rows, so that unread data fills the connection and the stream waits for its reader.
    let names: Vec<String> = (0..999).map(|n| format!("{}{n}.rows", "wide".repeat(40))).collect();
    let mut slow_wide = PlainStream::open(&server, &json!({"prefix": "wide"}));
    for value in 1..=60 {
        let change = |name: &String| json!({"parameter": name, "value": {"number": value}});
        let rows = "sales.rows".to_owned();
        let changes: Vec<Value> = names.iter().chain([&rows]).map(change).collect();
        told(&server, "SetValues", &json!({ "changes": changes }));
    }
    slow.read_to("\"value\":{\"number\":\"60\"},\"version\":\"60\"");
    let last = format!("\"parameter\":\"{}\",\"value\":{{\"number\":\"60\"}}", names[998]);
    slow_wide.read_to(&last);
}

#[test]
fn more_values_than_a_page_are_listed_and_watched_whole() {
    let server = Server::start(&[("TORG_STORE_DURABILITY", "os"), WITHOUT_OWN[0]]);
    for part in 0..3 {
        let change =
            |n: i32| json!({"parameter": format!("s{:04}.rows", part * 1000 + n), "value": {"number": n}});
        told(&server, "SetValues", &json!({"changes": (0..1000).map(change).collect::<Vec<_>>()}));
    }
    let listed: Value = serde_json::from_str(&done(&server, &["list", "--json"])).unwrap();
    let name = |value: &Value| value["parameter"].as_str().unwrap().to_owned();
    let names: Vec<String> = listed["values"].as_array().unwrap().iter().map(name).collect();
    assert_eq!(names, (0..3000).map(|n| format!("s{n:04}.rows")).collect::<Vec<_>>());
    // The rows with this prefix are spread among the others.
    let page = told(&server, "ListValues", &json!({"prefix": "s1999.r", "pageSize": 1}));
    assert_eq!((name(&page["values"][0]), page.get("nextPageToken")), ("s1999.rows".to_owned(), None));

    let watching = Watching::start(&server, &["--json"]);
    let (mut seen, mut messages) = (0, 0);
    loop {
        let message = watching.json();
        (seen, messages) = (seen + message["values"].as_array().unwrap().len(), messages + 1);
        if message["caughtUp"] == true {
            break;
        }
    }
    assert_eq!((seen, messages), (3000, 3));
}

#[test]
fn a_watch_ends_with_an_error_when_the_process_stops() {
    let server = Server::start(&[]);
    let mut watching = Watching::start(&server, &["--json"]);
    watching.json();
    server.stop();
    let (code, said) = watching.end();
    assert_eq!(code, Some(1));
    assert!(said.starts_with("error: this process is stopping: start again with another one"), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let nobody = run(torg(&folder, &["ctl", "list", "--server", "http://127.0.0.1:1"]));
    assert_eq!(nobody.code, Some(1));
    assert!(nobody.stderr.contains("hint: start `torg serve`"), "{}", nobody.stderr);
}

#[test]
fn support_looks_services_set_and_the_history_names_the_caller() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let key = |role: &str| {
        let mut arguments = vec!["keys", "add", role, "--role", role];
        arguments.extend(if role == "seller" { &["--seller", "s1"][..] } else { &[] });
        let ended = run(torg(&folder, &arguments));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout.trim().to_owned()
    };
    let [seller, support, service] = ["seller", "support", "service"].map(key);
    let server = Server::start_in(&folder, &[("TORG_ACCESS_MODE", "required")]);
    let as_caller = |key: &str, arguments: &[&str]| {
        let url = server.url();
        let mut command = torg(&folder, &[&["ctl"], arguments, &["--server", &url]].concat());
        command.env("TORG_TOKEN", key);
        run(command)
    };
    let set = ["set", "sales.rows=5"];
    assert_eq!(as_caller(&service, &set).code, Some(0));
    for (key, arguments) in
        [(&support, &set[..]), (&support, &["delete", "sales.rows"]), (&seller, &set), (&seller, &["list"])]
    {
        let ended = as_caller(key, arguments);
        assert_eq!(ended.code, Some(1));
        assert!(ended.stderr.contains("hint: use a token with another role"), "{}", ended.stderr);
    }
    assert!(refused(&server, 1, &["list"]).contains("hint: give an API key"));
    let shown = as_caller(&support, &["history", "sales.rows"]).stdout;
    let id = service.split('_').nth(1).unwrap();
    assert_eq!(shown.lines().nth(1).unwrap().split_whitespace().nth(2), Some(id));
    assert_eq!(shown.lines().count(), 2, "{shown}");
}
