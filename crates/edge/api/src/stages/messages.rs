//! Messages about stages.

use std::cmp::Reverse;

use offers::fields::{self, Difference};
use offers::time::from_time;
use remote_stages::{EndpointStatus, Origin, RemoteStage, ShadowExample, ShadowReport, StageRegistry};
use watcher::{
    Depth, FailedVisit, Lane, LimitOverrides, Parked, Recrawl, StageLimits, StageReport, StageStatus,
    Upcoming,
};
use wire::torg::offers::v1::Offer;
use wire::torg::stages::v1 as proto;

/// The description and state of a stage.
pub(super) fn stage(registry: &StageRegistry, id: &str, report: &StageReport) -> proto::Stage {
    let outside = registry.remote();
    let mut stage = proto::Stage {
        id: id.to_owned(),
        kind: proto::stage::Kind::KIND_BUILT_IN.into(),
        depth: Some(depth(report)).into(),
        processes: report.processes.iter().map(|(process, status)| in_process(process, status)).collect(),
        limits: Some(limits(&report.limits)).into(),
        ordered_limits: ordered_limits(report.control.limits).into(),
        ..proto::Stage::default()
    };
    stage.pause = report
        .control
        .paused
        .as_ref()
        .map(|pause| proto::Pause {
            reason: pause.reason.clone(),
            time: Some(from_time(pause.since)).into(),
            ..Default::default()
        })
        .into();
    if let Some(RemoteStage { entry, plugin }) = outside.get(id) {
        use proto::stage::Kind;
        let kind = match entry.origin {
            Origin::Configured => Kind::KIND_CONFIGURED,
            Origin::Registered => Kind::KIND_REGISTERED,
        };
        stage.kind = kind.into();
        stage.outside = Some(entry.spec.redacted()).into();
        stage.version =
            entry.described.as_ref().map(|described| described.version().to_owned()).unwrap_or_default();
        stage.endpoints = plugin.endpoint_statuses().into_iter().map(endpoint).collect();
        stage.shadow = plugin.shadow().as_ref().map(compared).into();
    }
    stage
}

/// The last failed visits of all processes, newest first.
pub(super) fn failed(report: &StageReport) -> Vec<proto::FailedVisit> {
    let of_process = |(process, status): (&String, &StageStatus)| {
        let shown = |failed: &FailedVisit| (failed.at, failed_visit(process, failed));
        status.failed.iter().map(shown).collect::<Vec<_>>()
    };
    let mut failed: Vec<_> = report.processes.iter().flat_map(of_process).collect();
    failed.sort_by_key(|(at, _)| Reverse(*at));
    failed.into_iter().map(|(_, failed)| failed).collect()
}

fn failed_visit(process: &str, failed: &FailedVisit) -> proto::FailedVisit {
    let FailedVisit { at, entity, error, parked } = failed.clone();
    proto::FailedVisit {
        id: entity,
        error,
        time: Some(from_time(at)).into(),
        parked,
        process: process.to_owned(),
        ..proto::FailedVisit::default()
    }
}

pub(super) fn limits(limits: &StageLimits) -> proto::StageLimits {
    // These are within the watcher's limits, which are small.
    let (calls_max, batch_max) = (Some(limits.calls_max as u32), Some(limits.batch_max as u32));
    proto::StageLimits { rate: limits.rate, calls_max, batch_max, ..proto::StageLimits::default() }
}

fn ordered_limits(ordered: LimitOverrides) -> Option<proto::StageLimits> {
    let LimitOverrides { rate, calls_max, batch_max } = ordered;
    let shown = proto::StageLimits { rate, calls_max, batch_max, ..proto::StageLimits::default() };
    (ordered != LimitOverrides::default()).then_some(shown)
}

