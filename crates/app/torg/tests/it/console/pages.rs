//! Every page, as every role, in both languages, on a desktop and on a phone.

use std::collections::{BTreeSet, VecDeque};

use crate::common::Server;
use crate::console::browser::{Browser, Driver, Width, is_there};
use crate::console::rig::{self, CARELESS};
use crate::console::sources::{fits, routes};

/// Every page of the console for which the demo has data, with a name for its picture.
pub(crate) fn all(server: &Server) -> Vec<(&'static str, String)> {
    let (task, run) = rig::runs(server).into_iter().next().unwrap();
    let (offer, feed) = (rig::offer_of(server, CARELESS), rig::mistakes(server));
    let pages = [
        ("overview", "/console/".to_owned()),
        ("calls", "/console/calls".to_owned()),
        ("stages", "/console/stages".to_owned()),
        ("stage", "/console/stages/expiry".to_owned()),
        ("waiting", "/console/stages/expiry/waiting?lane=timers".to_owned()),
        ("offers", "/console/offers".to_owned()),
        ("offer", format!("/console/offers/{offer}")),
        ("sellers", "/console/sellers".to_owned()),
        ("seller", format!("/console/sellers/{CARELESS}")),
        ("feeds", "/console/feeds".to_owned()),
        ("feed", format!("/console/feeds/{CARELESS}/{feed}")),
        ("load", format!("/console/feeds/{CARELESS}/{feed}/loads/1")),
        ("categories", format!("/console/feeds/{CARELESS}/{feed}/categories")),
        ("tasks", "/console/tasks".to_owned()),
        ("task", format!("/console/tasks/{task}")),
        ("run", format!("/console/tasks/{task}/runs/{run}")),
        ("values", "/console/values".to_owned()),
        ("value", "/console/values/orders.loaded_to".to_owned()),
        ("topics", "/console/topics".to_owned()),
        ("topic", "/console/topics/offers".to_owned()),
        ("cluster", "/console/cluster".to_owned()),
        ("actions", "/console/actions".to_owned()),
    ];
    pages.into_iter().collect()
}

/// Visible defects: overflowing parts, controls without a size or covered by others, empty pages,
/// errors of the browser.
fn complaints(browser: &Browser<'_>) -> Vec<String> {
    let found = browser.script(
        "const wrong = [];
         const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
         if (wide > 1) wrong.push(`the page is ${wide} pixels too wide`);
         for (const element of document.querySelectorAll('main h1, main h2, main button, main a, main th, header a, nav a')) {
           const box = element.getBoundingClientRect();
           if (box.width === 0 && box.height === 0) continue;
           if (element.closest('.scroll, .graph, pre')) continue;
           if (box.right > innerWidth + 1) wrong.push(`sticks out: ${element.outerHTML.slice(0, 120)}`);
           if (element.matches('button, nav a') && element.scrollWidth > element.clientWidth + 1) wrong.push(`is cut: ${element.outerHTML.slice(0, 120)}`);
         }
         const controls = [...document.querySelectorAll('main a, main button, main input:not([type=hidden]), main select, main textarea, main summary')];
         const shown = controls.filter((element) => element.checkVisibility({visibilityProperty: true}));
         for (const element of shown.slice(0, 200)) {
           element.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
           const box = element.getClientRects()[0];
           if (!box || box.width < 1 || box.height < 1) { wrong.push(`has no size: ${element.outerHTML.slice(0, 120)}`); continue; }
           const over = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
           const own = over && (element.contains(over) || over.contains(element) || over.closest('label')?.contains(element));
           if (!own) wrong.push(`${over?.outerHTML.slice(0, 80)} lies over ${element.outerHTML.slice(0, 120)}`);
         }
         scrollTo(0, 0);
         if (document.querySelector('main').innerText.trim().length < 30) wrong.push('the page is empty');
         for (const place of document.querySelectorAll('main table tbody')) {
           if (place.children.length === 0) wrong.push('a table is empty and does not say why');
         }
         return wrong;",
    );
    let mut wrong: Vec<String> =
        found.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    wrong.extend(browser.errors());
    wrong
}

#[test]
fn every_page_looks_right_in_both_languages_on_a_desk_and_on_a_phone() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let pages = all(&server);
    for language in ["en", "ru"] {
        for width in Width::BOTH {
            let browser = rig::window(&driver, &server, "admin", width, language);
            for (name, path) in &pages {
                browser.see(path);
                browser.picture(&format!("{name}-{language}-{}", width.name()));
                assert_eq!(browser.status(), 200, "{path}: {}", browser.text());
                let wrong = complaints(&browser);
                assert!(wrong.is_empty(), "{path} in {language}, {}: {wrong:#?}", width.name());
                assert_eq!(browser.script("return document.documentElement.lang"), language);
            }
        }
    }
    // The dark theme.
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    browser.click("details.person summary");
    browser.submit("button[value=dark]");
    for name in ["overview", "load", "tasks"] {
        let (_, path) = pages.iter().find(|(known, _)| *known == name).unwrap();
        browser.go(path);
        assert_eq!(browser.script("return document.documentElement.dataset.theme"), "dark");
        browser.picture(&format!("{name}-dark"));
    }
}

