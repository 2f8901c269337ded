//! The history has every version until the offer left, by the same author and at the same time as
//! the topic, with the fields in which it differs from the one before.

use std::collections::BTreeMap;

use offers::{OfferId, time};
use serde_json::{Map, Value};
use wire::torg::offers::v1::{HistoryEntry, Offer};

use crate::model::evidence::{Evidence, Version};
use crate::model::market::Market;
use crate::model::rules::Who;

/// Entries on a page.
const PAGE: usize = 5;
/// Fields that every change sets, or that are not in the history.
const ASIDE: [&str; 4] = ["id", "createTime", "updateTime", "version"];

pub(crate) async fn check(market: &Market, evidence: &Evidence) {
    for (id, versions) in &evidence.versions {
        let entries = entries(market, *id).await;
        let told: Vec<&Version> = versions.iter().filter(|version| !version.leaves).collect();
        let numbers: Vec<u64> = entries.iter().rev().map(|entry| entry.version).collect();
        assert_eq!(numbers, (1..=told.len() as u64).collect::<Vec<_>>(), "history: versions of {id}");
        let (mut before, mut told_ms) = (Offer::default(), 0);
        for (version, entry) in told.into_iter().zip(entries.iter().rev()) {
            let at = format!("history: {id} v{}", version.number);
            let author = entry.author.as_option().unwrap();
            let kind = format!("{:?}", author.kind.as_known().unwrap()).to_lowercase().replace("kind_", "");
            assert_eq!((Who::named(&kind), &author.name), (version.by, &version.name), "{at}: author");
            // In the topic, the times of an offer grow.
            told_ms = time::to_ms(entry.time.as_option().unwrap()).max(told_ms + 1);
            assert_eq!(version.time_ms, told_ms, "{at}: time");
            let changes = changes(&before, &version.offer);
            assert_eq!(noted(entry), changes, "{at}: changes");
            let fields = if version.number == 1 { "*".to_owned() } else { names(&changes) };
            assert_eq!(sorted(&version.changed), sorted(&fields), "{at}: fields in the topic");
            before = version.offer.clone();
        }
    }
}

async fn entries(market: &Market, id: OfferId) -> Vec<HistoryEntry> {
    let (mut entries, mut before) = (Vec::new(), None);
    loop {
        let (page, next) = market.offers.history(id, before, PAGE).await.unwrap();
        entries.extend(page);
        before = next;
        if before.is_none() {
            return entries;
        }
    }
}

/// By field, both values as JSON.
type Changes = BTreeMap<String, (Option<Value>, Option<Value>)>;

/// In what two offers differ as JSON.
fn changes(before: &Offer, after: &Offer) -> Changes {
    let (before, after) = (fields(before), fields(after));
    let names = before.keys().chain(after.keys());
    let change = |name: &String| (snake_case(name), (before.get(name).cloned(), after.get(name).cloned()));
    names.filter(|name| before.get(*name) != after.get(*name)).map(change).collect()
}

fn fields(offer: &Offer) -> Map<String, Value> {
    let Value::Object(mut fields) = serde_json::to_value(offer).unwrap() else { panic!("{offer:?}") };
    fields.retain(|name, value| !ASIDE.contains(&&**name) && !value.is_null());
    fields
}

fn noted(entry: &HistoryEntry) -> Changes {
    let value = |text: &Option<String>| text.as_ref().map(|text| serde_json::from_str(text).unwrap());
    entry
        .changes
        .iter()
        .map(|change| (change.field.clone(), (value(&change.before), value(&change.after))))
        .collect()
}

fn names(changes: &Changes) -> String {
    changes.keys().cloned().collect::<Vec<_>>().join(",")
}

fn sorted(fields: &str) -> Vec<&str> {
    let mut fields: Vec<&str> = fields.split(',').collect();
    fields.sort_unstable();
    fields
}

fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |name, letter| {
        if letter.is_uppercase() {
            name + "_" + &letter.to_lowercase().to_string()
        } else {
            name + &letter.to_string()
        }
    })
}
