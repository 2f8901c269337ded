//! The pages about stages.

use crate::fake_market as fake;

use buffa_types::google::protobuf::{FieldMask, Timestamp};
use fake::{Fake, SCRIPT};
use http::StatusCode;
use wire::torg::admin::v1::{Action, Figure, GetFiguresResponse, ListActionsResponse};
use wire::torg::stages::v1::stage::Kind;
use wire::torg::stages::v1::{
    Depth, Difference, Endpoint, FailedVisit, FieldDifference, GetRecrawlRequest, GetRecrawlResponse,
    GetStageRequest, GetStageResponse, InProcess, ListStagesRequest, ListStagesResponse, OutsideStage,
    Parked, Pause, PauseStageRequest, PauseStageResponse, Recrawl, ReleaseStageRequest, ReleaseStageResponse,
    SetStageLimitsRequest, SetStageLimitsResponse, ShadowReport, Stage, StageLimits, StartRecrawlRequest,
    StartRecrawlResponse, Waiting, waiting,
};

const OFFER: &str = "4829175033168090";
const FAILED: &str = "4829175033168108";

fn time(seconds: i64) -> Timestamp {
    Timestamp { seconds, ..Timestamp::default() }
}

/// A stage outside of Torg that has everything a page can show.
fn prices() -> Stage {
    Stage {
        id: "prices".into(),
        kind: Kind::KIND_REGISTERED.into(),
        version: "1.4.2".into(),
        outside: Some(OutsideStage {
            id: "prices".into(),
            may_change: Some(FieldMask::from_paths(["predicted_price"])).into(),
            ..OutsideStage::default()
        })
        .into(),
        depth: Some(Depth {
            fresh: 10_000,
            parked: 2,
            more: true,
            first_visit: Some(time(1_794_832_000)).into(),
            ..Depth::default()
        })
        .into(),
        processes: vec![InProcess {
            process: "torg-1".into(),
            visits_per_s: 12.5,
            blocked: "the rate is used up until 2026-11-16T12:30:06Z".into(),
            failures: 7,
            ..InProcess::default()
        }],
        endpoints: vec![Endpoint {
            address: "http://prices:8080".into(),
            last_error: SCRIPT.into(),
            failures: 7,
            ..Endpoint::default()
        }],
        limits: Some(StageLimits { rate: Some(50.0), calls_max: Some(16), ..StageLimits::default() }).into(),
        ordered_limits: Some(StageLimits { rate: Some(50.0), ..StageLimits::default() }).into(),
        shadow: Some(ShadowReport {
            same: 90,
            different: 1,
            examples: vec![Difference {
                id: OFFER.into(),
                fields: vec![FieldDifference {
                    field: "title".into(),
                    before: Some("\"Sofa\"".into()),
                    after: Some(format!("\"{SCRIPT}\"")),
                    ..FieldDifference::default()
                }],
                ..Difference::default()
            }],
            ..ShadowReport::default()
        })
        .into(),
        ..Stage::default()
    }
}

fn expiry() -> Stage {
    Stage {
        id: "expiry".into(),
        kind: Kind::KIND_BUILT_IN.into(),
        pause: Some(Pause {
            reason: SCRIPT.into(),
            time: Some(time(1_794_832_000)).into(),
            ..Pause::default()
        })
        .into(),
        ..Stage::default()
    }
}

fn stage_answer(stage: Stage) -> GetStageResponse {
    let parked = Parked { id: OFFER.into(), error: SCRIPT.into(), attempts: 12, ..Parked::default() };
    let failed = FailedVisit {
        id: FAILED.into(),
        error: SCRIPT.into(),
        time: Some(time(1_794_832_000)).into(),
        process: "torg-1".into(),
        ..FailedVisit::default()
    };
    GetStageResponse {
        stage: Some(stage).into(),
        parked: vec![parked],
        failed: vec![failed],
        ..GetStageResponse::default()
    }
}

fn figures() -> GetFiguresResponse {
    let figure = |name: &str, stage: &str| Figure {
        name: name.into(),
        labels: [("stage".to_owned(), stage.to_owned())].into(),
        now: 31.5,
        past: vec![1.0, 31.5],
        ..Figure::default()
    };
    let figures = vec![
        figure("stage_visits_per_s", "prices"),
        figure("stage_failures_per_s", "expiry"),
        figure("stage_visit_p95_seconds", "prices"),
    ];
    GetFiguresResponse { figures, ..GetFiguresResponse::default() }
}

