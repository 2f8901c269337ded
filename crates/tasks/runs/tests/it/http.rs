//! Runs that a service over HTTP carries out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use runs::{Action, Callback, Done, Error, Http, Poll, PollResult, Reason, Spec, Status};
use triggers::Value;

use crate::common::{Place, eventually, id, open};
use crate::server::Answer::{self, At, Body, Silence};
use crate::server::Service;

fn call(http: Http) -> Spec {
    Spec { timeout: Duration::from_secs(60), ..Spec::new("sales_report", Action::Http(http)) }
}

fn poll(url: Option<String>, result: PollResult) -> Done {
    Done::Poll(Poll { url, every: Duration::from_millis(10), result })
}

fn field() -> PollResult {
    PollResult::Field {
        pointer: "/job/state".to_owned(),
        done: vec!["succeeded".to_owned()],
        failed: vec!["failed".to_owned()],
    }
}

#[tokio::test]
async fn an_answer_tells_the_end_and_the_request_says_which_run_it_is() {
    let place = Place::new();
    let service = Service::start(|_, _| Answer::Status(204)).await;
    let headers = [("authorization".to_owned(), "Bearer s3cret".into())].into();
    let values = [("sales.rows".to_owned(), Value::Number(5))].into();
    let spec = Spec { values, ..call(Http { headers, ..Http::post(service.url("/run?key=s3cret")) }) };
    let end = place.execute("r1", &spec).await;
    assert_eq!((end.reason, end.detail.as_str()), (Reason::Done, ""));
    let [asked] = &service.asked()[..] else { panic!("{:?}", service.asked()) };
    let sent = ["authorization", "torg-run", "idempotency-key", "torg-task", "torg-attempt", "content-type"];
    let expected = ["Bearer s3cret", "r1", "r1", "sales_report", "1", "application/json"];
    assert_eq!(sent.map(|name| asked.header(name)), expected);
    assert_eq!(
        asked.body,
        r#"{"run":"r1","task":"sales_report","attempt":1,"values":{"sales.rows":5},"chunk":null}"#
    );
    let log = place.log("r1").await;
    assert!(log.contains("POST http://127.0.0.1") && log.contains("/run answered 204"), "{log}");
    assert!(!log.contains("s3cret") && !format!("{spec:?}").contains("s3cret"));
    assert!(!place.folder_of("r1").join("spec.json").exists());
}

#[tokio::test]
async fn a_refusal_fails_the_run_with_what_the_service_said() {
    let place = Place::new();
    for (code, said) in
        [(400, "400 Bad Request: answer 400"), (500, "500 Internal"), (302, "redirects are not followed")]
    {
        let service = Service::start(move |_, _| Answer::Status(code)).await;
        let end = place.execute(&format!("r{code}"), &call(Http::post(service.url("/run")))).await;
        assert_eq!(end.reason, Reason::Failed);
        assert!(end.detail.contains(said), "{end}");
        assert_eq!(service.asked().len(), 1);
    }
}

#[tokio::test]
async fn errors_that_may_pass_are_tried_again_with_the_same_key() {
    let place = Place::new();
    let service = Service::start(|before, _| Answer::Status([503, 429, 200][before])).await;
    let own_body = Http { body: Some("as it is".into()), ..Http::post(service.url("/run")) };
    let end = place.execute("r1", &call(own_body)).await;
    assert_eq!(end.reason, Reason::Done);
    let asked = service.asked();
    assert_eq!(asked.iter().map(|asked| asked.header("idempotency-key")).collect::<Vec<_>>(), ["r1"; 3]);
    assert!(asked.iter().all(|asked| asked.body == "as it is"));
    assert!(place.log("r1").await.contains("answered 503 Service Unavailable, which may pass"));
}

