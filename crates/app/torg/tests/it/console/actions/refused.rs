//! Every action of the console as roles that may not do it: pages do not show it, and a forged
//! request is refused.

use std::collections::BTreeSet;

use serde_json::json;

use crate::common::Server;
use crate::console::browser::{Browser, Driver, Width, is_there};
use crate::console::rig::{self, SHOP, ask};
use crate::console::sources::{fits, routes};

/// An action: the page with its form, the form's target and fields, and the roles that may not.
struct Attempt {
    page: String,
    action: String,
    fields: &'static [(&'static str, &'static str)],
    refused: &'static [&'static str],
}

const STAFF: &[&str] = &["support", "moderator", "seller"];
const TASK_ACTS: [&str; 10] = [
    "run",
    "pause",
    "resume",
    "cancel",
    "kill",
    "remember",
    "forget",
    "backfill",
    "resume-backfill",
    "cancel-backfill",
];
const RECRAWL_ACTS: [&[(&str, &str)]; 4] =
    [&[("do", "start")], &[("do", "pause")], &[("do", "resume")], &[("do", "cancel")]];

/// Every action on objects of another seller.
fn attempts(server: &Server) -> Vec<Attempt> {
    let (offer, task) = (rig::make_offer(server, "A bicycle"), rig::runs(server).remove(0).0);
    let feed = format!("/console/feeds/{SHOP}/{}", rig::GOOD);
    let at = |page: &str, act: &str, fields, refused| Attempt {
        page: page.to_owned(),
        action: format!("{page}{act}"),
        fields,
        refused,
    };
    let stage = "/console/stages/expiry";
    let mut all = vec![
        at(stage, "/pause", &[("reason", "x")], STAFF),
        at(stage, "/resume", &[], STAFF),
        at(stage, "/release", &[("all", "on")], STAFF),
        at(stage, "/limits", &[("rate", "1")], STAFF),
        at(stage, "/promote", &[], STAFF),
        at(
            "/console/values",
            "/set",
            &[("parameter", "sales.loaded_to"), ("value", "now"), ("reason", "x")],
            STAFF,
        ),
        at("/console/values/sales.loaded_to", "/delete", &[("reason", "x")], STAFF),
        at(&format!("/console/sellers/{SHOP}"), "/repair", &[], &["seller"]),
        at(
            &format!("/console/offers/{offer}"),
            "/move",
            &[("to", "banned"), ("reason", "x")],
            &["support", "seller"],
        ),
        at(&format!("/console/offers/{offer}"), "/move", &[("to", "removed"), ("reason", "x")], STAFF),
        at(&feed, "/fetch", &[], STAFF),
        at(&feed, "/pause", &[], STAFF),
        at(&feed, "/resume", &[], STAFF),
        at(&feed, "/edit", &[("title", "x"), ("missing", "remove")], STAFF),
        at(&feed, "/delete", &[("offers", "remove")], STAFF),
        at(&feed, "/upload", &[("file", "<yml_catalog/>")], STAFF),
        at(&feed, "/loads/1/confirm", &[], STAFF),
        at(&format!("{feed}/categories"), "", &[("names", "x"), ("category", "transport/cars")], &["seller"]),
    ];
    let fields = &[
        ("reason", "x"),
        ("parameter", "*"),
        ("value", "now"),
        ("from", "2026-03-01"),
        ("to", "2026-03-02"),
    ];
    all.extend(TASK_ACTS.map(|act| at(&format!("/console/tasks/{task}"), &format!("/{act}"), fields, STAFF)));
    // A seller creates their own feeds.
    all.push(Attempt {
        page: format!("/console/feeds?seller={SHOP}"),
        action: "/console/feeds/create".to_owned(),
        fields: &[("seller", SHOP), ("namespace", "taken"), ("title", "x"), ("missing", "remove")],
        refused: STAFF,
    });
    all.extend(RECRAWL_ACTS.map(|fields| Attempt {
        page: "/console/stages".to_owned(),
        action: "/console/recrawl".to_owned(),
        fields,
        refused: STAFF,
    }));
    all
}

/// Sends a form as an attacker who knows the pages would, with the token of their own session, and
/// returns the message of the response.
fn send(browser: &Browser<'_>, attempt: &Attempt) -> String {
    let fields: Vec<_> = attempt.fields.iter().map(|(name, text)| json!([name, text])).collect();
    let said = browser.script_later(&format!(
        "const done = arguments[arguments.length - 1];
         const form = new FormData();
         form.append('form_token', document.querySelector('[name=form_token]').value);
         for (const [name, text] of {}) form.append(name, name === 'file' ? new File([text], 'a.xml') : text);
         const body = form.has('file') ? form : new URLSearchParams(form);
         fetch({}, {{method: 'POST', body}}).then((answer) => answer.text()).then((text) => {{
           const notice = new DOMParser().parseFromString(text, 'text/html').querySelector('.notice.bad');
           done(notice ? notice.textContent : `no refusal: ${{text}}`);
         }});",
        json!(fields),
        json!(attempt.action)
    ));
    said.as_str().unwrap_or_default().to_owned()
}

impl Attempt {
    /// The task of the action.
    fn task(&self) -> Option<String> {
        self.page.strip_prefix("/console/tasks/").map(str::to_owned)
    }

