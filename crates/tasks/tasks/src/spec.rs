//! From what a task file says to what is run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use planner::board::{Cause, Seen};
use runs::{Chunk, Command, Done, Grpc, Http, Poll, Secret, Spec, Tls, Told, What};
use taskfile::{Action, Program, Task, Template};
use triggers::Value;

/// What is told to a run.
#[derive(Clone, Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) attempt: u32,
    pub(crate) seen: &'a Seen,
    pub(crate) cause: &'a Cause,
}

/// The environment of the scheduler, for `${NAME}` in task files.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What a run of a task is to do. The error is what its run comes to: a variable that is not set, a file that cannot be read.
pub(crate) fn spec_of(task: &Task, told: &Facts<'_>, variables: &Variables) -> Result<Spec, String> {
    let what = match &task.run.action {
        Action::Command(command) => What::Command(command_of(command, variables)?),
        Action::Http(call) => What::Http(Http {
            method: call.method.clone(),
            url: call.url.clone(),
            headers: resolved(&call.headers, variables)?,
            body: call.body.as_ref().map(|body| filled(body, variables)).transpose()?,
            done: done_of(&call.done),
            tls: None,
        }),
        Action::Grpc(call) => {
            let headers = resolved(&call.headers, variables)?;
            What::Grpc(Grpc { headers, tls: tls_of(&call.tls)?, ..Grpc::at(call.address.clone()) })
        }
    };
    let value = |value: &Value| match value {
        Value::Time(time) => runs::Value::Time(*time),
        Value::Number(number) => runs::Value::Number(*number),
    };
    let chunk = match told.cause {
        Cause::Chunk(chunk) => Some(Chunk { start: chunk.start, end: chunk.end }),
        Cause::Trigger | Cause::Manual(_) => None,
    };
    Ok(Spec {
        attempt: told.attempt,
        values: told.seen.iter().map(|(of, seen)| (of.to_string(), value(seen))).collect(),
        chunk,
        timeout: positive(task.run.timeout),
        ..Spec::new(task.name.as_str(), what)
    })
}

fn command_of(command: &taskfile::Command, variables: &Variables) -> Result<Command, String> {
    let mut made = match &command.program {
        Program::Shell(script) => Command::shell(script.clone()),
        Program::Arguments(words) => {
            let mut words = words.iter().cloned();
            let program = words.next().ok_or("there is no program to run")?;
            Command::program(program, words)
        }
    };
    made.environment = resolved(&command.environment, variables)?;
    made.directory = Some(command.directory.as_deref().unwrap_or(".").into());
    Ok(made)
}

fn done_of(done: &taskfile::Done) -> Done {
    match done {
        taskfile::Done::Response => Done::Response,
        taskfile::Done::Callback => Done::Callback,
        taskfile::Done::Poll { url, every } => {
            Done::Poll(Poll { url: url.clone(), every: positive(*every), told: Told::Status })
        }
    }
}

fn tls_of(tls: &taskfile::Tls) -> Result<Option<Tls>, String> {
    if *tls == taskfile::Tls::default() {
        return Ok(None);
    }
    let read = |path: &Option<String>| {
        let text = path.as_deref().map(|path| {
            std::fs::read_to_string(Path::new(path))
                .map_err(|error| format!("{path} cannot be read: {error}"))
        });
        text.transpose()
    };
    Ok(Some(Tls {
        ca_pem: read(&tls.ca_file)?,
        certificate_pem: read(&tls.cert_file)?,
        key_pem: read(&tls.key_file)?.map(Secret::from),
        server_name: tls.server_name.clone(),
    }))
}

fn resolved(
    templates: &BTreeMap<String, Template>,
    variables: &Variables,
) -> Result<BTreeMap<String, Secret>, String> {
    templates.iter().map(|(name, template)| Ok((name.clone(), filled(template, variables)?))).collect()
}

fn filled(template: &Template, variables: &Variables) -> Result<Secret, String> {
    let text = template.resolve(|name| variables(name)).map_err(|missing| missing.to_string())?;
    Ok(Secret::from(text.reveal()))
}

fn positive(duration: SignedDuration) -> Duration {
    Duration::try_from(duration).unwrap_or_default()
}