#[test]
fn a_role_finds_its_pages_and_hears_at_others_what_it_lacks() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    // Pages that a role may not open; it may open all others.
    let closed: [(&str, &[&str]); 5] = [
        ("admin", &[]),
        ("service", &[]),
        ("moderator", &["topics", "topic"]),
        ("support", &["topics", "topic"]),
        (
            "seller",
            &[
                "calls", "stages", "stage", "waiting", "tasks", "task", "run", "values", "value", "topics",
                "topic", "cluster", "actions",
            ],
        ),
    ];
    for (role, closed) in closed {
        // Each role also on a phone, in Russian.
        let phone = rig::window(&driver, &server, role, Width::Phone, "ru");
        for (name, path) in all(&server).into_iter().filter(|(name, _)| !closed.contains(name)) {
            phone.see(&path);
            let wrong = complaints(&phone);
            assert!(wrong.is_empty(), "{path} as {role}, in Russian on a phone ({name}): {wrong:#?}");
        }
        let browser = rig::window(&driver, &server, role, Width::Desktop, "en");
        for (name, path) in all(&server) {
            browser.see(&path);
            let (status, text) = (browser.status(), browser.text());
            if closed.contains(&name) {
                assert!(matches!(status, 403 | 404), "{role} opens {path}: {status} {text}");
                assert!(
                    text.contains("Your roles do not allow this") || text.contains("Not found"),
                    "{role} at {path}: {text}"
                );
            } else {
                assert_eq!(status, 200, "{role} at {path}: {text}");
            }
        }
        let menu = browser
            .script("return [...document.querySelectorAll('nav.menu a')].map((a) => a.getAttribute('href'))");
        for link in menu.as_array().unwrap() {
            browser.see(link.as_str().unwrap());
            assert_eq!(browser.status(), 200, "the menu of {role} leads to {link}: {}", browser.text());
        }
    }
    // A seller sees nothing of another seller.
    let browser = rig::window(&driver, &server, "seller", Width::Phone, "ru");
    for path in [
        format!("/console/sellers/{}", rig::SHOP),
        format!("/console/offers/{}", rig::offer_of(&server, rig::SHOP)),
        format!("/console/feeds/{}/{}", rig::SHOP, rig::GOOD),
    ] {
        browser.see(&path);
        // Everyone may read a public offer, but not its history.
        assert!(browser.status() >= 400 || !browser.text().contains("expiry"), "{path}: {}", browser.text());
    }
}

#[test]
fn no_page_is_left_out() {
    if !is_there() {
        return;
    }
    let server = rig::demo();
    // Redirects, and routes that are no pages.
    let others = ["/console", "/console/find", "/console/sign-in", "/console/assets/{name}"];
    let is_other = |route: &str| {
        others.contains(&route)
            || route.split_once('.').is_some_and(|(_, kind)| ["xlsx", "csv"].contains(&kind))
    };
    let pages = all(&server);
    let missing: Vec<String> = routes("get")
        .into_iter()
        .filter(|route| !is_other(route) && !pages.iter().any(|(_, path)| fits(route, path)))
        .collect();
    assert!(missing.is_empty(), "nobody looks at these pages: {missing:#?}");
}

#[test]
fn what_somebody_looks_at_stays_while_the_page_brings_itself_up_to_date() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let browser = rig::window(&driver, &server, "admin", Width::Phone, "en");
    browser.go("/console/");
    browser.wait_until("no stages are shown", |browser| browser.has("#figures .scroll tbody a"));
    browser.script(
        "window.region = document.querySelector('#figures .scroll');
         window.region.scrollLeft = 40;
         window.link = document.querySelector('#figures .scroll tbody a');
         window.link.focus({preventScroll: true});
         window.renewals = 0;
         new MutationObserver(() => window.renewals += 1).observe(document.getElementById('figures'), {subtree: true, childList: true, characterData: true, attributes: true});",
    );
    browser.wait_until("nothing changes", |browser| browser.script("return window.renewals > 1") == true);
    let stayed = browser.script(
        "return [document.activeElement === window.link, window.region.isConnected, window.region.scrollLeft > 0]",
    );
    assert_eq!(stayed, serde_json::json!([true, true, true]));
}

#[test]
fn no_link_leads_nowhere() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let browser = rig::window(&driver, &server, "admin", Width::Desktop, "en");
    let known = all(&server).into_iter().map(|(_, path)| path);
    let (mut seen, mut open) = (BTreeSet::new(), known.collect::<VecDeque<String>>());
    let mut visited = 0;
    while let Some(path) = open.pop_front() {
        // A sample of every kind: pages of one kind differ in their last part.
        let kind =
            path.split('?').next().unwrap_or_default().rsplit_once('/').map(|(kind, _)| kind.to_owned());
        let most = if kind.as_deref() == Some("/console") { usize::MAX } else { 4 };
        if seen.iter().filter(|known: &&(Option<String>, String)| known.0 == kind).count() >= most
            || !seen.insert((kind, path.clone()))
        {
            continue;
        }
        browser.see(&path);
        visited += 1;
        assert_eq!(browser.status(), 200, "{path}: {}", browser.text());
        let links = browser.script(
            "return [...document.querySelectorAll('main a[href]')].map((a) => a.getAttribute('href'))
               .filter((href) => href.startsWith('/console/') && !href.includes('.xlsx') && !href.includes('.csv'))",
        );
        open.extend(links.as_array().unwrap().iter().filter_map(|link| {
            link.as_str().map(|link| link.split('#').next().unwrap_or_default().to_owned())
        }));
    }
    assert!(visited > 20, "only {visited} pages were found");
}
