//! Commands that act on one task. Each takes a reason, which the task's history records.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use wire::torg::tasks::v1::{self as proto, SeenValue};

use super::asked::{Asked, answered};
use super::given::{Border, border};
use super::{look, words};
use crate::ctl::given::{Name, name, value};
use node::config::Config;
use terminal::moment;

/// A task, and why something is done with it.
#[derive(Debug, Args)]
pub(crate) struct Wish {
    /// The task.
    task: String,
    #[command(flatten)]
    why: Why,
    #[command(flatten)]
    asked: Asked,
}

/// Why something is done.
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// Why this is done: for those who wonder later. It stands in the history.
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: String,
}

/// What can be done with what is remembered.
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// Shows what is remembered of the last successful run.
    Get {
        /// The task.
        task: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Sets what is remembered of a parameter.
    Set {
        /// The task.
        task: String,
        /// One that the trigger looks at.
        #[arg(value_parser = name, allow_hyphen_values = true)]
        parameter: Name,
        /// A time such as 2026-03-25T08:05:00Z, the word now, or a whole number.
        #[arg(value_parser = value, allow_hyphen_values = true)]
        value: SeenValue,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        asked: Asked,
    },
    /// Forgets what is remembered of a parameter, or of all: the task fires as at its first run.
    Delete {
        /// The task.
        task: String,
        /// Without it, all of them.
        #[arg(value_parser = name, allow_hyphen_values = true)]
        parameter: Option<Name>,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        asked: Asked,
    },
}

/// Which chunks of the past to run.
#[derive(Debug, Args)]
pub(crate) struct Backfill {
    /// The task.
    task: String,
    /// From the chunk that this is in: a day such as 2026-03-01 in the time zone of the task, or a
    /// moment such as 2026-03-01T00:00+03:00.
    #[arg(long, value_name = "DAY|TIME", value_parser = border)]
    from: Border,
    /// Up to this, which is not run any more: a day or a moment.
    #[arg(long, value_name = "DAY|TIME", value_parser = border)]
    to: Border,
    /// hour, day, week, month, year, or minutes such as 15m; by default the chunks of the trigger.
    #[arg(long, default_value = "")]
    scale: String,
    /// So many chunks at most, the first ones.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Chunks that succeed move forward what is remembered.
    #[arg(long)]
    record: bool,
    #[command(flatten)]
    why: Why,
    #[command(flatten)]
    asked: Asked,
}

pub(super) async fn run(record: bool, wish: Wish, config: &Config) -> anyhow::Result<()> {
    let Wish { task, why, asked } = wish;
    let request =
        proto::RunTaskRequest { task: task.clone(), record, reason: why.reason, ..Default::default() };
    let answer = answered(asked.client(config).await?.run_task(request).await)?;
    asked.say(&answer, || vec![format!("{task} runs as soon as there is a place: torg tasks explain {task}")])
}

pub(super) async fn pause(wish: Wish, config: &Config) -> anyhow::Result<()> {
    let Wish { task, why, asked } = wish;
    let request = proto::PauseTaskRequest { task: task.clone(), reason: why.reason, ..Default::default() };
    let answer = answered(asked.client(config).await?.pause_task(request).await)?;
    asked.say(&answer, || vec![format!("{task} is paused")])
}

pub(super) async fn resume(wish: Wish, config: &Config) -> anyhow::Result<()> {
    let Wish { task, why, asked } = wish;
    let request = proto::ResumeTaskRequest { task: task.clone(), reason: why.reason, ..Default::default() };
    let answer = answered(asked.client(config).await?.resume_task(request).await)?;
    asked.say(&answer, || vec![format!("{task} goes on")])
}

pub(super) async fn cancel(wish: Wish, config: &Config) -> anyhow::Result<()> {
    let Wish { task, why, asked } = wish;
    let request = proto::CancelTaskRequest { task: task.clone(), reason: why.reason, ..Default::default() };
    let answer = answered(asked.client(config).await?.cancel_task(request).await)?;
    asked.say(&answer, || vec![format!("{task} is out of the queue")])
}

