//! The other data of a marketplace: feeds, a load with a report, values, and tasks that wait for
//! them.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::ConsoleBench;
use super::client::Client;

const FEEDS: usize = 300;
const TASKS: usize = 300;
const VALUES: usize = 1000;
/// Values that are set in one call.
const VALUES_AT_ONCE: usize = 500;
/// Offers of the loaded feed; every third has a mistake.
const OFFERS: usize = 2000;
const PATIENCE: Duration = Duration::from_secs(300);

/// The seller and the namespace of the loaded feed.
pub(super) const LOADED: (&str, &str) = ("seller-of-feeds-000", "main");

/// Creates everything through the public API.
pub(super) async fn make(args: &ConsoleBench, client: &mut Client) -> anyhow::Result<()> {
    for number in 0..FEEDS {
        let feed = json!({"seller": format!("seller-of-feeds-{number:03}"), "namespace": LOADED.1, "title": "All of the shop"});
        call(client, "torg.feeds.v1.FeedService/CreateFeed", &json!({ "feed": feed })).await?;
    }
    let upload = format!("/feeds/{}/{}/upload", LOADED.0, LOADED.1);
    let answer = client.post_as(&upload, "application/xml", &file()).await?;
    anyhow::ensure!(
        matches!(answer.status, 200..=202),
        "{upload}: {}",
        String::from_utf8_lossy(&answer.body)
    );
    let values: Vec<Value> = (0..VALUES)
        .map(|number| json!({"parameter": format!("table{number:04}.rows"), "value": {"number": number.to_string()}}))
        .collect();
    for changes in values.chunks(VALUES_AT_ONCE) {
        call(client, "torg.tasks.v1.CtlService/SetValues", &json!({ "changes": changes })).await?;
    }
    let files = json!([{"name": "tasks.yaml", "text": tasks()}]);
    call(
        client,
        "torg.tasks.v1.TaskService/ApplyTasks",
        &json!({"files": files, "reason": "to be looked at"}),
    )
    .await?;
    until_loaded(client).await?;
    args.say(&format!(
        "  beside them      {FEEDS} feeds, a load of {OFFERS} offers, {TASKS} tasks on {VALUES} values"
    ));
    Ok(())
}

async fn call(client: &mut Client, method: &str, body: &Value) -> anyhow::Result<Value> {
    let answer = client.post(&format!("/{method}"), &body.to_string()).await?;
    anyhow::ensure!(answer.status == 200, "{method}: {}", String::from_utf8_lossy(&answer.body));
    serde_json::from_slice(&answer.body).with_context(|| format!("{method}: the answer is no JSON"))
}

async fn until_loaded(client: &mut Client) -> anyhow::Result<()> {
    let (start, of) = (Instant::now(), json!({"seller": LOADED.0, "namespace": LOADED.1, "number": "1"}));
    loop {
        let answer = call(client, "torg.feeds.v1.FeedService/GetLoad", &of).await?;
        match answer["load"]["state"].as_str().unwrap_or_default() {
            "STATE_DONE" => return Ok(()),
            state => anyhow::ensure!(start.elapsed() < PATIENCE, "the load is still {state}: {answer}"),
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// A file with good offers, and offers without a price or a name.
fn file() -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<yml_catalog date=\"2026-11-01 10:00\"><shop><name>Own</name>\
        <currencies><currency id=\"EUR\" rate=\"1\"/></currencies><categories><category id=\"1\">City bicycles</category></categories><offers>"
        .to_owned();
    for number in 0..OFFERS {
        let price = if number % 6 == 0 { "much" } else { "150" };
        let name = if number % 6 == 3 { String::new() } else { format!("City bicycle {number}") };
        let _ = write!(
            text,
            "<offer id=\"b{number}\"><name>{name}</name><price>{price}</price><currencyId>EUR</currencyId><categoryId>1</categoryId></offer>"
        );
    }
    text + "</offers></shop></yml_catalog>"
}

/// Tasks that read one value and set another one. Each runs once, because its value is new to it;
/// then the tasks are idle.
fn tasks() -> String {
    let mut text = "tasks:\n".to_owned();
    for number in 0..TASKS {
        let (reads, sets) = (number, TASKS + number);
        let _ = write!(
            text,
            "  report{number:03}:\n    when: {{grew: {{of: table{reads:04}.rows, by: 1000000}}}}\n    run: \"true\"\n    sets: {{table{sets:04}.rows: table{reads:04}.rows}}\n    paused: {}\n",
            number % 10 == 9
        );
    }
    text
}
