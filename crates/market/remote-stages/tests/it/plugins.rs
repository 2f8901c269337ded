//! Plug-ins over a real connection: what they may do, what happens when they fail or answer
//! nonsense.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{CATEGORY, Script, bike, declared, eventually, mask, patch, serve, titles};
use catalog::Catalogue;
use connectrpc::{ConnectError, ErrorCode};
use offers::StoredOffer;
use remote_stages::{Plugin, StageSpec};
use watcher::{Answer, Change, NewState, Stage, StageError, Subject, Time};
use wire::torg::offers::v1::{Money, Offer, Price, Status, StatusReason};
use wire::torg::stages::v1 as proto;

const EXPOSURE: Duration = Duration::from_secs(180 * 24 * 3600);

fn subject() -> Subject<StoredOffer> {
    let id: offers::OfferId = "4829175033168090".parse().unwrap();
    let offer = Offer { id: id.to_string(), status: Status::Active.into(), ..bike("A bike") };
    let (state, now) = (Vec::new().into(), Time::from_ms(1_000_000));
    Subject { entity: StoredOffer::new(id, offer), version: 3, state, now }
}

fn plugin(url: String, may_change: &[&str]) -> Plugin {
    let spec = StageSpec::check(&declared("titles", &[url], may_change)).unwrap();
    Plugin::new(&spec, None, &Arc::new(Catalogue::builtin().unwrap()), EXPOSURE)
}

/// What a plug-in that answers so comes to.
async fn answer(
    may_change: &[&str],
    answers: impl Fn(&Offer) -> Vec<proto::Answer> + Send + Sync + 'static,
) -> Result<Answer<StoredOffer>, StageError> {
    let script =
        Script::new("titles", move |request| Ok(answers(request.subjects[0].offer.as_option().unwrap())));
    let serving = serve(script, None).await;
    plugin(serving.url(), may_change).process(&subject()).await
}

#[tokio::test]
async fn a_patch_changes_the_fields_that_it_names_and_keeps_a_state_and_a_time() {
    let answer = answer(&["title"], |offer| {
        let state = buffa_types::google::protobuf::Any {
            type_url: "type.example/Count".to_owned(),
            value: vec![1].into(),
            ..Default::default()
        };
        let at = offers::time::from_time(Time::from_ms(5_000_000));
        let values = Offer {
            title: "A better bike".to_owned(),
            description: "not named".to_owned(),
            ..Offer::default()
        };
        vec![proto::Answer {
            state: Some(state).into(),
            visit_at: Some(at).into(),
            ..patch(offer, &["title"], values)
        }]
    });
    let answer = answer.await.unwrap();
    let Change::Patch { fields, values } = answer.change else { panic!("{answer:?}") };
    assert_eq!(fields.paths().collect::<Vec<_>>(), ["title"]);
    assert_eq!((&*values.offer.title, values.offer.category), ("A better bike", CATEGORY.to_owned()));
    assert!(matches!(answer.state, NewState::Set(state) if !state.is_empty()));
    assert_eq!(answer.next, Some(Time::from_ms(5_000_000)));
}

