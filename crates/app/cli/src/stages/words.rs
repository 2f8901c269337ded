//! Formats stages as text.

use wire::torg::stages::v1 as proto;

use terminal::{cut, moment, one_line, state as paint_state, table};

/// Differences that are listed one by one.
const DIFFERENCES_MAX: usize = 20;
/// Characters of a value that are printed on a terminal.
const VALUE_CHARS_MAX: usize = 120;

pub(super) fn list(stages: &[proto::Stage]) -> Vec<String> {
    let mut rows = vec![
        ["STAGE", "KIND", "FRESH", "TIMERS", "BACKGROUND", "PARKED", "VISITS/S", "STATE"].map(str::to_owned),
    ];
    rows.extend(stages.iter().map(row));
    table(&rows)
}

fn row(stage: &proto::Stage) -> [String; 8] {
    let depth = stage.depth.as_option().cloned().unwrap_or_default();
    let [fresh, timers, background, parked] = counts(&depth);
    let rate: f64 = stage.processes.iter().map(|process| process.visits_per_s).sum();
    [
        stage.id.clone(),
        kind(stage).to_owned(),
        fresh,
        timers,
        background,
        parked,
        format!("{rate:.1}"),
        paint_state(&state(stage)),
    ]
}

/// The queue depths. All counts stop at the same limit, so a count below another one is exact even
/// if the other is capped.
fn counts(depth: &proto::Depth) -> [String; 4] {
    let counts = [depth.fresh, depth.timers, depth.background, depth.parked];
    let most = counts.into_iter().max();
    counts.map(|count| format!("{count}{}", if depth.more && Some(count) == most { "+" } else { "" }))
}

fn kind(stage: &proto::Stage) -> &'static str {
    use proto::stage::Kind;
    match stage.kind.as_known().unwrap_or_default() {
        Kind::KIND_UNSPECIFIED => "",
        Kind::KIND_BUILT_IN => "built-in",
        Kind::KIND_CONFIGURED => "configured",
        Kind::KIND_REGISTERED => "registered",
    }
}

/// The health of a stage, in a few words.
fn state(stage: &proto::Stage) -> String {
    if let Some(pause) = stage.pause.as_option() {
        return format!("paused since {}: {}", moment(pause.time.as_option()), one_line(&pause.reason));
    }
    let down = stage.processes.iter().find(|process| process.down_since.is_set());
    match down {
        Some(process) => {
            format!("down since {}: {}", moment(process.down_since.as_option()), one_line(&process.error))
        }
        None if stage.processes.is_empty() => "no process serves it".to_owned(),
        None if !stage.endpoints.is_empty() && stage.endpoints.iter().all(|endpoint| endpoint.out) => {
            let error = stage.endpoints.first().map(|endpoint| &*endpoint.last_error);
            format!("no endpoint answers: {}", one_line(error.unwrap_or_default()))
        }
        None => "well".to_owned(),
    }
}