fn services() -> Fake {
    let paused = Action {
        author: "olga".into(),
        method: "torg.stages.v1.StageAdminService/PauseStage".into(),
        about: "prices".into(),
        outcome: "ok".into(),
        ..Action::default()
    };
    let recrawl = Recrawl { seen: 1234, shards_done: 3, shards: 16, ..Recrawl::default() };
    Fake::default()
        .with(
            "StageAdminService/ListStages",
            &ListStagesResponse { stages: vec![expiry(), prices()], ..ListStagesResponse::default() },
        )
        .with(
            "StageAdminService/GetRecrawl",
            &GetRecrawlResponse { recrawl: Some(recrawl).into(), ..GetRecrawlResponse::default() },
        )
        .by("StageAdminService/GetStage", |request: GetStageRequest| match &*request.id {
            "prices" => Ok(stage_answer(prices())),
            "expiry" => Ok(stage_answer(expiry())),
            _ => Err(("not_found", "there is no such stage")),
        })
        .with("ObserveService/GetFigures", &figures())
        .with(
            "ObserveService/ListActions",
            &ListActionsResponse { actions: vec![paused], ..ListActionsResponse::default() },
        )
        .with("StageAdminService/PauseStage", &PauseStageResponse::default())
        .with(
            "StageAdminService/ReleaseStage",
            &ReleaseStageResponse { released: 2, ..ReleaseStageResponse::default() },
        )
        .with("StageAdminService/SetStageLimits", &SetStageLimitsResponse::default())
        .with("StageAdminService/StartRecrawl", &StartRecrawlResponse::default())
}

#[tokio::test]
async fn the_list_tells_how_every_stage_stands_and_how_far_the_re_crawl_is() {
    let open = services().open();
    let page = open.support().await.get("/console/stages").await;
    assert_eq!(page.status, StatusCode::OK);
    let shown = [
        "href=\"/console/stages/prices\"",
        "at least 10\u{a0}000",
        "href=\"/console/stages/prices#parked\"",
        "href=\"/console/stages/prices/waiting?lane=fresh\"",
        "blocked",
        "paused",
        "&lt;script&gt;",
        "value=\"3\" max=\"16\"",
        "1\u{a0}234",
    ];
    page.check(&shown, &["Start a re-crawl", "recrawl-form", "Cancel"]);
    let page = open.admin().await.get("/console/stages").await;
    page.check(&["recrawl-form", "value=\"pause\"", "value=\"cancel\""], &["Start a re-crawl"]);
}

#[tokio::test]
async fn a_stage_is_shown_whole_and_what_others_wrote_comes_out_escaped() {
    let open = services().open();
    let page = open.support().await.get("/console/stages/prices").await;
    assert_eq!(page.status, StatusCode::OK);
    let shown = [
        "registered",
        "1.4.2",
        "predicted_price",
        "torg-1",
        "the rate is used up until 2026-11-16T12:30:06Z",
        "http://prices:8080",
        "href=\"/console/offers/4829175033168090\"",
        "href=\"/console/offers/4829175033168108\"",
        "is retried",
        "Time of a visit (p95)",
        "<del class=\"old\">Sofa</del>",
        "<ins class=\"new\">&lt;script&gt;",
        "50 visits per second, 16 concurrent calls",
        "31.5",
        "olga",
        "href=\"/console/actions?about=prices\"",
    ];
    page.check(&shown, &["What you can do", "release-form", "pause-reason"]);
    assert_eq!(
        page.text.matches("<svg class=\"plot tall\"").count(),
        2,
        "the other stage's figure is not shown"
    );
    let page = open.admin().await.get("/console/stages/prices").await;
    page.check(
        &["What you can do", "id=\"pause-reason\"", "form=\"release-form\"", "name=\"calls_max\""],
        &[],
    );
}

#[tokio::test]
async fn what_waits_in_a_lane_is_shown_offer_by_offer() {
    let of_lane = |request: GetStageRequest| {
        let visit = Waiting {
            id: OFFER.into(),
            lane: request.waiting_lane,
            visit: Some(time(1_794_832_000)).into(),
            ..Waiting::default()
        };
        let is_wanted = request.waiting_max > 0 && request.waiting_lane == waiting::Lane::LANE_FRESH;
        let waiting = is_wanted.then_some(visit).into_iter().collect();
        Ok(GetStageResponse { waiting, ..stage_answer(prices()) })
    };
    let open = Fake::default().by("StageAdminService/GetStage", of_lane).open();
    let support = open.support().await;
    let page = support.get("/console/stages/prices/waiting?lane=fresh").await;
    assert_eq!(page.status, StatusCode::OK);
    page.check(
        &[
            "href=\"/console/offers/4829175033168090\"",
            "datetime=\"2026-11-16T12:26:40Z\"",
            "href=\"/console/stages/prices/waiting?lane=timers\"",
            "at least 10\u{a0}000",
        ],
        &["Nothing waits"],
    );
    let page = support.get("/console/stages/prices/waiting?lane=timers").await;
    page.check(&["This lane is empty."], &["/console/offers/4829175033168090"]);
}

