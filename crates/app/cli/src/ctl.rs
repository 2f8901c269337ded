//! `torg ctl`: reads and sets the parameters that tasks wait for, through a running process.

pub(super) mod given;
mod watch;
pub(super) mod words;

use clap::{Args, Subcommand};
use connectrpc::client::ClientConfig;
use serde::Serialize;
use wire::torg::tasks::v1::{self as proto, CtlServiceClient, ctl_change};

use self::given::{Assignment, ExpectedValue, Name, answered, assignment, expected_value, name};
use super::remote::Place;
use node::config::Config;
use terminal::errors::advised;
use terminal::say;

/// Values per request.
const PAGE: u32 = 1000;

/// What can be done with values.
#[derive(Debug, Subcommand)]
pub(crate) enum CtlCommand {
    /// Shows values by the names of their parameters.
    Get {
        /// Such as `sales.loaded_to`, or `dwh/sales.loaded_to` in the namespace dwh.
        #[arg(required = true, value_name = "NAME", value_parser = name)]
        names: Vec<Name>,
        #[command(flatten)]
        asked: Asked,
    },
    /// Shows all values, or those whose names begin alike.
    List {
        /// Such as `sales.` or `sal`; `dwh/` for the namespace dwh.
        #[arg(default_value = "")]
        prefix: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Sets values, all or none.
    Set {
        /// A value is a time such as 2026-03-25T08:05:00Z, the word now, or a whole number.
        #[arg(required = true, value_name = "NAME=VALUE", value_parser = assignment)]
        values: Vec<Assignment>,
        /// A value may become less than it is. Tasks that have seen more do not fire until it is
        /// passed again.
        #[arg(long)]
        back: bool,
        #[command(flatten)]
        condition: Condition,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        asked: Asked,
    },
    /// Deletes values, all or none. Their histories stay.
    Delete {
        /// Such as `sales.loaded_to`, or `dwh/sales.loaded_to` in the namespace dwh.
        #[arg(required = true, value_name = "NAME", value_parser = name)]
        names: Vec<Name>,
        #[command(flatten)]
        condition: Condition,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        asked: Asked,
    },
    /// Shows the changes of one parameter, the newest first: who made them, when and why.
    History {
        /// Such as `sales.loaded_to`, or `dwh/sales.loaded_to` in the namespace dwh.
        #[arg(value_parser = name)]
        name: Name,
        /// So many at most.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: u32,
        #[command(flatten)]
        asked: Asked,
    },
    /// Shows values, and then every change until Ctrl-C.
    Watch {
        /// Names of parameters; or one beginning of names, without a dot, such as `sal` or `dwh/`.
        /// Without any, all values.
        #[arg(value_name = "PREFIX|NAME")]
        about: Vec<String>,
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

/// What a value must be for it to be changed.
#[derive(Debug, Args)]
pub(crate) struct Condition {
    /// Only if it has this version; 0 if it has no value.
    #[arg(long, value_name = "N", conflicts_with = "if_value")]
    if_version: Option<u64>,
    /// Only if it is this; the word none if it has no value.
    #[arg(long, value_name = "VALUE|none", value_parser = expected_value, allow_hyphen_values = true)]
    if_value: Option<ExpectedValue>,
}

#[derive(Debug, Args)]
pub(crate) struct Why {
    /// For those who wonder later; it stands in the history.
    #[arg(long, default_value = "")]
    reason: String,
}

type Client = CtlServiceClient;

pub(crate) async fn run(command: CtlCommand, config: &Config) -> anyhow::Result<()> {
    match command {
        CtlCommand::Get { names, asked } => get(names, &asked, config).await,
        CtlCommand::List { prefix, asked } => list(prefix, &asked, config).await,
        CtlCommand::Set { values, back, condition, why, asked } => {
            let change = |assignment: Assignment| proto::CtlChange {
                parameter: assignment.name.0,
                value: Some(assignment.value).into(),
                may_move_back: back,
                ..Default::default()
            };
            let changes = values.into_iter().map(change).collect();
            change_all(changes, condition, why, &asked, config).await
        }
        CtlCommand::Delete { names, condition, why, asked } => {
            let change =
                |name: Name| proto::CtlChange { parameter: name.0, delete: true, ..Default::default() };
            let changes = names.into_iter().map(change).collect();
            change_all(changes, condition, why, &asked, config).await
        }
        CtlCommand::History { name, limit, asked } => history(name, limit, &asked, config).await,
        CtlCommand::Watch { about, asked } => watch::run(&about, &asked, config).await,
    }
}

async fn get(names: Vec<Name>, asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let parameters = names.into_iter().map(|name| name.0).collect();
    let request = proto::GetValuesRequest { parameters, ..Default::default() };
    let answer = answered(asked.client(config).await?.get_values(request).await)?;
    let there: Vec<_> = answer.values.iter().filter(|value| value.value.is_set()).cloned().collect();
    asked.say(&answer, || words::values(&there))?;
    let missing = answer.values.iter().filter(|value| !value.value.is_set());
    let missing: Vec<&str> = missing.map(|value| &*value.parameter).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let hint = "`torg ctl list` shows what has a value, `torg ctl history NAME` whether it was deleted";
    Err(advised(format!("no value: {}", missing.join(", ")), hint))
}

async fn list(prefix: String, asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let client = asked.client(config).await?;
    let mut all = proto::ListValuesResponse::default();
    let mut request =
        proto::ListValuesRequest { prefix: prefix.clone(), page_size: PAGE, ..Default::default() };
    loop {
        let page = answered(client.list_values(request.clone()).await)?;
        all.values.extend(page.values);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    asked.say(&all, || match &*all.values {
        [] if prefix.is_empty() => vec!["there is no value yet: torg ctl set NAME=VALUE".to_owned()],
        [] => vec![format!("no value begins with {prefix}: torg ctl list shows all")],
        values => words::values(values),
    })
}

async fn change_all(
    mut changes: Vec<proto::CtlChange>,
    condition: Condition,
    why: Why,
    asked: &Asked,
    config: &Config,
) -> anyhow::Result<()> {
    if let Some(expected) = condition.expected() {
        let [change] = &mut *changes else {
            let hint = "change them one by one, or leave the condition out";
            return Err(advised("--if-version and --if-value are about one value", hint));
        };
        change.expected = Some(expected);
    }
    let request = proto::SetValuesRequest { changes, reason: why.reason, ..Default::default() };
    let answer = answered(asked.client(config).await?.set_values(request).await)?;
    asked.say(&answer, || answer.done.iter().map(words::done).collect())
}

async fn history(name: Name, limit: u32, asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let client = asked.client(config).await?;
    let mut all = proto::ListHistoryResponse::default();
    let mut request = proto::ListHistoryRequest { parameter: name.0.clone(), ..Default::default() };
    while all.changes.len() < limit as usize {
        request.page_size = (limit - all.changes.len() as u32).min(PAGE);
        let page = answered(client.list_history(request.clone()).await)?;
        all.changes.extend(page.changes);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    asked.say(&all, || match &*all.changes {
        [] => vec![format!("{} was never changed: torg ctl set {}=VALUE", name.0, name.0)],
        changes => words::history(changes),
    })
}

impl Condition {
    fn expected(self) -> Option<ctl_change::Expected> {
        let version = self.if_version.map(ctl_change::Expected::ExpectedVersion);
        version.or_else(|| self.if_value.map(ExpectedValue::into_wire))
    }
}

impl Asked {
    async fn client(&self, config: &Config) -> anyhow::Result<Client> {
        let remote = self.place.connect_or_own(config).await?;
        Ok(Client::new(remote.connection, remote.config))
    }

    /// A client without a timeout, for streams.
    async fn patient_client(&self, config: &Config) -> anyhow::Result<Client> {
        let remote = self.place.connect_or_own(config).await?;
        let patient = ClientConfig::new(remote.config.base_uri().clone())
            .with_protocol(remote.config.protocol())
            .with_default_headers(remote.config.default_headers().clone());
        Ok(Client::new(remote.connection, patient))
    }

    fn say(&self, answer: &impl Serialize, words: impl FnOnce() -> Vec<String>) -> anyhow::Result<()> {
        say(self.json, answer, words)
    }
}
