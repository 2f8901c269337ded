//! Runs the lines of `docs/commands.md` as they are written.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::common::Server;

/// The marker of a line that has to be refused.
const REFUSED: &str = "# refused";

/// The lines of all blocks with this marker.
fn lines(mark: &str) -> Vec<String> {
    let guide =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/commands.md")).unwrap();
    let begin = format!("<!-- run by: commands/guide.rs, {mark} -->\n```sh\n");
    let blocks = guide.split(&begin).skip(1);
    blocks.flat_map(|block| block.split("```").next().unwrap().lines().map(str::to_owned)).collect()
}

/// A script of the lines that stops at the first line with an unexpected result.
fn script(lines: &[String]) -> String {
    let line = |line: &String| match line.trim_end().strip_suffix(REFUSED) {
        None => line.clone(),
        Some(command) => format!("code=0; {command} || code=$?; test $code = 1"),
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn run(folder: &Path, address: &str, lines: &[String]) {
    let binary = Path::new(env!("CARGO_BIN_EXE_torg")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash")
        .args(["-xeuo", "pipefail", "-c", &script(lines)])
        .env("PATH", path)
        .env("TORG_LISTEN", address)
        .env("TORG_STAGES_BUILT_IN", "expiry,evolution,photo_order,price")
        .env_remove("TORG_TOKEN")
        .current_dir(folder)
        .output()
        .unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{errors}");
}

#[test]
fn every_line_of_the_guide_works() {
    if Command::new("curl").arg("--version").output().is_err() {
        return testkit::skip("the guide to commands", "curl is missing: see scripts/test");
    }
    let (online, alone) = (lines("online"), lines("alone"));
    assert!(online.len() > 60 && alone.len() > 4, "{} and {}", online.len(), alone.len());
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = Server::start_in(&folder, &[]);
    let address = server.address.to_string();
    run(folder.path(), &address, &online);
    server.stop();
    run(folder.path(), &address, &alone);
}

#[test]
fn the_guide_names_every_command() {
    let guide =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/commands.md")).unwrap();
    let help = Command::new(env!("CARGO_BIN_EXE_torg")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = commands.lines().filter_map(|line| line.split_whitespace().next());
    let missing: Vec<&str> =
        names.filter(|name| *name != "help").filter(|name| !guide.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
