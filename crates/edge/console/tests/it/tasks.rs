//! The pages of tasks.

use crate::fake_torg as torg;

use access::{Caller, Role};
use buffa_types::google::protobuf::Timestamp;
use http::StatusCode;
use torg::{Fake, NOW_MS, Site};
use wire::torg::tasks::v1::explain_task_response::{LeafExplained, Regression};
use wire::torg::tasks::v1::get_queue_response::{Running, Waiting};
use wire::torg::tasks::v1::{
    CancelTaskResponse, DeleteRememberedRequest, DeleteRememberedResponse, ExplainTaskResponse,
    GetQueueResponse, KillRunResponse, ListEventsResponse, ListRunsRequest, ListRunsResponse,
    ListTasksRequest, ListTasksResponse, PauseTaskResponse, ReadLogRequest, ReadLogResponse, RunTaskRequest,
    RunTaskResponse, SeenValue, SetRememberedRequest, SetRememberedResponse, StartBackfillRequest,
    StartBackfillResponse, Task, TaskEvent, TaskRun, TaskState, TaskSummary, seen_value, task_run,
    task_state,
};

const EVIL: &str = "<script>alert(1)</script>";

fn at(seconds_ago: i64) -> Timestamp {
    Timestamp { seconds: NOW_MS / 1000 - seconds_ago, ..Timestamp::default() }
}

fn number(value: i64) -> SeenValue {
    SeenValue { kind: Some(seen_value::Kind::Number(value)), ..SeenValue::default() }
}

fn summary(name: &str, reads: &[&str], sets: &[&str], phase: Option<task_state::Phase>) -> TaskSummary {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let remembered = [("sales.rows".to_owned(), number(5))].into();
    let state = TaskState { phase, remembered, ..TaskState::default() };
    let task = Task { name: name.into(), state: Some(state).into(), ..Task::default() };
    TaskSummary {
        name: name.into(),
        about: format!("About {EVIL}"),
        trigger: "sales.rows grew by 1".into(),
        reads: own(reads),
        sets: own(sets),
        task: Some(task).into(),
        ..TaskSummary::default()
    }
}

fn running() -> task_state::Phase {
    let running =
        task_state::Running { run: 7, since: Some(at(60)).into(), ..task_state::Running::default() };
    task_state::Phase::Running(Box::new(running))
}

fn tasks() -> Vec<TaskSummary> {
    let failing = TaskSummary { failing: true, ..summary("report", &["sales.built"], &[], None) };
    vec![
        summary("build", &["sales.rows"], &["sales.built"], Some(running())),
        failing,
        summary("unrelated", &["other.rows"], &[], None),
    ]
}

fn explained() -> ExplainTaskResponse {
    let leaf = |path: &str, holds| LeafExplained {
        path: path.into(),
        leaf: format!("{path} is a leaf {EVIL}"),
        parameter: "sales.rows".into(),
        current: Some(number(6)).into(),
        remembered: Some(number(5)).into(),
        threshold: "1".into(),
        why: "it grew by 1".into(),
        holds,
        ..LeafExplained::default()
    };
    let regression = Regression {
        parameter: "sales.rows".into(),
        text: "sales.rows is 3, and 5 is remembered".into(),
        commands: vec!["torg tasks state set build sales.rows=3".into()],
        ..Regression::default()
    };
    ExplainTaskResponse {
        leaves: vec![leaf("all[0]", true), leaf("all[1].any[0]", false), leaf("all[1].any[1]", true)],
        earliest: "2026-11-17 00:00".into(),
        blocked: vec!["the pool dwh is full".into()],
        regressions: vec![regression],
        text: "build: runs".into(),
        ..ExplainTaskResponse::default()
    }
}

fn run() -> TaskRun {
    TaskRun {
        task: "build".into(),
        number: 7,
        start_time: Some(at(90)).into(),
        end_time: Some(at(30)).into(),
        outcome: task_run::Outcome::OUTCOME_FAILED.into(),
        error: format!("it ended with 1 {EVIL}"),
        wrote: [("sales.built".to_owned(), number(9))].into(),
        ..TaskRun::default()
    }
}