fn depth(report: &StageReport) -> proto::Depth {
    let of = |lane| report.depth.get(&lane).copied().unwrap_or_default();
    let (fresh, timers, background) = (of(Lane::Fresh), of(Lane::Timer), of(Lane::Background));
    let more = |depth: &Depth| depth.more;
    let first = |lane| report.firsts.get(&lane).copied().map(from_time).into();
    proto::Depth {
        fresh: fresh.rows,
        timers: timers.rows,
        background: background.rows,
        parked: report.parked.rows,
        more: [fresh, timers, background, report.parked].iter().any(more),
        first_visit: report.oldest.map(from_time).into(),
        first_fresh: first(Lane::Fresh),
        first_timer: first(Lane::Timer),
        first_background: first(Lane::Background),
        ..proto::Depth::default()
    }
}

fn in_process(process: &str, status: &StageStatus) -> proto::InProcess {
    proto::InProcess {
        process: process.to_owned(),
        visits_per_s: status.visits_per_s,
        calls: status.calls,
        blocked: status.blocked.as_ref().map(ToString::to_string).unwrap_or_default(),
        down_since: status.down.as_ref().map(|outage| from_time(outage.since)).into(),
        error: status.down.as_ref().map(|outage| outage.error.clone()).unwrap_or_default(),
        visits: status.counts.visits,
        changes: status.counts.changes,
        failures: status.counts.failures,
        ..proto::InProcess::default()
    }
}

fn endpoint(standing: EndpointStatus) -> proto::Endpoint {
    let EndpointStatus { address, out, last_error, calls, failures } = standing;
    proto::Endpoint { address, out, last_error, calls, failures, ..proto::Endpoint::default() }
}

fn compared(compared: &ShadowReport) -> proto::ShadowReport {
    let example = |example: &ShadowExample| proto::Difference {
        id: example.seen.offer.id.clone(),
        version: example.version,
        fields: example
            .shadow
            .as_ref()
            .map(|shadow| differences(&example.stage.offer, &shadow.offer))
            .unwrap_or_default(),
        failure: example.shadow.as_ref().err().cloned().unwrap_or_default(),
        state_changes: example.state_differs,
        visit_at: example.visit_at.map(from_time).into(),
        ..proto::Difference::default()
    };
    proto::ShadowReport {
        same: compared.same,
        different: compared.different,
        failed: compared.failed,
        left_out: compared.left_out,
        examples: compared.examples.iter().map(example).collect(),
        ..proto::ShadowReport::default()
    }
}

/// The fields that differ.
pub(super) fn differences(before: &Offer, after: &Offer) -> Vec<proto::FieldDifference> {
    let shown = |Difference { field, before, after }: Difference| proto::FieldDifference {
        field,
        before,
        after,
        ..proto::FieldDifference::default()
    };
    fields::differences(before, after, &watcher::Fields::all()).into_iter().map(shown).collect()
}

pub(super) fn parked(parked: Parked) -> proto::Parked {
    let Parked { entity, error, attempts, since } = parked;
    proto::Parked {
        id: entity,
        error,
        attempts,
        time: Some(from_time(since)).into(),
        ..proto::Parked::default()
    }
}

pub(super) fn lane(lane: Lane) -> proto::waiting::Lane {
    use proto::waiting::Lane as Shown;
    match lane {
        Lane::Fresh => Shown::LANE_FRESH,
        Lane::Timer => Shown::LANE_TIMERS,
        Lane::Background => Shown::LANE_BACKGROUND,
    }
}

pub(super) fn waiting(lane: proto::waiting::Lane, ahead: Upcoming) -> proto::Waiting {
    let Upcoming { visit, entity } = ahead;
    proto::Waiting {
        id: entity,
        lane: lane.into(),
        visit: Some(from_time(visit)).into(),
        ..proto::Waiting::default()
    }
}

pub(super) fn recrawl(recrawl: &Recrawl) -> proto::Recrawl {
    proto::Recrawl {
        start_time: Some(from_time(recrawl.started)).into(),
        done: recrawl.done,
        paused: recrawl.paused,
        cancelled: recrawl.cancelled,
        seen: recrawl.seen,
        queued: recrawl.queued,
        damaged: recrawl.damaged,
        shards_done: recrawl.shards_done,
        shards: recrawl.shards,
        per_second: recrawl.per_second.unwrap_or_default(),
        ..proto::Recrawl::default()
    }
}
