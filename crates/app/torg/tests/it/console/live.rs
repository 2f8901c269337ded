//! Open pages while their content changes or becomes unavailable.

use serde_json::json;

use crate::common::Server;
use crate::console::browser::{Browser, Driver, Width, is_there};
use crate::console::rig::{self, ask};

/// Possible responses to a refresh. Each takes the status and the text of the real response and
/// returns the replacement.
const NOTHING_ALONE: &str = "() => [503, '<main id=main class=alone><h1>Starting</h1></main>']";
const NOTHING_TO_SHOW: &str = "(status, text) => [503, only(text, '<div data-live id=failure>away</div>')]";
const NO_SUCH_PAGE: &str = "(status, text) => [404, only(text, '<div data-live id=failure>gone</div>')]";
const AS_IT_IS: &str = "(status, text) => [status, text]";

impl Browser<'_> {
    /// Replaces the responses to later refreshes of the page.
    fn hears(&self, answer: &str) {
        self.script(&format!(
            "const only = (text, part) => {{
               const page = new DOMParser().parseFromString(text, 'text/html');
               for (const live of page.querySelectorAll('[data-live]:not(#unchecked)')) live.remove();
               return page.body.innerHTML + part;
             }};
             window.really ??= window.fetch;
             window.fetch = async (...question) => {{
               const answer = await window.really(...question);
               const [status, text] = ({answer})(answer.status, await answer.text());
               return new Response(text, {{status}});
             }};"
        ));
    }

    /// Makes the page receive these problems, by the names of their objects.
    fn hears_of(&self, problems: &[&str]) {
        let item =
            |name| format!("<li><strong><a href='/console/stages/{name}'>{name} is down</a></strong></li>");
        let items: String = problems.iter().map(item).collect();
        self.hears(&format!(
            "(status, text) => [200, text.replace(/<div id=\"wrongs.*?<div id=\"figures/s, {} + '<div id=\"figures')]",
            json!(format!("<div id=wrongs data-live><ul class=problems>{items}</ul></div>"))
        ));
        let shown = format!(
            "return [...document.querySelectorAll('#wrongs li a')].map((a) => a.pathname.split('/').pop()).join() === {}",
            json!(problems.join(","))
        );
        self.wait_until(&format!("{problems:?} are not shown"), |browser| browser.script(&shown) == true);
    }

    /// Waits until this line above the page is shown, or none.
    fn wait_for_line(&self, id: &str) {
        let shown =
            "return [...document.querySelectorAll('.lost:not([hidden])')].map((line) => line.id).join()";
        self.wait_until(&format!("the line {id:?} is not shown"), |browser| browser.script(shown) == id);
    }
}

#[test]
fn what_is_on_the_screen_stays_while_it_cannot_be_shown_anew() {
    if !is_there() {
        return;
    }
    let (server, driver) = (Server::start(&[]), Driver::start());
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    browser.go("/console/stages");
    browser.wait_for("expiry");
    browser.script("window.part = document.getElementById('stages')");
    let stays =
        || browser.script("return window.part?.isConnected && window.part.innerText.includes('expiry')");
    for (answer, line) in [(NOTHING_TO_SHOW, "stale"), (NOTHING_ALONE, "lost"), (AS_IT_IS, "")] {
        browser.hears(answer);
        browser.wait_for_line(line);
        assert!(stays() == true && !browser.has("#failure"), "{line}: {}", browser.text());
    }
    // A part that no longer exists is replaced by a message.
    browser.hears(NO_SUCH_PAGE);
    browser.wait_for("gone");
    assert!(stays() == false, "{}", browser.text());
}

#[test]
fn a_page_that_has_become_another_says_so_to_who_types_in_it() {
    if !is_there() {
        return;
    }
    let (server, driver) = (Server::start(&[]), Driver::start());
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    browser.go("/console/stages/expiry");
    browser.unfold("pause");
    browser.fill("#pause-reason", "to look at it");
    browser.hears(NO_SUCH_PAGE);
    browser.wait_for_line("changed");
    assert!(browser.script("return document.getElementById('pause-reason').value") == "to look at it");
}

