//! Every method with every role, over JSON and gRPC.

use std::collections::BTreeSet;

use crate::access::issuer::Issuer;
use crate::access::{GET_INFO, HOUR_S, grpc_code, guarded, json_code, stream_code};
use crate::common::wire::Protocol;
use crate::common::{Server, authorized};

const SERVICE: &[&str] = &["service", "admin"];
const STAFF: &[&str] = &["support", "moderator", "service", "admin"];
const ADMIN: &[&str] = &["admin"];
const ROLES: [&str; 5] = ["seller", "support", "moderator", "service", "admin"];

/// Every method of the services for topics, keys and operators: the roles that may call it, and the
/// code for an empty request.
pub(crate) const METHODS: &[(&str, &[&str], &str)] = &[
    (GET_INFO, STAFF, "ok"),
    ("/torg.admin.v1.ObserveService/GetFigures", STAFF, "ok"),
    ("/torg.admin.v1.ObserveService/ListProblems", STAFF, "ok"),
    ("/torg.admin.v1.ObserveService/GetCluster", STAFF, "ok"),
    ("/torg.admin.v1.ObserveService/ListActions", STAFF, "ok"),
    ("/torg.topics.v1.TopicService/CreateTopic", SERVICE, "invalid_argument"),
    ("/torg.topics.v1.TopicService/ListTopics", SERVICE, "ok"),
    ("/torg.topics.v1.TopicService/AppendMessages", SERVICE, "invalid_argument"),
    ("/torg.topics.v1.TopicService/ReadMessages", SERVICE, "invalid_argument"),
    ("/torg.access.v1.KeyService/CreateKey", ADMIN, "invalid_argument"),
    ("/torg.access.v1.KeyService/ListKeys", ADMIN, "ok"),
    ("/torg.access.v1.KeyService/RevokeKey", ADMIN, "not_found"),
    ("/torg.stages.v1.StageAdminService/ListStages", STAFF, "ok"),
    ("/torg.stages.v1.StageAdminService/GetStage", STAFF, "invalid_argument"),
    ("/torg.stages.v1.StageAdminService/RegisterStage", ADMIN, "invalid_argument"),
    ("/torg.stages.v1.StageAdminService/RemoveStage", ADMIN, "invalid_argument"),
    ("/torg.stages.v1.StageAdminService/PauseStage", ADMIN, "invalid_argument"),
    ("/torg.stages.v1.StageAdminService/ResumeStage", ADMIN, "invalid_argument"),
    ("/torg.stages.v1.StageAdminService/SetStageLimits", ADMIN, "invalid_argument"),
    ("/torg.stages.v1.StageAdminService/PromoteShadow", ADMIN, "invalid_argument"),
    ("/torg.stages.v1.StageAdminService/ReleaseStage", ADMIN, "invalid_argument"),
    ("/torg.stages.v1.StageAdminService/DryRun", ADMIN, "invalid_argument"),
    ("/torg.stages.v1.StageAdminService/GetRecrawl", STAFF, "ok"),
    // Called twice, in JSON and gRPC, while the first re-crawl may be finished or not.
    ("/torg.stages.v1.StageAdminService/StartRecrawl", ADMIN, "ok or aborted"),
    ("/torg.stages.v1.StageAdminService/PauseRecrawl", ADMIN, "ok or aborted"),
    ("/torg.stages.v1.StageAdminService/ResumeRecrawl", ADMIN, "ok or aborted"),
    ("/torg.stages.v1.StageAdminService/CancelRecrawl", ADMIN, "ok or aborted"),
    ("/torg.tasks.v1.CtlService/GetValues", STAFF, "invalid_argument"),
    ("/torg.tasks.v1.CtlService/ListValues", STAFF, "ok"),
    ("/torg.tasks.v1.CtlService/SetValues", SERVICE, "invalid_argument"),
    ("/torg.tasks.v1.CtlService/ListHistory", STAFF, "invalid_argument"),
    ("/torg.tasks.v1.CtlService/WatchValues", STAFF, "ok"),
    ("/torg.tasks.v1.TaskService/ListTasks", STAFF, "ok"),
    ("/torg.tasks.v1.TaskService/ExplainTask", STAFF, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/GetQueue", STAFF, "ok"),
    ("/torg.tasks.v1.TaskService/ListEvents", STAFF, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/ListRuns", STAFF, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/ReadLog", STAFF, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/RunTask", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/PauseTask", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/ResumeTask", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/CancelTask", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/KillRun", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/SetRemembered", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/DeleteRemembered", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/StartBackfill", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/ResumeBackfill", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/CancelBackfill", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/ApplyTasks", ADMIN, "invalid_argument"),
    ("/torg.tasks.v1.TaskService/GetTaskFiles", ADMIN, "ok"),
    ("/torg.stages.v1.StateService/GetState", SERVICE, "invalid_argument"),
    ("/torg.stages.v1.StateService/SetState", SERVICE, "invalid_argument"),
];

/// The methods that respond with a stream.
const STREAMS: &[&str] = &["/torg.tasks.v1.CtlService/WatchValues"];

async fn assert_code(server: &Server, method: &'static str, token: Option<&str>, expected: &str, who: &str) {
    let is_one = |code: &str| expected.split(" or ").any(|one| one == code);
    let (json, grpc) = if STREAMS.contains(&method) {
        let json = stream_code(server, method, token, Protocol::Json).await;
        (json, stream_code(server, method, token, Protocol::Grpc).await)
    } else {
        (json_code(server, method, token), grpc_code(server, method, token).await)
    };
    assert!(is_one(&json), "{method} by {who} in JSON: {json}, not {expected}");
    assert!(is_one(&grpc), "{method} by {who} over gRPC: {grpc}, not {expected}");
}

#[tokio::test]
async fn every_method_is_open_to_exactly_those_who_may() {
    let (server, issuer) = guarded(&[("TORG_ACCESS_USER_RATE_PER_S", "0")]);
    for (method, allowed, answer) in METHODS {
        for role in ROLES {
            let expected = if allowed.contains(&role) { answer } else { "permission_denied" };
            let token = issuer.token(&[role], HOUR_S);
            assert_code(&server, method, Some(&token), expected, role).await;
        }
        assert_code(&server, method, Some(&issuer.token(&[], HOUR_S)), "permission_denied", "no role").await;
    }
    let both = issuer.token(&["seller", "service"], HOUR_S);
    assert_code(&server, METHODS[2].0, Some(&both), "ok", "seller and service").await;
}

#[tokio::test]
async fn who_shows_nothing_or_something_wrong_is_refused_everywhere() {
    let (server, issuer) = guarded(&[("TORG_ACCESS_UNKNOWN_RATE_PER_S", "0")]);
    let forged = Issuer::new().token(&["admin"], HOUR_S);
    let expired = issuer.token(&["admin"], -HOUR_S);
    let unknown_key = format!("torg_00000000_{}", "A".repeat(43));
    for (method, ..) in METHODS {
        for (token, who) in [
            (None, "nobody"),
            (Some("rubbish"), "rubbish"),
            (Some(forged.as_str()), "a forger"),
            (Some(expired.as_str()), "an old token"),
            (Some(unknown_key.as_str()), "an unknown key"),
        ] {
            assert_code(&server, method, token, "unauthenticated", who).await;
        }
    }
    let answer = server.call(GET_INFO, Some(&expired), "{}");
    assert_eq!(answer.status, 401);
    assert!(answer.head.contains("\r\nwww-authenticate: bearer"), "{}", answer.head);
    assert_eq!(answer.json()["message"], "the token has expired");
    assert_eq!(server.call(GET_INFO, Some(&forged), "{}").json()["message"], "the token is not valid");
}

#[tokio::test]
async fn tokens_are_believed_by_keys_from_a_url() {
    let issuer = Issuer::new();
    let url = issuer.serve_keys();
    let settings = [("TORG_ACCESS_MODE", "required"), ("TORG_ACCESS_JWKS_URL", url.as_str())];
    let server = Server::start(&settings);
    assert_code(&server, GET_INFO, Some(&issuer.token(&["admin"], HOUR_S)), "ok", "admin").await;
    let forged = Issuer::new().token(&["admin"], HOUR_S);
    assert_code(&server, GET_INFO, Some(&forged), "unauthenticated", "a forger").await;
}

#[tokio::test]
async fn where_anonymous_callers_are_served_they_are_asked_to_sign_in_for_what_is_not_public() {
    let settings = [("TORG_ACCESS_ANONYMOUS", "true"), ("TORG_ACCESS_UNKNOWN_RATE_PER_S", "0")];
    let (server, _) = guarded(&settings);
    for (method, ..) in METHODS {
        assert_code(&server, method, None, "unauthenticated", "anonymous").await;
    }
}

#[tokio::test]
async fn probes_of_health_need_no_token_and_figures_do() {
    let (server, issuer) = guarded(&[("TORG_ACCESS_UNKNOWN_RATE_PER_S", "0")]);
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.get("/readyz").status, 200);
    assert_code(&server, "/grpc.health.v1.Health/Check", None, "ok", "nobody").await;
    let reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    assert_eq!(json_code(&server, reflection, None), "unauthenticated");
    assert_eq!(server.get("/nowhere").status, 401, "what exists is told to those who are known");

    let metrics = |token: Option<&str>| {
        let request = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        server.ask(&authorized(request, token))
    };
    assert_eq!(metrics(None).status, 401);
    for role in ROLES {
        let expected = if STAFF.contains(&role) { 200 } else { 403 };
        assert_eq!(metrics(Some(&issuer.token(&[role], HOUR_S))).status, expected, "{role}");
    }
    let shown = metrics(Some(&issuer.token(&["service"], HOUR_S))).body;
    assert!(shown.contains("torg_access_denied_total{code=\"unauthenticated\"} 3"), "{shown}");
}

#[test]
fn no_method_of_these_services_is_left_out() {
    let listed: BTreeSet<String> = METHODS.iter().map(|(method, ..)| (*method).to_owned()).collect();
    let mut described = BTreeSet::new();
    for (file, service) in [
        ("access/v1/keys", "torg.access.v1.KeyService"),
        ("admin/v1/admin", "torg.admin.v1.AdminService"),
        ("admin/v1/observe", "torg.admin.v1.ObserveService"),
        ("topics/v1/topics", "torg.topics.v1.TopicService"),
        ("stages/v1/admin", "torg.stages.v1.StageAdminService"),
        ("stages/v1/state", "torg.stages.v1.StateService"),
        ("tasks/v1/ctl_service", "torg.tasks.v1.CtlService"),
        ("tasks/v1/tasks", "torg.tasks.v1.TaskService"),
    ] {
        let path = format!("{}/../../../proto/torg/{file}.proto", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let names = text.lines().filter_map(|line| line.trim().strip_prefix("rpc ")?.split('(').next());
        described.extend(names.map(|name| format!("/{service}/{name}")));
    }
    assert_eq!(listed, described);
}
