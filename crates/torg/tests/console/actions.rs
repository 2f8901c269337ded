//! What people do in the console, as those who may and as those who may not.

use std::io::Write as _;

use serde_json::json;

use crate::browser::{Browser, Driver, Width, is_there};
use crate::rig::{self, CARELESS, SHOP, ask};

const REASON: &str = "tried in a browser";

/// Unfolds a form, if it is folded.
fn unfold(browser: &Browser<'_>, id: &str) {
    browser.wait_until(&format!("{id} is not there"), |browser| browser.has(&format!("#{id}")));
    browser.script(&format!("document.getElementById({}).setAttribute('open', '')", json!(id)));
}

#[test]
fn an_admin_pauses_limits_resumes_and_recrawls_and_every_action_is_recorded() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    browser.go("/console/stages/expiry");
    unfold(&browser, "pause");
    browser.fill("#pause-reason", REASON);
    browser.submit("form[action='/console/stages/expiry/pause'] button");
    browser.wait_for("Stage expiry is paused");
    let shown = ask(&server, "torg.stages.v1.StageAdminService/GetStage", &json!({"id": "expiry"}));
    assert_eq!(shown["stage"]["pause"]["reason"], REASON, "{shown}");
    // The overview says so by itself.
    browser.go("/console/");
    browser.wait_for(REASON);
    browser.go("/console/stages/expiry");
    browser.submit("form[action='/console/stages/expiry/resume'] button");
    browser.wait_for("Stage expiry goes on.");

    unfold(&browser, "limits");
    browser.fill("#rate", "25");
    browser.submit("form[action='/console/stages/expiry/limits'] button");
    browser.wait_for("25 visits in a second");

    browser.go("/console/stages");
    unfold(&browser, "recrawl-start");
    browser.submit("#recrawl-start button");
    browser.wait_for("The re-crawl begins.");
    browser.wait_for("Shards done");

    browser.go("/console/actions");
    for method in ["PauseStage", "ResumeStage", "SetStageLimits", "StartRecrawl"] {
        browser.wait_for(method);
    }
    let actions = ask(&server, "torg.admin.v1.ObserveService/ListActions", &json!({"about": "expiry"}));
    let pause = actions["actions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|action| action["method"].as_str().unwrap_or_default().ends_with("/PauseStage"));
    let pause = pause.unwrap_or_else(|| panic!("{actions}"));
    assert_eq!(
        (&pause["author"], &pause["through"], &pause["outcome"]),
        (&json!("local"), &json!("console"), &json!("ok"))
    );
}

#[test]
fn who_may_not_act_is_offered_nothing_and_refused_anyway() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let (offer, feed) = (rig::offer_of(&server, SHOP), rig::mistakes(&server));
    let (task, _) = rig::runs(&server).into_iter().next().unwrap();
    let attempts = [
        ("/console/stages/expiry".to_owned(), "/console/stages/expiry/pause".to_owned()),
        ("/console/stages/expiry".to_owned(), "/console/stages/expiry/limits".to_owned()),
        (format!("/console/tasks/{task}"), format!("/console/tasks/{task}/run")),
        ("/console/values".to_owned(), "/console/values/set".to_owned()),
        (format!("/console/offers/{offer}"), format!("/console/offers/{offer}/move")),
        (format!("/console/feeds/{CARELESS}/{feed}"), format!("/console/feeds/{CARELESS}/{feed}/delete")),
    ];
    let browser = rig::window(&driver, &server, "support", Width::Desktop, "en");
    for (page, action) in attempts {
        browser.go(&page);
        assert!(!browser.has(&format!("form[action='{action}']")), "{action} is offered to support");
        // Somebody who knows how pages are made tries it with the token of their own session.
        let said = browser.script_later(&format!(
            "const done = arguments[arguments.length - 1];
             const form_token = document.querySelector('[name=form_token]').value;
             const body = new URLSearchParams({{form_token, reason: 'x', to: 'banned', parameter: 'sales.loaded_to', value: 'now', offers: 'remove'}});
             fetch('{action}', {{method: 'POST', body}}).then((answer) => answer.text()).then(done);"
        ));
        let said = said.as_str().unwrap();
        assert!(said.contains("notice bad"), "{action} by support: {said}");
    }
    let shown = ask(&server, "torg.stages.v1.StageAdminService/GetStage", &json!({"id": "expiry"}));
    assert!(shown["stage"]["pause"].is_null());
}

#[test]
fn a_moderator_bans_an_offer_and_its_page_tells_who_and_why() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let made = ask(
        &server,
        "torg.offers.v1.OfferService/CreateOffer",
        &json!({"offer": {"seller": "nina", "category": "sg-4-4-3-2", "title": "A bicycle to be judged",
            "price": {"fixed": {"micros": "150000000", "currency": "EUR"}}, "place": {"address": "Bremen"}}}),
    );
    let id = made["offer"]["id"].as_str().unwrap();
    let browser = rig::window(&driver, &server, "moderator", Width::Phone, "ru");
    // Found by its id in the search of every page.
    browser.go("/console/offers");
    browser.fill("#find", id);
    browser.send_keys("#find", "\u{e007}");
    browser.wait_for("A bicycle to be judged");
    unfold(&browser, "move-banned");
    browser.fill("#reason-banned", REASON);
    browser.submit("#move-banned button");
    browser.wait_for(REASON);
    let offer = ask(&server, "torg.offers.v1.OfferService/GetOffer", &json!({"id": id}));
    assert_eq!(offer["offer"]["status"], "STATUS_BANNED", "{offer}");
    browser.picture("offer-banned-ru-phone");
}

