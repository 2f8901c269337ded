//! Feeds with killed processes, several processes, and other topics.

use std::sync::Arc;

use serde_json::json;

use crate::common::Server;
use crate::feeds::rig::{create, ended, eventually, feeds, live, sofa, upload, yml};

#[test]
fn a_load_that_is_cut_short_by_a_kill_is_taken_up_and_every_offer_is_there_once() {
    let settings = [("TORG_FEEDS_BATCHES_AHEAD", "2")];
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let mut server = Server::start_in(&folder, &settings);
    create(&server, &json!({"seller": "ann"}));
    let offers: Vec<_> =
        (0..1000).map(|n| sofa(&n.to_string(), &format!("Диван номер {n:04}"), "10000")).collect();
    upload(&server, "/feeds/ann/default/upload", yml(&offers).as_bytes());
    eventually("the load is in its middle", || {
        let load = feeds(&server, "GetLoad", &json!({"seller": "ann"}))["load"].clone();
        let created: u64 = load["counts"]["created"].as_str().unwrap_or("0").parse().unwrap();
        assert!(load["state"] != "STATE_DONE", "too fast to be cut short: {load}");
        (created > 0).then_some(())
    });
    server.signal("KILL");
    server.wait();
    let server = Server::start_in(&folder, &settings);
    let load = ended(&server, "", "1");
    assert_eq!((&load["state"], &load["counts"]["offers"]), (&json!("STATE_DONE"), &json!("1000")), "{load}");
    assert_eq!(load["counts"]["created"], "1000", "{load}");
    let expected: Vec<String> = offers.into_iter().map(|(_, title, _)| title).collect();
    assert_eq!(live(&server), expected);
    server.stop();
}

#[test]
fn the_api_the_ad_store_and_the_workers_can_be_processes_of_their_own() {
    let Some(postgres) = testkit::postgres() else { return };
    let (store, files) = (postgres.fresh_database(), tempfile::tempdir().unwrap());
    let files = format!("file:{}", files.path().display());
    let start = |roles| {
        Server::start(&[("TORG_STORE_URL", &*store), ("TORG_FILES_URL", &*files), ("TORG_ROLES", roles)])
    };
    let api = start("api");
    create(&api, &json!({"seller": "ann"}));
    upload(&api, "/feeds/ann/default/upload", yml(&[sofa("1", "Диван угловой", "1000")]).as_bytes());
    let load = feeds(&api, "GetLoad", &json!({"seller": "ann"}))["load"].clone();
    assert_eq!(load["state"], "STATE_QUEUED", "nobody works yet: {load}");
    let worker = start("feeds");
    let refused = upload(&worker, "/feeds/ann/default/upload", b"x");
    assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("unavailable")));
    let _ad_store = start("stages");
    assert_eq!(ended(&api, "", "1")["state"], "STATE_DONE");
    assert_eq!(live(&api), ["Диван угловой"]);
}

#[test]
fn loads_go_through_kafka_as_well() {
    let Some(broker) = testkit::kafka() else { return };
    let topics = format!("kafka://{}", broker.bootstrap());
    let server = Server::start(&[
        ("TORG_STORE_URL", "memory:"),
        ("TORG_TOPICS_URL", &*topics),
        ("TORG_KAFKA_TOPIC_PREFIX", &*testkit::fresh_name("feeds")),
        ("TORG_FEEDS_TOPIC_PARTITIONS", "2"),
    ]);
    create(&server, &json!({"seller": "ann"}));
    let offers: Vec<_> = (0..120).map(|n| sofa(&n.to_string(), &format!("Диван {n:03}"), "1000")).collect();
    upload(&server, "/feeds/ann/default/upload", yml(&offers).as_bytes());
    let load = ended(&server, "", "1");
    assert_eq!((&load["state"], &load["counts"]["created"]), (&json!("STATE_DONE"), &json!("120")), "{load}");
    assert_eq!(live(&server).len(), 120);
}
