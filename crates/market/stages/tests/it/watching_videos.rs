//! Videos that offers link to.

use std::sync::Arc;
use std::time::Duration;

use stages::{VideoCheck, VideoConfig, VideoHost};
use watcher::{Lane, Waits};
use wire::torg::offers::v1::{Offer, video};

use crate::ground::{DAY, Ground, eventually};
use crate::market::Market;
use crate::shop::{bike, catalogue, filmed};

const VIDEO: &str = "https://www.youtube.com/watch?v=a1";
const QUESTION: &str = "/oembed?format=json&url=https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3Da1";
const WEEK: Duration = DAY.saturating_mul(7);

async fn open(ground: &Ground) -> Market<'_> {
    let hosts = vec![
        VideoHost::oembed(&["youtube.com", "youtu.be"], "http://www.youtube.com/oembed?format=json"),
        VideoHost::page(&["vk.com"]),
    ];
    let stage = VideoCheck::new(ground.client(), VideoConfig { hosts, ..VideoConfig::default() });
    Market::open(ground, catalogue(), vec![Arc::new(stage)]).await
}

fn seen(offer: &Offer) -> Option<&video::Availability> {
    offer.video.availability.as_option()
}

fn is(state: video::State) -> impl Fn(&Offer) -> bool {
    move |offer| seen(offer).is_some_and(|seen| seen.state == state)
}

pub(crate) async fn a_video_is_looked_at_and_looked_at_again_in_time(ground: Ground) {
    let answer = br#"{"title":"A bike that rolls","type":"video","html":"<iframe></iframe>"}"#;
    ground.site.says(QUESTION, "200 OK", answer);
    let market = open(&ground).await;
    let id = market.publish(&filmed(bike(100), VIDEO)).await;
    let offer = market.eventually("it is seen", id, is(video::State::STATE_AVAILABLE)).await;
    assert_eq!(seen(&offer).unwrap().title, "A bike that rolls");
    assert_eq!(ground.site.asked(), [format!("GET {QUESTION}")]);
    let next = ground.now() + WEEK;
    market.settled(id).await;
    assert_eq!(market.standing(id, "video").await.waits, Waits::Until(next, Lane::Timer));

    ground.site.says(QUESTION, "401 Unauthorized", b"");
    ground.pass(WEEK);
    let offer = market.eventually("it is private", id, is(video::State::STATE_UNAVAILABLE)).await;
    let (problem, since) = (seen(&offer).unwrap().problem.as_option().unwrap(), ground.now());
    assert_eq!((&*problem.code, &*seen(&offer).unwrap().title), ("private", ""));
    ground.pass(DAY);
    let offer = market
        .eventually("it is looked at again", id, |offer| {
            seen(offer).unwrap().check_time != offer.video.availability.problem.time
        })
        .await;
    let time = seen(&offer).unwrap().problem.time.clone();
    assert_eq!(time, Some(offers::time::from_time(since)).into(), "it is as old as it was");

    ground.site.says(QUESTION, "200 OK", answer);
    ground.pass(DAY);
    let offer = market.eventually("it is back", id, is(video::State::STATE_AVAILABLE)).await;
    assert!(!seen(&offer).unwrap().problem.is_set());
    assert_eq!(ground.site.asked().len(), 4);

    let other = market.change(id, |offer| *offer = filmed(offer.clone(), "https://youtu.be/gone")).await;
    assert_eq!(other.video.url, "https://youtu.be/gone");
    let offer = market.eventually("it is gone", id, is(video::State::STATE_UNAVAILABLE)).await;
    assert_eq!(seen(&offer).unwrap().problem.code, "not_found");
    market.close().await;
}

pub(crate) async fn a_host_that_is_busy_is_asked_again_and_one_that_is_not_known_never(ground: Ground) {
    ground.site.says(QUESTION, "503 Busy", b"");
    let market = open(&ground).await;
    let (busy, strange) = (
        market.publish(&filmed(bike(100), VIDEO)).await,
        market.publish(&filmed(bike(100), "https://videos.example.com/1")).await,
    );
    let offer = market.eventually("its host is unknown", strange, is(video::State::STATE_UNKNOWN_HOST)).await;
    assert!(!seen(&offer).unwrap().check_time.is_set());
    let failed = eventually("it failed", async || market.standing(busy, "video").await.failed).await;
    assert!(failed.error.contains("503"), "{}", failed.error);
    assert_eq!(seen(&market.get(busy).await), None, "nothing is known of it");
    ground.site.says(QUESTION, "200 OK", b"<html>Are you a robot?</html>");
    ground.pass(Duration::from_secs(600));
    let robots = async || {
        let failed = market.standing(busy, "video").await.failed?;
        failed.error.contains("oEmbed").then_some(())
    };
    eventually("a page that is no answer is none", robots).await;
    ground.site.says(QUESTION, "200 OK", b"{}");
    ground.pass(Duration::from_secs(600));
    market.eventually("it is seen", busy, is(video::State::STATE_AVAILABLE)).await;
    assert!(ground.site.asked().iter().all(|asked| asked.contains("/oembed?")), "{:?}", ground.site.asked());
    assert_eq!(market.standing(strange, "video").await.waits, Waits::NotInterested);
    market.close().await;
}

pub(crate) async fn a_host_without_oembed_is_asked_for_the_page(ground: Ground) {
    ground.site.says("HEAD /video1", "200 OK", b"");
    ground.site.says("HEAD /video2", "405 Method Not Allowed", b"");
    ground.site.says("GET /video2", "200 OK", b"<html></html>");
    let market = open(&ground).await;
    for (path, state) in [
        ("video1", video::State::STATE_AVAILABLE),
        ("video2", video::State::STATE_AVAILABLE),
        ("video3", video::State::STATE_UNAVAILABLE),
    ] {
        let id = market.publish(&filmed(bike(100), &format!("http://m.vk.com/{path}"))).await;
        market.eventually(path, id, is(state)).await;
    }
    let inside = market.publish(&filmed(bike(100), "http://vk.com:22/video1")).await;
    let offer = market.eventually("it is refused", inside, is(video::State::STATE_UNAVAILABLE)).await;
    assert_eq!(seen(&offer).unwrap().problem.code, "port");
    let asked = ["HEAD /video1", "HEAD /video2", "GET /video2", "HEAD /video3"];
    assert_eq!(ground.site.asked(), asked);
    market.close().await;
}
