//! The id of a run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::limits::RUN_ID_BYTES_MAX;

/// The id of one attempt to run a task. It names the run's folder and is the idempotency key of
/// calls, so a new attempt needs a new id.
///
/// ASCII letters and digits, `-`, `_` and `.`, not beginning with a dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let what = if text.is_empty() {
            "it is empty"
        } else if text.len() > RUN_ID_BYTES_MAX {
            "it is longer than 128 bytes"
        } else if text.starts_with('.') {
            "it begins with a dot"
        } else if !text.bytes().all(allowed) {
            "only ASCII letters, digits, -, _ and dots are allowed"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(Error::RunId { text: text.chars().take(RUN_ID_BYTES_MAX).collect(), what })
    }
}

impl TryFrom<String> for RunId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_lead_out_of_the_folder_of_all_runs() {
        for text in ["", ".", "..", "../x", "a/b", ".hidden", "a b", "a\0b", "ä", &"x".repeat(129)] {
            assert!(text.parse::<RunId>().is_err(), "{text:?}");
        }
        for text in ["a", "sales-report.17_2", "0198c0de", &"x".repeat(128)] {
            assert_eq!(text.parse::<RunId>().unwrap().as_str(), text);
        }
    }
}
