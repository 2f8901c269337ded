//! A folder for runs, and a process that starts runs and can be killed.

use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use clock::Clock;
use runs::{Action, Command, End, Options, RunId, Runner, Spec, Status, Verb};
use tempfile::TempDir;

/// The program that supervises and starts runs.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_runs-for-tests");

/// A folder for runs, and a runner on it.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) runner: Runner,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runner = open(&folder.path().join("runs"));
        Self { folder, runner }
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    /// A file beside the runs.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder_of(&self, run: &str) -> PathBuf {
        self.runs().join(run)
    }

    /// Carries out a run to its end.
    pub(crate) async fn execute(&self, run: &str, spec: &Spec) -> End {
        self.runner.start(&id(run), spec).await.unwrap().wait().await.unwrap()
    }

    /// All that is kept of a log, as people see it.
    pub(crate) async fn log(&self, run: &str) -> String {
        let (mut text, mut at) = (String::new(), 0);
        loop {
            let piece = self.runner.log(&id(run), at, usize::MAX).await.unwrap();
            if piece.bytes.is_empty() {
                return text;
            }
            at = piece.next();
            text.push_str(&piece.text());
        }
    }

    /// Waits until a run has said something.
    pub(crate) async fn until_said(&self, run: &str, what: &str) {
        eventually(what, async || self.log(run).await.contains(what).then_some(())).await;
    }

    /// A process that has started a run.
    pub(crate) fn starter(&self, verb: &str, run: &str, spec: &Spec) -> Starter {
        self.starter_of_many(verb, run, spec, 1)
    }

    /// A process that starts some runs, and has started this many of them.
    pub(crate) fn starter_of_many(&self, verb: &str, runs: &str, spec: &Spec, started: usize) -> Starter {
        let spec = serde_json::to_string(spec).unwrap();
        let mut child = std::process::Command::new(PROGRAM)
            .args([verb, self.runs().to_str().unwrap(), runs, &spec])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        assert!(said.lines().take(started).all(|line| line.unwrap() == "started"));
        Starter(child)
    }
}

/// A runner, as a process has one that was just started.
pub(crate) fn open(runs: &Path) -> Runner {
    let supervisor = Verb::of(PROGRAM, "supervise");
    let callbacks = Some("https://torg.example/runs/{run}/end".to_owned());
    Runner::open(Options { folder: runs.to_owned(), supervisor, callbacks, clock: Clock::system() }).unwrap()
}

pub(crate) struct Starter(Child);

impl Starter {
    /// Ends it as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

pub(crate) fn id(run: &str) -> RunId {
    run.parse().unwrap()
}

/// A line for the shell, with patience for TERM of a tenth of a second.
pub(crate) fn shell(line: impl Into<String>) -> Spec {
    let kill_after = Duration::from_millis(100);
    Spec::new("task", Action::Command(Command { kill_after, ..Command::shell(line) }))
}

/// The same with other settings of the command.
pub(crate) fn with(mut spec: Spec, change: impl FnOnce(&mut Command)) -> Spec {
    let Action::Command(command) = &mut spec.action else { panic!("no command") };
    change(command);
    spec
}

/// The processes that belong to a run, by what they have in their environment.
pub(crate) fn processes_of(folder: &Path) -> Vec<String> {
    let mark = [b"TORG_RUN_FOLDER=", folder.as_os_str().as_bytes()].concat();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.ok()?.path();
        let environment = std::fs::read(path.join("environ")).ok()?;
        let is_ours = environment.split(|&byte| byte == 0).any(|variable| variable == mark);
        is_ours.then(|| std::fs::read_to_string(path.join("comm")).unwrap_or_default())
    });
    processes.collect()
}

pub(crate) async fn pid_of(runner: &Runner, run: &str) -> u32 {
    eventually("it runs", async || match runner.status(&id(run)).await.unwrap() {
        Status::Running { pid, .. } => pid,
        _ => None,
    })
    .await
}

/// Looks until something is so; by real time, for there are real processes.
pub(crate) async fn eventually<T>(what: &str, mut status: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..3000 {
        if let Some(found) = status().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came: {what}");
}