pub(super) async fn kill(wish: Wish, config: &Config) -> anyhow::Result<()> {
    let Wish { task, why, asked } = wish;
    let request = proto::KillRunRequest { task: task.clone(), reason: why.reason, ..Default::default() };
    let answer = answered(asked.client(config).await?.kill_run(request).await)?;
    asked.say(&answer, || vec![format!("run {} of {task} is being killed: it counts as failed", answer.run)])
}

pub(super) async fn backfill_resume(wish: Wish, config: &Config) -> anyhow::Result<()> {
    let Wish { task, why, asked } = wish;
    let request =
        proto::ResumeBackfillRequest { task: task.clone(), reason: why.reason, ..Default::default() };
    let answer = answered(asked.client(config).await?.resume_backfill(request).await)?;
    asked.say(&answer, || vec![format!("the backfill of {task} goes on")])
}

pub(super) async fn backfill_cancel(wish: Wish, config: &Config) -> anyhow::Result<()> {
    let Wish { task, why, asked } = wish;
    let request =
        proto::CancelBackfillRequest { task: task.clone(), reason: why.reason, ..Default::default() };
    let answer = answered(asked.client(config).await?.cancel_backfill(request).await)?;
    asked.say(&answer, || vec![format!("the backfill of {task} is given up")])
}

pub(super) async fn backfill(backfill: Backfill, config: &Config) -> anyhow::Result<()> {
    let Backfill { task, from, to, scale, limit, record, why, asked } = backfill;
    let (reason, limit) = (why.reason, limit.unwrap_or_default());
    let mut request = proto::StartBackfillRequest {
        task: task.clone(),
        scale,
        limit,
        record,
        reason,
        ..Default::default()
    };
    match from {
        Border::Day(day) => request.from_day = day.to_string(),
        Border::Moment(moment) => request.from = Some(ctl::messages::time(moment)).into(),
    }
    match to {
        Border::Day(day) => request.to_day = day.to_string(),
        Border::Moment(moment) => request.to = Some(ctl::messages::time(moment)).into(),
    }
    let answer = answered(asked.client(config).await?.start_backfill(request).await)?;
    asked.say(&answer, || {
        let start = answer.first.as_option().and_then(|first| first.start.as_option());
        let end = answer.last.as_option().and_then(|last| last.end.as_option());
        let (start, end) = (moment(start), moment(end));
        let chunks = match answer.chunks {
            1 => format!("1 {} is to be run", answer.scale),
            count => format!("{count} {}s are to be run, one after the other", answer.scale),
        };
        vec![format!("{chunks}: {start} to {end}")]
    })
}

pub(super) async fn state(command: StateCommand, config: &Config) -> anyhow::Result<()> {
    match command {
        StateCommand::Get { task, asked } => {
            let answer = look::explained(task, &asked, config).await?;
            let state = answer.task.as_option().and_then(|task| task.task.as_option());
            let state = state.and_then(|task| task.state.as_option());
            let remembered: BTreeMap<_, _> = state.map(|state| state.remembered.clone()).unwrap_or_default();
            asked.say(&remembered, || words::remembered(&answer, &remembered))
        }
        StateCommand::Set { task, parameter, value, why, asked } => {
            let shown = crate::ctl::words::value(Some(&value));
            let request = proto::SetRememberedRequest {
                task: task.clone(),
                parameter: parameter.0.clone(),
                value: Some(value).into(),
                reason: why.reason,
                ..Default::default()
            };
            let answer = answered(asked.client(config).await?.set_remembered(request).await)?;
            asked.say(&answer, || vec![format!("{task} remembers {shown} of {}", parameter.0)])
        }
        StateCommand::Delete { task, parameter, why, asked } => {
            let parameter = parameter.map(|name| name.0).unwrap_or_default();
            let of = if parameter.is_empty() { "anything".to_owned() } else { parameter.clone() };
            let request = proto::DeleteRememberedRequest {
                task: task.clone(),
                parameter,
                reason: why.reason,
                ..Default::default()
            };
            let answer = answered(asked.client(config).await?.delete_remembered(request).await)?;
            asked.say(&answer, || vec![format!("{task} does not remember {of} any more")])
        }
    }
}