/// The list as the service makes it, for those who may look.
fn listed(caller: &Caller, asked: &ListTasksRequest) -> ListTasksResponse {
    assert!(!caller.roles.has(Role::Seller));
    let fits = |task: &TaskSummary| task.name.starts_with(&asked.prefix);
    let mut found: Vec<TaskSummary> = tasks().into_iter().filter(fits).collect();
    found.truncate(asked.page_size as usize);
    ListTasksResponse { tasks: found, ..ListTasksResponse::default() }
}

fn scheduler() -> Fake {
    let queue = GetQueueResponse {
        running: vec![Running { task: "build".into(), run: 7, ..Running::default() }],
        waiting: vec![Waiting {
            task: "report".into(),
            blocked: vec!["no place is free".into()],
            ..Waiting::default()
        }],
        running_max: 4,
        running_count: 1,
        waiting_count: 1,
        ..GetQueueResponse::default()
    };
    let event = TaskEvent {
        version: 3,
        time: Some(at(60)).into(),
        what: vec![format!("its turn came {EVIL}")],
        run: 7,
        ..TaskEvent::default()
    };
    Fake::default()
        .hears("ListTasks", |caller: &Caller, asked: ListTasksRequest| listed(caller, &asked))
        .says("GetQueue", &queue)
        .says("ExplainTask", &explained())
        .says("ListEvents", &ListEventsResponse { events: vec![event], ..ListEventsResponse::default() })
        .says("ListRuns", &ListRunsResponse { runs: vec![run()], ..ListRunsResponse::default() })
}

#[tokio::test]
async fn the_list_counts_tasks_by_state_and_every_count_leads_to_them() {
    let site = Site::new(scheduler());
    let support = site.support().await;
    let page = support.get("/console/tasks").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.has("href=\"/console/tasks?standing=failing\">failing 1</a>"), "{}", page.text);
    assert!(page.has("href=\"/console/tasks?standing=running\">running 1</a>"), "{}", page.text);
    assert!(page.has("Slots in use: 1 of 4.") && page.has("no place is free"), "{}", page.text);
    assert!(page.has("href=\"/console/tasks/unrelated\"") && !page.has(EVIL));
    let failing = support.get("/console/tasks?standing=failing").await;
    assert!(failing.has("href=\"/console/tasks/report\""), "{}", failing.text);
    assert!(!failing.has("href=\"/console/tasks/unrelated\""), "it has nothing to do with what is failing");
    let none = support.get("/console/tasks?prefix=zzz").await;
    assert!(none.has("No matching tasks.") && none.has("There is nothing to draw"), "{}", none.text);
    let russian = support.get_in_russian("/console/tasks").await;
    assert!(russian.has("Граф значений и задач") && russian.has("Занято мест: 1 из 4."));
}

#[tokio::test]
async fn the_graph_leads_from_values_through_tasks_to_values() {
    let site = Site::new(scheduler());
    let page = site.support().await.get("/console/tasks").await;
    for node in [
        "<a class=\"node value\" href=\"/console/values/sales.rows\">",
        "<a class=\"node task good\" href=\"/console/tasks/build\">",
        "<a class=\"node task bad\" href=\"/console/tasks/report\">",
    ] {
        assert!(page.has(node), "{node}: {}", page.text);
    }
    let edges = page.text.matches("class=\"edge\"").count();
    assert_eq!(edges, 4, "build reads one and sets one; the others read one each");
    assert!(!page.has("style="), "the policy of pages forbids it");
}

