//! Text that debug output hides.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Text that may be a secret: a password in a variable, a token in a header. Its debug form hides
/// it.
///
/// It is in the folder of a run, readable by Torg's user only, from the claim until a command has
/// been started or a call has ended.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(..)")
    }
}
