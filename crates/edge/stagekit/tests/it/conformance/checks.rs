//! What every SDK has to do, shown with the stage of the template.

use buffa_types::google::protobuf::{Any, Duration, Struct, Timestamp, Value};
use connectrpc::ErrorCode;
use connectrpc::client::HttpClient;
use connectrpc_health::{HealthClient, wire::HealthCheckRequest};
use wire_stages::torg::offers::v1::Offer;
use wire_stages::torg::stages::v1::__buffa::oneof::answer::Change;
use wire_stages::torg::stages::v1::__buffa::oneof::wish::Kind;
use wire_stages::torg::stages::v1::{
    Answer, DescribeRequest, OnSavedRequest, ProcessRequest, Saved, ShouldProcessRequest, Subject,
};

use super::process::{Client, Process, TOKEN};

/// Noon of the first day of 2026, in UTC.
const NOW_S: i64 = 1_767_268_800;
const MONTH_S: i64 = 30 * 24 * 60 * 60;
const MESSAGE_BYTES_MAX: usize = 16 << 20;

fn at(seconds: i64) -> Timestamp {
    Timestamp { seconds, ..Timestamp::default() }
}

fn offer(id: &str, version: u64, title: &str) -> Offer {
    Offer { id: id.to_owned(), version, title: title.to_owned(), ..Offer::default() }
}

fn subject(id: &str, version: u64, title: &str, state: Option<Any>) -> Subject {
    Subject { offer: offer(id, version, title).into(), state: state.into(), ..Subject::default() }
}

/// The stage's state, with its moment as the other language might have written it.
fn memory(times: u32, last: &str) -> Any {
    let fields = [("times", Value::from(times)), ("last", Value::from(last))];
    Any::pack(&Struct::from_fields(fields), Struct::TYPE_URL)
}

/// A state that the stage never kept.
fn foreign() -> Any {
    Any::pack(&Duration::default(), Duration::TYPE_URL)
}

fn times(state: Option<&Any>) -> Option<f64> {
    let state: Struct = state?.unpack_unchecked().unwrap();
    state.get("times")?.as_number()
}

async fn process(process: &Process, client: &Client, now_s: i64, subjects: Vec<Subject>) -> Vec<Answer> {
    let stage = process.stage.to_owned();
    let request = ProcessRequest { stage, now: at(now_s).into(), subjects, ..ProcessRequest::default() };
    let mut answers = client.process(request).await.unwrap().answers;
    answers.sort_by(|left, right| left.id.cmp(&right.id));
    answers
}

/// The message of a failure, and whether it is a lasting one.
fn failure(answer: &Answer) -> (&str, bool) {
    match &answer.change {
        Some(Change::Failure(failure)) => (&failure.message, failure.lasting),
        other => panic!("no failure: {other:?}"),
    }
}

pub(crate) async fn describes_itself(it: Process) {
    let request = DescribeRequest { stage: it.stage.to_owned(), ..DescribeRequest::default() };
    let described = it.torg().describe(request).await.unwrap();
    assert_eq!((described.stage.as_str(), described.version.as_str()), (it.stage, "0.1.0"));
    assert_eq!(described.interest.fields.paths, ["title"]);
    assert_eq!(described.sets.paths, ["title"]);
    assert!(described.interest.ask && described.wants_saved);
}

pub(crate) async fn wishes_to_visit_what_concerns_it(it: Process) {
    let request = ShouldProcessRequest {
        stage: it.stage.to_owned(),
        now: at(NOW_S).into(),
        subjects: vec![
            subject("1", 1, "Red bicycle", None),
            subject("2", 1, "Red bicycle 030 1234567", None),
            subject("3", 1, "", None),
        ],
        ..ShouldProcessRequest::default()
    };
    let mut wishes = it.torg().should_process(request).await.unwrap().wishes;
    wishes.sort_by(|left, right| left.id.cmp(&right.id));
    assert_eq!(wishes.iter().map(|wish| wish.id.as_str()).collect::<Vec<_>>(), ["1", "2", "3"]);
    assert!(matches!(wishes[0].kind, Some(Kind::No(_))));
    assert!(matches!(wishes[1].kind, Some(Kind::Now(_))));
    assert!(matches!(wishes[2].kind, Some(Kind::No(_))));
}

