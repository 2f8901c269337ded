//! The pages of values.

use crate::fake_torg as torg;

use access::Role;
use buffa_types::google::protobuf::Timestamp;
use http::StatusCode;
use torg::{Fake, NOW_MS, Site};
use wire::torg::tasks::v1::{
    CtlCurrent, CtlDone, CtlPast, GetValuesResponse, ListHistoryResponse, ListTasksResponse,
    ListValuesRequest, ListValuesResponse, SeenValue, SetValuesRequest, SetValuesResponse, TaskSummary,
    seen_value,
};

const EVIL: &str = "<script>alert(1)</script>";
const PAGE: &str = "/console/values/sales.rows";

fn number(value: i64) -> SeenValue {
    SeenValue { kind: Some(seen_value::Kind::Number(value)), ..SeenValue::default() }
}

fn current() -> CtlCurrent {
    CtlCurrent {
        parameter: "sales.rows".into(),
        value: Some(number(1200)).into(),
        version: 4,
        author: format!("loader {EVIL}"),
        ..CtlCurrent::default()
    }
}

fn ctl() -> Fake {
    let change = CtlPast {
        version: 4,
        before: Some(number(1500)).into(),
        after: Some(number(1200)).into(),
        moved_back: true,
        reason: format!("wrong file {EVIL}"),
        change_time: Some(Timestamp { seconds: NOW_MS / 1000 - 120, ..Timestamp::default() }).into(),
        ..CtlPast::default()
    };
    let task = |name: &str, reads: &str, sets: &str| TaskSummary {
        name: name.into(),
        reads: vec![reads.into()],
        sets: vec![sets.into()],
        ..TaskSummary::default()
    };
    let tasks = vec![
        task("load", "shop.rows", "sales.rows"),
        task("report", "sales.rows", "report.made"),
        task("unrelated", "a.b", "c.d"),
    ];
    let values = ListValuesResponse {
        values: vec![current()],
        next_page_token: "more".into(),
        ..ListValuesResponse::default()
    };
    Fake::default()
        .says("ListValues", &values)
        .says("GetValues", &GetValuesResponse { values: vec![current()], ..GetValuesResponse::default() })
        .says("ListHistory", &ListHistoryResponse { changes: vec![change], ..ListHistoryResponse::default() })
        .says("ListTasks", &ListTasksResponse { tasks, ..ListTasksResponse::default() })
}

#[tokio::test]
async fn values_are_listed_by_how_their_names_begin() {
    let site = Site::new(ctl());
    let page = site.support().await.get("/console/values?prefix=sales.").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.has("href=\"/console/values/sales.rows\"") && page.has("1200"), "{}", page.text);
    assert!(page.has("prefix=sales.&amp;page=more"), "{}", page.text);
    assert!(!page.has(EVIL) && !page.has("/console/values/set"), "support looks only");
    assert_eq!(site.services.asked::<ListValuesRequest>("ListValues").prefix, "sales.");
    let admin = site.admin().await.get("/console/values").await;
    assert!(admin.has("action=\"/console/values/set\""));
    let wrong = Site::new(ctl().refuses("ListValues", "invalid_argument", "there is a dot in the namespace"));
    let page = wrong.support().await.get("/console/values?prefix=a.b%2Fc").await;
    assert!(page.status == StatusCode::OK && page.has("there is a dot in the namespace"));
    assert!(page.has("value=\"a.b/c\""), "the box stays: {}", page.text);
}

#[tokio::test]
async fn a_value_shows_its_changes_and_the_tasks_that_have_to_do_with_it() {
    let site = Site::new(ctl());
    let page = site.support().await.get(PAGE).await;
    assert!(page.has("1500</span>") && page.has("−300") && page.has("moved back"), "{}", page.text);
    assert!(page.has("href=\"/console/tasks/load\"") && page.has("href=\"/console/tasks/report\""));
    assert!(!page.has("/console/tasks/unrelated") && !page.has(EVIL), "{}", page.text);
    assert!(!page.has("sales.rows/delete"));
    let admin = site.admin().await.get(PAGE).await;
    assert!(admin.has("data-confirm=\"Delete the value of sales.rows?\""), "{}", admin.text);
    let away = Site::new(ctl().refuses("ListTasks", "unavailable", "no tasks now"));
    let page = away.support().await.get(PAGE).await;
    assert!(page.status == StatusCode::OK && page.has("no tasks now") && page.has("−300"));
}

#[tokio::test]
async fn who_may_sets_and_deletes_values_with_a_reason_and_the_token() {
    let done = CtlDone {
        parameter: "sales.rows".into(),
        before: Some(number(1)).into(),
        after: Some(number(-7)).into(),
        changed: true,
        ..CtlDone::default()
    };
    let set = SetValuesResponse { done: vec![done], ..SetValuesResponse::default() };
    let site = Site::new(ctl().says("SetValues", &set));
    let service = site.person(Role::Service, "").await;
    let form = "parameter=sales.rows&value=-7&may_move_back=on&reason=mend";
    for path in ["/console/values/set", "/console/values/sales.rows/delete"] {
        assert_eq!(service.post_as_is(path, form).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    let wrong = service.post("/console/values/set", "parameter=sales.rows&value=5.5&reason=x").await;
    assert!(service.told(&wrong).await.contains("is not a value"));
    assert!(site.services.heard("SetValues").is_empty());
    let told = service.post("/console/values/set", form).await;
    assert_eq!(told.sent_to(), PAGE);
    assert_eq!(service.told(&told).await, "sales.rows: 1 → -7");
    let asked: SetValuesRequest = site.services.asked("SetValues");
    let change = &asked.changes[0];
    assert_eq!((&*change.parameter, &*asked.reason), ("sales.rows", "mend"));
    assert_eq!(change.value.as_option(), Some(&number(-7)));
    assert!(change.may_move_back && !change.even_if_same && !change.delete);
}

#[tokio::test]
async fn a_value_is_deleted_and_now_is_the_time_of_torg() {
    let done = CtlDone { parameter: "sales.rows".into(), ..CtlDone::default() };
    let set = SetValuesResponse { done: vec![done], ..SetValuesResponse::default() };
    let site = Site::new(ctl().says("SetValues", &set));
    let admin = site.admin().await;
    let gone = admin.post("/console/values/sales.rows/delete", "reason=x").await;
    assert_eq!(admin.told(&gone).await, "sales.rows has no value: nothing changed.");
    admin.post("/console/values/set", "parameter=dwh%2Fa.b&value=now&even_if_same=on&reason=late").await;
    let heard = site.services.heard("SetValues");
    let [deleted, now] = [0, 1].map(|place: usize| {
        let asked: SetValuesRequest = buffa::Message::decode_from_slice(&heard[place].body).unwrap();
        asked.changes[0].clone()
    });
    assert!(deleted.delete && !deleted.value.is_set());
    let expected = Timestamp { seconds: NOW_MS / 1000, ..Timestamp::default() };
    assert!(now.parameter == "dwh/a.b" && now.even_if_same);
    assert_eq!(now.value.as_option().unwrap().kind, Some(seen_value::Kind::Time(Box::new(expected))));
}
