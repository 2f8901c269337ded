//! A server with tasks, their commands, and services beside it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Ended, Server, run, torg};

/// Longer than any working operation takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const SERVICE: &str = "/torg.tasks.v1.TaskService";

/// Polls until there is a result.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("not in {PATIENCE:?}: {what}");
}

/// A table with one space between its cells.
pub(crate) fn squeezed(table: &str) -> String {
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    table.lines().map(line).collect()
}

/// A process that runs tasks in its own folder.
pub(crate) struct Rig {
    pub(crate) server: Server,
}

impl Rig {
    pub(crate) fn start(environment: &[(&str, &str)]) -> Rig {
        Rig { server: Server::start(environment) }
    }

    /// The same with these tasks.
    pub(crate) fn with(tasks: &str) -> Rig {
        let rig = Rig::start(&[]);
        rig.apply(tasks);
        rig
    }

    /// Stops this process and starts another one in the same folder.
    pub(crate) fn restarted(self, environment: &[(&str, &str)]) -> Rig {
        let folder = Arc::clone(&self.server.folder);
        self.server.stop();
        Rig { server: Server::start_in(&folder, environment) }
    }

    fn command(&self, verb: &str, arguments: &[&str]) -> Ended {
        let url = self.server.url();
        run(torg(&self.server.folder, &[&[verb], arguments, &["--server", &url]].concat()))
    }

    pub(crate) fn tasks(&self, arguments: &[&str]) -> Ended {
        self.command("tasks", arguments)
    }

    /// The output of a command that has to succeed.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let ended = self.tasks(arguments);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{arguments:?}: {}", ended.stdout);
        ended.stdout
    }

    /// The error of a command that has to fail with this code.
    pub(crate) fn refused(&self, code: i32, arguments: &[&str]) -> String {
        let ended = self.tasks(arguments);
        assert_eq!((ended.code, &*ended.stdout), (Some(code), ""), "{arguments:?}: {}", ended.stderr);
        ended.stderr
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.done(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Runs a pasted command line, with its reason filled in.
    pub(crate) fn paste(&self, line: &str) -> String {
        let line = line.trim().replace("'...'", "\"pasted from explain\"");
        let binary = env!("CARGO_BIN_EXE_torg");
        let line = format!("{} --server {}", line.replacen("torg", binary, 1), self.server.url());
        let mut shell = std::process::Command::new("/bin/sh");
        let ended = run({
            shell.args(["-c", &line]).current_dir(self.server.folder.path());
            shell
        });
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{line}: {}", ended.stdout);
        ended.stdout
    }

    pub(crate) fn ctl(&self, arguments: &[&str]) -> String {
        let ended = self.command("ctl", arguments);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{arguments:?}: {}", ended.stdout);
        ended.stdout
    }

    pub(crate) fn set(&self, values: &[&str]) {
        self.ctl(&[&["set"], values].concat());
    }

    /// The value of a parameter, if it has one.
    pub(crate) fn value(&self, parameter: &str) -> Option<String> {
        let shown = self.command("ctl", &["get", parameter]).stdout;
        shown.lines().nth(1)?.split_whitespace().nth(1).map(str::to_owned)
    }

    /// Writes a task file and applies it.
    pub(crate) fn apply(&self, tasks: &str) -> String {
        self.write("tasks.yaml", tasks);
        self.done(&["apply", "tasks.yaml", "--reason", "a test"])
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.server.folder.path().join(name), text).unwrap();
    }

    /// The lines of a file that runs have written; none if it does not exist.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.server.folder.path().join(name)).unwrap_or_default();
        // A line without its end is still being written.
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| line.trim().to_owned())
            .collect()
    }

    /// Waits until a file has this many lines.
    pub(crate) fn until_lines(&self, name: &str, count: usize) -> Vec<String> {
        until(&format!("{count} lines in {name}"), || {
            Some(self.lines(name)).filter(|lines| lines.len() >= count)
        })
    }

    pub(crate) fn explain(&self, task: &str) -> String {
        self.done(&["explain", task])
    }

    /// Waits until the explanation of a task contains this text.
    pub(crate) fn until_explained(&self, task: &str, part: &str) -> String {
        let mut last = String::new();
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            last = self.explain(task);
            if last.contains(part) {
                return last;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{part:?} is not said of {task}: {last}");
    }

    /// Waits until a task has this many finished runs; returns all of them, the newest first.
    pub(crate) fn until_ended(&self, task: &str, count: usize) -> Vec<Value> {
        until(&format!("{count} runs of {task}"), || {
            let runs = self.json(&["runs", task, "--limit", "100"]);
            let runs = runs["runs"].as_array().cloned().unwrap_or_default();
            let ended = runs.iter().filter(|run| run["endTime"].is_string()).count();
            (ended >= count).then_some(runs)
        })
    }

    /// A call in JSON.
    pub(crate) fn call(&self, method: &str, request: &Value) -> (u16, Value) {
        let answer = self.server.post_json(&format!("{SERVICE}/{method}"), &request.to_string());
        (answer.status, answer.json())
    }

    /// The code, the machine-readable reason and the first invalid field of a call that has to be
    /// refused.
    pub(crate) fn reason(&self, method: &str, request: &Value) -> (String, String, String) {
        let (status, json) = self.call(method, request);
        assert_ne!(status, 200, "{method} {request}: {json}");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let field = &json["details"][1]["debug"]["fieldViolations"][0]["field"];
        (text(&json["code"]), text(&json["details"][0]["debug"]["reason"]), text(field))
    }
}

/// A request that a test service received.
#[derive(Debug)]
pub(crate) struct Heard {
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Heard {
    pub(crate) fn header(&self, name: &str) -> String {
        let line = self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("no {name} in {}", self.head)).to_owned()
    }
}

/// A service that answers every request with 200, and passes requests to the test.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    heard: mpsc::Receiver<Heard>,
}

impl Service {
    pub(crate) fn start() -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    let (mut head, mut line) = (String::new(), String::new());
                    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
                        head += &[&name.to_ascii_lowercase(), ": ", value.trim(), "\n"].concat();
                        line.clear();
                    }
                    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
                    reader.read_exact(&mut body).unwrap();
                    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                    (&stream).write_all(answer.as_bytes()).unwrap();
                    let _ =
                        sender.send(Heard { head, body: serde_json::from_slice(&body).unwrap_or_default() });
                });
            }
        });
        Service { address, heard: requests }
    }

    pub(crate) fn next(&self) -> Heard {
        self.heard.recv_timeout(PATIENCE).unwrap()
    }
}