pub(crate) async fn answers_each_offer_and_fails_where_it_fails_only(it: Process) {
    let noted = "2025-12-30T08:00:00Z";
    let subjects = vec![
        subject("1", 4, "Red bicycle +49 (30) 123-45-67 as new", None),
        subject("2", 5, "030 1234567", None),
        subject("3", 6, "Red bicycle 030 1234567", Some(foreign())),
        subject("4", 7, "Red bicycle 030/1234567", Some(memory(2, noted))),
        subject("5", 8, "Red bicycle", None),
    ];
    let answers = process(&it, &it.torg(), NOW_S, subjects).await;
    let about: Vec<(&str, u64)> = answers.iter().map(|answer| (answer.id.as_str(), answer.version)).collect();
    assert_eq!(about, [("1", 4), ("2", 5), ("3", 6), ("4", 7), ("5", 8)]);

    for (answer, title, count) in
        [(&answers[0], "Red bicycle as new", 1.0), (&answers[3], "Red bicycle", 3.0)]
    {
        let Some(Change::Patch(patch)) = &answer.change else { panic!("no patch: {answer:?}") };
        assert_eq!(patch.fields.paths, ["title"]);
        assert_eq!(patch.values.title, title);
        assert_eq!(times(answer.state.as_option()), Some(count));
        assert_eq!(answer.visit_at.as_option(), Some(&at(NOW_S + MONTH_S)));
    }
    assert_eq!(failure(&answers[1]), ("the title is nothing but a phone number", true));
    let (message, lasting) = failure(&answers[2]);
    assert!(message.contains("google.protobuf.Duration") && !lasting, "{message}");
    assert_eq!(answers[4], Answer { id: "5".to_owned(), version: 8, ..Answer::default() });
}

pub(crate) async fn uses_its_timer_and_forgets(it: Process) {
    // A moment as Rust writes it, and as Python does.
    for noted in ["2026-01-01T12:00:00Z", "2026-01-01T12:00:00+00:00"] {
        let shown = || vec![subject("1", 2, "Red bicycle", Some(memory(1, noted)))];
        let early = &process(&it, &it.torg(), NOW_S + MONTH_S - 1, shown()).await[0];
        assert!(early.change.is_none() && !early.clear_state);
        assert_eq!(early.visit_at.as_option(), Some(&at(NOW_S + MONTH_S)));
        let due = &process(&it, &it.torg(), NOW_S + MONTH_S, shown()).await[0];
        assert!(due.change.is_none() && due.clear_state && due.visit_at.is_unset(), "{due:?}");
    }
}

pub(crate) async fn has_its_side_effect_once_a_change_is_saved(mut it: Process) {
    let saved = |id: &str, version, state: Option<Any>| Saved {
        offer: offer(id, version, "Red bicycle").into(),
        state: state.into(),
        ..Saved::default()
    };
    let noted = "2026-01-01T12:00:00Z";
    let request = OnSavedRequest {
        stage: it.stage.to_owned(),
        saved: vec![
            saved("1", 2, Some(memory(1, noted))),
            saved("2", 9, Some(foreign())),
            saved("3", 4, Some(memory(3, noted))),
            saved("4", 4, None),
        ],
        ..OnSavedRequest::default()
    };
    let failures = it.torg().on_saved(request).await.unwrap().failures;
    let failed: Vec<(&str, u64)> =
        failures.iter().map(|failure| (failure.id.as_str(), failure.version)).collect();
    assert_eq!(failed, [("2", 9)]);
    assert!(!failures[0].failure.lasting);
    assert_eq!(it.line().await, "notice 3-4: a phone number in the title of 3, 3 times by now");
}

