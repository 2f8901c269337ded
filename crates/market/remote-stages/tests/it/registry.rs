//! Plug-ins of a marketplace that runs: registered while it does, visited, told, replaced.

use crate::support::{Script, ann, bike, declared, eventually, offers, register, registry, serve, titles};
use offers::Offers;
use tokio::sync::watch;
use wire::torg::stages::v1 as proto;

async fn title_of(offers: &Offers, id: &str, wanted: &str) {
    let id = id.parse().unwrap();
    eventually(wanted, async || (offers.get(id).await.unwrap().title == wanted).then_some(())).await;
}

#[tokio::test]
async fn a_stage_that_is_registered_while_torg_runs_visits_what_changes_and_hears_what_was_saved() {
    let offers = offers().await;
    let registry = registry(&offers, &[]).await;
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn({
        let registry = registry.clone();
        async move { registry.run("test", stopped).await }
    });
    let before = offers.create(&ann(), &bike("Before")).await.unwrap();

    let script = Script::new("titles", titles("Visited"));
    let serving = serve(script.clone(), None).await;
    let stage = declared("titles", &[serving.url()], &["title"]);
    register(&registry, &stage).await;
    eventually("the stage", async || registry.remote().contains_key("titles").then_some(())).await;

    let after = offers.create(&ann(), &bike("After")).await.unwrap();
    title_of(&offers, &after.id, "Visited").await;
    eventually("what was saved", async || {
        script.told.lock().unwrap().contains(&(after.id.clone(), 2)).then_some(())
    })
    .await;
    // What was there before is left alone until somebody asks for it.
    assert_eq!(offers.get(before.id.parse().unwrap()).await.unwrap().title, "Before");
    offers.watcher().start_recrawl(None).await.unwrap();
    title_of(&offers, &before.id, "Visited").await;

    registry.store().remove("titles").await.unwrap();
    eventually("that it is gone", async || registry.remote().is_empty().then_some(())).await;
    stop.send_replace(true);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_shadow_is_compared_and_changes_nothing_until_it_takes_over() {
    let offers = offers().await;
    let (old, new) = (
        serve(Script::new("titles", titles("Old")), None).await,
        serve(Script::new("titles", titles("New")), None).await,
    );
    let shadow = proto::outside_stage::Shadow { endpoints: vec![new.url()], ..Default::default() };
    let stage =
        proto::OutsideStage { shadow: Some(shadow).into(), ..declared("titles", &[old.url()], &["title"]) };
    let registry = registry(&offers, &[]).await;
    register(&registry, &stage).await;
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn({
        let registry = registry.clone();
        async move { registry.run("test", stopped).await }
    });
    eventually("the stage", async || registry.remote().contains_key("titles").then_some(())).await;
    let offer = offers.create(&ann(), &bike("A bike")).await.unwrap();
    title_of(&offers, &offer.id, "Old").await;
    let compared = eventually("a comparison", async || {
        registry.remote()["titles"].plugin.shadow().filter(|compared| compared.different == 1)
    })
    .await;
    let example = &compared.examples[0];
    assert_eq!(&*example.stage.offer.title, "Old");
    assert_eq!(&*example.shadow.as_ref().unwrap().offer.title, "New");

    let promoted = registry.remote()["titles"].entry.spec.promoted().unwrap();
    register(&registry, &promoted).await;
    eventually("that it took over", async || {
        registry.remote().get("titles").filter(|stage| stage.plugin.shadow().is_none()).map(drop)
    })
    .await;
    let offer = offers.create(&ann(), &bike("Another bike")).await.unwrap();
    title_of(&offers, &offer.id, "New").await;
    stop.send_replace(true);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stage_that_is_unreachable_at_the_start_is_known_by_what_it_said_last_time() {
    let offers = offers().await;
    let serving = serve(Script::new("titles", titles("x")), None).await;
    let stage = declared("titles", &[serving.url()], &["title"]);
    let first = registry(&offers, std::slice::from_ref(&stage)).await;
    assert!(first.remote()["titles"].entry.described.is_some());
    serving.stop();
    let second = registry(&offers, &[stage]).await;
    assert_eq!(second.remote()["titles"].entry.described.as_ref().unwrap().version(), "1.0");
}

#[tokio::test]
async fn a_secret_that_is_shown_as_stars_stays_when_a_stage_is_registered_again() {
    let offers = offers().await;
    let registry = registry(&offers, &[]).await;
    let store = registry.store();
    let serving = serve(Script::new("a", titles("x")), None).await;
    let stage = proto::OutsideStage { token: "hush".to_owned(), ..declared("a", &[serving.url()], &[]) };
    register(&registry, &stage).await;
    let shown = store.load().await.unwrap()["a"].spec.redacted();
    assert_eq!(shown.token, "***");
    register(&registry, &shown).await;
    let known = store.load().await.unwrap();
    assert!(known["a"].is_same(&{
        let mut same = known["a"].clone();
        same.spec = remote_stages::StageSpec::check(&stage).unwrap();
        same
    }));
    assert!(store.remove("b").await.is_err());
}

#[tokio::test]
async fn an_id_that_no_key_can_have_is_refused_by_name() {
    let offers = offers().await;
    let registry = registry(&offers, &[]).await;
    for id in ["a\0b", "", &"x".repeat(10_000)] {
        let refused = registry.store().complete(&declared(id, &["http://127.0.0.1:1".to_owned()], &[])).await;
        let Err(remote_stages::StageStoreError::Invalid(wrong)) = refused else {
            panic!("{id:?}: {refused:?}")
        };
        assert_eq!(wrong[0].field, "id");
    }
}

#[tokio::test]
async fn a_sample_is_spread_over_the_base_and_is_another_one_each_time() {
    let offers = offers().await;
    let mut all = std::collections::BTreeSet::new();
    for n in 0..48 {
        all.insert(offers.create(&ann(), &bike(&format!("Bike {n}"))).await.unwrap().id);
    }
    let sample = async |count| -> Vec<String> {
        let found = offers.watcher().sample(count).await.unwrap();
        found.into_iter().map(|found| found.entity.offer.id).collect()
    };
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let sampled = sample(8).await;
        assert_eq!(sampled.len(), 8);
        let once: std::collections::BTreeSet<_> = sampled.into_iter().collect();
        assert_eq!(once.len(), 8, "none comes twice");
        seen.extend(once);
    }
    assert_eq!(seen, all, "every offer has its turn");
    let mut whole = sample(1000).await;
    whole.sort();
    assert_eq!(whole, all.into_iter().collect::<Vec<_>>(), "each once, wherever it began");
}
