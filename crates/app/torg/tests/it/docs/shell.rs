//! Runs blocks by a shell, as a reader would type them.

use std::path::Path;
use std::process::{Command, Stdio};

/// A shell in a folder of its own, with `torg` on its path, which finds the process at an address.
pub(crate) struct Shell<'a> {
    pub(crate) folder: &'a Path,
    /// Where the pages say `localhost:8080`.
    pub(crate) port: u16,
    /// More for its environment.
    pub(crate) environment: &'a [(&'a str, &'a str)],
}

impl Shell<'_> {
    /// What the lines print; they all end well, or the test is over.
    pub(crate) fn run(&self, lines: &str) -> String {
        let programs = Path::new(env!("CARGO_BIN_EXE_torg")).parent().unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
        let lines = lines.replace(":8080", &format!(":{}", self.port));
        let mut command = Command::new("bash");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TORG_")) {
            command.env_remove(name);
        }
        let output = command
            .args(["-xeuo", "pipefail", "-c", &lines])
            .env("PATH", path)
            .env("torg", env!("CARGO_BIN_EXE_torg"))
            .env("TORG_LISTEN", format!("127.0.0.1:{}", self.port))
            .env("TORG_STAGES_BUILT_IN", "expiry,evolution,photo_order,price")
            .envs(self.environment.iter().copied())
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (said, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}\n{errors}");
        let refused = said.lines().find(|line| line.starts_with("{\"code\""));
        assert_eq!(refused, None, "a call was refused:\n{said}\n{errors}");
        said.into_owned()
    }
}

/// The lines with the one that serves sent to the background, and a wait until it is ready behind
/// it.
pub(crate) fn serving_behind(lines: &str) -> String {
    const READY: &str =
        "until curl -sf localhost:8080/readyz; do kill -0 $!; sleep 0.1; done; trap 'kill $!' EXIT";
    let line = |line: &str| {
        if !line.contains("torg serve ") {
            return format!("{line}\n");
        }
        format!("{} 2> serve.log &\n{READY}\n", line.split(" #").next().unwrap())
    };
    lines.lines().map(line).collect()
}

/// The line that begins so, with a refusal (exit code 1) as what is expected of it.
pub(crate) fn refusing(lines: &str, begin: &str) -> String {
    assert!(lines.lines().any(|line| line.starts_with(begin)), "no {begin} in\n{lines}");
    let line = |line: &str| match line.strip_prefix(begin) {
        Some(_) => format!("code=0; {} || code=$?; test $code = 1\n", line.split(" #").next().unwrap()),
        None => format!("{line}\n"),
    };
    lines.lines().map(line).collect()
}

/// Whether a program is there; says so if it is not.
pub(crate) fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        testkit::skip("commands of the documentation", format!("{program} is missing: see scripts/test"));
    }
    there
}
