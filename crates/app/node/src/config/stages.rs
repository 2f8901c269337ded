//! The settings of stages.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// Which of the built-in ones work (`docs/builtin-stages.md`). `photos` and `video` ask hosts
    /// of the internet.
    pub built_in: Vec<BuiltInStage>,
    /// A file that declares outside stages (`docs/stages.md`), beside those that are registered
    /// while Torg runs. None by default.
    pub file: PathBuf,
}

/// A stage that Torg brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BuiltInStage {
    Expiry,
    Evolution,
    Photos,
    PhotoOrder,
    Video,
    Price,
}

impl BuiltInStage {
    const ALL: [BuiltInStage; 6] = [
        BuiltInStage::Expiry,
        BuiltInStage::Evolution,
        BuiltInStage::Photos,
        BuiltInStage::PhotoOrder,
        BuiltInStage::Video,
        BuiltInStage::Price,
    ];
}

impl Default for Stages {
    fn default() -> Stages {
        Stages { built_in: BuiltInStage::ALL.to_vec(), file: PathBuf::new() }
    }
}
