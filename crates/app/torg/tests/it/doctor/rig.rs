//! Runs the doctor and checks its findings.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{PATIENCE, Server, run, torg};

/// Settings under which a test does not depend on the free space of this machine.
const MODEST: [(&str, &str); 2] = [("TORG_STORE_FREE_MB_MIN", "1"), ("TORG_FEEDS_UPLOAD_MB_MAX", "1")];

/// The output of the doctor.
pub(crate) struct Told {
    pub(crate) code: Option<i32>,
    findings: Vec<Value>,
    text: String,
}

/// A folder to plant faults in, and the address of its process.
pub(crate) struct Patient {
    pub(crate) folder: Arc<tempfile::TempDir>,
    pub(crate) address: String,
    environment: Vec<(String, String)>,
    /// What `setpriv` takes away from the doctor, if anything.
    taken: Vec<String>,
}

impl Patient {
    pub(crate) fn new() -> Patient {
        let address = format!("127.0.0.1:{}", testkit::free_port());
        Patient {
            folder: Arc::new(tempfile::tempdir().unwrap()),
            address,
            environment: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// The same with these settings.
    pub(crate) fn with(mut self, settings: &[(&str, &str)]) -> Patient {
        self.environment.extend(settings.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        self
    }

    /// The same for a doctor from whom `setpriv` takes this away.
    pub(crate) fn without(mut self, taken: &[&str]) -> Patient {
        self.taken.extend(taken.iter().map(|taken| (*taken).to_owned()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in the folder and creates its parent folders.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn settings(&self) -> Vec<(&str, &str)> {
        let own = self.environment.iter().map(|(name, value)| (&**name, &**value));
        MODEST.into_iter().chain(own).collect()
    }

    /// A process of this configuration.
    pub(crate) fn serve(&self) -> Server {
        Server::start_on(&self.folder, &self.address, &self.settings())
    }

    /// Any other command, which has to succeed.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let mut command = torg(&self.folder, &[arguments, &["--listen", &self.address]].concat());
        command.envs(self.settings());
        let ended = run(command);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        ended.stdout
    }

    /// The findings as soon as the condition holds, or at the timeout.
    pub(crate) fn examine_until(&self, more: &[&str], is_told: impl Fn(&Told) -> bool) -> Told {
        let until = Instant::now() + 2 * PATIENCE;
        loop {
            let told = self.examine(more);
            if is_told(&told) || Instant::now() > until {
                return told;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The same command without what is taken away.
    fn limited(&self, command: Command) -> Command {
        if self.taken.is_empty() {
            return command;
        }
        let mut limited = Command::new("setpriv");
        limited.args(&self.taken).arg(command.get_program()).args(command.get_args());
        limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        limited.current_dir(self.folder.path());
        limited
    }

    pub(crate) fn examine(&self, more: &[&str]) -> Told {
        let mut arguments = vec!["doctor", "--json"];
        if !more.contains(&"--listen") {
            arguments.extend(["--listen", &self.address]);
        }
        arguments.extend(more);
        let mut command = torg(&self.folder, &arguments);
        command.envs(self.settings());
        let ended = run(self.limited(command));
        let text = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!text.contains("panic"), "{text}");
        let answer: Value =
            serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {text}"));
        let findings = answer["findings"].as_array().unwrap().clone();
        let count = |severity: &str| findings.iter().filter(|each| each["severity"] == severity).count();
        assert_eq!(answer["errors"], count("error"), "{text}");
        assert_eq!(answer["warnings"], count("warning"), "{text}");
        let strict = more.contains(&"--strict") && count("warning") > 0;
        assert_eq!(ended.code, Some(i32::from(count("error") > 0 || strict)), "{text}");
        Told { code: ended.code, findings, text }
    }
}

impl Told {
    /// The doctor reports no fault.
    pub(crate) fn assert_well(&self) {
        let wrong = self.wrong();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// Errors and warnings. The limit of open files depends on this machine and is ignored.
    pub(crate) fn wrong(&self) -> Vec<&Value> {
        let ours = self.findings.iter().filter(|each| each["area"] != "machine");
        ours.filter(|each| each["severity"] == "error" || each["severity"] == "warning").collect()
    }

    /// There is a finding of this area and severity with this text and this remedy.
    pub(crate) fn assert_told(&self, area: &str, severity: &str, what: &str, remedy: &str) {
        let says = |each: &&Value, key: &str, part: &str| each[key].as_str().unwrap().contains(part);
        let found = self.findings.iter().filter(|each| each["area"] == area && each["severity"] == severity);
        let found = found.filter(|each| says(each, "what", what)).find(|each| says(each, "remedy", remedy));
        assert!(found.is_some(), "no {severity} of {area} with {what:?} and {remedy:?}:\n{}", self.text);
        if severity == "error" {
            assert_eq!(self.code, Some(1));
        }
    }

    /// There is no fault in this area.
    pub(crate) fn assert_area_well(&self, area: &str) {
        let wrong = |each: &&Value| each["severity"] == "error" || each["severity"] == "warning";
        let found: Vec<_> = self.findings.iter().filter(|each| each["area"] == area).collect();
        assert!(!found.is_empty() && !found.iter().any(wrong), "{area}: {found:#?}");
    }

    /// Whether a finding of this area, whatever its severity, contains all of these texts.
    pub(crate) fn mentions(&self, area: &str, what: &[&str]) -> bool {
        let all = |each: &Value| what.iter().all(|part| each["what"].as_str().unwrap().contains(part));
        self.findings.iter().filter(|each| each["area"] == area).any(all)
    }

    pub(crate) fn assert_mentioned(&self, area: &str, what: &[&str]) {
        assert!(self.mentions(area, what), "nothing of {area} says {what:?}:\n{}", self.text);
    }
}
