//! The role `tasks`: runs reactive tasks and maintains the system's own values.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clock::Clock;
use ctl::Ctl;
use runs::{Options, Runner, Verb};
use store::Store;
use tasks::{Setup, Tasks, Webhook};
use topics::Topics;

use crate::config::{Config, Role};
use crate::node::Node;
use crate::parts::{ensure_topic, instance_name};
use crate::server::ENDS_PATH;
use crate::supervisor::Running;
use crate::system_values::OwnValues;
use terminal::errors::advised;

/// The hidden subcommand that supervises a run. It is internal and not in the help.
pub const SUPERVISE: &str = "supervise-run";
/// The recorded author of task files that come from the configuration.
const CONFIGURATION: &str = "configuration";

/// Runs the hidden subcommand, if this process was started for it.
pub fn supervised(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    (arguments.next()? == SUPERVISE).then(|| runs::supervise(arguments))
}

/// The tasks of a process and the runner of their programs.
#[derive(Clone)]
pub struct TaskRole {
    pub tasks: Tasks,
    pub runner: Runner,
}

impl TaskRole {
    /// Opens the tasks; creates the missing topic.
    pub async fn open(config: &Config, store: &Store, topics: &Topics, ctl: Ctl) -> anyhow::Result<TaskRole> {
        let settings = &config.tasks;
        ensure_topic(config, topics, &settings.topic, settings.topic_partitions).await?;
        let options = Options {
            folder: settings.runs_dir.clone(),
            supervisor: Verb::of_this_program(SUPERVISE),
            callbacks: callbacks(config),
            clock: Clock::system(),
        };
        let hint = "choose a folder that this user can write to with tasks.runs_dir";
        let runner = Runner::open(options).map_err(|error| advised(error, hint))?;
        let place = place(&settings.runs_dir).map_err(|error| {
            advised(format!("the folder of runs {}: {error}", settings.runs_dir.display()), hint)
        })?;
        let webhook = settings.webhook_url.expose();
        let webhook = (!webhook.is_empty()).then(|| Webhook::new(webhook)).transpose();
        let webhook = webhook.map_err(|error| advised(error, "mend tasks.webhook_url, or leave it out"))?;
        let setup = Setup {
            store,
            ctl,
            topic: Some((topics, &settings.topic)),
            clock: Clock::system(),
            executor: Arc::new(runner.clone()),
            place,
            variables: Arc::new(|name| std::env::var(name).ok()),
            webhook,
            lease_time: Duration::from_millis(settings.lease_ms.into()),
            seed: rand::random(),
        };
        let tasks = Tasks::open(setup).await.context("cannot open the tasks")?;
        Ok(TaskRole { tasks, runner })
    }

    /// Applies the configured task files, unless the same files are deployed already. Invalid files
    /// prevent the start.
    pub async fn put_files_to_work(&self, path: &Path) -> anyhow::Result<()> {
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        let hint =
            "mend the files that tasks.path names; `torg tasks validate` looks at them without a server";
        let files = taskfile::load(path).map_err(|error| advised(error, hint))?;
        let at_work = self.tasks.files().await?;
        if at_work.is_some_and(|(_, at_work)| at_work == files) {
            return Ok(());
        }
        let signed = self.tasks.signed(CONFIGURATION, "tasks.path at the start of a process")?;
        let applied = self.tasks.apply(files, Some(&signed)).await.map_err(|error| advised(error, hint))?;
        for warning in &applied.warnings {
            tracing::warn!("{warning}");
        }
        let number = applied.deployment.map_or(0, |deployment| deployment.number);
        tracing::info!(deployment = number, path = %path.display(), "task files are at work");
        Ok(())
    }

    /// Starts the background work: decisions, runs, and the system's own values.
    pub fn run(&self, running: &mut Running, own: OwnValues) {
        let (tasks, stopped) = (self.tasks.clone(), running.stopped());
        running.start(
            "tasks do not run any more",
            async move { Ok(tasks.run(instance_name(), stopped).await?) },
        );
        let stopped = running.stopped();
        running.start("Torg's own values are not kept any more", async move {
            own.keep(stopped).await;
            Ok(())
        });
    }
}

impl Node {
    /// Opens the tasks in processes that serve calls or run tasks.
    pub(crate) async fn open_tasks(
        &mut self,
        store: &Store,
        topics: &Topics,
        ctl: Ctl,
        market: &api::Market,
    ) -> anyhow::Result<Option<Tasks>> {
        let runs_tasks = self.config.roles.contains(&Role::Tasks);
        if !runs_tasks && !self.has_any(&[Role::Api, Role::Console]) {
            return Ok(None);
        }
        let role = TaskRole::open(&self.config, store, topics, ctl.clone()).await?;
        // `open` runs once, so the slot is empty.
        let _ = self.slots.runs.set(role.runner.clone());
        let shown = role.tasks.clone();
        self.metrics.show(move || shown.gauges());
        if runs_tasks {
            role.put_files_to_work(&self.config.tasks.path).await?;
            let mut running = Running::new();
            role.run(&mut running, OwnValues::new(ctl, market.offers.watcher().clone()));
            self.fails_with(running.failure());
            self.on_close("tasks", async move || running.close().await);
        }
        Ok(Some(role.tasks))
    }
}

/// The URL at which services report the end of a run, with a placeholder for its id.
fn callbacks(config: &Config) -> Option<String> {
    let given = config.tasks.callback_url.trim_end_matches('/');
    let base = if given.is_empty() { own_address(config)? } else { given.to_owned() };
    Some(format!("{base}{ENDS_PATH}"))
}

fn own_address(config: &Config) -> Option<String> {
    let scheme = if config.tls.is_on().unwrap_or(false) { "https" } else { "http" };
    let named = !config.listen.ip().is_unspecified() && config.listen.port() != 0;
    named.then(|| format!("{scheme}://{}", config.listen))
}

/// The name of a folder of runs. It is generated once and stored in the folder.
fn place(folder: &Path) -> std::io::Result<String> {
    let file = folder.join(".place");
    loop {
        match std::fs::read_to_string(&file) {
            Ok(text) if !text.trim().is_empty() => return Ok(text.trim().to_owned()),
            Ok(_) => std::fs::remove_file(&file)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
        let name = format!("{}-{:08x}", host.trim(), rand::random::<u32>());
        // Written under a temporary name first, so that no reader sees half a file.
        let mut made = tempfile::NamedTempFile::new_in(folder)?;
        made.write_all(name.as_bytes())?;
        made.as_file().sync_all()?;
        match made.persist_noclobber(&file) {
            Ok(_) => return Ok(name),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_runs_keeps_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let name = place(folder.path()).unwrap();
        assert_eq!(place(folder.path()).unwrap(), name);
        assert_ne!(place(tempfile::tempdir().unwrap().path()).unwrap(), name);
    }

    #[test]
    fn services_call_back_where_this_process_can_be_reached() {
        let mut config = Config::default();
        assert_eq!(callbacks(&config).unwrap(), "http://127.0.0.1:8080/tasks/runs/{run}/end");
        config.listen = "0.0.0.0:8080".parse().unwrap();
        assert_eq!(callbacks(&config), None, "nobody knows which address others see");
        config.tasks.callback_url = "https://torg-1.local/".to_owned();
        assert_eq!(callbacks(&config).unwrap(), "https://torg-1.local/tasks/runs/{run}/end");
    }
}
