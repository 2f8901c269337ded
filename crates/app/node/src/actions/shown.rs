//! What is stored of a request and of its error: no secrets, no restricted contents, bounded
//! length.

use serde_json::Value;

use super::limits::{ABOUT_BYTES_MAX, ENTRIES_MAX, ERROR_CHARS_MAX, REQUEST_CHARS_MAX, TEXT_CHARS_MAX};

/// Replaces a secret.
const MASK: &str = "***";
/// Names of fields that hold secrets, in lower-case letters and digits. Names that end with one of
/// them match too. The id of an anonymous visitor is a secret: it grants access to the visitor's
/// draft.
const SECRETS: &[&str] = &[
    "token",
    "password",
    "passwd",
    "pwd",
    "secret",
    "keypem",
    "privatekey",
    "apikey",
    "authorization",
    "credentials",
    "cookie",
    "anonymous",
];

const TASKS: &str = "torg.tasks.v1.TaskService";
const TOPICS: &str = "torg.topics.v1.TopicService";
const STATES: &str = "torg.stages.v1.StateService";

/// The request of a method (`package.Service/Method`) in its recorded form.
pub(crate) fn request(method: &str, mut request: Value) -> String {
    hide_contents(service(method), &mut request);
    clean(&mut request, "");
    text::shortened(&request.to_string(), REQUEST_CHARS_MAX)
}

/// An error text in its recorded form. Errors about contents quote them after the first line, so
/// only that line is kept.
pub(crate) fn error(method: &str, text: &str) -> String {
    let has_contents = [TASKS, TOPICS, STATES].contains(&service(method));
    let text = if has_contents { text.lines().next().unwrap_or_default() } else { text };
    text::shortened(&without_passwords(text), ERROR_CHARS_MAX)
}

fn service(method: &str) -> &str {
    method.split('/').next().unwrap_or_default()
}

/// Replaces contents by their sizes where fewer people may read them than the audit log: task
/// files, messages, and the states of stages.
fn hide_contents(service: &str, request: &mut Value) {
    match service {
        TASKS => {
            for file in entries(request, "files") {
                file.get_mut("text").into_iter().for_each(|text| hide(text, str::len));
            }
        }
        TOPICS => {
            for message in entries(request, "messages") {
                for header in entries(message, "headers") {
                    header.get_mut("value").into_iter().for_each(|value| hide(value, bytes_in));
                }
                for part in ["key", "payload"] {
                    message.get_mut(part).into_iter().for_each(|part| hide(part, bytes_in));
                }
            }
        }
        STATES => request.get_mut("state").into_iter().for_each(|state| hide(state, str::len)),
        _ => {}
    }
}

fn entries<'v>(value: &'v mut Value, list: &str) -> impl Iterator<Item = &'v mut Value> {
    value.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

fn hide(value: &mut Value, size: fn(&str) -> usize) {
    let bytes = value.as_str().map_or_else(|| value.to_string().len(), size);
    *value = Value::String(format!("({bytes} bytes)"));
}

