//! The file that declares outside stages.
//!
//! ```toml
//! [spam]
//! endpoints = ["http://127.0.0.1:7070"]
//! may_change = ["status", "status_reason"]
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use bridge::Outside;
use buffa_types::google::protobuf::FieldMask;
use contract::torg::stages::v1::OutsideStage;
use contract::torg::stages::v1::outside_stage::{Shadow, Tls};
use serde::Deserialize;

use crate::errors::advised;

/// One stage of the file, under its id.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    /// `http://host:port` or `https://host:port`.
    endpoints: Vec<String>,
    /// A file with the token that is sent.
    token_file: Option<PathBuf>,
    /// Authorities to trust instead of the system's, our certificate and its key, PEM.
    ca_file: Option<PathBuf>,
    cert_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
    server_name: Option<String>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    batch_max: u32,
    #[serde(default)]
    calls_max: u32,
    #[serde(default)]
    rate: f64,
    #[serde(default)]
    may_change: Vec<String>,
    #[serde(default)]
    interest: Vec<String>,
    background_share: Option<f64>,
    timer_share: Option<f64>,
    #[serde(default)]
    shadow_endpoints: Vec<String>,
    shadow_share: Option<f64>,
}

/// The stages of a file; none if it has no name.
pub(crate) fn read(file: &Path) -> anyhow::Result<Vec<Outside>> {
    if file.as_os_str().is_empty() {
        return Ok(Vec::new());
    }
    let shown = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read stages.file {shown}"))?;
    let stages: BTreeMap<String, Declared> = toml::from_str(&text)
        .map_err(|error| advised(format!("{shown}: {error}"), "mend it: docs/stages.md shows such a file"))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    stages.into_iter().map(|(id, declared)| outside(&shown.to_string(), folder, &id, declared)).collect()
}

fn outside(file: &str, folder: &Path, id: &str, declared: Declared) -> anyhow::Result<Outside> {
    let read = |path: &Option<PathBuf>| match path {
        None => Ok(String::new()),
        // As the file names it: beside the file, unless it says from the root.
        Some(path) => std::fs::read_to_string(folder.join(path))
            .with_context(|| format!("{file}: stage {id:?}: cannot read {}", path.display())),
    };
    let mask = |paths: &[String]| FieldMask { paths: paths.to_vec(), ..FieldMask::default() };
    let tls = Tls {
        ca_pem: read(&declared.ca_file)?,
        certificate_pem: read(&declared.cert_file)?,
        key_pem: read(&declared.key_file)?,
        server_name: declared.server_name.clone().unwrap_or_default(),
        ..Tls::default()
    };
    let shadow = (!declared.shadow_endpoints.is_empty()).then(|| Shadow {
        endpoints: declared.shadow_endpoints.clone(),
        share: declared.shadow_share,
        ..Shadow::default()
    });
    let stage = OutsideStage {
        id: id.to_owned(),
        token: read(&declared.token_file)?,
        tls: (tls != Tls::default()).then_some(tls).into(),
        timeout: declared.timeout_ms.map(|ms| Duration::from_millis(ms).into()).into(),
        batch_max: declared.batch_max,
        calls_max: declared.calls_max,
        rate: declared.rate,
        may_change: Some(mask(&declared.may_change)).into(),
        interest: Some(mask(&declared.interest)).into(),
        background_share: declared.background_share,
        timer_share: declared.timer_share,
        shadow: shadow.into(),
        endpoints: declared.endpoints,
        ..OutsideStage::default()
    };
    Outside::check(&stage).map_err(|wrong| {
        let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        advised(
            format!("{file}: stage {id:?}: {}", wrong.join("; ")),
            "mend it: docs/stages.md shows such a file",
        )
    })
}