pub(super) fn stage(answer: &proto::GetStageResponse) -> Vec<String> {
    let nothing = proto::Stage::default();
    let stage = answer.stage.as_option().unwrap_or(&nothing);
    let version = one_line(&stage.version);
    let version = if version.is_empty() { version } else { format!(", version {version}") };
    let mut lines =
        vec![format!("stage {} ({}{version}): {}", stage.id, kind(stage), paint_state(&state(stage)))];
    if let Some(outside) = stage.outside.as_option() {
        let fields = outside.may_change.as_option().map(|mask| mask.paths.join(", ")).unwrap_or_default();
        lines.push(format!("may change: {}", if fields.is_empty() { "nothing" } else { &fields }));
    }
    let depth = stage.depth.as_option().cloned().unwrap_or_default();
    let [fresh, timers, background, parked] = counts(&depth);
    lines.push(format!(
        "waiting: {fresh} fresh, {timers} timers, {background} in the background, {parked} parked"
    ));
    if depth.first_visit.is_set() {
        lines.push(format!("the first visit: {}", moment(depth.first_visit.as_option())));
    }
    let ordered = if stage.ordered_limits.is_set() { " (ordered)" } else { "" };
    lines.push(format!("limits{ordered}: {}", limits(stage.limits.as_option())));
    for process in &stage.processes {
        let proto::InProcess { process, visits_per_s, calls, visits, changes, failures, blocked, .. } =
            process;
        let blocked = if blocked.is_empty() { String::new() } else { format!("; {}", one_line(blocked)) };
        lines.push(format!(
            "in {process}: {visits_per_s:.1} visits/s, {calls} calls under way; so far {visits} visits, {changes} changes, {failures} failures{blocked}"
        ));
    }
    for endpoint in &stage.endpoints {
        let fares = if endpoint.out { "taken out" } else { "in use" };
        let error = if endpoint.last_error.is_empty() {
            String::new()
        } else {
            format!("; last failure: {}", one_line(&endpoint.last_error))
        };
        lines.push(format!(
            "endpoint {}: {fares}, {} calls, {} failures{error}",
            endpoint.address, endpoint.calls, endpoint.failures
        ));
    }
    if let Some(shadow) = stage.shadow.as_option() {
        let outside = stage.outside.as_option().and_then(|outside| outside.shadow.as_option());
        let at = outside.map(|shadow| shadow.endpoints.join(", ")).unwrap_or_default();
        lines.push(format!(
            "shadow at {at}: {} same, {} different, {} failed, {} not compared",
            shadow.same, shadow.different, shadow.failed, shadow.left_out
        ));
        lines.extend(shadow.examples.iter().take(DIFFERENCES_MAX).flat_map(difference));
    }
    // Parked offers are listed below, with their attempts.
    for failed in answer.failed.iter().filter(|failed| !failed.parked) {
        let time = moment(failed.time.as_option());
        lines.push(format!(
            "failed, tried again: offer {} at {time}: {}",
            failed.id,
            one_line(&failed.error)
        ));
    }
    for parked in &answer.parked {
        lines.push(format!(
            "parked: offer {} since {} after {} attempts: {}",
            parked.id,
            moment(parked.time.as_option()),
            parked.attempts,
            one_line(&parked.error)
        ));
    }
    lines
}

pub(super) fn limits(limits: Option<&proto::StageLimits>) -> String {
    let limits = limits.cloned().unwrap_or_default();
    let rate = limits.rate.map_or_else(
        || "as many visits in a second as can be made".to_owned(),
        |rate| format!("{rate} visits in a second"),
    );
    format!(
        "{rate}, {} calls at a time, {} offers in a call",
        limits.calls_max.unwrap_or_default(),
        limits.batch_max.unwrap_or_default()
    )
}

pub(super) fn registered(answer: &proto::RegisterStageResponse, only_checked: bool) -> Vec<String> {
    let nothing = proto::Stage::default();
    let stage = answer.stage.as_option().unwrap_or(&nothing);
    let version = one_line(&stage.version);
    let version = if version.is_empty() { version } else { format!(" (version {version})") };
    let done = if only_checked {
        "can be registered; nothing was changed"
    } else {
        "is registered; all processes call it within seconds"
    };
    vec![format!("stage {}{version} {done}", stage.id)]
}

pub(super) fn rehearsal(answer: &proto::DryRunResponse) -> Vec<String> {
    let mut lines = vec![format!(
        "{} offers seen: {} would change, {} would not, {} failed; nothing was saved",
        answer.seen, answer.changed, answer.unchanged, answer.failed
    )];
    lines.extend(answer.fields.iter().map(|(field, count)| format!("  {field}: {count}")));
    lines.extend(answer.differences.iter().take(DIFFERENCES_MAX).flat_map(difference));
    let left = answer.differences.len().saturating_sub(DIFFERENCES_MAX);
    if left > 0 {
        lines.push(format!("and {left} more: --json shows them"));
    }
    lines
}