#[tokio::test]
async fn a_stage_that_there_is_not_is_told_so_and_a_seller_sees_none() {
    let open = services().open();
    let page = open.support().await.get("/console/stages/none").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    page.check(&["there is no such stage"], &[]);
    let forbidden = Fake::default()
        .by("StageAdminService/ListStages", |_: ListStagesRequest| {
            Err::<ListStagesResponse, _>(("permission_denied", "not for you"))
        })
        .by("StageAdminService/GetRecrawl", |_: GetRecrawlRequest| {
            Err::<GetRecrawlResponse, _>(("permission_denied", "not for you"))
        })
        .open();
    let page = forbidden.seller("ann").await.get("/console/stages").await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    page.check(&["not for you"], &["href=\"/console/stages\""]);
}

#[tokio::test]
async fn what_fails_leaves_the_rest_of_the_page() {
    let open = Fake::default().with("StageAdminService/GetStage", &stage_answer(prices())).open();
    let page = open.admin().await.get("/console/stages/prices").await;
    assert_eq!(page.status, StatusCode::OK);
    page.check(&["GetFigures is away", "ListActions is away", "torg-1"], &[]);
}

#[tokio::test]
async fn an_operator_pauses_releases_and_limits_a_stage_with_the_token_of_a_form_only() {
    let open = services().open();
    let (admin, place) = (open.admin().await, "/console/stages/prices");
    let refused = admin.post_bare("/console/stages/prices/pause", "reason=why&form_token=x").await;
    assert_eq!((refused.status, open.calls("StageAdminService/PauseStage")), (StatusCode::FORBIDDEN, 0));
    let done = admin.post(place, "/console/stages/prices/pause", "reason=too+dear").await;
    assert_eq!((done.status, &*done.place), (StatusCode::SEE_OTHER, place));
    let asked: PauseStageRequest = open.asked("StageAdminService/PauseStage").unwrap();
    assert_eq!((&*asked.id, &*asked.reason), ("prices", "too dear"));

    admin.post(place, "/console/stages/prices/release", "offer=").await;
    assert_eq!(open.calls("StageAdminService/ReleaseStage"), 0, "neither an offer nor all of them");
    admin.post(place, "/console/stages/prices/release", "all=on").await;
    let asked: ReleaseStageRequest = open.asked("StageAdminService/ReleaseStage").unwrap();
    assert_eq!((&*asked.id, &*asked.offer), ("prices", ""));
    let fields = format!("offer={OFFER}&from=offer");
    let done = admin.post(place, "/console/stages/prices/release", &fields).await;
    assert_eq!(done.place, format!("/console/offers/{OFFER}"));

    admin.post(place, "/console/stages/prices/limits", "rate=2.5&calls_max=&batch_max=4").await;
    let asked: SetStageLimitsRequest = open.asked("StageAdminService/SetStageLimits").unwrap();
    assert_eq!((asked.rate, asked.calls_max, asked.batch_max), (Some(2.5), None, Some(4)));
    let before = open.calls("StageAdminService/SetStageLimits");
    admin.post(place, "/console/stages/prices/limits", "rate=fast").await;
    assert_eq!(open.calls("StageAdminService/SetStageLimits"), before, "what is no number is not sent");
}

#[tokio::test]
async fn a_re_crawl_is_started_with_its_speed() {
    let open = services().open();
    let admin = open.admin().await;
    let done = admin.post("/console/stages", "/console/recrawl", "do=start&per_second=500").await;
    assert_eq!(done.place, "/console/stages");
    let asked: StartRecrawlRequest = open.asked("StageAdminService/StartRecrawl").unwrap();
    assert_eq!(asked.per_second, 500);
    admin.post("/console/stages", "/console/recrawl", "do=nothing").await;
    assert_eq!(open.calls("StageAdminService/StartRecrawl"), 1);
}