#[test]
fn whatever_has_the_focus_keeps_it_while_others_come_and_go_around_it() {
    if !is_there() {
        return;
    }
    let (server, driver) = (Server::start(&[]), Driver::start());
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    browser.go("/console/");
    browser.hears_of(&["first", "second"]);
    browser.script("window.link = document.querySelector('#wrongs li:last-child a'); window.link.focus()");
    let has_focus = || {
        browser.script("return document.activeElement === window.link && window.link.innerText")
            == "second is down"
    };
    for problems in [&["third", "second"][..], &["second", "third"], &["third", "fourth", "second"]] {
        browser.hears_of(problems);
        assert!(has_focus(), "{problems:?}");
    }
    browser.hears_of(&["third"]);
}

#[test]
fn a_button_that_comes_to_do_something_else_loses_the_focus() {
    if !is_there() {
        return;
    }
    let (server, driver) = (Server::start(&[]), Driver::start());
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    browser.go("/console/");
    let act = |name: &str| {
        browser.hears(&format!(
            "(status, text) => [200, text.replace(/<div id=\"wrongs.*?<div id=\"figures/s,
               '<div id=wrongs data-live><form method=post action=/console/{name}><button>{name}</button></form></div><div id=\"figures')]"
        ));
        browser.wait_for(name);
    };
    act("pause");
    browser.script("document.querySelector('#wrongs button').focus()");
    act("resume");
    assert!(browser.script("return document.activeElement === document.body") == true);
}

#[test]
fn a_form_is_sent_once_until_it_is_answered_or_nobody_waits_for_it_any_more() {
    if !is_there() {
        return;
    }
    let (server, driver) = (Server::start(&[]), Driver::start());
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    browser.go("/console/stages/expiry");
    // The form goes nowhere, as if the response took long. A timer as long as Torg's request
    // timeout fires when the test calls `isOver`.
    browser.script(
        "window.sent = 0;
         addEventListener('submit', (event) => {
           if (!event.defaultPrevented) window.sent += 1;
           event.preventDefault();
         });
         const wait = window.setTimeout;
         window.setTimeout = (then, ms) => ms > 30000 ? (window.isOver = then, 1) : wait(then, ms);",
    );
    browser.unfold("pause");
    browser.fill("#pause-reason", "to look at it");
    let sent = || browser.script("return window.sent").as_u64();
    browser.click("#pause form button");
    browser.click("#pause form button");
    assert_eq!(sent(), Some(1));
    assert!(browser.has("#pause form[aria-busy=true]"));
    browser.script("window.isOver()");
    assert!(!browser.has("form[aria-busy]"));
    browser.click("#pause form button");
    assert_eq!(sent(), Some(2));
    // After a step back the form keeps its contents.
    browser.script("dispatchEvent(new Event('pageshow'))");
    browser.click("#pause form button");
    assert_eq!(sent(), Some(3));
}

#[test]
fn a_form_that_was_refused_is_filled_in_with_what_was_typed_and_nothing_else() {
    if !is_there() {
        return;
    }
    let (server, driver) = (Server::start(&[]), Driver::start());
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    browser.go("/console/stages/expiry");
    browser.unfold("limits");
    browser.script("document.querySelector('#calls_max').removeAttribute('min')");
    browser.fill("#calls_max", "0");
    // Another user changes another limit meanwhile.
    let limits = ask(
        &server,
        "torg.stages.v1.StageAdminService/SetStageLimits",
        &json!({"id": "expiry", "rate": 7.5}),
    );
    assert_eq!(limits["limits"]["rate"], 7.5, "{limits}");
    let (good, text) = browser.press("#limits form button");
    assert!(!good, "{text}");
    let fields =
        browser.script("return ['calls_max', 'rate'].map((id) => document.getElementById(id).value)");
    assert_eq!(fields, json!(["0", "7.5"]));
}
