//! Calls, and waits for their results.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{PATIENCE, Server};

pub(crate) const OBSERVE: &str = "/torg.admin.v1.ObserveService";
pub(crate) const STAGES: &str = "/torg.stages.v1.StageAdminService";

/// The response to a call that succeeds.
pub(crate) fn ask(server: &Server, path: &str, request: &Value) -> Value {
    let answer = server.post_json(path, &request.to_string());
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.json()
}

/// The current problems.
pub(crate) fn problems(server: &Server) -> Vec<Value> {
    let answer = ask(server, &format!("{OBSERVE}/ListProblems"), &json!({}));
    answer["problems"].as_array().cloned().unwrap_or_default()
}

/// Polls until there is a result.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{what}: not in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits for a problem of this code.
pub(crate) fn problem(server: &Server, code: &str) -> Value {
    eventually(code, || problems(server).into_iter().find(|problem| problem["code"] == code))
}

/// Waits until there is no problem of this code.
pub(crate) fn no_problem(server: &Server, code: &str) {
    eventually(&format!("no {code}"), || {
        problems(server).iter().all(|problem| problem["code"] != code).then_some(())
    });
}

/// Creates an offer and returns its id.
pub(crate) fn offer(server: &Server, title: &str) -> String {
    let offer = json!({"seller": "eve", "category": "sg-4-4-3-2", "title": title, "price": {"free": {}}});
    let made = ask(server, "/torg.offers.v1.OfferService/CreateOffer", &json!({ "offer": offer }));
    made["offer"]["id"].as_str().unwrap().to_owned()
}
