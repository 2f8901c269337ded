//! A problem is reported with its remedy, and goes away with its cause.

use serde_json::json;

use crate::common::Server;
use crate::observe::rig::{OBSERVE, STAGES, ask, eventually, no_problem, offer, problem, problems};

#[test]
fn a_process_that_is_well_has_no_problem_and_a_pause_is_a_note() {
    let server = Server::start(&[]);
    offer(&server, "Bicycle");
    no_problem(&server, "shard_unserved");
    assert_eq!(problems(&server), Vec::<serde_json::Value>::new());
    ask(&server, &format!("{STAGES}/PauseStage"), &json!({"id": "expiry", "reason": "a test"}));
    let note = problem(&server, "stage_paused");
    assert_eq!((&note["severity"], &note["about"]), (&json!("SEVERITY_NOTE"), &json!("expiry")));
    assert_eq!(note["text"], "stage expiry is paused: a test");
    assert_eq!(note["remedy"], "`torg stages resume expiry` when it may go on");
    ask(&server, &format!("{STAGES}/ResumeStage"), &json!({"id": "expiry"}));
    no_problem(&server, "stage_paused");
}

#[test]
fn a_stage_that_nobody_answers_for_is_an_error() {
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let endpoint = format!("http://127.0.0.1:{}", testkit::free_port());
    std::fs::write(folder.path().join("stages.toml"), format!("[away]\nendpoints = [\"{endpoint}\"]\n"))
        .unwrap();
    let server = Server::start_in(&folder, &[("TORG_STAGES_FILE", "stages.toml")]);
    offer(&server, "Bicycle");
    let down = problem(&server, "stage_down");
    assert_eq!((&down["severity"], &down["about"]), (&json!("SEVERITY_ERROR"), &json!("away")));
    assert!(down["text"].as_str().unwrap().starts_with("stage away does not answer: "), "{down}");
    assert!(down["since"].is_string() && down["remedy"].as_str().unwrap().contains("torg stages show away"));
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("\ntorg_stage_down{stage=\"away\"} 1.0"), "{metrics}");
}

#[test]
fn a_feed_that_cannot_be_fetched_is_a_warning_until_it_is_paused() {
    let server = Server::start(&[]);
    let url = format!("http://127.0.0.1:{}/feed.xml", testkit::free_port());
    let feed = json!({"seller": "ann", "namespace": "cars", "link": {"url": url}});
    ask(&server, "/torg.feeds.v1.FeedService/CreateFeed", &json!({ "feed": feed }));
    let warning = problem(&server, "feed_unreachable");
    assert_eq!((&warning["severity"], &warning["about"]), (&json!("SEVERITY_WARNING"), &json!("ann/cars")));
    assert!(warning["remedy"].as_str().unwrap().contains("--seller ann --namespace cars"), "{warning}");
    let pause =
        json!({"feed": {"seller": "ann", "namespace": "cars", "paused": true}, "updateMask": "paused"});
    ask(&server, "/torg.feeds.v1.FeedService/UpdateFeed", &pause);
    no_problem(&server, "feed_unreachable");
}

#[test]
fn problems_and_figures_are_told_while_the_database_is_stopped_and_the_problem_goes_with_its_return() {
    let Ok(postgres) = testkit::Postgres::start() else {
        return testkit::skip("problems while the database is stopped", "there is no PostgreSQL");
    };
    let store = postgres.fresh_database();
    let server = Server::start(&[("TORG_STORE_URL", &store)]);
    offer(&server, "Bicycle");
    let known = |cluster: &serde_json::Value| cluster["shards"].as_array().map(Vec::len);
    let cluster = || ask(&server, &format!("{OBSERVE}/GetCluster"), &json!({}));
    eventually("that it is known who serves what", || known(&cluster()));
    postgres.stop_immediate();
    let away = problem(&server, "store_away");
    assert_eq!(away["severity"], "SEVERITY_ERROR");
    let figures = ask(&server, &format!("{OBSERVE}/GetFigures"), &json!({"prefix": "store_answers"}));
    assert_eq!(figures["figures"][0].get("now"), None, "zero: {figures}");
    assert_eq!(known(&cluster()), Some(64), "as it was known last");
    assert_eq!(server.get("/metrics").status, 200);
    postgres.start_again();
    no_problem(&server, "store_away");
}

