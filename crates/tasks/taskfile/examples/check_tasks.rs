//! Reads task files and prints what is wrong with them: `cargo run -p taskfile --example
//! check_tasks FILE...`.
#![allow(clippy::print_stdout, reason = "a command for people")]

use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    let mut files = Vec::new();
    for path in std::env::args().skip(1) {
        files.push((path.clone(), std::fs::read_to_string(path)?));
    }
    match taskfile::TaskSet::read(files) {
        Ok(set) => {
            print!("{}", taskfile::render(set.warnings(), 0, set.more_warnings()));
            println!("{} tasks", set.len());
            Ok(ExitCode::SUCCESS)
        }
        Err(errors) => {
            print!("{errors}");
            Ok(ExitCode::FAILURE)
        }
    }
}
