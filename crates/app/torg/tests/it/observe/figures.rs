//! Figures over time, their match with `/metrics`, and who serves what.

use serde_json::{Value, json};

use crate::common::Server;
use crate::observe::rig::{OBSERVE, ask, eventually, offer};

/// The figures whose names begin with this prefix.
fn figures(server: &Server, prefix: &str) -> Vec<Value> {
    let answer = ask(server, &format!("{OBSERVE}/GetFigures"), &json!({ "prefix": prefix }));
    answer["figures"].as_array().cloned().unwrap_or_default()
}

/// Waits for a figure with these labels and a matching value.
fn figure(server: &Server, name: &str, labels: &Value, is_it: impl Fn(f64) -> bool) -> Value {
    let is_wanted = |figure: &Value| {
        let same = figure["name"] == name && figure.get("labels").unwrap_or(&json!({})) == labels;
        // JSON has no NaN, so it is a text; zero is left out.
        same && figure.get("now").map_or(Some(0.0), Value::as_f64).is_some_and(&is_it)
    };
    eventually(name, || figures(server, name).into_iter().find(is_wanted))
}

#[test]
fn calls_stages_topics_and_the_process_have_figures() {
    let server = Server::start(&[]);
    for n in 0..5 {
        offer(&server, &format!("Bicycle {n}"));
    }
    let timer = json!({"stage": "expiry", "lane": "timer"});
    let depth = figure(&server, "stage_depth", &timer, |now| now == 5.0);
    assert_eq!(depth["unit"], "offers");
    figure(&server, "rpc_calls_per_s", &json!({"service": "torg.admin.v1.ObserveService"}), |now| now > 0.0);
    figure(&server, "rpc_outcomes_per_s", &json!({"code": "ok"}), |now| now > 0.0);
    let slow = figure(&server, "rpc_duration_p95_seconds", &json!({}), |now| now > 0.0);
    assert_eq!(slow["unit"], "s");
    figure(&server, "stage_visits_per_s", &json!({"stage": "price"}), |now| now >= 0.0);
    figure(&server, "stage_oldest_due_seconds", &json!({"stage": "price"}), |now| now >= 0.0);
    figure(&server, "export_lag_seconds", &json!({}), |now| now == 0.0);
    figure(&server, "topic_messages_per_s", &json!({"topic": "offers"}), |now| now >= 0.0);
    let consumer = json!({"consumer": "offers.moderation", "topic": "moderation"});
    figure(&server, "topic_lag_messages", &consumer, |now| now == 0.0);
    figure(&server, "feed_loads", &json!({"state": "waiting"}), |now| now == 0.0);
    figure(&server, "tasks_defined", &json!({}), |now| now == 0.0);
    figure(&server, "process_resident_memory_bytes", &json!({}), |now| now > 1e6);
    figure(&server, "shards_unserved", &json!({}), |now| now == 0.0);
    figure(&server, "store_answers", &json!({}), |now| now == 1.0);
    figure(&server, "store_takes_writes", &json!({}), |now| now == 1.0);
    figure(&server, "topics_answers", &json!({}), |now| now == 1.0);
    figure(&server, "tasks_undecided", &json!({}), |now| now == 0.0);
    // The duration of visits before the first sample is not known.
    offer(&server, "Bicycle");
    let visits = figure(&server, "stage_visit_p95_seconds", &json!({"stage": "price"}), |now| now > 0.0);
    assert_eq!(visits["unit"], "s");
    let looked = ask(&server, &format!("{OBSERVE}/ListProblems"), &json!({}));
    assert!(looked["time"].is_string() && looked["age"].is_string(), "{looked}");

    let few =
        ask(&server, &format!("{OBSERVE}/GetFigures"), &json!({"prefix": "store_answers", "pointsMax": 1}));
    assert_eq!(few["figures"][0]["past"].as_array().unwrap().len(), 1);
    let timers = "torg_stage_depth{stage=\"expiry\",lane=\"timer\"} 6.0";
    let metrics = eventually(timers, || {
        let metrics = server.get("/metrics").body;
        metrics.lines().any(|shown| shown == timers).then_some(metrics)
    });
    for line in [
        "# TYPE torg_stage_visits counter",
        "torg_stage_down{stage=\"price\"} 0.0",
        "torg_topic_lag_messages{consumer=\"offers.moderation\",topic=\"moderation\"} 0.0",
        "torg_export_lag_seconds 0.0",
        "torg_problems{severity=\"error\"} 0.0",
        "torg_stage_paused_since_seconds{stage=\"price\"} 0.0",
        "# TYPE torg_stage_visit_seconds histogram",
    ] {
        assert!(metrics.lines().any(|shown| shown == line), "{line} is not in\n{metrics}");
    }
    assert!(
        metrics.lines().any(|line| line.starts_with("torg_stage_visits_total{stage=\"price\"} ")),
        "{metrics}"
    );
}