#[test]
fn a_database_that_takes_no_writes_is_told_until_it_takes_them() {
    let Some(postgres) = testkit::postgres() else { return };
    let store = postgres.fresh_database();
    let server = Server::start(&[("TORG_STORE_URL", &store)]);
    offer(&server, "Bicycle");
    let database = store.rsplit('/').next().unwrap().split('?').next().unwrap();
    let anew = |setting: &str| {
        postgres.psql(&format!("ALTER DATABASE {database} {setting}"));
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = ";
        postgres.psql(&format!("{end}'{database}'"));
    };
    anew("SET default_transaction_read_only = on");
    let problem = problem(&server, "store_read_only");
    assert_eq!(problem["severity"], "SEVERITY_ERROR");
    assert!(problem["remedy"].as_str().unwrap().contains("read-only"), "{problem}");
    assert_eq!(server.get("/readyz").status, 503);
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("\ntorg_store_takes_writes 0.0"), "{metrics}");
    assert!(metrics.contains("\ntorg_store_answers 1.0"), "{metrics}");
    anew("RESET default_transaction_read_only");
    no_problem(&server, "store_read_only");
    eventually("that it gets calls again", || (server.get("/readyz").status == 200).then_some(()));
}

#[test]
fn topics_that_do_not_answer_are_told_until_they_do() {
    let Ok(kafka) = testkit::Kafka::start() else {
        return testkit::skip("problems while Kafka is stopped", "there is no Kafka");
    };
    let server = Server::start(&[("TORG_TOPICS_URL", &format!("kafka://{}", kafka.bootstrap()))]);
    let answer = |is_it: &str| {
        let line = format!("\ntorg_topics_answers {is_it}");
        eventually(&line, || server.get("/metrics").body.contains(&line).then_some(()));
    };
    answer("1.0");
    kafka.kill();
    let away = problem(&server, "topics_away");
    assert_eq!(away["severity"], "SEVERITY_ERROR");
    assert!(away["remedy"].as_str().unwrap().contains("topics.url"), "{away}");
    answer("0.0");
    kafka.start_again();
    no_problem(&server, "topics_away");
    answer("1.0");
}

#[test]
fn a_process_that_is_killed_is_told_by_the_other_and_one_that_ends_in_order_is_not() {
    let Some(postgres) = testkit::postgres() else { return };
    let store = postgres.fresh_database();
    let environment = [("TORG_STORE_URL", store.as_str())];
    let server = Server::start(&environment);
    let all_serve = |count: usize| {
        eventually(&format!("{count} processes that serve everything"), || {
            let cluster = ask(&server, &format!("{OBSERVE}/GetCluster"), &json!({}));
            let owned = cluster["shards"].as_array()?.iter().all(|shard| shard["owner"].is_string());
            let processes = cluster["processes"].as_array()?;
            let serve = processes.iter().all(|process| process["shards"].as_u64().is_some_and(|n| n > 0));
            (owned && serve && processes.len() == count).then_some(cluster.clone())
        })
    };
    all_serve(1);
    Server::start(&environment).stop();
    all_serve(1);
    let mut killed = Server::start(&environment);
    let cluster = all_serve(2);
    assert!(problems(&server).iter().all(|problem| problem["code"] != "process_gone"));
    killed.signal("KILL");
    killed.wait();
    let gone = problem(&server, "process_gone");
    assert_ne!(gone["about"], cluster["answeredBy"]);
    assert!(cluster["processes"].as_array().unwrap().iter().any(|process| process["name"] == gone["about"]));
    all_serve(1);
}
