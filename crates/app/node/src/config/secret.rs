//! Configuration values that are masked in logs, errors and printed configurations.

use std::fmt;

use serde::{Deserialize, Serialize};
use store::masked_url;

const MASK: &str = "***";

/// A URL that may contain a password. Displayed with the password masked; [`Url::expose`] returns
/// it unmasked.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Url(String);

impl Url {
    /// The unmasked URL, for the code that connects.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The part before the first colon: `fjall`, `postgres`, `kafka`. The whole text if there is no
    /// colon.
    pub fn scheme(&self) -> &str {
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

/// A password or key. Displayed as `***`; [`Secret::expose`] returns it unmasked.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The secret, for the code that logs in.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Secret {
    fn from(secret: String) -> Secret {
        Secret(secret)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "" } else { MASK })
    }
}

/// The displayable form of a configured text, by the name of its key.
pub(super) fn masked(key: &str, value: &str) -> String {
    if key.ends_with("password") {
        return if value.is_empty() { String::new() } else { MASK.to_owned() };
    }
    if key.ends_with("url") { masked_url(value) } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_never_shown() {
        for (url, shown) in [
            ("fjall:./data/store", "fjall:./data/store"),
            ("postgres://host/db", "postgres://host/db"),
            ("postgres://torg:s3cret@host:5432/db", "postgres://torg:***@host:5432/db"),
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
