//! Valid requests for every method.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The objects that requests refer to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Things {
    pub(crate) offer: String,
    pub(crate) draft: String,
    pub(crate) page_token: String,
    pub(crate) history_token: String,
    pub(crate) resume_token: String,
}

/// A valid offer.
pub(crate) fn car(seller: &str) -> Value {
    let attributes = [
        ("car-make", "bmw"),
        ("vehicle-model", "320i"),
        ("year", "2019"),
        ("mileage", "64000"),
        ("body", "sedan"),
        ("fuel", "petrol"),
        ("gearbox", "automatic"),
    ];
    let attributes: BTreeMap<&str, Value> =
        attributes.into_iter().map(|(name, value)| (name, json!({"values": [value]}))).collect();
    json!({
        "seller": seller, "category": "transport/cars", "title": "BMW 320i", "condition": "CONDITION_USED",
        "price": {"fixed": {"micros": "18500000000", "currency": "EUR"}}, "attributes": attributes,
        "description": "runs", "photos": [{"sourceUrl": "https://example.com/1.jpg"}],
        "place": {"address": "Berlin", "coordinates": {"latitude": 52.5, "longitude": 13.4}},
        "contacts": {"name": "Ann", "phones": ["+49 30 123456"], "email": "ann@example.com"},
    })
}

