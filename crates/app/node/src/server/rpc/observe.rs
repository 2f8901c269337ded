//! Implements `torg.admin.v1.ObserveService`. Figures and problems are served from memory, also
//! while the store is unavailable; recorded actions are read from the store.

use std::collections::BTreeMap;
use std::time::Duration;

use access::Action;
use buffa_types::google::protobuf::Duration as WireDuration;
use connectrpc::{ConnectError, RequestContext, Response, ServiceResult};
use offers::time::from_time;
use watcher::{Cluster, ProcessSeen};

use super::callers::require;
use crate::actions::limits::{ABOUT_BYTES_MAX, NAME_BYTES_MAX, PAGE, PAGE_MAX};
use crate::actions::{Actions, Place, Wanted};
use crate::figures::limits::{BACK, BACK_MAX, LABELS_WANTED_MAX, POINTS_SHOWN_MAX, PREFIX_BYTES_MAX};
use crate::figures::{FiguresWanted, Observatory, Problem, Severity, ShownFigure, Stand, WorkSeen};
use wire::torg::admin::v1 as proto;

/// Clocks may differ by this much, so a change younger than this may be missing among the
/// unexported ones.
const CERTAIN: Duration = watcher::limits::CLOCKS_APART_MAX;

pub(super) struct ObserveRpc {
    observatory: Observatory,
    actions: Actions,
}

impl ObserveRpc {
    pub(super) fn new(observatory: Observatory, actions: Actions) -> ObserveRpc {
        ObserveRpc { observatory, actions }
    }
}

impl proto::ObserveService for ObserveRpc {
    async fn get_figures(
        &self,
        context: RequestContext,
        request: proto::GetFiguresRequest,
    ) -> ServiceResult<proto::GetFiguresResponse> {
        require(&context, Action::SeeProcess)?;
        let back = back(request.back.as_option())?;
        if request.points_max > POINTS_SHOWN_MAX {
            let text = format!("points_max: at most {POINTS_SHOWN_MAX}, not {}", request.points_max);
            return Err(ConnectError::invalid_argument(text));
        }
        if request.prefix.len() > PREFIX_BYTES_MAX {
            return Err(ConnectError::invalid_argument(format!("prefix: at most {PREFIX_BYTES_MAX} bytes")));
        }
        if request.labels.len() > LABELS_WANTED_MAX {
            let text = format!("labels: at most {LABELS_WANTED_MAX}, not {}", request.labels.len());
            return Err(ConnectError::invalid_argument(text));
        }
        let wanted = FiguresWanted { prefix: request.prefix, labels: request.labels };
        let shown = self.observatory.figures(&wanted, back, request.points_max);
        Response::ok(proto::GetFiguresResponse {
            figures: shown.figures.into_iter().map(figure).collect(),
            time: shown.time.map(from_time).into(),
            step: Some(duration(shown.step)).into(),
            ..Default::default()
        })
    }

    async fn list_problems(
        &self,
        context: RequestContext,
        _request: proto::ListProblemsRequest,
    ) -> ServiceResult<proto::ListProblemsResponse> {
        require(&context, Action::SeeProcess)?;
        let (problems, looked) = self.observatory.problems();
        Response::ok(proto::ListProblemsResponse {
            problems: problems.into_iter().map(problem).collect(),
            time: looked.map(|(time, _)| from_time(time)).into(),
            age: looked.map(|(_, age)| duration(age)).into(),
            ..Default::default()
        })
    }

    async fn get_cluster(
        &self,
        context: RequestContext,
        _request: proto::GetClusterRequest,
    ) -> ServiceResult<proto::GetClusterResponse> {
        require(&context, Action::SeeProcess)?;
        let answered_by = self.observatory.process().to_owned();
        let answer = proto::GetClusterResponse { answered_by, ..Default::default() };
        Response::ok(match self.observatory.stand() {
            Some(stand) => cluster(answer, &stand),
            None => answer,
        })
    }

    async fn list_actions(
        &self,
        context: RequestContext,
        request: proto::ListActionsRequest,
    ) -> ServiceResult<proto::ListActionsResponse> {
        require(&context, Action::SeeProcess)?;
        if request.page_size > PAGE_MAX {
            let text = format!("page_size: at most {PAGE_MAX}, not {}", request.page_size);
            return Err(ConnectError::invalid_argument(text));
        }
        let texts = [
            ("about", &request.about, ABOUT_BYTES_MAX),
            ("author", &request.author, NAME_BYTES_MAX),
            ("method_prefix", &request.method_prefix, NAME_BYTES_MAX),
        ];
        if let Some((field, _, most)) =
            texts.iter().find(|(_, text, most)| text.len() > *most || text.chars().any(char::is_control))
        {
            let text = format!("{field}: at most {most} bytes, no control characters");
            return Err(ConnectError::invalid_argument(text));
        }
        let after = match &*request.page_token {
            "" => None,
            token => Some(Place::from_token(token).ok_or_else(|| {
                ConnectError::invalid_argument("page_token: that is none, send the one of the page before")
            })?),
        };
        let limit = if request.page_size == 0 { PAGE } else { request.page_size };
        let proto::ListActionsRequest { about, author, failed, method_prefix, .. } = request;
        let wanted = Wanted { about, author, failed, method_prefix };
        let (actions, next) =
            self.actions.list(&wanted, after, limit as usize).await.map_err(|error| away(&error))?;
        Response::ok(proto::ListActionsResponse {
            actions,
            next_page_token: next.map(|place| place.token()).unwrap_or_default(),
            ..Default::default()
        })
    }
}

