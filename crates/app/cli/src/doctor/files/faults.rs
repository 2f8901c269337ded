//! Classifies object store errors and suggests a remedy.

use std::error::Error;
use std::io;

use photos::PhotoError;

use node::config::Config;

#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: Kind,
    pub(super) what: String,
}

/// The kind of failure, which decides the setting to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The server cannot be reached.
    Away,
    /// The server rejects the credentials, or no source of credentials is available.
    Refused,
    NoBucket,
    Other,
}

impl Fault {
    pub(super) fn silent() -> Fault {
        Fault { kind: Kind::Away, what: "it does not answer".to_owned() }
    }

    pub(super) fn other(what: &str) -> Fault {
        Fault { kind: Kind::Other, what: what.to_owned() }
    }

    pub(super) fn of(doing: &str, error: &object_store::Error) -> Fault {
        Fault { kind: kind_of(error), what: format!("{doing}: {}", innermost(error)) }
    }

    pub(super) fn of_opening(error: &PhotoError) -> Fault {
        Fault { kind: Kind::Other, what: format!("it cannot be opened: {error}") }
    }
}

fn kind_of(error: &object_store::Error) -> Kind {
    use object_store::Error as E;
    match error {
        E::NotFound { .. } => Kind::NoBucket,
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => Kind::Refused,
        other => {
            let texts: Vec<String> = causes(other).map(ToString::to_string).collect();
            let says = |words: &[&str]| texts.iter().any(|text| words.iter().any(|word| text.contains(word)));
            if says(&["NoSuchBucket", "404 Not Found"]) {
                Kind::NoBucket
            } else if says(&["401 Unauthorized", "403 Forbidden", "redential", "169.254.169.254"]) {
                Kind::Refused
            } else if causes(other).any(<dyn Error>::is::<io::Error>)
                || says(&["error sending request", "HTTP error", "dns error", "timed out"])
            {
                Kind::Away
            } else {
                Kind::Other
            }
        }
    }
}

fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| Error::source(*error))
}

/// The error text, followed by its innermost cause unless the text contains it.
fn innermost(error: &object_store::Error) -> String {
    let said = error.to_string();
    match causes(error).last().map(ToString::to_string) {
        Some(cause) if !said.contains(&cause) => format!("{said}: {cause}"),
        _ => said,
    }
}

pub(super) fn remedy_for(kind: Kind, config: &Config) -> String {
    if config.files.url.scheme() != "s3" {
        return "mend it, or give another place with files.url".to_owned();
    }
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    remedy_for_s3(kind, set)
}

fn remedy_for_s3(kind: Kind, set: impl Fn(&str) -> bool) -> String {
    match kind {
        Kind::Away if !set("AWS_ENDPOINT") && !set("AWS_ENDPOINT_URL") => {
            "AWS_ENDPOINT is not set in this shell, so Amazon itself is asked: set it as the process has it, or see whether this machine reaches the internet".to_owned()
        }
        Kind::Away => {
            "see whether the service at AWS_ENDPOINT runs and this machine reaches it; one without TLS needs AWS_ALLOW_HTTP=true".to_owned()
        }
        Kind::Refused => {
            let missing: Vec<&str> =
                ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].into_iter().filter(|name| !set(name)).collect();
            if missing.is_empty() {
                "see whether AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are right, and may read, write and delete in this bucket".to_owned()
            } else {
                format!("{}: not set in this shell; set it as the process has it", missing.join(" and "))
            }
        }
        Kind::NoBucket => {
            "make the bucket, or correct its name in files.url, or AWS_ENDPOINT and AWS_REGION".to_owned()
        }
        Kind::Other => "mend it, or give another place with files.url and the variables AWS_...".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_names_the_variable_that_is_missing() {
        let none = |_: &str| false;
        let all = |_: &str| true;
        assert!(
            remedy_for_s3(Kind::Refused, none)
                .starts_with("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: not set")
        );
        let without_secret = |name: &str| name != "AWS_SECRET_ACCESS_KEY";
        assert!(remedy_for_s3(Kind::Refused, without_secret).starts_with("AWS_SECRET_ACCESS_KEY: not set"));
        assert!(remedy_for_s3(Kind::Refused, all).contains("are right"));
        assert!(remedy_for_s3(Kind::Away, none).starts_with("AWS_ENDPOINT is not set"));
        assert!(remedy_for_s3(Kind::Away, all).contains("AWS_ALLOW_HTTP"));
        assert!(remedy_for_s3(Kind::NoBucket, all).starts_with("make the bucket"));
    }
}
