//! Specs of runs from task files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use planner::{Cause, Seen};
use runs::{Action, Chunk, Command, Done, Grpc, Http, Poll, PollResult, Secret, Spec, Tls};
use taskfile::{Program, Task, Template};

#[derive(Clone, Debug)]
pub(crate) struct RunContext {
    pub(crate) attempt: u32,
    pub(crate) seen: Seen,
    pub(crate) cause: Cause,
    /// Instead of the timeout of the definition.
    pub(crate) timeout: Option<Duration>,
}

/// The environment of the process, for `${NAME}` in task files.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What a run of a task executes. The error fails the run: the definition is gone, a variable is
/// not set, a file cannot be read.
pub(crate) async fn spec_of(
    task: Option<Arc<Task>>,
    context: RunContext,
    variables: Variables,
) -> Result<Spec, String> {
    let task = task.ok_or("its definition was removed before it was started")?;
    let action = match &task.run.action {
        taskfile::Action::Command(command) => Action::Command(command_of(command, &variables)?),
        taskfile::Action::Http(call) => Action::Http(Http {
            method: call.method.clone(),
            url: call.url.clone(),
            headers: resolved(&call.headers, &variables)?,
            body: call.body.as_ref().map(|body| filled(body, &variables)).transpose()?,
            done: done_of(&call.done),
            tls: None,
        }),
        taskfile::Action::Grpc(call) => {
            let headers = resolved(&call.headers, &variables)?;
            let tls = tls_of(&call.tls).await?;
            Action::Grpc(Grpc { headers, tls, ..Grpc::at(call.address.clone()) })
        }
    };
    let chunk = match context.cause {
        Cause::Chunk(chunk) => Some(Chunk { start: chunk.start, end: chunk.end }),
        Cause::Trigger | Cause::Manual(_) => None,
    };
    Ok(Spec {
        attempt: context.attempt,
        values: context.seen.iter().map(|(of, seen)| (of.to_string(), *seen)).collect(),
        chunk,
        timeout: context.timeout.unwrap_or_else(|| positive(task.run.timeout)),
        ..Spec::new(task.name.as_str(), action)
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
            Done::Poll(Poll { url: url.clone(), every: positive(*every), result: PollResult::Status })
        }
    }
}

async fn tls_of(tls: &taskfile::Tls) -> Result<Option<Tls>, String> {
    if *tls == taskfile::Tls::default() {
        return Ok(None);
    }
    Ok(Some(Tls {
        ca_pem: read(tls.ca_file.as_deref()).await?,
        certificate_pem: read(tls.cert_file.as_deref()).await?,
        key_pem: read(tls.key_file.as_deref()).await?.map(Secret::from),
        server_name: tls.server_name.clone(),
    }))
}

async fn read(path: Option<&str>) -> Result<Option<String>, String> {
    let Some(path) = path else { return Ok(None) };
    let text = tokio::fs::read_to_string(path).await;
    text.map(Some).map_err(|error| format!("{path} cannot be read: {error}"))
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