fn difference(difference: &proto::Difference) -> Vec<String> {
    let mut lines = vec![format!("offer {} (version {})", difference.id, difference.version)];
    if !difference.failure.is_empty() {
        lines.push(format!("  failed: {}", one_line(&difference.failure)));
    }
    for field in &difference.fields {
        lines.push(format!(
            "  {}: {} -> {}",
            field.field,
            value(field.before.as_deref()),
            value(field.after.as_deref())
        ));
    }
    if difference.state_changes {
        lines.push("  keeps another state".to_owned());
    }
    if difference.visit_at.is_set() {
        lines.push(format!("  visits again at {}", moment(difference.visit_at.as_option())));
    }
    lines
}

fn value(value: Option<&str>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| cut(&one_line(value), VALUE_CHARS_MAX))
}

pub(super) fn recrawl(recrawl: Option<&proto::Recrawl>) -> String {
    let Some(recrawl) = recrawl else { return "there was no re-crawl yet".to_owned() };
    let state = match recrawl {
        proto::Recrawl { cancelled: true, .. } => "cancelled",
        proto::Recrawl { done: true, .. } => "done",
        proto::Recrawl { paused: true, .. } => "paused",
        _ => "under way",
    };
    let speed = if recrawl.per_second == 0 {
        String::new()
    } else {
        format!(", at most {} a second", recrawl.per_second)
    };
    format!(
        "{state} since {}: {} of {} shards, {} offers seen, {} visits queued, {} offers could not be read{speed}",
        moment(recrawl.start_time.as_option()),
        recrawl.shards_done,
        recrawl.shards,
        recrawl.seen,
        recrawl.queued,
        recrawl.damaged
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_count_that_ended_at_its_limit_says_that_there_are_more() {
        let depth = proto::Depth { fresh: 3, timers: 10_000, ..proto::Depth::default() };
        assert_eq!(counts(&depth), ["3", "10000", "0", "0"]);
        let more = proto::Depth { more: true, parked: 10_000, ..depth };
        assert_eq!(counts(&more), ["3", "10000+", "0", "10000+"]);
    }

    #[test]
    fn what_an_outside_stage_says_stays_on_its_line_and_does_nothing_to_the_terminal() {
        let wicked = "\x1b[2J\x1b[1;1Hall is well\nparked: offer 1".to_owned();
        let tame = "\\u{1b}[2J\\u{1b}[1;1Hall is well parked: offer 1";
        let endpoint =
            proto::Endpoint { out: true, last_error: wicked.clone(), ..proto::Endpoint::default() };
        let seen = proto::Stage {
            id: "spam".to_owned(),
            version: wicked.clone(),
            processes: vec![proto::InProcess { blocked: wicked.clone(), ..proto::InProcess::default() }],
            endpoints: vec![endpoint],
            ..proto::Stage::default()
        };
        let list = list(std::slice::from_ref(&seen));
        assert_eq!(list.len(), 2, "{list:?}");
        assert!(list[1].ends_with(&format!("no endpoint answers: {tame}")), "{list:?}");
        let failed = proto::FailedVisit { error: wicked.clone(), ..proto::FailedVisit::default() };
        let parked = proto::Parked { error: wicked.clone(), ..proto::Parked::default() };
        let answer = proto::GetStageResponse {
            stage: Some(seen).into(),
            failed: vec![failed],
            parked: vec![parked],
            ..proto::GetStageResponse::default()
        };
        let lines = stage(&answer);
        assert!(lines.iter().all(|line| !line.contains(char::is_control)), "{lines:#?}");
        assert_eq!(lines.iter().filter(|line| line.contains(tame)).count(), 5, "{lines:#?}");
        assert_eq!(value(Some(&wicked)), tame);
    }
}
