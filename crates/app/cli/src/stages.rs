//! `torg stages`: manages stages through a running process.

mod words;

use std::path::Path;

use clap::{Args, Subcommand};
use connectrpc::ConnectError;
use serde::Serialize;
use wire::torg::stages::v1::{self as proto, StageAdminServiceClient};

use super::remote::{Place, said};
use super::stages_new::{self, NewStage};
use node::config::{Config, Secret};
use node::stages_file::Declaration;
use terminal::say;

/// What can be done with stages.
#[derive(Debug, Subcommand)]
pub(crate) enum StagesCommand {
    /// Writes out a project for a stage of your own.
    New(NewStage),
    /// All stages: what they are, what waits, how they fare.
    List {
        #[command(flatten)]
        asked: Asked,
    },
    /// One stage: also its endpoints, its shadow and what failed.
    Show {
        /// The stage.
        id: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Makes an outside stage known, or changes how it is called.
    Register {
        #[command(flatten)]
        stage: Box<Registration>,
        #[command(flatten)]
        asked: Asked,
    },
    /// Forgets an outside stage that was registered. What waits for it stays.
    Remove {
        /// The stage.
        id: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Has a stage visit nothing until it is resumed; what comes waits.
    Pause {
        /// The stage.
        id: String,
        /// For those who wonder later.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Has a stage go on that was paused.
    Resume {
        /// The stage.
        id: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Has a stage keep other limits than its own; without any of them its own again.
    Limits {
        /// The stage.
        id: String,
        /// Visits in a second, of all processes together.
        #[arg(long, value_name = "N")]
        rate: Option<f64>,
        /// Calls at the same time, of all processes together.
        #[arg(long, value_name = "N")]
        calls_max: Option<u32>,
        /// Offers in one call.
        #[arg(long, value_name = "N")]
        batch_max: Option<u32>,
        #[command(flatten)]
        asked: Asked,
    },
    /// Has visits tried again that were parked.
    Release {
        /// The stage.
        id: String,
        /// Only this offer.
        #[arg(long, value_name = "ID")]
        offer: Option<String>,
        #[command(flatten)]
        asked: Asked,
    },
    /// Shows what a stage would change in a sample of the offers. Nothing is saved.
    DryRun {
        /// The stage.
        id: String,
        /// Offers to look at.
        #[arg(long, default_value_t = 100)]
        sample: u32,
        /// These offers instead of a sample.
        #[arg(long, value_name = "ID")]
        offer: Vec<String>,
        /// Only offers of this category and below.
        #[arg(long, default_value = "")]
        category: String,
        /// Another version of the stage, at these addresses.
        #[arg(long, value_name = "URL")]
        endpoint: Vec<String>,
        #[command(flatten)]
        asked: Asked,
    },
    /// Has a stage's shadow take its place.
    Promote {
        /// The stage.
        id: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Goes through all offers in the background and asks all stages about each.
    Recrawl {
        #[command(subcommand)]
        command: RecrawlCommand,
    },
}

/// What can be done with the re-crawl.
#[derive(Debug, Subcommand)]
pub(crate) enum RecrawlCommand {
    /// Starts one.
    Start {
        /// Offers in a second; without it as many as there is time for.
        #[arg(long, value_name = "N", default_value_t = 0)]
        per_second: u32,
        #[command(flatten)]
        asked: Asked,
    },
    /// How far it is.
    Status {
        #[command(flatten)]
        asked: Asked,
    },
    /// Pauses it.
    Pause {
        #[command(flatten)]
        asked: Asked,
    },
    /// Goes on.
    Resume {
        /// Offers in a second; without it as many as there is time for.
        #[arg(long, value_name = "N", default_value_t = 0)]
        per_second: u32,
        #[command(flatten)]
        asked: Asked,
    },
    /// Ends it.
    Cancel {
        #[command(flatten)]
        asked: Asked,
    },
}

/// Whom to ask, and how to print the answer.
#[derive(Debug, Args)]
pub(crate) struct Asked {
    /// Prints the answer as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// A stage, as it is registered.
#[derive(Debug, Args)]
pub(crate) struct Registration {
    /// Letters, digits, - and _; the same for ever.
    id: String,
    #[command(flatten)]
    declaration: Declaration,
    /// What is sent to it as a bearer token. Others on this machine can see arguments: rather set
    /// the variable.
    #[arg(
        long,
        value_name = "TOKEN",
        env = "TORG_STAGE_TOKEN",
        hide_env_values = true,
        conflicts_with = "stage_token_file"
    )]
    stage_token: Option<Secret>,
    /// Only looks whether it would work.
    #[arg(long)]
    check: bool,
}

type Client = StageAdminServiceClient;

pub(crate) async fn run(command: StagesCommand, config: &Config) -> anyhow::Result<()> {
    match command {
        StagesCommand::New(new) => stages_new::run(&new),
        StagesCommand::List { asked } => {
            let client = asked.client(config).await?;
            let answer = answered(client.list_stages(proto::ListStagesRequest::default()).await)?;
            asked.say(&answer, || words::list(&answer.stages))
        }
        StagesCommand::Show { id, asked } => {
            let request = proto::GetStageRequest { id, ..Default::default() };
            let answer = answered(asked.client(config).await?.get_stage(request).await)?;
            asked.say(&answer, || words::stage(&answer))
        }
        StagesCommand::Register { stage, asked } => {
            let validate_only = stage.check;
            let stage = Some(stage.stage()?).into();
            let request = proto::RegisterStageRequest { stage, validate_only, ..Default::default() };
            let answer = answered(asked.client(config).await?.register_stage(request).await)?;
            asked.say(&answer, || words::registered(&answer, validate_only))
        }
        StagesCommand::Remove { id, asked } => {
            let request = proto::RemoveStageRequest { id: id.clone(), ..Default::default() };
            let answer = answered(asked.client(config).await?.remove_stage(request).await)?;
            asked.say(&answer, || vec![format!("stage {id} is removed; what waits for it stays")])
        }
        StagesCommand::Pause { id, reason, asked } => {
            let request = proto::PauseStageRequest { id: id.clone(), reason, ..Default::default() };
            let answer = answered(asked.client(config).await?.pause_stage(request).await)?;
            asked.say(&answer, || vec![format!("stage {id} is paused")])
        }
        StagesCommand::Resume { id, asked } => {
            let request = proto::ResumeStageRequest { id: id.clone(), ..Default::default() };
            let answer = answered(asked.client(config).await?.resume_stage(request).await)?;
            asked.say(&answer, || vec![format!("stage {id} goes on")])
        }
        StagesCommand::Limits { id, rate, calls_max, batch_max, asked } => {
            let request = proto::SetStageLimitsRequest {
                id: id.clone(),
                rate,
                calls_max,
                batch_max,
                ..Default::default()
            };
            let answer = answered(asked.client(config).await?.set_stage_limits(request).await)?;
            asked.say(&answer, || vec![format!("stage {id}: {}", words::limits(answer.limits.as_option()))])
        }
        StagesCommand::Release { id, offer, asked } => {
            let offer = offer.unwrap_or_default();
            let request = proto::ReleaseStageRequest { id, offer, ..Default::default() };
            let answer = answered(asked.client(config).await?.release_stage(request).await)?;
            asked.say(&answer, || vec![format!("{} released", answer.released)])
        }
        StagesCommand::DryRun { id, sample, offer, category, endpoint, asked } => {
            let (offers, endpoints) = (offer, endpoint);
            let request =
                proto::DryRunRequest { id, sample, offers, category, endpoints, ..Default::default() };
            let answer = answered(asked.client(config).await?.dry_run(request).await)?;
            asked.say(&answer, || words::rehearsal(&answer))
        }
        StagesCommand::Promote { id, asked } => {
            let request = proto::PromoteShadowRequest { id: id.clone(), ..Default::default() };
            let answer = answered(asked.client(config).await?.promote_shadow(request).await)?;
            asked.say(&answer, || vec![format!("the shadow of stage {id} is the stage now")])
        }
        StagesCommand::Recrawl { command } => recrawl(command, config).await,
    }
}

async fn recrawl(command: RecrawlCommand, config: &Config) -> anyhow::Result<()> {
    let (RecrawlCommand::Start { asked, .. }
    | RecrawlCommand::Status { asked }
    | RecrawlCommand::Pause { asked }
    | RecrawlCommand::Resume { asked, .. }
    | RecrawlCommand::Cancel { asked }) = &command;
    let client = asked.client(config).await?;
    match &command {
        RecrawlCommand::Status { .. } => {}
        RecrawlCommand::Start { per_second, .. } => {
            let request = proto::StartRecrawlRequest { per_second: *per_second, ..Default::default() };
            answered(client.start_recrawl(request).await)?;
        }
        RecrawlCommand::Pause { .. } => {
            answered(client.pause_recrawl(proto::PauseRecrawlRequest::default()).await)?;
        }
        RecrawlCommand::Resume { per_second, .. } => {
            let request = proto::ResumeRecrawlRequest { per_second: *per_second, ..Default::default() };
            answered(client.resume_recrawl(request).await)?;
        }
        RecrawlCommand::Cancel { .. } => {
            answered(client.cancel_recrawl(proto::CancelRecrawlRequest::default()).await)?;
        }
    }
    let answer = answered(client.get_recrawl(proto::GetRecrawlRequest::default()).await)?;
    asked.say(&answer, || vec![words::recrawl(answer.recrawl.as_option())])
}

fn answered<T>(answer: Result<T, ConnectError>) -> anyhow::Result<T> {
    answer.map_err(|error| said(&error))
}

impl Asked {
    async fn client(&self, config: &Config) -> anyhow::Result<Client> {
        let remote = self.place.connect_or_own(config).await?;
        Ok(StageAdminServiceClient::new(remote.connection, remote.config))
    }

    fn say(&self, answer: &impl Serialize, words: impl FnOnce() -> Vec<String>) -> anyhow::Result<()> {
        say(self.json, answer, words)
    }
}

impl Registration {
    fn stage(self) -> anyhow::Result<proto::OutsideStage> {
        let mut stage = self.declaration.stage(&self.id, Path::new(""))?;
        if let Some(token) = &self.stage_token {
            token.expose().trim().clone_into(&mut stage.token);
        }
        Ok(stage)
    }
}
