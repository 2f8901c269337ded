//! Stages in Python, as `torg stages new` generates them, run as processes and operated by the
//! command line.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::fs::{File, OpenOptions};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Ended, PATIENCE, Server, run, torg};

/// The Python of Debian, which has grpcio.
const PYTHON: &str = "/usr/bin/python3";
/// The id of the template's stage.
pub const STAGE: &str = "phone-numbers";
/// The phone number that the template removes from titles.
pub const PHONE: &str = "+49 171 1234567";

/// Whether stages in Python can run here; prints why not.
pub fn has_python(what: &str) -> bool {
    let there = Command::new(PYTHON).args(["-c", "import grpc"]).output();
    let there = there.is_ok_and(|output| output.status.success());
    if !there {
        testkit::skip(what, format!("{PYTHON} with grpcio is missing: see scripts/test"));
    }
    there
}

/// Polls until there is a result.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + 2 * PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A generated project.
pub struct Project {
    folder: PathBuf,
    port: u16,
}

impl Project {
    /// Generates the template with `torg stages new`, in this folder below the server's.
    pub fn write_out(folder: &Arc<tempfile::TempDir>, name: &str) -> Project {
        let made = run(torg(folder, &["stages", "new", "--lang", "python", STAGE, name]));
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Project { folder: folder.path().join(name), port }
    }

    /// Changes the code of the stage, as its author would.
    pub fn edit(&self, old: &str, new: &str) {
        let file = self.folder.join("stage.py");
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.matches(old).count(), 1, "{old} in\n{text}");
        std::fs::write(&file, text.replace(old, new)).unwrap();
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Starts the stage, always on the same port.
    pub fn start(&self) -> PythonStage {
        let listening = || self.printed().iter().filter(|line| line.starts_with("listening")).count();
        let before = listening();
        let log = |name: &str| -> File {
            OpenOptions::new().create(true).append(true).open(self.folder.join(name)).unwrap()
        };
        let mut command = Command::new(PYTHON);
        command.args(["stage.py", &format!("127.0.0.1:{}", self.port)]).current_dir(&self.folder);
        command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("STAGE_TOKEN");
        command.stdin(Stdio::null()).stdout(log("printed.txt")).stderr(log("errors.txt"));
        let stage = PythonStage(command.spawn().unwrap());
        eventually("the stage listens", || (listening() > before).then_some(()));
        stage
    }

    /// The complete lines that the stage has printed since its first start.
    pub fn printed(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.join("printed.txt")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Runs a few lines of Python with the project's SDK and returns their output.
    pub fn python(&self, script: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(PYTHON);
        command.args(["-c", script]).args(arguments).current_dir(&self.folder);
        let ended = run({
            command.env("PYTHONDONTWRITEBYTECODE", "1");
            command
        });
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
        ended.stdout
    }
}

/// A running stage; killed with SIGKILL when dropped.
pub struct PythonStage(Child);

impl PythonStage {
    /// Sends SIGKILL and waits for the end of the process.
    pub fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for PythonStage {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The command line and the calls of a server's operator.
impl Server {
    /// `torg ...` against this server.
    pub fn torg(&self, arguments: &[&str]) -> Ended {
        let url = self.url();
        run(torg(&self.folder, &[arguments, &["--server", &url]].concat()))
    }

    /// The output of a command that has to succeed.
    pub fn done(&self, arguments: &[&str]) -> String {
        let ended = self.torg(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        ended.stdout
    }

    /// The error of a command that has to fail, with exit code 1 and nothing on stdout.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let ended = self.torg(arguments);
        assert_eq!((ended.code, &*ended.stdout), (Some(1), ""), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("error: "), "{arguments:?}: {}", ended.stderr);
        ended.stderr
    }

    /// The output of a command, once it matches.
    pub fn done_once(&self, arguments: &[&str], is_it: impl Fn(&str) -> bool) -> String {
        let mut last = String::new();
        eventually(&format!("{arguments:?} as wanted"), || {
            let ended = self.torg(arguments);
            let shown = format!("{}{}", ended.stdout, ended.stderr);
            if shown != last {
                println!("{arguments:?}:\n{shown}");
                last = shown;
            }
            (ended.code == Some(0) && is_it(&ended.stdout)).then_some(ended.stdout)
        })
    }

    /// Registers the template's stage and waits until it is called.
    pub fn register(&self, project: &Project, more: &[&str]) -> String {
        let url = project.url();
        let given = ["stages", "register", STAGE, "--endpoint", &url, "--may-change", "title"];
        let said = self.done(&[&given, more].concat());
        self.done_once(&["stages", "show", STAGE], |shown| !shown.contains("no process serves it"));
        said
    }

    /// Calls a method that has to succeed.
    pub fn called(&self, method: &str, body: &Value) -> Value {
        let answer = self.post_json(&format!("/torg.{method}"), &body.to_string());
        assert_eq!(answer.status, 200, "{method}: {answer:?}");
        answer.json()
    }

    /// Creates an offer and returns its id.
    pub fn offer(&self, title: &str) -> String {
        let made = self.called("offers.v1.OfferService/CreateOffer", &json!({ "offer": bicycle(title) }));
        made["offer"]["id"].as_str().unwrap().to_owned()
    }

    pub fn retitle(&self, id: &str, title: &str) {
        let change = json!({ "offer": { "id": id, "title": title }, "updateMask": "title" });
        self.called("offers.v1.OfferService/UpdateOffer", &change);
    }

    pub fn title(&self, id: &str) -> String {
        let got = self.called("offers.v1.OfferService/GetOffer", &json!({ "id": id }));
        got["offer"]["title"].as_str().unwrap().to_owned()
    }

    pub fn title_becomes(&self, id: &str, title: &str) {
        eventually(&format!("{id}: {title}"), || (self.title(id) == title).then_some(()));
    }

    /// The stage's private state of an offer.
    pub fn state(&self, id: &str) -> Value {
        self.called("stages.v1.StateService/GetState", &json!({ "stage": STAGE, "id": id }))
    }

    /// The versions of an offer that the stage has made, the oldest first.
    pub fn versions_by_stage(&self, id: &str) -> Vec<u64> {
        let by_stage = |entry: &&Value| entry["author"]["name"] == STAGE;
        let version = |entry: &Value| entry["version"].as_str().unwrap().parse::<u64>().unwrap();
        let (mut versions, mut page) = (Vec::new(), String::new());
        loop {
            let request = json!({ "id": id, "pageSize": 1000, "pageToken": page });
            let history = self.called("offers.v1.OfferService/GetHistory", &request);
            versions
                .extend(history["entries"].as_array().into_iter().flatten().filter(by_stage).map(version));
            match history["nextPageToken"].as_str() {
                Some(next) if !next.is_empty() => next.clone_into(&mut page),
                _ => break,
            }
        }
        versions.sort_unstable();
        versions
    }
}

/// A valid offer.
pub fn bicycle(title: &str) -> Value {
    json!({ "seller": "eve", "category": "sg-4-4-3-2", "title": title, "price": { "free": {} } })
}
