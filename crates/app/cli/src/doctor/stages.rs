//! Checks stages: whether outside stages answer, and how stages do in the running processes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use catalog::Catalogue;
use futures::future::join_all;
use offers::time::to_ms;
use remote_stages::{Plugin, StageSpec, StageStore};
use store::Store;
use tokio::time::timeout;
use wire::torg::stages::v1::{ListStagesRequest, Stage, StageAdminServiceClient};

use super::closed::Closed;
use super::finding::{Area, Finding};
use super::limits::{ANSWER_TIME_MAX, LATE_S};
use super::process::{Process, is_not_served};
use crate::remote::{Remote, said};
use node::config::Config;
use node::stages_file;
use terminal::moment;
use text::shell::quoted;

/// Asks every known outside stage to describe itself: the configured ones, and the registered ones
/// if the store is available. The stage of a demo runs only while the demo does.
pub(super) async fn outside(
    config: &Config,
    catalogue: &Arc<Catalogue>,
    store: Option<&Store>,
    is_demo: bool,
) -> Vec<Finding> {
    let built_in = built_in(config);
    let taken: Vec<&str> = built_in.iter().map(String::as_str).collect();
    let configured = match stages_file::read(&config.stages.file, &taken) {
        Ok(configured) => configured,
        Err(error) => {
            return vec![Finding::failed(Area::Stages, &error, "mend the file that stages.file names")];
        }
    };
    let known = match store {
        None => configured.into_iter().map(|outside| (outside.id.clone(), outside)).collect(),
        Some(store) => match registered(store, configured).await {
            Ok(known) => known,
            Err(error) => {
                let hint = error.hint().unwrap_or("`torg store check` lists what is damaged");
                return vec![Finding::error(Area::Stages, error.to_string(), hint)];
            }
        },
    };
    // If this command has the store open, the demo is not running.
    let (own, asked): (Vec<&StageSpec>, Vec<&StageSpec>) =
        known.values().partition(|outside| is_demo && store.is_some() && outside.id == demo::STAGE);
    let mut found = join_all(asked.into_iter().map(|outside| describe(outside, catalogue))).await;
    found.extend(own.into_iter().map(|outside| {
        let what = format!("stage {} is the demo's: it starts and ends with it", outside.id);
        Finding::note(Area::Stages, what, "")
    }));
    found
}

fn built_in(config: &Config) -> Vec<String> {
    let name = |stage| serde_json::to_value(stage).ok()?.as_str().map(str::to_owned);
    config.stages.built_in.iter().filter_map(name).collect()
}

async fn registered(store: &Store, configured: Vec<StageSpec>) -> store::Result<BTreeMap<String, StageSpec>> {
    let alone = configured.iter().map(|outside| (outside.id.clone(), outside.clone())).collect();
    match StageStore::new(store, configured).load().await {
        Ok(known) => Ok(known.into_iter().map(|(id, known)| (id, known.spec)).collect()),
        // The store predates outside stages.
        Err(store::Error::UnknownTable { .. }) => Ok(alone),
        Err(error) => Err(error),
    }
}

async fn describe(outside: &StageSpec, catalogue: &Arc<Catalogue>) -> Finding {
    let id = &outside.id;
    let at = outside.redacted().endpoints.join(", ");
    let plugin = Plugin::new(outside, None, catalogue, Duration::ZERO);
    let why = match timeout(ANSWER_TIME_MAX, plugin.describe(outside)).await {
        Ok(Ok(described)) => {
            let version = described.version();
            return Finding::ok(Area::Stages, format!("stage {id} at {at} answers (version {version})"));
        }
        Ok(Err(why)) => why,
        Err(_) => "it does not answer in time".to_owned(),
    };
    let what = format!("stage {id} at {at}: {why}");
    Finding::error(Area::Stages, what, "start it, or correct its address; what waits for it is not lost")
}

/// The state of all stages, as a process reports it.
pub(super) async fn at_work(process: &Process, now_ms: i64, closed: &mut Closed) -> Vec<Finding> {
    let Remote { connection, config } = process.calls();
    let client = StageAdminServiceClient::new(connection, config);
    match client.list_stages(ListStagesRequest::default()).await {
        Ok(answer) => {
            let stages = answer.stages;
            let found: Vec<Finding> = stages.iter().flat_map(|stage| judge(stage, now_ms)).collect();
            if found.is_empty() {
                vec![Finding::ok(Area::Stages, format!("all stages are well ({})", stages.len()))]
            } else {
                found
            }
        }
        // The process does not have the role `api`.
        Err(error) if is_not_served(error.code) || closed.keeps(&error, &[Area::Stages]) => Vec::new(),
        Err(error) => vec![Finding::failed(Area::Stages, &said(&error), "look at the log of the process")],
    }
}