#[tokio::test]
async fn a_service_that_never_answers_ends_with_the_time_of_the_run_and_the_last_error() {
    let place = Place::new();
    let silent = Service::start(|_, _| Silence).await;
    let short = |url| Spec { timeout: Duration::from_millis(700), ..call(Http::post(url)) };
    let end = place.execute("r1", &short(silent.url("/"))).await;
    assert_eq!((end.reason, end.detail.as_str()), (Reason::TimedOut, "it took longer than 700ms"));
    // Nobody listens there.
    let end = place.execute("r2", &short("http://127.0.0.1:1/x".to_owned())).await;
    assert_eq!(end.reason, Reason::TimedOut);
    assert!(end.detail.contains("the last error was: POST http://127.0.0.1:1/x: no connection"), "{end}");
}

#[tokio::test]
async fn a_service_is_asked_where_it_says_until_its_status_tells_the_end() {
    let place = Place::new();
    let service = Service::start(|before, asked| match asked.path.as_str() {
        "/run" => At("jobs/7".to_owned()),
        _ if before < 3 => Answer::Status(202),
        _ => Answer::Status(200),
    })
    .await;
    let headers = [("x-key".to_owned(), "k".into())].into();
    let http = Http { headers, done: poll(None, PollResult::Status), ..Http::post(service.url("/run")) };
    assert_eq!(place.execute("r1", &call(http)).await.reason, Reason::Done);
    let asked = service.asked_for("/jobs/7");
    assert_eq!(asked.len(), 3);
    let is_right = |asked: &crate::server::Asked| asked.method == "GET" && asked.header("x-key") == "k";
    assert!(asked.iter().all(is_right));
    let nowhere = Service::start(|_, _| Answer::Status(202)).await;
    let http = Http { done: poll(None, PollResult::Status), ..Http::post(nowhere.url("/run")) };
    let end = place.execute("r2", &call(http)).await;
    assert!(end.detail.contains("give poll.url"), "{end}");
}

#[tokio::test]
async fn secrets_of_the_first_request_do_not_go_to_another_host() {
    let place = Place::new();
    let other = Service::start(|_, _| Answer::Status(200)).await;
    let place_of_job = other.url("/job");
    let service = Service::start(move |_, _| At(place_of_job.clone())).await;
    let headers = [("authorization".to_owned(), "Bearer s3cret".into())].into();
    let http = Http { headers, done: poll(None, PollResult::Status), ..Http::post(service.url("/run")) };
    assert_eq!(place.execute("r1", &call(http)).await.reason, Reason::Done);
    assert_eq!((other.asked()[0].header("authorization"), other.asked()[0].header("torg-run")), ("", "r1"));
}

