//! `VisitReason` something waits: anybody may ask, in any process.

use std::time::Duration;

use watcher::{Answer, Blocked, Failed, Lane, LastVisit, StageError, VisitReason, Waits, shard_of};

use crate::common::{Doing, Thing, titled};
use crate::engines::place::Place;
use crate::engines::running::{Running, Stages, bystander, config};
use crate::waiting::eventually;

fn stages() -> Stages {
    let content = Doing::on("content", "price", |s| Ok(Answer::replace(titled(s, "seen"))));
    let patient =
        Doing::on(
            "patient",
            "price",
            |s| Ok(Answer::untouched().visit_at(s.now + Duration::from_secs(3600))),
        );
    let resting = Doing::on("resting", "price", |_| Ok(Answer::untouched()));
    let strict = Doing::on("strict", "price", |_| Err(StageError::Lasting("a bug".to_owned())));
    vec![content, patient, resting, strict]
}

pub(crate) async fn another_process_explains_where_an_entity_stands_with_every_stage(place: Place) {
    let store = place.open().await;
    let beside = place.open_beside(&store).await;
    let asker = bystander(&beside, stages()).await;
    asker.pause_stage("resting", "for a while").await.unwrap();
    let running = Running::start(store, stages()).await;
    running.save(&Thing::new("a", 1)).await;
    let id = "a".to_owned();
    let settled = async || {
        let explained = asker.explain(&id).await.unwrap();
        let waits = |stage: &str| explained.stages[stage].waits.clone();
        let is_settled = waits("resting") == Waits::Blocked(Lane::Fresh, Blocked::Paused)
            && waits("content") == Waits::NotInterested
            && matches!(waits("patient"), Waits::Until(_, Lane::Timer))
            && waits("strict") == Waits::Parked;
        is_settled.then_some(explained)
    };
    let explained = eventually("all of it is said", settled).await;
    assert_eq!((explained.version, explained.exists()), (2, true));
    assert_eq!((explained.shard, explained.owner.as_deref()), (shard_of("a", config().shards), Some("one")));
    assert_eq!((&explained.asking, &explained.slowed), (&None, &None));
    let content = &explained.stages["content"];
    assert!(matches!(content.last, Some(LastVisit { version: 1, changed: Some(true), .. })), "{content}");
    let resting = &explained.stages["resting"];
    assert_eq!(
        (resting.why, &resting.last, resting.since.is_some()),
        (Some(VisitReason::Change), &None, true)
    );
    assert_eq!(explained.stages["patient"].why, Some(VisitReason::Timer));
    assert_eq!(explained.stages["strict"].failed, Some(Failed { attempts: 1, error: "a bug".to_owned() }));
    let text = explained.to_string();
    assert!(text.contains("resting: due, but the stage is paused, since"), "{text}");

    let nobody = asker.explain(&"nobody".to_owned()).await.unwrap();
    assert!(!nobody.exists() && nobody.owner.is_some());
    assert!(nobody.stages.values().all(|standing| standing.waits == Waits::NotInterested), "{nobody}");

    running.stop().await;
    let explained = asker.explain(&id).await.unwrap();
    assert_eq!(explained.owner, None);
    assert_eq!(explained.stages["resting"].waits, Waits::NoOwner(Lane::Fresh));
}

pub(crate) async fn another_process_reports_how_a_stage_fares(place: Place) {
    let store = place.open().await;
    let beside = place.open_beside(&store).await;
    let asker = bystander(&beside, stages()).await;
    let running = Running::start(store, stages()).await;
    let ids: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
    for id in &ids {
        running.save(&Thing::new(id, 1)).await;
    }
    let counted = async |stage: &str| {
        let mut report = asker.report(stage).await.unwrap();
        let status = report.processes.remove("one")?;
        (status.counts.visits + status.counts.failures >= 10).then_some((report, status))
    };
    let (report, status) = eventually("all is counted", async || counted("content").await).await;
    let counts = status.counts;
    assert_eq!((status.latencies.count(), status.failed.len()), (10, 0));
    assert_eq!((counts.visits, counts.changes, counts.failures, report.oldest), (10, 10, 0, None));
    let (report, status) = eventually("all is counted", async || counted("strict").await).await;
    let counts = status.counts;
    let mut failed: Vec<&str> = status.failed.iter().map(|failed| &*failed.entity).collect();
    failed.sort_unstable();
    assert_eq!((status.latencies.count(), failed), (10, ids.iter().map(String::as_str).collect()));
    assert!(status.failed.iter().all(|failed| failed.parked && !failed.error.is_empty()));
    assert_eq!((counts.visits, counts.failures, counts.parked, report.parked.rows), (0, 10, 10, 10));
    let (report, status) = eventually("all is counted", async || counted("patient").await).await;
    let counts = status.counts;
    assert_eq!((counts.visits, counts.changes), (10, 0));
    assert_eq!(
        (report.depth[&Lane::Fresh].rows, report.depth[&Lane::Timer].rows, report.parked.rows),
        (0, 10, 0)
    );
    let armed: Vec<_> = running.queued().await.into_iter().map(|(_, time, _)| time).collect();
    assert_eq!(report.oldest, armed.into_iter().min());
    assert_eq!(asker.cluster().await.unwrap().processes.into_keys().collect::<Vec<_>>(), ["one"]);
    assert_eq!(asker.cluster().await.unwrap().holders.len(), 4);

    running.stop().await;
    assert!(asker.report("patient").await.unwrap().processes.is_empty());
    assert!(asker.cluster().await.unwrap().holders.is_empty());
}