/// A valid request; it is served, or fails only because of the state of its object.
pub(crate) fn request(path: &str, it: &Things) -> Value {
    let owner = json!({"seller": "ann", "anonymous": "visitor-0123456789abcdef"});
    let time = "2026-01-01T00:00:00Z";
    match path.rsplit('/').next().unwrap_or_default() {
        "CreateOffer" => json!({"offer": car("ann")}),
        "GetOffer" => json!({"id": it.offer, "readMask": "title,price.fixed.micros"}),
        "BatchGetOffers" => json!({"ids": [it.offer, "4829175033168090"], "readMask": "title"}),
        "UpdateOffer" => json!({"offer": {"id": it.offer, "title": "BMW 325i"}, "updateMask": "title"}),
        "MoveOffer" => json!({
            "id": it.offer, "to": "STATUS_SOLD", "reasonCode": "why", "reasonText": "so",
            "paid": {"micros": "5", "currency": "EUR"},
        }),
        "GetHistory" => json!({"id": it.offer, "pageSize": 1, "pageToken": it.history_token}),
        "ExplainOffer" | "GetBilling" | "GetModeration" => json!({"id": it.offer}),
        "WatchOffers" => json!({"seller": "ann", "resumeToken": it.resume_token}),
        "SetBilling" => {
            json!({"id": it.offer, "billing": {"tariff": "gold", "promotedUntil": {"top": time}, "notes": {"a": "b"}}})
        }
        "OpenDraft" => json!({"owner": owner, "category": "transport/cars"}),
        "UpdateDraft" => {
            json!({"owner": owner, "draft": {"id": it.draft, "offer": car("")}, "updateMask": "title,place"})
        }
        "PublishDraft" | "DeleteDraft" => json!({"owner": owner, "id": it.draft}),
        "ListOffers" => json!({
            "seller": "ann", "preset": "PRESET_ALL", "pageSize": 1, "pageToken": it.page_token,
            "filter": {"category": "transport", "source": "manual", "titlePrefix": "bm", "priceFrom": {"currency": "EUR"}},
        }),
        "GetCounts" | "GetCounters" | "RepairCounts" => json!({"seller": "ann"}),
        "GiveOpinion" => {
            json!({"opinion": {"offer": it.offer, "verdict": "VERDICT_ALLOW", "time": time, "reasons": [{"code": "fine"}]}})
        }
        "CreateTopic" => json!({"topic": {"name": "fuzz", "partitionCount": 2, "retentionMs": "60000"}}),
        "AppendMessages" => {
            json!({"topic": "fuzz", "messages": [{"key": "aw==", "payload": "cA==", "time": time, "headers": [{"name": "n", "value": "dg=="}]}]})
        }
        "ReadMessages" => json!({"topic": "fuzz", "limit": 10}),
        "CreateKey" => json!({"name": "fuzz", "roles": ["support"], "lifetimeS": "60"}),
        "RevokeKey" => json!({"id": "00000000"}),
        "CreateFeed" => json!({"feed": feed("fuzz")}),
        "UpdateFeed" => json!({"feed": feed("fuzz"), "updateMask": "title,link,defaults", "version": "1"}),
        "DeleteFeed" => json!({"seller": "ann", "namespace": "fuzz", "offers": "MISSING_MAKE_MANUAL"}),
        "GetFeed" | "FetchNow" | "ListLoads" => json!({"seller": "ann", "namespace": "fuzz"}),
        "GetLoad" | "ConfirmLoad" => json!({"seller": "ann", "namespace": "fuzz", "number": "1"}),
        "ListProblems" if path.contains(".admin.") => json!({}),
        "GetFigures" => json!({"prefix": "stage_", "back": "60s", "pointsMax": 5}),
        "ListActions" => json!({"about": "expiry", "pageSize": 2}),
        "SetStageLimits" => json!({"id": "expiry", "rate": 1000, "callsMax": 4, "batchMax": 4}),
        "ListProblems" => json!({
            "seller": "ann", "namespace": "fuzz", "number": "1", "codes": ["bad_price"], "severity": "SEVERITY_ERROR",
            "externalId": "1", "pageSize": 5, "language": "ru",
        }),
        "SummarizeProblems" => json!({"seller": "ann", "namespace": "fuzz", "number": "1", "language": "en"}),
        "ListFeeds" | "ListMappings" => json!({"seller": "ann", "pageSize": 5}),
        "SetMapping" => json!({"seller": "ann", "path": ["Sofas", "Corner"], "category": "transport/cars"}),
        "GetValues" => json!({"parameters": ["fuzz.rows", "dwh/fuzz.loaded_to"]}),
        "ListValues" => json!({"prefix": "fuzz.", "pageSize": 1}),
        "SetValues" => json!({"reason": "why", "changes": [
            {"parameter": "fuzz.rows", "value": {"number": "5"}, "mayMoveBack": true, "evenIfSame": true},
            {"parameter": "dwh/fuzz.loaded_to", "value": {"time": time}, "mayMoveBack": true},
            {"parameter": "fuzz.gone", "delete": true, "expectedVersion": "0"},
        ]}),
        "ListHistory" => json!({"parameter": "fuzz.rows", "pageSize": 1}),
        "WatchValues" => json!({"parameters": ["fuzz.rows"]}),
        "ListTasks" => {
            json!({"prefix": "fuzz", "standing": ["STANDING_IDLE", "STANDING_GONE"], "pageSize": 1})
        }
        "ExplainTask" => json!({"task": "fuzz"}),
        "ListEvents" | "ListRuns" => json!({"task": "fuzz", "pageSize": 2, "before": "3"}),
        "ReadLog" => json!({"task": "fuzz", "run": "1", "offset": "5"}),
        "RunTask" => json!({"task": "fuzz", "record": true, "reason": "why"}),
        "PauseTask" | "ResumeTask" | "CancelTask" | "KillRun" | "ResumeBackfill" | "CancelBackfill" => {
            json!({"task": "fuzz", "reason": "why"})
        }
        "SetRemembered" => {
            json!({"task": "fuzz", "parameter": "fuzz.loaded_to", "value": {"time": time}, "reason": "why"})
        }
        "DeleteRemembered" => json!({"task": "fuzz", "parameter": "fuzz.loaded_to", "reason": "why"}),
        "StartBackfill" => json!({
            "task": "fuzz", "from": time, "toDay": "2026-01-03", "scale": "day", "limit": 2, "record": true, "reason": "why",
        }),
        // No mutation of this request runs a command.
        "ApplyTasks" => {
            let text =
                "tasks: {fuzz: {when: {new_day: fuzz.loaded_to}, run: {http: \"http://127.0.0.1:1/\"}}}";
            json!({"files": [{"name": "fuzz.yaml", "text": text}], "reason": "why", "dryRun": false})
        }
        _ => json!({}),
    }
}

/// A feed that is never fetched.
fn feed(namespace: &str) -> Value {
    let link = json!({"url": "https://feeds.example/a.xml", "user": "u", "password": "p", "period": "3600s"});
    let defaults = json!({"currency": "EUR", "country": "DE", "place": {"address": "Berlin"}});
    json!({
        "seller": "ann", "namespace": namespace, "title": "Fuzz", "link": link, "paused": true,
        "missing": "MISSING_REMOVE", "guard": {"share": 0.5, "least": 20}, "defaults": defaults,
    })
}
