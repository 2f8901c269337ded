//! Commands that run with a service.

use std::process::{Command, ExitCode};

use crate::Missing;

/// Starts a service, runs the command in the arguments of this process with `{url}` replaced by the
/// address of the service, and exits with the status of the command.
pub fn run_beside<S>(
    name: &str,
    start: impl FnOnce() -> Result<S, Missing>,
    url: impl FnOnce(&S) -> String,
) -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("usage: {name} COMMAND ARGUMENT...   ({{url}} becomes the address)");
        return ExitCode::from(2);
    };
    let service = match start() {
        Ok(service) => service,
        Err(missing) => {
            eprintln!("error: {missing}");
            return ExitCode::FAILURE;
        }
    };
    let url = url(&service);
    match Command::new(&program).args(arguments.map(|argument| argument.replace("{url}", &url))).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: {program}: {error}");
            ExitCode::FAILURE
        }
    }
}