    /// The selector of the form on its page.
    fn form(&self) -> String {
        let action = &self.action;
        let to = self.fields.iter().find(|(name, _)| *name == "to" || *name == "do");
        match to {
            // Some of its buttons are outside the form.
            Some((name, value)) if action.ends_with("/recrawl") => {
                format!(":is(form[action='{action}'] *, [form=recrawl-form])[name={name}][value={value}]")
            }
            Some((name, value)) if action.ends_with("/move") => {
                format!("form[action='{action}'] [name={name}][value={value}]")
            }
            _ => format!("form[action='{action}'][method=post]"),
        }
    }
}

/// Pauses everything that can be paused, so that pages show how to resume it.
fn halt(server: &Server, task: &str) {
    let feed =
        json!({"feed": {"seller": SHOP, "namespace": rig::GOOD, "paused": true}, "updateMask": "paused"});
    for (method, request) in [
        ("stages.v1.StageAdminService/PauseStage", json!({"id": "expiry", "reason": "a test"})),
        ("stages.v1.StageAdminService/StartRecrawl", json!({"perSecond": 1})),
        ("stages.v1.StageAdminService/PauseRecrawl", json!({})),
        ("feeds.v1.FeedService/UpdateFeed", feed),
        ("tasks.v1.TaskService/PauseTask", json!({"task": task, "reason": "a test"})),
    ] {
        let answer = server.post_json(&format!("/torg.{method}"), &request.to_string());
        assert_eq!(answer.status, 200, "{method}: {}", answer.body);
    }
}

/// Opens the page of every attempt and returns the forms that it shows to a role.
fn offered(browser: &Browser<'_>, attempts: &[Attempt]) -> BTreeSet<String> {
    let there = |attempt: &&Attempt| {
        browser.see(&attempt.page);
        browser.has(&attempt.form())
    };
    attempts.iter().filter(there).map(Attempt::form).collect()
}

#[test]
fn what_a_role_may_not_do_is_not_offered_and_refused_to_who_tries_anyway() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let attempts = attempts(&server);
    let stage = || ask(&server, "torg.stages.v1.StageAdminService/GetStage", &json!({"id": "expiry"}));
    let before = stage();
    let others = [
        ("support", Width::Desktop, "en"),
        ("moderator", Width::Phone, "ru"),
        ("seller", Width::Desktop, "ru"),
    ]
    .map(|(role, width, language)| (role, rig::window(&driver, &server, role, width, language)));
    let refused = |role| attempts.iter().filter(move |attempt| attempt.refused.contains(&role));
    for (role, browser) in &others {
        for attempt in refused(*role) {
            browser.see(&attempt.page);
            let said = send(browser, attempt);
            assert!(REFUSALS.iter().any(|part| said.contains(part)), "{} by {role}: {said}", attempt.action);
        }
    }
    let after = stage();
    assert_eq!(before["stage"]["limits"], after["stage"]["limits"]);
    assert!(after["stage"]["pause"].is_null());
    let feeds = ask(&server, "torg.feeds.v1.FeedService/ListFeeds", &json!({"seller": SHOP}));
    assert!(
        !feeds.to_string().contains("taken") && !feeds.to_string().contains("\"paused\":true"),
        "{feeds}"
    );

    // In the normal state, and with everything paused.
    let admin = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    let mut to_admin = BTreeSet::new();
    for is_halted in [false, true] {
        if is_halted {
            halt(&server, &attempts.iter().find_map(Attempt::task).unwrap());
        }
        to_admin.extend(offered(&admin, &attempts));
        for (role, browser) in &others {
            let theirs = offered(browser, &attempts);
            let wrong: Vec<_> =
                refused(*role).map(Attempt::form).filter(|form| theirs.contains(form)).collect();
            assert!(wrong.is_empty(), "{role} is offered {wrong:#?}");
        }
    }
    // A form that no role sees would make its absence for other roles meaningless.
    let never: Vec<String> =
        attempts.iter().map(Attempt::form).filter(|form| !to_admin.contains(form)).collect();
    let is_seldom = |form: &&String| !SELDOM.iter().any(|part| form.contains(part));
    assert_eq!(never.iter().filter(is_seldom).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Actions that are shown only while something runs, waits or has failed:
/// `actions/{stages,feeds,tasks}.rs` test them as an admin.
const SELDOM: [&str; 8] = [
    "/release'",
    "/promote'",
    "/confirm'",
    "/cancel'",
    "/kill'",
    "/resume-backfill'",
    "/cancel-backfill'",
    "[name=do][value=pause]",
];

/// The messages of services to callers with insufficient roles, and for objects that the caller
/// cannot see.
const REFUSALS: [&str; 7] = [
    "may not",
    "do not allow this",
    "not by moderation",
    "no such",
    "There is no",
    "there is no",
    "Not found",
];

#[test]
fn no_action_is_left_out() {
    if !is_there() {
        return;
    }
    let server = rig::demo();
    // Actions of every user: choose the look of pages, sign in and out.
    let everybodys = ["/console/look", "/console/sign-in", "/console/sign-out"];
    let tried: Vec<String> = attempts(&server).into_iter().map(|attempt| attempt.action).collect();
    let missing: Vec<String> = routes("post")
        .into_iter()
        .filter(|route| !everybodys.contains(&&**route) && !tried.iter().any(|action| fits(route, action)))
        .collect();
    assert!(missing.is_empty(), "nobody tries these as the wrong role: {missing:#?}");
}