#[tokio::test]
async fn a_field_of_the_answer_tells_the_end() {
    let place = Place::new();
    for (run, last, reason, said) in [
        ("r1", r#"{"job":{"state":"succeeded"}}"#, Reason::Done, ""),
        ("r2", r#"{"job":{"state":"failed","why":"no rows"}}"#, Reason::Failed, "no rows"),
        ("r3", r#"{"jobs":[]}"#, Reason::Failed, "has no /job/state"),
        ("r4", "<html>", Reason::Failed, "not JSON"),
    ] {
        let service = Service::start(move |before, asked| match asked.path.as_str() {
            "/run" => Answer::Status(200),
            _ if before < 3 => Body(r#"{"job":{"state":"running"}}"#),
            _ => Body(last),
        })
        .await;
        let url = service.url("/jobs/{run}");
        let http = Http { done: poll(Some(url), field()), ..Http::post(service.url("/run")) };
        let end = place.execute(run, &call(http)).await;
        assert_eq!(end.reason, reason, "{end}");
        assert!(end.detail.contains(said), "{end}");
        assert_eq!(service.asked_for(&format!("/jobs/{run}")).len(), 3);
    }
}

#[tokio::test]
async fn a_callback_tells_the_end_once_and_only_with_the_token_of_the_run() {
    let place = Place::new();
    let service = Service::start(|_, _| Answer::Status(202)).await;
    let spec = call(Http { done: Done::Callback, ..Http::post(service.url("/run")) });
    let handle = place.runner.start(&id("r1"), &spec).await.unwrap();
    let asked = eventually("it was asked", async || service.asked().into_iter().next()).await;
    assert_eq!(asked.header("torg-callback-url"), "https://torg.example/runs/r1/end");
    let token = asked.header("torg-callback-token");
    let said = || Callback {
        done: true,
        detail: "5 rows".to_owned(),
        sets: [("a.b".to_owned(), Value::Number(5))].into(),
    };
    let wrong = place.runner.callback(&id("r1"), "0123", said()).await;
    assert!(matches!(wrong, Err(Error::Token(_))), "{wrong:?}");
    let unknown = place.runner.callback(&id("r2"), token, said()).await;
    assert!(matches!(unknown, Err(Error::NotStarted(_))), "{unknown:?}");
    let unreadable = Callback { sets: [("nonsense".to_owned(), Value::Number(5))].into(), ..said() };
    let unreadable = place.runner.callback(&id("r1"), token, unreadable).await;
    assert!(matches!(unreadable, Err(Error::Callback { .. })), "{unreadable:?}");
    assert!(place.runner.callback(&id("r1"), token, said()).await.unwrap());
    assert!(!place.runner.callback(&id("r1"), token, Callback::default()).await.unwrap());
    let end = handle.wait().await.unwrap();
    assert_eq!(
        (end.reason, end.detail.as_str(), end.sets["a.b"]),
        (Reason::Done, "5 rows", Value::Number(5))
    );
}

#[tokio::test]
async fn a_call_can_be_killed_and_is_not_under_way_then() {
    let place = Place::new();
    let service = Service::start(|_, _| Silence).await;
    let handle = place.runner.start(&id("r1"), &call(Http::post(service.url("/run")))).await.unwrap();
    let status = place.runner.status(&id("r1")).await.unwrap();
    assert!(
        matches!(status, Status::Running { pid: Some(pid), .. } if pid == std::process::id()),
        "{status:?}"
    );
    assert!(matches!(place.runner.remove(&id("r1")).await, Err(Error::UnderWay(_))));
    assert!(handle.kill().await.unwrap());
    assert_eq!(handle.wait().await.unwrap().reason, Reason::Killed);
    eventually("removed", async || place.runner.remove(&id("r1")).await.ok()).await;
}

#[tokio::test]
async fn a_request_without_an_answer_is_sent_again_with_the_same_key_by_another_process() {
    let place = Place::new();
    let service = Service::start(|before, _| if before == 0 { Silence } else { Answer::Status(200) }).await;
    let spec = call(Http::post(service.url("/run")));
    let starter = place.starter("start", "r1", &spec);
    eventually("it was asked", async || service.asked().into_iter().next()).await;
    starter.kill();
    assert!(matches!(place.runner.status(&id("r1")).await.unwrap(), Status::Abandoned { .. }));
    let handle = place.runner.start(&id("r1"), &spec).await.unwrap();
    assert!(!handle.is_first);
    assert_eq!(handle.wait().await.unwrap().reason, Reason::Done);
    let keys = service.asked().into_iter().map(|asked| asked.header("idempotency-key").to_owned());
    assert_eq!(keys.collect::<Vec<_>>(), ["r1", "r1"]);
}

#[tokio::test]
async fn accepted_work_is_not_given_again_but_asked_about_by_another_process() {
    let place = Place::new();
    let is_done = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_done);
    let service = Service::start(move |_, asked| match asked.path.as_str() {
        "/run" => At("/jobs/7".to_owned()),
        _ if told.load(Ordering::SeqCst) => Answer::Status(200),
        _ => Answer::Status(202),
    })
    .await;
    let spec = call(Http { done: poll(None, PollResult::Status), ..Http::post(service.url("/run")) });
    let starter = place.starter("start", "r1", &spec);
    eventually("it was asked about", async || service.asked_for("/jobs/7").into_iter().next()).await;
    starter.kill();
    is_done.store(true, Ordering::SeqCst);
    // Waiting alone takes it up, too.
    let end = open(&place.runs()).wait(&id("r1")).await.unwrap();
    assert_eq!((end.reason, service.asked_for("/run").len()), (Reason::Done, 1));
}

#[tokio::test]
async fn a_callback_is_heard_while_no_process_is_there() {
    let place = Place::new();
    let service = Service::start(|_, _| Answer::Status(202)).await;
    let spec = call(Http { done: Done::Callback, ..Http::post(service.url("/run")) });
    let starter = place.starter("start", "r1", &spec);
    let progress = place.folder_of("r1").join("call.json");
    eventually("it was accepted", async || progress.exists().then_some(())).await;
    starter.kill();
    let token = service.asked()[0].header("torg-callback-token").to_owned();
    let said = Callback { done: false, detail: "no rows".to_owned(), ..Callback::default() };
    assert!(place.runner.callback(&id("r1"), &token, said).await.unwrap());
    let end = place.runner.start(&id("r1"), &spec).await.unwrap().wait().await.unwrap();
    assert_eq!((end.to_string().as_str(), service.asked().len()), ("failed: no rows", 1));
}

#[tokio::test]
async fn a_call_of_two_processes_at_once_is_carried_out_by_one() {
    let place = Place::new();
    let service = Service::start(|_, _| Answer::Status(202)).await;
    let spec = call(Http { done: Done::Callback, ..Http::post(service.url("/run")) });
    let first = place.runner.start(&id("r1"), &spec).await.unwrap();
    let other = open(&place.runs());
    let second = other.start(&id("r1"), &spec).await.unwrap();
    assert!(first.is_first && !second.is_first);
    let progress = place.folder_of("r1").join("call.json");
    eventually("it was accepted", async || progress.exists().then_some(())).await;
    // A process that does not carry it out can have it killed.
    assert!(second.kill().await.unwrap());
    assert_eq!(first.wait().await.unwrap().reason, Reason::Killed);
    assert_eq!((second.wait().await.unwrap().reason, service.asked().len()), (Reason::Killed, 1));
}

#[tokio::test]
async fn the_time_of_a_call_goes_on_while_no_process_is_there() {
    let place = Place::new();
    let service = Service::start(|_, _| Answer::Status(202)).await;
    let done = Done::Callback;
    let spec =
        Spec { timeout: Duration::from_secs(3), ..call(Http { done, ..Http::post(service.url("/run")) }) };
    let starter = place.starter("start", "r1", &spec);
    starter.kill();
    let Status::Abandoned { since } = place.runner.status(&id("r1")).await.unwrap() else {
        panic!("not left")
    };
    let end = place.runner.start(&id("r1"), &spec).await.unwrap().wait().await.unwrap();
    assert_eq!((end.reason, end.began), (Reason::TimedOut, since));
}

#[tokio::test]
async fn calls_that_cannot_be_made_are_refused_before_they_are_claimed() {
    let place = Place::new();
    let http = || Http::post("http://localhost/");
    let header =
        |name: &str, value: &str| Http { headers: [(name.to_owned(), value.into())].into(), ..http() };
    for (wrong, said) in [
        (Http::post("ftp://localhost/"), "url: a URL with http"),
        (Http::post("localhost"), "url: no URL"),
        (Http { method: "A B".to_owned(), ..http() }, "method: "),
        (header("a b", ""), "headers.a b: "),
        (header("Idempotency-Key", "x"), "headers.Idempotency-Key: Torg sets"),
        (header("x", "a\nb"), "headers.x: printable"),
        (Http { done: poll(Some("x".to_owned()), PollResult::Status), ..http() }, "poll.url: "),
        (
            Http { done: Done::Poll(Poll { url: None, every: Duration::ZERO, result: field() }), ..http() },
            "poll.every: ",
        ),
    ] {
        let refused = place.runner.start(&id("r1"), &call(wrong)).await.err().map(|error| error.to_string());
        assert!(refused.as_deref().is_some_and(|refused| refused.starts_with(said)), "{said}: {refused:?}");
    }
    assert_eq!(place.runner.list().await.unwrap(), []);
}
