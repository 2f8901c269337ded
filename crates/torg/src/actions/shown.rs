//! What is kept of a request: JSON without secrets, and not too long.

use serde_json::Value;

use super::limits::{ABOUT_BYTES_MAX, ENTRIES_MAX, REQUEST_CHARS_MAX, TEXT_CHARS_MAX};

/// What stands instead of a secret.
const MASK: &str = "***";
/// Names of fields that hold secrets, in small letters and without `_`; also those that end so. Whoever knows what an anonymous visitor is known by owns their draft.
const SECRETS: &[&str] =
    &["token", "password", "secret", "keypem", "privatekey", "authorization", "credentials", "anonymous"];

/// The request as it is kept.
pub(crate) fn request(mut request: Value) -> String {
    clean(&mut request, "");
    cut(&request.to_string(), REQUEST_CHARS_MAX)
}

/// Masks secrets, and cuts what is long.
fn clean(value: &mut Value, name: &str) {
    match value {
        Value::String(text) if is_secret(name) && !text.is_empty() => MASK.clone_into(text),
        Value::String(text) => *text = cut(&without_password(text), TEXT_CHARS_MAX),
        Value::Array(entries) => {
            let left = entries.len().saturating_sub(ENTRIES_MAX);
            entries.truncate(ENTRIES_MAX);
            for entry in entries.iter_mut() {
                clean(entry, name);
            }
            if left > 0 {
                entries.push(Value::String(format!("and {left} more")));
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                clean(value, name);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_secret(name: &str) -> bool {
    let name: String = name.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect();
    SECRETS.iter().any(|secret| name.ends_with(secret))
}

/// An address without the password in it: `https://ann:***@host/`.
fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#', ' ']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let Some((user, host)) = authority.rsplit_once('@') else { return text.to_owned() };
    let user = user.split(':').next().unwrap_or_default();
    format!("{scheme}://{user}:{MASK}@{host}{path}")
}

/// The beginning of a text.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    text.chars().take(chars_max).chain(['…']).collect()
}

/// What a request is about, if it is about one thing: a stage, a task, a feed (`seller/namespace`), an offer.
pub(crate) fn about(service: &str, request: &Value) -> String {
    let at = |path: &str| request.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let first = |paths: &[&str]| paths.iter().map(|path| at(path)).find(|text| !text.is_empty());
    let about = match service {
        "torg.feeds.v1.FeedService" => {
            let (seller, namespace) =
                (first(&["/seller", "/feed/seller"]), first(&["/namespace", "/feed/namespace"]));
            return seller.map_or_else(String::new, |seller| {
                key(&format!("{seller}/{}", namespace.unwrap_or("default")))
            });
        }
        "torg.stages.v1.StageAdminService" => first(&["/id", "/stage/id"]),
        "torg.tasks.v1.TaskService" => first(&["/task"]),
        "torg.tasks.v1.CtlService" => {
            let changes = request.pointer("/changes").and_then(Value::as_array);
            let is_one = changes.is_some_and(|changes| changes.len() == 1);
            first(&["/changes/0/parameter"]).filter(|_| is_one)
        }
        "torg.access.v1.KeyService" => first(&["/id", "/name"]),
        "torg.topics.v1.TopicService" => first(&["/topic/name"]),
        _ => first(&["/id", "/offer/id", "/draft/id", "/opinion/offer", "/seller", "/owner/seller"]),
    };
    about.map(key).unwrap_or_default()
}

/// What can stand in the key of a row; something longer is about nothing.
fn key(about: &str) -> String {
    let fits = about.len() <= ABOUT_BYTES_MAX && !about.chars().any(char::is_control);
    if fits { about.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_secret_is_kept_wherever_it_stands() {
        let kept = request(json!({
            "stage": {
                "id": "price", "token": "s3cret", "endpoints": ["https://ann:pw@host:1/x"],
                "tls": {"keyPem": "-----BEGIN", "caPem": "open"},
            },
            "feed": {"link": {"url": "https://h/feed.xml", "user": "ann", "password": "s3cret"}},
            "owner": {"anonymous": "s3cret", "seller": "ann"}, "tokens": "counted", "token": "", "key_pem": ["s3cret", "s3cret"],
        }));
        assert!(!kept.contains("s3cret") && !kept.contains("pw@") && !kept.contains("BEGIN"), "{kept}");
        let read: Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(read["stage"]["endpoints"][0], "https://ann:***@host:1/x");
        assert_eq!(read["stage"]["tls"], json!({"keyPem": "***", "caPem": "open"}));
        assert_eq!((&read["feed"]["link"]["user"], &read["token"]), (&json!("ann"), &json!("")));
        assert_eq!((&read["tokens"], &read["key_pem"]), (&json!("counted"), &json!(["***", "***"])));
    }

    #[test]
    fn long_requests_are_cut_text_by_text_so_that_they_can_still_be_read() {
        let kept = request(json!({"files": vec![json!({"text": "я".repeat(5000)}); 5], "n": vec![1; 100]}));
        let read: Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(read["files"][0]["text"].as_str().unwrap().chars().count(), TEXT_CHARS_MAX + 1);
        assert_eq!(read["n"][ENTRIES_MAX], "and 80 more");
        let endless = json!(
            (0..20).map(|n| (n.to_string(), json!("x".repeat(300)))).collect::<serde_json::Map<_, _>>()
        );
        assert_eq!(request(endless).chars().count(), REQUEST_CHARS_MAX + 1);
    }

    #[test]
    fn an_action_is_about_a_stage_a_task_a_feed_or_an_offer() {
        let of = |service: &str, request: Value| about(&format!("torg.{service}"), &request);
        assert_eq!(of("stages.v1.StageAdminService", json!({"id": "price"})), "price");
        assert_eq!(of("stages.v1.StageAdminService", json!({"stage": {"id": "price"}})), "price");
        assert_eq!(of("tasks.v1.TaskService", json!({"task": "sales"})), "sales");
        assert_eq!(of("feeds.v1.FeedService", json!({"seller": "ann"})), "ann/default");
        let feed = json!({"feed": {"seller": "ann", "namespace": "cars"}});
        assert_eq!(of("feeds.v1.FeedService", feed), "ann/cars");
        assert_eq!(of("offers.v1.ModerationService", json!({"opinion": {"offer": "17"}})), "17");
        assert_eq!(
            of("offers.v1.DraftService", json!({"owner": {"seller": "ann"}, "draft": {"id": "9"}})),
            "9"
        );
        assert_eq!(of("offers.v1.DraftService", json!({"owner": {"seller": "ann"}})), "ann");
        let one = json!({"changes": [{"parameter": "a:b"}]});
        assert_eq!(of("tasks.v1.CtlService", one), "a:b");
        assert_eq!(
            of("tasks.v1.CtlService", json!({"changes": [{"parameter": "a"}, {"parameter": "b"}]})),
            ""
        );
        assert_eq!(of("stages.v1.StageAdminService", json!({"id": "x".repeat(1000)})), "");
        assert_eq!(of("stages.v1.StageAdminService", json!({"id": 5})), "");
    }
}