fn away(error: &store::Error) -> ConnectError {
    tracing::warn!(%error, "recorded actions cannot be read");
    ConnectError::unavailable("the store does not answer now, try again")
}

fn back(given: Option<&WireDuration>) -> Result<Duration, ConnectError> {
    let Some(given) = given else { return Ok(BACK) };
    let wrong = || {
        let most = BACK_MAX.as_secs();
        ConnectError::invalid_argument(format!("back: from 1 s to {most} s, not {} s", given.seconds))
    };
    let seconds = u64::try_from(given.seconds).map_err(|_| wrong())?;
    let back = Duration::new(seconds, 0);
    if back.is_zero() || back > BACK_MAX { Err(wrong()) } else { Ok(back) }
}

fn duration(duration: Duration) -> WireDuration {
    let (seconds, nanos) = (duration.as_secs() as i64, duration.subsec_nanos() as i32);
    WireDuration { seconds, nanos, ..WireDuration::default() }
}

fn figure(figure: ShownFigure) -> proto::Figure {
    let ShownFigure { name, labels, now, past } = figure;
    proto::Figure {
        name: name.name.to_owned(),
        labels: labels.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        now,
        past,
        unit: name.unit.to_owned(),
        ..Default::default()
    }
}

fn problem(problem: Problem) -> proto::Problem {
    use proto::problem::Severity as Shown;
    let severity = match problem.severity {
        Severity::Error => Shown::SEVERITY_ERROR,
        Severity::Warning => Shown::SEVERITY_WARNING,
        Severity::Note => Shown::SEVERITY_NOTE,
    };
    proto::Problem {
        severity: severity.into(),
        code: problem.code.to_owned(),
        about: problem.about,
        text: problem.text,
        remedy: problem.remedy,
        since: Some(from_time(problem.since)).into(),
        ..Default::default()
    }
}

fn cluster(answer: proto::GetClusterResponse, stand: &Stand) -> proto::GetClusterResponse {
    let Stand { cluster, shards, lease_time, .. } = stand;
    let mut served = shards_of(cluster, *shards, *lease_time);
    if let Some((read, waits)) = &stand.export_waits {
        let certain = *read - CERTAIN;
        for shard in &mut served {
            let waits = waits.get(&shard.number).copied();
            shard.exported_to = Some(from_time(waits.map_or(certain, |waits| waits.min(certain)))).into();
        }
    }
    // The name under which other processes know this one: it changes with the stages of the
    // process.
    let base = answer.answered_by.clone();
    let is_here = |name: &&String| **name == base || name.starts_with(&format!("{base}."));
    let answered_by = cluster.processes.keys().find(is_here).cloned().unwrap_or(base.clone());
    proto::GetClusterResponse {
        processes: processes(cluster),
        shards: served,
        answered_by,
        works: stand.works.iter().map(work).collect(),
        ..answer
    }
}

fn work(seen: &WorkSeen) -> proto::get_cluster_response::Work {
    proto::get_cluster_response::Work {
        kind: seen.kind.to_owned(),
        processes: processes(&seen.cluster),
        shards: shards_of(&seen.cluster, seen.shards, seen.lease_time),
        ..Default::default()
    }
}

/// Every shard with its living owner.
fn shards_of(
    cluster: &Cluster,
    shards: u32,
    lease_time: Duration,
) -> Vec<proto::get_cluster_response::Shard> {
    let shard = |number: u32| {
        let holder = cluster.holders.get(&number);
        let lives = holder.and_then(|holder| Some((holder, cluster.processes.get(&holder.owner)?)));
        proto::get_cluster_response::Shard {
            number,
            owner: lives.map(|(holder, _)| holder.owner.clone()).unwrap_or_default(),
            lease_until: lives.map(|(_, process)| from_time(process.beat + lease_time)).into(),
            ..Default::default()
        }
    };
    (0..shards).map(shard).collect()
}

fn processes(cluster: &Cluster) -> Vec<proto::get_cluster_response::Process> {
    let mut held: BTreeMap<&str, u32> = BTreeMap::new();
    for holder in cluster.holders.values() {
        *held.entry(&holder.owner).or_default() += 1;
    }
    let held = |name: &str| held.get(name).copied().unwrap_or(0);
    cluster.processes.iter().map(|(name, seen)| process(name, seen, held(name))).collect()
}

fn process(name: &str, seen: &ProcessSeen, shards: u32) -> proto::get_cluster_response::Process {
    let outside = || seen.stages.iter().filter(|(stage, _)| !stage.is_empty());
    let down = outside().filter(|(_, status)| status.down.is_some()).map(|(stage, _)| stage.clone());
    proto::get_cluster_response::Process {
        name: name.to_owned(),
        seen: Some(from_time(seen.beat)).into(),
        shards,
        visits_per_s: outside().map(|(_, status)| status.visits_per_s).sum(),
        stages_down: down.collect(),
        ..Default::default()
    }
}