#[tokio::test]
async fn what_a_plugin_may_not_do_fails_that_offer_with_words_that_say_what_it_did() {
    let title = |title: &str| Offer { title: title.to_owned(), ..Offer::default() };
    let lasting = async |may_change: &[&str], values: Offer, fields: &'static [&'static str]| {
        let failed = answer(may_change, move |offer| vec![patch(offer, fields, values.clone())]).await;
        match failed {
            Err(StageError::Lasting(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert!(lasting(&[], title("x"), &["title"]).await.contains("may not change `title`"));
    assert!(lasting(&["title"], title("x"), &["seller"]).await.contains("only Torg sets"));
    assert!(lasting(&["title"], title("x"), &[]).await.contains("names no fields"));
    let reason = Offer { status_reason: Some(StatusReason::default()).into(), ..Offer::default() };
    assert!(lasting(&["status_reason"], reason, &["status_reason"]).await.contains("name both"));
    assert!(lasting(&["title"], title("x"), &["titel"]).await.contains("cannot set"));
    assert!(lasting(&["title"], title(""), &["title"]).await.contains("invalid: title"));
    let other = Offer { id: "1".to_owned(), ..title("x") };
    assert!(lasting(&["title"], other, &["title"]).await.contains("answered for 1"));
    let negative = Money { micros: -1, currency: "EUR".to_owned(), ..Money::default() };
    let price = Offer {
        price: Some(Price { kind: Some(negative.into()), ..Price::default() }).into(),
        ..Offer::default()
    };
    assert!(lasting(&["price"], price, &["price"]).await.contains("price"));
}

#[tokio::test]
async fn a_status_is_moved_by_the_rules_for_stages() {
    let values = |status: Status| Offer {
        status: status.into(),
        status_reason: Some(StatusReason { code: "old".to_owned(), ..StatusReason::default() }).into(),
        ..Offer::default()
    };
    let moved = answer(&["status"], move |offer| vec![patch(offer, &["status"], values(Status::Expired))])
        .await
        .unwrap();
    let Change::Patch { values, .. } = moved.change else { panic!("{moved:?}") };
    let reason = values.offer.status_reason.as_option().unwrap();
    assert_eq!((values.status(), &*reason.code), (Status::Expired, "old"));
    assert_eq!(reason.author.as_option().unwrap().name, "titles");
    assert!(!values.offer.expire_time.is_set());
    let never = answer(&["status"], |offer| {
        vec![patch(offer, &["status"], Offer { status: Status::Archived.into(), ..Offer::default() })]
    });
    assert!(matches!(never.await, Err(StageError::Lasting(why)) if why.contains("its status")));
}

#[tokio::test]
async fn an_offer_without_an_answer_is_tried_again_and_one_with_two_is_not() {
    let missing = answer(&["title"], |_| Vec::new()).await;
    assert!(matches!(missing, Err(StageError::Passing(why)) if why.contains("no answer")));
    let stranger = answer(&["title"], |offer| {
        vec![proto::Answer {
            id: "1000000000000008".to_owned(),
            ..patch(offer, &["title"], Offer::default())
        }]
    });
    assert!(matches!(stranger.await, Err(StageError::Passing(_))));
    let twice = answer(&["title"], |offer| {
        let one = patch(offer, &["title"], Offer { title: "x".to_owned(), ..Offer::default() });
        vec![one.clone(), one]
    });
    assert!(matches!(twice.await, Err(StageError::Lasting(why)) if why.contains("twice")));
    let older = answer(&["title"], |offer| {
        vec![proto::Answer {
            version: 2,
            ..patch(offer, &["title"], Offer { title: "x".to_owned(), ..Offer::default() })
        }]
    });
    assert!(matches!(older.await, Err(StageError::Lasting(why)) if why.contains("version 2")));
}

#[tokio::test]
async fn a_whole_offer_may_differ_only_in_what_is_allowed() {
    let replace = |offer: &Offer| proto::Answer {
        id: offer.id.clone(),
        change: Some(
            Offer { title: "New".to_owned(), description: "And new.".to_owned(), ..offer.clone() }.into(),
        ),
        ..Default::default()
    };
    let both = answer(&["title", "description"], move |offer| vec![replace(offer)]).await.unwrap();
    assert!(matches!(both.change, Change::Replace(after) if after.offer.title == "New"));
    let one = answer(&["title"], move |offer| vec![replace(offer)]).await;
    assert!(matches!(one, Err(StageError::Lasting(why)) if why.contains("`description`")));
}

#[tokio::test]
async fn a_call_goes_to_another_address_if_one_cannot_be_reached() {
    let dead = serve(Script::new("titles", titles("never")), None).await;
    let url = dead.url();
    drop(dead);
    let script = Script::new("titles", titles("Reached"));
    let alive = serve(script.clone(), None).await;
    let spec = StageSpec::check(&declared("titles", &[url.clone(), alive.url()], &["title"])).unwrap();
    let plugin = Plugin::new(&spec, None, &Arc::new(Catalogue::builtin().unwrap()), EXPOSURE);
    for _ in 0..10 {
        plugin.process(&subject()).await.unwrap();
    }
    assert_eq!(*script.calls.lock().unwrap(), 10);
    let endpoints = plugin.endpoint_statuses();
    let of = |address: &str| endpoints.iter().find(|standing| standing.address.starts_with(address)).unwrap();
    assert!(of(&url).out && of(&url).failures >= 3, "{endpoints:?}");
    assert!(!of(&alive.url()).out && of(&alive.url()).calls == 10, "{endpoints:?}");
}

#[tokio::test]
async fn a_stage_is_there_as_long_as_one_address_answers_and_asking_that_is_no_call() {
    let patience = Duration::from_secs(20);
    let dead = serve(Script::new("titles", titles("never")), None).await;
    let url = dead.url();
    drop(dead);
    let alive = serve(Script::new("others", titles("Reached")), None).await;
    let spec = StageSpec::check(&declared("titles", &[url.clone(), alive.url()], &["title"])).unwrap();
    let plugin = Plugin::new(&spec, None, &Arc::new(Catalogue::builtin().unwrap()), EXPOSURE);
    for _ in 0..5 {
        plugin.ping(patience).await.unwrap();
    }
    assert!(plugin.describe(&spec).await.is_err(), "what it says is wrong, but it says something");
    let endpoints = plugin.endpoint_statuses();
    let of = |address: &str| endpoints.iter().find(|standing| standing.address.starts_with(address)).unwrap();
    assert!(of(&url).out && !of(&url).last_error.is_empty(), "{endpoints:?}");
    assert_eq!((of(&url).calls, of(&url).failures), (0, 0), "{endpoints:?}");
    let alone = self::plugin(url, &["title"]);
    let silence = alone.ping(patience).await.unwrap_err();
    assert!(silence.is_unreachable && !silence.is_busy, "{silence:?}");
}

#[tokio::test]
async fn an_address_that_was_taken_out_is_used_again_once_it_answers() {
    let first = serve(Script::new("titles", titles("one")), None).await;
    let (address, url) = (first.address, first.url());
    drop(first);
    let plugin = plugin(url, &["title"]);
    for _ in 0..3 {
        assert!(matches!(plugin.process(&subject()).await, Err(StageError::Away(_))));
    }
    assert!(plugin.endpoint_statuses()[0].out);
    let _again = eventually("the port", async || std::net::TcpListener::bind(address).ok().map(drop)).await;
    let _serving = serve(Script::new("titles", titles("two")), Some(address)).await;
    eventually("an answer", async || plugin.process(&subject()).await.ok()).await;
    eventually("that it is in", async || (!plugin.endpoint_statuses()[0].out).then_some(())).await;
}

#[tokio::test]
async fn a_plugin_that_refuses_the_call_says_why() {
    let script = Script::new("titles", |_| {
        Err(ConnectError::new(ErrorCode::ResourceExhausted, "come back on Monday"))
    });
    let serving = serve(script, None).await;
    let failed = plugin(serving.url(), &["title"]).process(&subject()).await;
    assert!(matches!(failed, Err(StageError::Passing(why)) if why.contains("come back on Monday")));
}

#[tokio::test]
async fn a_stage_says_what_it_is_and_is_held_to_it() {
    let mut script = Script::new("titles", titles("x"));
    script.description.sets = mask(&["title", "price"]);
    let serving = serve(script, None).await;
    let refused = async |id: &str, may_change: &[&str]| {
        let spec = StageSpec::check(&declared(id, &[serving.url()], may_change)).unwrap();
        let plugin = Plugin::new(&spec, None, &Arc::new(Catalogue::builtin().unwrap()), EXPOSURE);
        plugin.describe(&spec).await.map(|described| described.version().to_owned())
    };
    assert_eq!(refused("titles", &["title", "price"]).await.as_deref(), Ok("1.0"));
    assert!(refused("titles", &["title"]).await.unwrap_err().contains("`price`"));
    let mut curious = Script::new("titles", titles("x"));
    curious.description.interest =
        Some(proto::Interest { fields: mask(&["titel"]), ..Default::default() }).into();
    let curious = serve(curious, None).await;
    let spec = StageSpec::check(&declared("titles", &[curious.url()], &["title"])).unwrap();
    let plugin = Plugin::new(&spec, None, &Arc::new(Catalogue::builtin().unwrap()), EXPOSURE);
    assert!(plugin.describe(&spec).await.unwrap_err().contains("`titel` is no field of offers"));
    assert!(refused("other", &["title", "price"]).await.unwrap_err().contains("not \"other\""));
}

#[test]
fn everything_that_is_wrong_with_a_declaration_is_said_at_once_and_no_secret_is_shown() {
    let wrong = proto::OutsideStage {
        id: "a stage".to_owned(),
        endpoints: vec!["ftp://x".to_owned(), "http://user@host:1".to_owned()],
        may_change: mask(&["seller"]),
        interest: mask(&["title", "titel"]),
        rate: -1.0,
        token: "a\nb".to_owned(),
        ..Default::default()
    };
    let fields: Vec<String> =
        StageSpec::check(&wrong).unwrap_err().into_iter().map(|wrong| wrong.field).collect();
    assert_eq!(fields, ["id", "endpoints[0]", "endpoints[1]", "token", "limits", "may_change", "interest"]);
    let secret =
        proto::OutsideStage { token: "hush".to_owned(), ..declared("a", &["http://h:1".to_owned()], &[]) };
    let spec = StageSpec::check(&secret).unwrap();
    assert_eq!(spec.redacted().token, "***");
    assert!(!format!("{:?}", spec.redacted()).contains("hush"));
}
