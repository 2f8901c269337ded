//! The settings of stages.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// The enabled built-in stages (`docs/builtin-stages.md`). `photos` and `video` contact hosts
    /// on the internet.
    pub built_in: Vec<BuiltInStage>,
    /// A file that declares remote stages (`docs/stages.md`), in addition to those registered at
    /// run time. None by default.
    pub file: PathBuf,
}

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
