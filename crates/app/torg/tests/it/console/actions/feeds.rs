//! Actions of sellers and support on feeds: a seller on a desktop in English, an admin on a phone
//! in Russian.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::Server;
use crate::console::browser::{Browser, Driver, Width, is_there};
use crate::console::rig::{self, CARELESS, ask, wait_until};

/// A feed of this many valid offers.
fn file(offers: usize) -> String {
    let mut text = r#"<?xml version="1.0" encoding="UTF-8"?>
<yml_catalog date="2026-11-01 10:00"><shop><name>Own</name><company>Own</company><url>https://own.example</url>
<currencies><currency id="EUR" rate="1"/></currencies>
<categories><category id="1">City bicycles</category></categories><offers>"#
        .to_owned();
    for number in 0..offers {
        let _ = write!(
            text,
            "<offer id=\"b{number}\" available=\"true\"><name>City bicycle {number}</name><price>150</price><currencyId>EUR</currencyId>\
             <categoryId>1</categoryId><description>City bicycle, seen in Bremen.</description></offer>"
        );
    }
    text + "</offers></shop></yml_catalog>"
}

struct Shop<'a> {
    server: &'a Server,
    browser: Browser<'a>,
    namespace: &'static str,
}

impl Shop<'_> {
    fn page(&self) -> String {
        format!("/console/feeds/{CARELESS}/{}", self.namespace)
    }

    fn button(&self, act: &str) -> String {
        format!("form[action='{}/{act}'] button", self.page())
    }

    fn ask(&self, method: &str) -> Value {
        let named = json!({"seller": CARELESS, "namespace": self.namespace});
        ask(self.server, &format!("torg.feeds.v1.FeedService/{method}"), &named)
    }

    fn feed(&self) -> Value {
        self.ask("GetFeed")["feed"].clone()
    }

    /// Waits until the last load is in this state.
    fn until_load(&self, state: &str) {
        wait_until(&format!("the load is {state}"), || self.ask("GetLoad")["load"]["state"] == state);
    }

    /// Uploads a file and opens the page of its load.
    fn upload(&self, offers: usize) {
        let path: PathBuf = self.server.folder.path().join(format!("{}-{offers}.xml", self.namespace));
        std::fs::write(&path, file(offers)).unwrap();
        self.browser.go(&self.page());
        self.browser.send_keys("#file", path.to_str().unwrap());
        self.browser.does("form.drop button");
        assert!(
            self.browser.place().starts_with(&format!("{}/loads/", self.page())),
            "{}",
            self.browser.place()
        );
    }
}

/// From the creation of a feed to its deletion, with every action between.
fn whole_life(shop: &Shop<'_>) {
    let browser = &shop.browser;
    browser.go(&format!("/console/feeds?seller={CARELESS}"));
    browser.does_with(
        "create",
        &[("#new-namespace", shop.namespace), ("#new-title", "My own file"), ("#new-country", "de")],
    );
    assert_eq!(shop.feed()["title"], "My own file");

    shop.upload(30);
    shop.until_load("STATE_DONE");
    // A nearly empty file would remove almost everything, so the load waits for a confirmation.
    shop.upload(1);
    shop.until_load("STATE_WAITING");
    browser.wait_until("it is not told that the load waits", |browser| browser.has("#confirm"));
    browser.picture(&format!("load-waits-{}", shop.namespace));
    browser.does_with("confirm", &[]);
    shop.until_load("STATE_DONE");
    assert_eq!(shop.ask("GetLoad")["load"]["counts"]["removed"], "29", "{}", shop.ask("GetLoad"));

    browser.go(&shop.page());
    browser.does(&shop.button("pause"));
    assert_eq!(shop.feed()["paused"], true);
    browser.does(&shop.button("resume"));
    assert!(shop.feed()["paused"].is_null());
    let link = format!("{}/demo/feeds/good.xml", shop.server.url());
    browser.does_with("edit", &[("#edit-title", "Fetched by a link"), ("#edit-url", &link)]);
    assert_eq!(
        (&shop.feed()["title"], &shop.feed()["link"]["url"]),
        (&json!("Fetched by a link"), &json!(link))
    );
    browser.does(&shop.button("fetch"));
    wait_until("it is fetched", || shop.feed()["lastFetch"]["outcome"].is_string());

    categories(shop);

    browser.go(&shop.page());
    browser.does_with("delete", &[("#delete-offers", "remove")]);
    wait_until("it is gone", || shop.feed().is_null());
}

/// Mappings of the seller's categories: one is set by hand and then recognised again.
fn categories(shop: &Shop<'_>) {
    let browser = &shop.browser;
    let (page, names) = (format!("{}/categories", shop.page()), format!("Own {}", shop.namespace));
    let mapping = || {
        let all = ask(shop.server, "torg.feeds.v1.FeedService/ListMappings", &json!({"seller": CARELESS}));
        let all = all["mappings"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|mapping| mapping["path"] == json!([names]) && mapping["byHand"] == true)
    };
    browser.go(&page);
    browser.does_with("another", &[("#names", &names), ("#category", "sg-4-4-3-2")]);
    assert_eq!(mapping().unwrap()["category"], "sg-4-4-3-2");
    let row = format!(
        "const form = [...document.querySelectorAll('tbody form')].find((form) => form.path.value === {}); \
         form.id = 'wanted'; form.querySelector('[name=category]').id = 'wanted-category'; \
         form.querySelector('[name=again]').id = 'wanted-again';",
        json!(json!([names]).to_string())
    );
    browser.script(&row);
    browser.put("#wanted-category", "transport/cars");
    browser.does("#wanted button:not([name])");
    assert_eq!(mapping().unwrap()["category"], "transport/cars");
    browser.script(&row);
    browser.does("#wanted-again");
    assert!(mapping().is_none());
}

#[test]
fn a_seller_and_an_admin_take_a_feed_through_its_whole_life() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    for (role, width, language, namespace) in
        [("seller", Width::Desktop, "en", "mine"), ("admin", Width::Phone, "ru", "theirs")]
    {
        let browser = rig::window(&driver, &server, role, width, language);
        whole_life(&Shop { server: &server, browser, namespace });
    }
}

#[test]
fn counts_of_a_cabinet_are_counted_anew() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    for (role, width, language) in [("support", Width::Desktop, "en"), ("admin", Width::Phone, "ru")] {
        let browser = rig::window(&driver, &server, role, width, language);
        browser.go(&format!("/console/sellers/{CARELESS}"));
        browser.does(&format!("form[action='/console/sellers/{CARELESS}/repair'] button"));
    }
}
