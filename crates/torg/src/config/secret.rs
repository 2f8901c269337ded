//! Values that never show in a log, an error or `torg config`.

use std::fmt;

use serde::{Deserialize, Serialize};

const MASK: &str = "***";

/// A URL that may carry a password. Shown with the password masked; [`Url::expose`] gives it whole.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Url(String);

impl Url {
    /// The whole URL, for the code that connects.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// What stands before the first colon: `fjall`, `postgres`, `kafka`; the whole when there is none.
    pub(crate) fn scheme(&self) -> &str {
        self.0.split_once(':').map_or(self.0.as_str(), |(scheme, _)| scheme)
    }
}

impl From<&str> for Url {
    fn from(url: &str) -> Url {
        Url(url.to_owned())
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&masked_url(&self.0))
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", masked_url(&self.0))
    }
}

/// A password or key. Shown as `***`; [`Secret::expose`] gives it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(String);

impl Secret {
    /// The secret, for the code that logs in.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it was left out.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "" } else { MASK })
    }
}

/// A configured text as it may be shown, by the name of its key.
pub(super) fn masked(key: &str, value: &str) -> String {
    if key.ends_with("password") {
        return if value.is_empty() { String::new() } else { MASK.to_owned() };
    }
    if key.ends_with("url") { masked_url(value) } else { value.to_owned() }
}

/// Masks the password of the user part and every parameter that is named like a secret. In doubt it masks too much: a
/// password with an unescaped `/` or `@` must not slip through.
fn masked_url(url: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let mut shown = match base.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((user, host)) => {
                let user = user.split_once(':').map_or(user.to_owned(), |(name, _)| format!("{name}:{MASK}"));
                format!("{scheme}://{user}@{host}")
            }
            None => base.to_owned(),
        },
        None => base.to_owned(),
    };
    if let Some(query) = query {
        let parameters: Vec<String> = query
            .split('&')
            .map(|parameter| match parameter.split_once('=') {
                Some((name, _)) if names_a_secret(name) => format!("{name}={MASK}"),
                _ => parameter.to_owned(),
            })
            .collect();
        shown = format!("{shown}?{}", parameters.join("&"));
    }
    shown
}

fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["password", "secret", "token"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_urls_are_masked_wherever_they_stand() {
        for (url, shown) in [
            ("fjall:./data/store", "fjall:./data/store"),
            ("postgres://host/db", "postgres://host/db"),
            ("postgres://torg@host/db", "postgres://torg@host/db"),
            ("postgres://torg:s3cret@host:5432/db", "postgres://torg:***@host:5432/db"),
            ("postgres://torg:a/b@c:d@host/db", "postgres://torg:***@host/db"),
            (
                "postgres://host/db?user=x&password=y&sslmode=require",
                "postgres://host/db?user=x&password=***&sslmode=require",
            ),
        ] {
            assert_eq!(Url::from(url).to_string(), shown);
            assert_eq!(format!("{:?}", Url::from(url)), format!("{shown:?}"));
        }
        assert_eq!(format!("{:?}", Secret("s3cret".to_owned())), "***");
    }
}