#[tokio::test]
async fn a_task_tells_why_as_a_tree_and_what_happened() {
    let site = Site::new(scheduler());
    let page = site.support().await.get("/console/tasks/build").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.has("All of these:") && page.has("At least one of these:"), "{}", page.text);
    assert!(page.has("it grew by 1") && page.has("2026-11-17 00:00") && page.has("the pool dwh is full"));
    assert!(page.has("<code>torg tasks state set build sales.rows=3</code>"), "{}", page.text);
    assert!(page.has("href=\"/console/tasks/build/runs/7\"") && page.has("60 s"), "{}", page.text);
    assert!(page.has("sales.built</a> = 9") && page.has("its turn came &lt;script&gt;"), "{}", page.text);
    assert!(!page.has(EVIL));
    assert!(!page.has("class=\"acts\""), "support looks only");
    let missing = site.support().await.get("/console/tasks/buil").await;
    assert!(missing.status == StatusCode::NOT_FOUND && missing.has("There is no task with this name."));
}

#[tokio::test]
async fn a_part_that_is_away_leaves_the_rest_and_who_may_not_look_is_told() {
    let site = Site::new(scheduler().refuses("ExplainTask", "unavailable", "nobody explains now"));
    let page = site.admin().await.get("/console/tasks/build").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.has("nobody explains now") && page.has("/runs/7\"") && page.has("class=\"acts\""));
    let closed = Site::new(
        Fake::default().refuses("ListTasks", "permission_denied", "your roles do not suffice").refuses(
            "GetQueue",
            "permission_denied",
            "your roles do not suffice",
        ),
    );
    let seller = closed.person(Role::Seller, "ann").await;
    for path in ["/console/tasks", "/console/tasks/build"] {
        let page = seller.get(path).await;
        assert!(page.status == StatusCode::FORBIDDEN && page.has("your roles do not suffice"), "{path}");
    }
}

#[tokio::test]
async fn an_admin_acts_with_a_reason_and_the_token_of_the_session() {
    let site = Site::new(
        scheduler()
            .says("RunTask", &RunTaskResponse::default())
            .says("PauseTask", &PauseTaskResponse::default())
            .says("CancelTask", &CancelTaskResponse::default())
            .says("KillRun", &KillRunResponse { run: 7, ..KillRunResponse::default() })
            .says("SetRemembered", &SetRememberedResponse::default())
            .says("DeleteRemembered", &DeleteRememberedResponse::default())
            .says(
                "StartBackfill",
                &StartBackfillResponse {
                    chunks: 31,
                    scale: "day".into(),
                    ..StartBackfillResponse::default()
                },
            ),
    );
    let admin = site.admin().await;
    let page = admin.get("/console/tasks/build").await;
    for act in ["run", "pause", "kill", "remember", "forget", "backfill"] {
        assert!(page.has(&format!("action=\"/console/tasks/build/{act}\"")), "{act}");
        let forged = admin.post_as_is(&format!("/console/tasks/build/{act}"), "reason=x").await;
        assert_eq!(forged.status, StatusCode::FORBIDDEN, "{act}");
    }
    for act in ["cancel", "resume", "cancel-backfill"] {
        assert!(!page.has(&format!("action=\"/console/tasks/build/{act}\"")), "{act} does not fit");
    }
    for method in ["RunTask", "PauseTask", "KillRun", "SetRemembered", "DeleteRemembered", "StartBackfill"] {
        assert!(site.services.heard(method).is_empty(), "{method}");
    }
    let done = admin.post("/console/tasks/build/run", "record=on&reason=late+data").await;
    assert_eq!(done.sent_to(), "/console/tasks/build");
    let asked: RunTaskRequest = site.services.asked("RunTask");
    assert_eq!((&*asked.task, asked.record, &*asked.reason), ("build", true, "late data"));
    let killed = admin.post("/console/tasks/build/kill", "reason=x").await;
    assert_eq!(admin.told(&killed).await, "Run 7 was asked to stop.");
    let odd = admin.post("/console/tasks/build/remember", "parameter=sales.rows&value=many&reason=x").await;
    assert!(admin.told(&odd).await.starts_with("“many” is not a value"));
    admin.post("/console/tasks/build/remember", "parameter=sales.rows&value=5&reason=x").await;
    let asked: SetRememberedRequest = site.services.asked("SetRemembered");
    assert_eq!(asked.value.kind, Some(seen_value::Kind::Number(5)));
    admin.post("/console/tasks/build/forget", "parameter=sales.rows&reason=x").await;
    let asked: DeleteRememberedRequest = site.services.asked("DeleteRemembered");
    assert_eq!(asked.parameter, "sales.rows");
    let range = "from=2026-03-01&to=2026-04-01&scale=day&limit=&reason=x";
    let began = admin.post("/console/tasks/build/backfill", range).await;
    assert_eq!(admin.told(&began).await, "The backfill has started: 31 chunks, each: day.");
    let asked: StartBackfillRequest = site.services.asked("StartBackfill");
    assert_eq!((&*asked.from_day, &*asked.to_day, asked.limit), ("2026-03-01", "2026-04-01", 0));
    let odd = admin.post("/console/tasks/build/dance", "reason=x").await;
    assert_eq!(admin.told(&odd).await, "There is no such action on a task.");
}