/// The four methods, for a stage of this name.
async fn call_all(client: &Client, stage: &str) -> Vec<Result<(), connectrpc::ConnectError>> {
    let stage = || stage.to_owned();
    vec![
        client.describe(DescribeRequest { stage: stage(), ..DescribeRequest::default() }).await.map(drop),
        client
            .should_process(ShouldProcessRequest { stage: stage(), ..ShouldProcessRequest::default() })
            .await
            .map(drop),
        client.process(ProcessRequest { stage: stage(), ..ProcessRequest::default() }).await.map(drop),
        client.on_saved(OnSavedRequest { stage: stage(), ..OnSavedRequest::default() }).await.map(drop),
    ]
}

pub(crate) async fn knows_no_other_stage(it: Process) {
    for result in call_all(&it.torg(), "other").await {
        let message = Process::refuses(result, ErrorCode::NotFound);
        assert_eq!(message, format!("no stage 'other' here, only {}", it.stage));
    }
}

pub(crate) async fn refuses_calls_without_the_token(it: Process) {
    let longer = format!("Bearer {TOKEN}x");
    for shown in [None, Some("Bearer wrong"), Some(TOKEN), Some(longer.as_str()), Some("Bearer "), Some("")] {
        for result in call_all(&it.client(shown), it.stage).await {
            Process::refuses(result, ErrorCode::Unauthenticated);
        }
    }
    for result in call_all(&it.torg(), it.stage).await {
        result.unwrap();
    }
    // Health probes have no token.
    let health = HealthClient::new(HttpClient::plaintext_http2_only(), it.config());
    for service in ["", "torg.stages.v1.StageService"] {
        let request = HealthCheckRequest { service: service.to_owned(), ..HealthCheckRequest::default() };
        let checked = health.check(request).await.unwrap().into_owned();
        assert_eq!(checked.status.to_i32(), 1, "{service}");
    }
    let request = HealthCheckRequest { service: "other".to_owned(), ..HealthCheckRequest::default() };
    Process::refuses(health.check(request).await, ErrorCode::NotFound);
}

fn long_request(stage: &str, bytes: usize) -> ProcessRequest {
    let mut shown = subject("1", 1, "Red bicycle", None);
    shown.offer.modify(|offer| offer.description = "x".repeat(bytes));
    let subjects = vec![shown];
    ProcessRequest { stage: stage.to_owned(), now: at(NOW_S).into(), subjects, ..ProcessRequest::default() }
}

pub(crate) async fn refuses_a_message_over_the_limit_and_goes_on(it: Process) {
    let client = it.torg();
    let refused = client.process(long_request(it.stage, MESSAGE_BYTES_MAX)).await;
    Process::refuses(refused, ErrorCode::ResourceExhausted);
    let served = client.process(long_request(it.stage, MESSAGE_BYTES_MAX / 2)).await.unwrap();
    assert_eq!(served.answers.len(), 1);
}

pub(crate) async fn refuses_a_message_that_unpacks_to_more_than_the_limit(it: Process) {
    let config = it.config().with_default_header("authorization", format!("Bearer {TOKEN}"));
    let client = Client::new(HttpClient::plaintext_http2_only(), config.compress_requests("gzip"));
    let served = client.process(long_request(it.stage, MESSAGE_BYTES_MAX / 2)).await.unwrap();
    assert_eq!(served.answers.len(), 1);
    let refused = client.process(long_request(it.stage, 2 * MESSAGE_BYTES_MAX)).await;
    Process::refuses(refused, ErrorCode::ResourceExhausted);
}

pub(crate) async fn ends_in_order_when_it_is_told_to(mut it: Process) {
    let client = it.torg();
    process(&it, &client, NOW_S, vec![subject("1", 1, "Red bicycle", None)]).await;
    // The connection stays open meanwhile.
    let status = it.terminate().await;
    assert_eq!(status.code(), Some(0), "{status}");
}
