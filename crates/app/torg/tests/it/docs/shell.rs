//! Runs blocks by a shell, as a reader would type them.

use std::path::Path;
use std::process::{Command, Stdio};

/// A shell in a separate folder, with `torg` on its path and the address of the process.
pub(crate) struct Shell<'a> {
    pub(crate) folder: &'a Path,
    /// Replaces the port of `localhost:8080` in the pages.
    pub(crate) port: u16,
    pub(crate) environment: &'a [(&'a str, &'a str)],
}

impl Shell<'_> {
    /// The output of the lines; every line has to succeed.
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

/// Sends the line that serves to the background, and adds a wait until it is ready.
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

/// Expects a refusal (exit code 1) of the line that begins with this text.
pub(crate) fn refusing(lines: &str, begin: &str) -> String {
    assert!(lines.lines().any(|line| line.starts_with(begin)), "no {begin} in\n{lines}");
    let line = |line: &str| match line.strip_prefix(begin) {
        Some(_) => format!("code=0; {} || code=$?; test $code = 1\n", line.split(" #").next().unwrap()),
        None => format!("{line}\n"),
    };
    lines.lines().map(line).collect()
}

/// Whether a program is installed; prints it if not.
pub(crate) fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        testkit::skip("commands of the documentation", format!("{program} is missing: see scripts/test"));
    }
    there
}
