//! Formats simulations as JSON. Times are in UTC, durations in seconds.

use jiff::SignedDuration;
use planner::Seen;
use planner::simulate::{Comparison, Firing, Miss, Moved, Simulation, Write};
use serde_json::{Map, Value, json};

pub(super) fn simulation(simulation: &Simulation) -> Value {
    let longest = simulation.silence.iter().map(|(task, silence)| {
        let queued = simulation.starvation.get(task).copied().unwrap_or_default();
        (task.to_string(), json!({ "without_success": seconds(*silence), "in_queue": seconds(queued) }))
    });
    let looped = simulation.loops.iter().map(|found| {
        json!({
            "task": &*found.task,
            "at": found.at.to_string(),
            "firings": found.firings,
            "seen": seen(&found.seen),
        })
    });
    let alerts = simulation.alerts.iter().map(
        |(at, task, alert)| json!({ "at": at.to_string(), "task": &**task, "alert": alert.to_string() }),
    );
    json!({
        "from": simulation.from.to_string(),
        "to": simulation.to.to_string(),
        "cut_off": simulation.cut_off,
        "firings": simulation.firings.iter().map(firing).collect::<Vec<_>>(),
        "misses": simulation.misses.iter().map(miss).collect::<Vec<_>>(),
        "more_misses": simulation.more_misses,
        "loops": looped.collect::<Vec<_>>(),
        "longest": longest.collect::<Map<_, _>>(),
        "writes": simulation.writes.iter().map(write).collect::<Vec<_>>(),
        "alerts": alerts.collect::<Vec<_>>(),
    })
}

pub(super) fn comparison(comparison: &Comparison) -> Value {
    let moved = |moved: &Moved| {
        json!({
            "task": &*moved.task,
            "first": moved.first.to_string(),
            "second": moved.second.to_string(),
            "seen": seen(&moved.seen),
        })
    };
    json!({
        "same": comparison.same,
        "only_first": comparison.only_first.iter().map(firing).collect::<Vec<_>>(),
        "only_second": comparison.only_second.iter().map(firing).collect::<Vec<_>>(),
        "moved": comparison.moved.iter().map(moved).collect::<Vec<_>>(),
    })
}

fn firing(firing: &Firing) -> Value {
    json!({
        "at": firing.at.to_string(),
        "task": &*firing.task,
        "run": firing.run,
        "attempt": firing.attempt,
        "waited": seconds(firing.waited),
        "ended": firing.ended.map(|(at, _)| at.to_string()),
        "succeeded": firing.ended.map(|(_, succeeded)| succeeded),
        "seen": seen(&firing.seen),
    })
}

fn miss(miss: &Miss) -> Value {
    match miss {
        Miss::Change { task, parameter, value, since } => json!({
            "task": &**task,
            "parameter": parameter.to_string(),
            "value": self::value(*value),
            "since": since.to_string(),
        }),
        Miss::Chunk { task, parameter, scale, start } => json!({
            "task": &**task,
            "parameter": parameter.to_string(),
            "chunk": scale.to_string(),
            "start": start.to_string(),
        }),
    }
}

fn write(write: &Write) -> Value {
    json!({
        "at": write.at.to_string(),
        "task": &*write.task,
        "parameter": write.parameter.to_string(),
        "value": value(write.value),
        "moves_back": write.moves_back,
    })
}

fn seen(seen: &Seen) -> Map<String, Value> {
    seen.iter().map(|(parameter, found)| (parameter.to_string(), value(*found))).collect()
}

fn value(value: triggers::Value) -> Value {
    match value {
        triggers::Value::Time(time) => json!(time.to_string()),
        triggers::Value::Number(number) => json!(number),
    }
}

fn seconds(duration: SignedDuration) -> f64 {
    duration.as_secs_f64()
}
