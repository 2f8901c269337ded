//! A seller uploads a file and reads its report.

use serde_json::json;

use crate::console::browser::{Driver, Width, is_there};
use crate::console::rig::{self, CARELESS, ask};

#[test]
fn a_seller_uploads_a_file_watches_it_load_and_reads_the_report() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    let browser = rig::window(&driver, &server, "seller", Width::Desktop, "en");
    browser.go("/console/feeds");
    browser.unfold("create");
    browser.fill("#new-namespace", "own");
    browser.fill("#new-title", "My own file");
    browser.submit("#create button.main");
    browser.wait_for("My own file");
    let file = server.folder.path().join("own.xml");
    std::fs::write(&file, FILE).unwrap();
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
    // The seller's list shows the live offer.
    browser.go(&format!("/console/sellers/{CARELESS}?source=own"));
    browser.wait_for("Red city bicycle");
}

/// One valid offer, and one without a price.
const FILE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<yml_catalog date="2026-11-01 10:00"><shop><name>Own</name><company>Own</company><url>https://own.example</url>
<currencies><currency id="EUR" rate="1"/></currencies>
<categories><category id="1">City bicycles</category></categories>
<offers>
<offer id="a1" available="true"><name>Red city bicycle</name><price>150</price><currencyId>EUR</currencyId><categoryId>1</categoryId><description>City bicycle, seen in Bremen.</description></offer>
<offer id="a2" available="true"><name>Blue city bicycle</name><price>cheap</price><currencyId>EUR</currencyId><categoryId>1</categoryId></offer>
</offers></shop></yml_catalog>
"#;
