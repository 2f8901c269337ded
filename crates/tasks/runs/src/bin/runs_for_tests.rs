//! A process for the tests of this crate.
//!
//! `supervise FOLDER` is the supervisor. `start FOLDER RUN,RUN SPEC` starts runs, prints `started`
//! after each, and waits until it is killed; `claim` does the same without an executable
//! supervisor.

use std::path::PathBuf;
use std::process::ExitCode;

use runs::{Options, Runner, Spec, Verb};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next().as_ref().and_then(|verb| verb.to_str()) {
        Some("supervise") => runs::supervise(arguments),
        Some(verb @ ("start" | "claim")) => {
            let given: Vec<String> = arguments.filter_map(|argument| argument.into_string().ok()).collect();
            match start(verb, &given) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{error}");
                    ExitCode::FAILURE
                }
            }
        }
        _ => ExitCode::from(2),
    }
}

fn start(verb: &str, given: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [folder, runs, spec] = given else { return Err("start FOLDER RUN,RUN SPEC".into()) };
    let supervisor = match verb {
        "start" => Verb::of_this_program("supervise"),
        _ => Verb::of("/nowhere/torg", "supervise"),
    };
    let (folder, clock) = (PathBuf::from(folder), clock::Clock::system());
    let spec: Spec = serde_json::from_str(spec)?;
    tokio::runtime::Runtime::new()?.block_on(async {
        let runner = Runner::open(Options { folder, supervisor, callbacks: None, clock })?;
        for run in runs.split(',') {
            let started = runner.start(&run.parse()?, &spec).await;
            if verb == "start" {
                started?;
            }
            println!("started");
        }
        std::future::pending().await
    })
}
