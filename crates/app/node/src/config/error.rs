//! Errors in a configuration, worded for the person who wrote it.

use std::borrow::Cow;

use super::load::Origin;

/// A configuration that cannot be used. The message is one line that names the place;
/// [`Error::hint`] says what to do.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The named file does not exist, is not readable, or is not UTF-8.
    #[error("cannot read {path}: {why}")]
    Unreadable { path: String, why: String },
    /// The file is not valid TOML.
    #[error("{path}:{line}: {why}")]
    Syntax { path: String, line: usize, why: String },
    /// The file has a key that this version does not know.
    #[error("{path}:{line}: unknown key \"{key}\"")]
    UnknownKey { path: String, line: usize, key: String, near: Option<String> },
    /// A known key has an invalid value.
    #[error("{place}: {key}: {why}", place = origin.place())]
    BadValue { origin: Origin, key: String, why: String },
    /// Two settings contradict each other.
    #[error("{key}: {why}")]
    Together { key: &'static str, why: Cow<'static, str> },
}

impl Error {
    pub fn hint(&self) -> String {
        match self {
            Error::Unreadable { .. } => {
                "name a file that exists and can be read, or leave --config out".to_owned()
            }
            Error::Syntax { .. } => {
                "see https://toml.io for the syntax; `torg config` prints a valid file".to_owned()
            }
            Error::UnknownKey { near: Some(near), .. } => format!("did you mean \"{near}\"?"),
            Error::UnknownKey { near: None, .. } => "`torg config` prints every key".to_owned(),
            Error::BadValue { key, .. } => {
                format!(
                    "`torg config` prints the keys with their defaults; {key} is also read from {}",
                    super::keys::variable(key)
                )
            }
            Error::Together { key, .. } => {
                format!("set {key} in the file or as {}", super::keys::variable(key))
            }
        }
    }
}