/// The maximum of stages is in `observe/limits.rs`: a store may have that many, and all have their
/// figures.
#[test]
fn a_stage_has_no_more_figures_than_there_is_room_for() {
    let server = Server::start(&[]);
    offer(&server, "Bicycle");
    let timer = json!({"stage": "expiry", "lane": "timer"});
    figure(&server, "stage_depth", &timer, |now| now == 1.0);
    figure(&server, "stage_parked", &json!({"stage": "expiry"}), |now| now == 0.0);
    let all = figures(&server, "");
    let of_stages = |figure: &&Value| figure["labels"]["stage"].is_string();
    let of_one = all.iter().filter(|figure| figure["labels"]["stage"] == "expiry").count();
    assert!((12..=16).contains(&of_one), "{of_one}");
    let beside = all.len() - all.iter().filter(of_stages).count();
    // Services and topics may be more, up to their limits: 64 and 50.
    assert!((20..=200).contains(&beside), "{beside}");
}

#[test]
fn requests_beyond_what_is_kept_are_refused() {
    let server = Server::start(&[]);
    for wrong in [
        json!({"back": "21601s"}),
        json!({"back": "-1s"}),
        json!({"back": "0s"}),
        json!({"pointsMax": 1001}),
        json!({"prefix": "x".repeat(101)}),
    ] {
        let answer = server.post_json(&format!("{OBSERVE}/GetFigures"), &wrong.to_string());
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.body);
    }
    eventually("six hours", || {
        let most = json!({"back": "21600s", "pointsMax": 1000});
        (ask(&server, &format!("{OBSERVE}/GetFigures"), &most)["step"] == "30s").then_some(())
    });
}

#[test]
fn one_process_serves_all_parts_of_the_offers() {
    let server = Server::start(&[]);
    offer(&server, "Bicycle");
    let cluster = eventually("a process with all parts", || {
        let cluster = ask(&server, &format!("{OBSERVE}/GetCluster"), &json!({}));
        (cluster["processes"][0]["shards"] == 64).then_some(cluster)
    });
    let name = &cluster["processes"][0]["name"];
    assert_eq!(&cluster["answeredBy"], name);
    let shards = cluster["shards"].as_array().unwrap();
    assert_eq!(shards.len(), 64);
    for shard in shards {
        assert_eq!(&shard["owner"], name);
        assert!(shard["leaseUntil"].is_string() && shard["exportedTo"].is_string(), "{shard}");
    }
    let works = eventually("who sees to feeds and decides about tasks", || {
        let cluster = ask(&server, &format!("{OBSERVE}/GetCluster"), &json!({}));
        let works = cluster["works"].as_array().cloned().unwrap_or_default();
        let is_served = |work: &serde_json::Value| {
            work["shards"]
                .as_array()
                .is_some_and(|shards| shards.iter().all(|shard| shard["owner"].is_string()))
        };
        (works.len() == 2 && works.iter().all(is_served)).then_some(works)
    });
    let kinds: Vec<_> =
        works.iter().map(|work| (&work["kind"], work["shards"].as_array().unwrap().len())).collect();
    assert_eq!((kinds[0].0, kinds[1]), (&json!("feeds"), (&json!("tasks"), 1)), "{works:?}");
}