#[test]
fn a_seller_uploads_a_file_watches_it_load_and_reads_the_report() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let browser = rig::window(&driver, &server, "seller", Width::Desktop, "en");
    browser.go("/console/feeds");
    unfold(&browser, "create");
    browser.fill("#new-namespace", "own");
    browser.fill("#new-title", "My own file");
    browser.submit("#create button.main");
    browser.wait_for("My own file");
    let file = server.folder.path().join("own.xml");
    std::fs::File::create(&file).unwrap().write_all(FILE.as_bytes()).unwrap();
    browser.go(&format!("/console/feeds/{CARELESS}/own"));
    browser.send_keys("#file", file.to_str().unwrap());
    browser.submit("form.drop button");
    rig::wait_until("the file is loaded", || {
        let load = ask(
            &server,
            "torg.feeds.v1.FeedService/GetLoad",
            &json!({"seller": CARELESS, "namespace": "own"}),
        );
        load["load"]["state"] == "STATE_DONE"
    });
    browser.go(&format!("/console/feeds/{CARELESS}/own/loads/1"));
    browser.wait_for("done");
    browser.picture("own-load");
    let text = browser.text();
    assert!(text.contains("price"), "the report does not name what is wrong:\n{text}");
    assert!(browser.has("a[href$='problems.xlsx']"));
    let size = browser.script_later(
        "const done = arguments[arguments.length - 1];
         fetch(document.querySelector(\"a[href$='problems.xlsx']\").href).then((answer) => answer.arrayBuffer()).then((bytes) => done(bytes.byteLength));",
    );
    assert!(size.as_u64().unwrap() > 1000, "{size}");
    // Another file is dropped on the page.
    browser.go(&format!("/console/feeds/{CARELESS}/own"));
    browser.script("window.before = true");
    browser.script(&format!(
        "const files = new DataTransfer();
         files.items.add(new File([{}], 'dropped.xml'));
         document.querySelector('[data-drop]').dispatchEvent(new DragEvent('drop', {{dataTransfer: files, bubbles: true, cancelable: true}}));",
        json!(FILE.replace("a2", "a3"))
    ));
    browser.wait_until("the file is not taken", |browser| {
        browser.script("return window.before === undefined") == true
    });
    rig::wait_until("the dropped file is loaded", || {
        let load = ask(
            &server,
            "torg.feeds.v1.FeedService/GetLoad",
            &json!({"seller": CARELESS, "namespace": "own", "number": "2"}),
        );
        load["load"]["state"] == "STATE_DONE"
    });
    // The live offer is a click away.
    browser.go(&format!("/console/sellers/{CARELESS}?source=own"));
    browser.wait_for("Red city bicycle");
}

#[test]
fn an_admin_runs_a_task_and_moves_a_value_with_a_reason() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    let (task, _) = rig::runs(&server).into_iter().next().unwrap();
    browser.go(&format!("/console/tasks/{task}"));
    unfold(&browser, "act-run");
    browser.fill("#reason-run", REASON);
    browser.submit("#act-run button");
    browser.wait_for("It runs as soon as there is a place for it.");
    browser.wait_for(REASON);
    browser.go("/console/values");
    unfold(&browser, "set");
    browser.fill("#parameter", "browser.tried");
    browser.fill("#given", "many");
    browser.fill("#set-reason", REASON);
    browser.submit("#set button");
    // What was typed is still there, for the next attempt.
    browser.wait_for("“many” is no value");
    let typed = browser.script("return [...document.querySelectorAll('#set[open] input, #set[open] textarea')].map((field) => field.value)");
    assert!(typed.to_string().contains("many") && typed.to_string().contains(REASON), "{typed}");
    browser.go("/console/values");
    unfold(&browser, "set");
    browser.fill("#parameter", "browser.tried");
    browser.fill("#given", "7");
    browser.fill("#set-reason", REASON);
    browser.submit("#set button");
    browser.wait_for("browser.tried");
    browser.wait_for(REASON);
    let value = ask(&server, "torg.tasks.v1.CtlService/GetValues", &json!({"parameters": ["browser.tried"]}));
    assert_eq!(value["values"][0]["author"], "local", "{value}");
    // Deleted after a question.
    unfold(&browser, "delete");
    browser.fill("#delete-reason", REASON);
    browser.click("#delete button");
    browser.accept();
    browser.wait_for("browser.tried");
    let value = ask(&server, "torg.tasks.v1.CtlService/GetValues", &json!({"parameters": ["browser.tried"]}));
    assert!(value["values"][0]["value"].is_null(), "{value}");
}

/// One good offer, and one without a price.
const FILE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<yml_catalog date="2026-11-01 10:00"><shop><name>Own</name><company>Own</company><url>https://own.example</url>
<currencies><currency id="EUR" rate="1"/></currencies>
<categories><category id="1">City bicycles</category></categories>
<offers>
<offer id="a1" available="true"><name>Red city bicycle</name><price>150</price><currencyId>EUR</currencyId><categoryId>1</categoryId><description>City bicycle, seen in Bremen.</description></offer>
<offer id="a2" available="true"><name>Blue city bicycle</name><price>cheap</price><currencyId>EUR</currencyId><categoryId>1</categoryId></offer>
</offers></shop></yml_catalog>
"#;
