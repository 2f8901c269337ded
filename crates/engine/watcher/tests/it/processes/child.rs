//! A serving process as its parent holds it.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};

/// Tell a copy of this test binary that it is to serve, on which store, and under which name.
pub(crate) const STORE: &str = "TORG_TEST_SERVE_ON";
pub(crate) const INSTANCE: &str = "TORG_TEST_INSTANCE";

/// A serving process. It is killed when this is dropped.
pub(crate) struct Serving {
    pub(crate) name: &'static str,
    process: Child,
    input: Option<ChildStdin>,
    said: Arc<Mutex<Vec<String>>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Serving {
    pub(crate) fn start(url: &str, name: &'static str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::serves_when_it_is_started_by_the_other_test", "--nocapture"])
            .env(STORE, url)
            .env(INSTANCE, name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let said = Arc::new(Mutex::new(Vec::new()));
        let saying = Arc::clone(&said);
        let reader = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok).filter(|line| !line.is_empty()) {
                saying.lock().unwrap().push(line);
            }
        });
        let input = process.stdin.take();
        Self { name, process, input, said, reader: Some(reader) }
    }

    /// Sends a signal: `KILL`, `STOP`, `CONT`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    /// How many batches of it were refused because a shard was not its own any more.
    pub(crate) fn refused(&self) -> usize {
        self.said().iter().filter(|line| *line == "refused").count()
    }

    /// Tells it to end.
    pub(crate) fn release(&mut self) {
        self.input = None;
    }

    /// Waits until it is gone and all that it said is read.
    pub(crate) fn wait(&mut self) {
        self.process.wait().unwrap();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Also one that is stopped.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