fn judge(stage: &Stage, now_ms: i64) -> Vec<Finding> {
    let id = &stage.id;
    let typed = quoted(id);
    let mut found = Vec::new();
    let depth = stage.depth.as_option().cloned().unwrap_or_default();
    let down = stage.processes.iter().find(|process| process.down_since.is_set());
    if let Some(pause) = stage.pause.as_option() {
        let since = moment(pause.time.as_option());
        let what = format!("stage {id} is paused since {since}: {}", pause.reason);
        found.push(Finding::note(Area::Stages, what, format!("if that is over: torg stages resume {typed}")));
    } else if let Some(process) = down {
        let since = moment(process.down_since.as_option());
        let what = format!("stage {id} is down since {since}: {}", process.error);
        found.push(Finding::error(
            Area::Stages,
            what,
            format!("start it; torg stages show {typed} tells more"),
        ));
    } else if stage.processes.is_empty() {
        let what = format!("no process serves stage {id}");
        found.push(Finding::error(Area::Stages, what, "start a `torg serve` with the role stages"));
    } else if depth.fresh > 0
        && let Some(first) = depth.first_visit.as_option()
        && now_ms - to_ms(first) > LATE_S * 1000
    {
        let late = (now_ms - to_ms(first)) / 1000;
        let what = format!("stage {id} is late: {} offers wait, the first one for {late} s", depth.fresh);
        found.push(Finding::warning(
            Area::Stages,
            what,
            format!("torg stages show {typed} tells what holds it up"),
        ));
    }
    if depth.parked > 0 {
        let more = if depth.more { " or more" } else { "" };
        let what = format!("stage {id} has given up on {}{more} offers", depth.parked);
        let remedy =
            format!("torg stages show {typed} tells why; once it is mended: torg stages release {typed}");
        found.push(Finding::warning(Area::Stages, what, remedy));
    }
    found
}

#[cfg(test)]
mod tests {
    use offers::time::from_time;
    use watcher::Time;
    use wire::torg::stages::v1::{Depth, InProcess, Pause};

    use super::super::finding::Severity;
    use super::*;

    fn stage(process: InProcess, depth: Depth) -> Stage {
        Stage {
            id: "spam".to_owned(),
            processes: vec![process],
            depth: Some(depth).into(),
            ..Stage::default()
        }
    }

    fn severities(stage: &Stage) -> Vec<Severity> {
        judge(stage, 100_000).iter().map(|finding| finding.severity).collect()
    }

    #[test]
    fn a_stage_that_is_down_or_served_by_nobody_is_an_error() {
        assert!(severities(&stage(InProcess::default(), Depth::default())).is_empty());
        let since = Some(from_time(Time::from_ms(5))).into();
        let down = InProcess { down_since: since, error: "refused".to_owned(), ..InProcess::default() };
        let told = judge(&stage(down, Depth::default()), 100_000);
        assert_eq!(told[0].severity, Severity::Error);
        assert!(told[0].what.ends_with("down since 1970-01-01T00:00:00.005Z: refused"), "{told:?}");
        let served_by_nobody = Stage { id: "spam".to_owned(), ..Stage::default() };
        assert_eq!(severities(&served_by_nobody), [Severity::Error]);
    }

    #[test]
    fn what_is_parked_or_late_is_a_warning_and_a_pause_is_a_note() {
        let waiting = |seconds: i64| Depth {
            fresh: 2,
            first_visit: Some(from_time(Time::from_ms(100_000 - seconds * 1000))).into(),
            ..Depth::default()
        };
        assert!(severities(&stage(InProcess::default(), waiting(60))).is_empty());
        assert_eq!(severities(&stage(InProcess::default(), waiting(61))), [Severity::Warning]);
        let parked = Depth { parked: 3, ..Depth::default() };
        let mut paused = stage(InProcess::default(), parked);
        paused.pause = Some(Pause { reason: "too strict".to_owned(), ..Pause::default() }).into();
        assert_eq!(severities(&paused), [Severity::Note, Severity::Warning]);
    }
}