#[tokio::test]
async fn to_forget_everything_has_to_be_said() {
    let site = Site::new(scheduler().says("DeleteRemembered", &DeleteRememberedResponse::default()));
    let admin = site.admin().await;
    let nothing = admin.post("/console/tasks/build/forget", "parameter=&reason=x").await;
    assert_eq!(admin.told(&nothing).await, "Choose the value to forget.");
    assert!(site.services.heard("DeleteRemembered").is_empty());
    admin.post("/console/tasks/build/forget", "parameter=*&reason=x").await;
    assert_eq!(site.services.asked::<DeleteRememberedRequest>("DeleteRemembered").parameter, "");
}

/// A log of 100 000 bytes, which tells of itself as the service does.
fn log(asked: &ReadLogRequest) -> ReadLogResponse {
    let all: Vec<u8> = (0..10_000).flat_map(|line| format!("{line:09}\n").into_bytes()).collect();
    let begins = asked.offset.min(all.len() as u64);
    let text = all[begins as usize..].iter().take(40_000).copied().collect::<Vec<u8>>();
    let next = begins + text.len() as u64;
    let complete = next == all.len() as u64;
    ReadLogResponse { text, offset: begins, next_offset: next, complete, ..ReadLogResponse::default() }
}

#[tokio::test]
async fn of_a_run_the_end_of_its_log_is_shown_in_whole_lines_and_the_rest_can_be_read() {
    let site = Site::new(scheduler().hears("ReadLog", |_: &Caller, asked: ReadLogRequest| log(&asked)));
    let support = site.support().await;
    let page = support.get("/console/tasks/build/runs/7").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.has("000009999\n</pre>"), "the end is there");
    assert!(page.has("<pre>000003447\n"), "and begins with a whole line");
    assert!(page.has("?offset=0") && page.has("it ended with 1 &lt;script&gt;") && !page.has(EVIL));
    let asked: Vec<_> = site.services.heard("ListRuns");
    let asked: ListRunsRequest = buffa::Message::decode_from_slice(&asked[0].body).unwrap();
    assert_eq!((asked.before, asked.page_size), (8, 1));
    let whole = support.get("/console/tasks/build/runs/7?offset=0").await;
    assert!(whole.has("<pre>000000000\n") && whole.has("?offset=40000"), "{}", whole.text.len());
    let missing = support.get("/console/tasks/build/runs/8").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_run_whose_log_is_elsewhere_is_still_shown() {
    let why = "its log is at another process";
    let site = Site::new(scheduler().refuses("ReadLog", "failed_precondition", why));
    let page = site.support().await.get("/console/tasks/build/runs/7").await;
    assert!(page.status == StatusCode::OK && page.has(why) && page.has("failed"), "{}", page.text);
}
