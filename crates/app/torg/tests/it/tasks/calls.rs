//! Tasks that a service carries out, and tasks by a plain HTTP client.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::common::{Answer, Server, post_json, run, torg};
use crate::tasks::rig::{Rig, Service, squeezed};

/// Posts to an address as a service would.
fn post(url: &str, token: &str, body: &Value) -> Answer {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let request = post_json(&format!("/{path}"), &body.to_string());
    let request = request.replacen("\r\n", &format!("\r\ntorg-callback-token: {token}\r\n"), 1);
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    Answer::read(stream)
}

#[test]
fn a_service_that_is_called_calls_back_when_it_is_done() {
    let service = Service::start();
    // The process has to know its own address, because it sends it to services.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let rig = Rig { server: Server::start_on(&folder, &free.to_string(), &[]) };
    rig.apply(&format!(
        r#"
tasks:
  remote:
    when: {{grew: {{of: shop.rows, by: 1}}}}
    retry: {{first: 1s, most: 1s}}
    run:
      http: {{url: "http://{}/jobs", done: callback}}
"#,
        service.address
    ));
    rig.set(&["shop.rows=7"]);
    let heard = service.next();
    assert!(heard.head.starts_with("post /jobs"), "{}", heard.head);
    let (url, token) = (heard.header("torg-callback-url"), heard.header("torg-callback-token"));
    assert_eq!(heard.body["task"], "remote");
    rig.until_explained("remote", "run 1 is under way");
    assert_eq!(post(&url, "wrong", &json!({"done": true})).status, 403);
    assert_eq!(post(&url, &token, &json!({"ready": true})).status, 400);
    let told = post(&url, &token, &json!({"done": false, "detail": "the disk is full"}));
    assert_eq!((told.status, told.json()), (200, json!({"first": true})));
    let again = post(&url, &token, &json!({"done": true}));
    assert_eq!((again.status, again.json()), (200, json!({"first": false})), "the first end counts");

    // The next attempt also reports a value.
    let heard = service.next();
    let (url, token) = (heard.header("torg-callback-url"), heard.header("torg-callback-token"));
    assert_eq!(heard.body["attempt"], 2);
    assert_eq!(post(&url, &token, &json!({"done": true, "sets": {"remote.rows": 7}})).status, 200);
    let runs = rig.until_ended("remote", 2);
    assert_eq!(
        (&runs[1]["outcome"], &runs[0]["outcome"]),
        (&json!("OUTCOME_FAILED"), &json!("OUTCOME_SUCCEEDED"))
    );
    assert!(runs[1]["error"].as_str().unwrap().contains("the disk is full"), "{}", runs[1]);
    assert_eq!(rig.value("remote.rows").as_deref(), Some("7"));
}

#[test]
fn tasks_are_applied_listed_and_explained_in_json() {
    let rig = Rig::start(&[]);
    let task = |name: &str| {
        let rest = "run: 'true', owner: anna, labels: {x: y}, sets: {a.done: a.b}, produces: [a.rows]";
        format!("tasks: {{{name}: {{when: {{new_day: a.b}}, {rest}}}}}")
    };
    let files: Vec<Value> = ["one", "three", "two"]
        .iter()
        .map(|name| json!({"name": format!("{name}.yaml"), "text": task(name)}))
        .collect();
    let (status, applied) = rig.call("ApplyTasks", &json!({"files": files, "reason": "first"}));
    assert_eq!((status, &applied["new"]), (200, &json!(["one", "three", "two"])), "{applied}");
    assert_eq!((&applied["deployment"]["number"], &applied["takenUp"]), (&json!("1"), &json!(true)));
    assert_eq!(applied["deployment"]["author"], "local");

    let (mut names, mut token) = (Vec::new(), String::new());
    loop {
        let (_, page) = rig.call("ListTasks", &json!({"pageSize": 1, "pageToken": token}));
        let tasks = page["tasks"].as_array().unwrap();
        assert_eq!(tasks.len(), 1);
        names.push(tasks[0]["name"].as_str().unwrap().to_owned());
        assert_eq!((&tasks[0]["owner"], &tasks[0]["labels"]), (&json!("anna"), &json!({"x": "y"})));
        assert_eq!(
            (&tasks[0]["trigger"], &tasks[0]["timezone"]),
            (&json!("a.b came into a new day"), &json!("UTC"))
        );
        assert_eq!((&tasks[0]["reads"], &tasks[0]["sets"]), (&json!(["a.b"]), &json!(["a.done", "a.rows"])));
        let Some(next) = page["nextPageToken"].as_str() else { break };
        next.clone_into(&mut token);
    }
    assert_eq!(names, ["one", "three", "two"]);
    let other = json!({"prefix": "t", "pageSize": 1, "pageToken": token});
    assert_eq!(rig.reason("ListTasks", &other).1, "WRONG_TOKEN");
    let (_, found) = rig.call("ListTasks", &json!({"prefix": "t", "standing": ["STANDING_IDLE"]}));
    assert_eq!(found["tasks"].as_array().unwrap().len(), 2);
    let (_, explained) = rig.call("ExplainTask", &json!({"task": "one"}));
    assert_eq!(explained["leaves"][0]["why"], "there is no value");
    assert!(explained["text"].as_str().unwrap().starts_with("one: idle"), "{explained}");
    assert!(explained["earliest"].is_string(), "{explained}");
    let (_, files) = rig.call("GetTaskFiles", &json!({}));
    assert_eq!(files["files"][1], json!({"name": "three.yaml", "text": task("three")}));
}

#[test]
fn support_looks_admins_act_and_the_history_names_them() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let key = |role: &str| {
        let ended = run(torg(&folder, &["keys", "add", role, "--role", role]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout.trim().to_owned()
    };
    let [support, admin] = ["support", "admin"].map(key);
    std::fs::write(folder.path().join("tasks.yaml"), "tasks: {t: {when: {new_day: a.b}, run: 'true'}}")
        .unwrap();
    let server = Server::start_in(&folder, &[("TORG_ACCESS_MODE", "required")]);
    let as_caller = |key: &str, arguments: &[&str]| {
        let mut command = torg(&folder, &[&["tasks"], arguments, &["--server", &server.url()]].concat());
        command.env("TORG_TOKEN", key);
        run(command)
    };
    assert_eq!(as_caller(&admin, &["apply", "tasks.yaml", "--reason", "x"]).code, Some(0));
    assert_eq!(as_caller(&admin, &["pause", "t", "--reason", "x"]).code, Some(0));
    for arguments in [&["list"][..], &["explain", "t"], &["queue"], &["runs", "t"], &["state", "get", "t"]] {
        let ended = as_caller(&support, arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
    }
    for arguments in [&["resume", "t", "--reason", "x"][..], &["files"], &["plan", "tasks.yaml"]] {
        let ended = as_caller(&support, arguments);
        assert_eq!(ended.code, Some(1));
        assert!(ended.stderr.contains("hint: use a token with another role"), "{}", ended.stderr);
    }
    let id = admin.split('_').nth(1).unwrap();
    let history = as_caller(&support, &["history", "t"]).stdout;
    assert!(squeezed(&history).contains(&format!(" {id} paused x\n")), "{history}");
}