/// The decoded length of a base64 text.
fn bytes_in(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

/// Masks secrets and shortens long values.
fn clean(value: &mut Value, name: &str) {
    match value {
        Value::String(text) if is_secret(name) && !text.is_empty() => MASK.clone_into(text),
        Value::String(text) => *text = text::shortened(&without_passwords(text), TEXT_CHARS_MAX),
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
    let name: String =
        name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    SECRETS.iter().any(|secret| name.ends_with(secret))
}

/// Masks passwords in URLs: `https://ann:***@host/`. A user without a password may be a token and
/// is masked too.
fn without_passwords(text: &str) -> String {
    let (mut clean, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, address)) = rest.split_once("://") {
        clean.extend([before, "://"]);
        let is_end = |letter: char| matches!(letter, '/' | '?' | '#') || letter.is_whitespace();
        let (authority, path) = address.split_at(address.find(is_end).unwrap_or(address.len()));
        match authority.rsplit_once('@') {
            None => clean.push_str(authority),
            Some((user, host)) => {
                let name = user.split_once(':').map(|(name, _)| [name, ":"]).unwrap_or_default();
                clean.extend(name.into_iter().chain([MASK, "@", host]));
            }
        }
        rest = path;
    }
    clean + rest
}

/// The object of a request, if it has exactly one: a stage, a task, a feed (`seller/namespace`), an
/// offer or a seller.
pub(crate) fn about(method: &str, request: &Value) -> String {
    let at = |path: &str| request.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let first = |paths: &[&str]| paths.iter().map(|path| at(path)).find(|text| !text.is_empty());
    let about = match service(method) {
        "torg.feeds.v1.FeedService" => {
            let (seller, namespace) =
                (first(&["/seller", "/feed/seller"]), first(&["/namespace", "/feed/namespace"]));
            // A category mapping holds for all feeds of the seller.
            let of_all = method.ends_with("/SetMapping");
            return seller.map_or_else(String::new, |seller| match namespace.unwrap_or("default") {
                _ if of_all => key(seller),
                namespace => key(&format!("{seller}/{namespace}")),
            });
        }
        "torg.stages.v1.StageAdminService" => first(&["/id", "/stage/id"]),
        TASKS => first(&["/task"]),
        "torg.tasks.v1.CtlService" => {
            let changes = request.pointer("/changes").and_then(Value::as_array);
            let is_one = changes.is_some_and(|changes| changes.len() == 1);
            first(&["/changes/0/parameter"]).filter(|_| is_one)
        }
        "torg.access.v1.KeyService" => first(&["/id", "/name"]),
        TOPICS => first(&["/topic/name", "/topic"]),
        _ => first(&["/id", "/offer/id", "/draft/id", "/opinion/offer", "/seller", "/owner/seller"]),
    };
    about.map(key).unwrap_or_default()
}

/// The text if it fits into a row key, else an empty one.
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
        let kept = request(
            "torg.stages.v1.StageAdminService/RegisterStage",
            json!({
                "stage": {
                    "id": "price", "token": "s3cret", "endpoints": ["https://ann:pw@host:1/x"],
                    "tls": {"keyPem": "-----BEGIN", "caPem": "open"},
                },
                "feed": {"link": {"url": "https://h/feed.xml", "user": "ann", "password": "s3cret"}},
                "owner": {"anonymous": "s3cret", "seller": "ann"}, "tokens": "counted", "token": "", "key_pem": ["s3cret", "s3cret"],
                "apiKey": "s3cret", "x-api-key": "s3cret", "PASSWD": "s3cret", "db_pwd": "s3cret", "set-cookie": "s3cret",
            }),
        );
        assert!(!kept.contains("s3cret") && !kept.contains("pw@") && !kept.contains("BEGIN"), "{kept}");
        let read: Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(read["stage"]["endpoints"][0], "https://ann:***@host:1/x");
        assert_eq!(read["stage"]["tls"], json!({"keyPem": "***", "caPem": "open"}));
        assert_eq!((&read["feed"]["link"]["user"], &read["token"]), (&json!("ann"), &json!("")));
        assert_eq!((&read["tokens"], &read["key_pem"]), (&json!("counted"), &json!(["***", "***"])));
    }

    #[test]
    fn long_requests_are_cut_text_by_text_so_that_they_can_still_be_read() {
        let kept =
            request("a.B/C", json!({"texts": vec![json!({"text": "я".repeat(5000)}); 5], "n": vec![1; 100]}));
        let read: Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(read["texts"][0]["text"].as_str().unwrap().chars().count(), TEXT_CHARS_MAX + 1);
        assert_eq!(read["n"][ENTRIES_MAX], "and 80 more");
        let endless = json!(
            (0..20).map(|n| (n.to_string(), json!("x".repeat(300)))).collect::<serde_json::Map<_, _>>()
        );
        assert_eq!(request("a.B/C", endless).chars().count(), REQUEST_CHARS_MAX + 1);
    }

    #[test]
    fn of_task_files_messages_and_states_only_sizes_are_kept() {
        let kept = |method: &str, value: Value| -> Value {
            serde_json::from_str(&request(&format!("torg.{method}"), value)).unwrap()
        };
        let files = json!({"files": [{"name": "a.yaml", "text": "Bearer s3cret"}], "reason": "why"});
        assert_eq!(
            kept("tasks.v1.TaskService/ApplyTasks", files),
            json!({"files": [{"name": "a.yaml", "text": "(13 bytes)"}], "reason": "why"})
        );
        let header = json!({"name": "kind", "value": "YWI="});
        let message = json!({"key": "YQ==", "payload": "YWJj", "headers": [header]});
        let hidden = json!({"name": "kind", "value": "(2 bytes)"});
        assert_eq!(
            kept("topics.v1.TopicService/AppendMessages", json!({"topic": "t", "messages": [message]})),
            json!({"topic": "t", "messages": [{"key": "(1 bytes)", "payload": "(3 bytes)", "headers": [hidden]}]})
        );
        assert_eq!(
            kept("stages.v1.StateService/SetState", json!({"id": "7", "state": {"x": 1}})),
            json!({"id": "7", "state": "(7 bytes)"})
        );
        let odd = json!({"files": "text", "messages": {"payload": "x"}});
        assert_eq!(kept("tasks.v1.TaskService/ApplyTasks", odd.clone()), odd);
        // An error about a file quotes the wrong line.
        let quotes = "files[0].text: error[syntax]: no YAML\n --> a.yaml:1:3\n  | Bearer s3cret";
        let told = error("torg.tasks.v1.TaskService/ApplyTasks", quotes);
        assert_eq!(told, "files[0].text: error[syntax]: no YAML");
    }

    #[test]
    fn every_address_in_a_text_loses_its_password() {
        let clean = without_passwords("a://u:p@h/x@y, b://no:1/, c://u:p@h,v:p@i/d?e=f://token@g\tand z@z");
        assert_eq!(clean, "a://u:***@h/x@y, b://no:1/, c://u:***@i/d?e=f://***@g\tand z@z");
        let text = "cannot fetch https://ann:s3cret@h/f.xml: see https://bob:s3cret@h/";
        assert!(!error("a.B/C", text).contains("s3cret"), "{}", error("a.B/C", text));
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
        assert_eq!(of("feeds.v1.FeedService/SetMapping", json!({"seller": "ann", "path": ["A"]})), "ann");
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
        assert_eq!(of("topics.v1.TopicService", json!({"topic": {"name": "prices"}})), "prices");
        assert_eq!(of("topics.v1.TopicService", json!({"topic": "prices", "messages": []})), "prices");
    }
}
