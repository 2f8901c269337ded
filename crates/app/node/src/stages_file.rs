//! Declarations of remote stages: the flags of `torg stages register`, or the file that
//! `stages.file` names.
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
use buffa_types::google::protobuf::FieldMask;
use clap::Args;
use remote_stages::StageSpec;
use serde::Deserialize;
use terminal::errors::advised;
use wire::torg::stages::v1::OutsideStage;
use wire::torg::stages::v1::outside_stage::{Shadow, Tls};

const HINT: &str = "mend it: docs/stages.md shows such a file";

/// Reads the stages of a file; none if the path is empty. `taken` are ids in use by other stages.
pub fn read(file: &Path, taken: &[&str]) -> anyhow::Result<Vec<StageSpec>> {
    if file.as_os_str().is_empty() {
        return Ok(Vec::new());
    }
    let shown = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read stages.file {shown}"))?;
    let stages: BTreeMap<String, Declaration> =
        toml::from_str(&text).map_err(|error| advised(format!("{shown}: {error}"), HINT))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let stage = |(id, declaration): (String, Declaration)| {
        outside(folder, &id, declaration, taken).with_context(|| format!("{shown}: stage {id:?}"))
    };
    stages.into_iter().map(stage).collect()
}

fn outside(folder: &Path, id: &str, declaration: Declaration, taken: &[&str]) -> anyhow::Result<StageSpec> {
    if taken.contains(&id) {
        return Err(advised("a built-in stage has this id", "choose another id"));
    }
    let stage = declaration.stage(id, folder)?;
    StageSpec::check(&stage).map_err(|wrong| {
        let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        advised(wrong.join("; "), HINT)
    })
}

/// One stage, without its id.
#[derive(Debug, Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// Where it is: http://host:port or https://host:port. May be given several times.
    #[arg(long = "endpoint", required = true, value_name = "URL")]
    endpoints: Vec<String>,
    /// A field that it may change: `title`, `attributes.colour`, `status`. May be given several
    /// times.
    #[arg(long, value_name = "FIELD")]
    #[serde(default)]
    may_change: Vec<String>,
    /// A field whose change it hears of, instead of what it asks for itself. May be given several
    /// times.
    #[arg(long, value_name = "FIELD")]
    #[serde(default)]
    interest: Vec<String>,
    /// A file with what is sent to it as a bearer token.
    #[arg(id = "stage_token_file", long = "stage-token-file", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Authorities to trust instead of the system's, PEM.
    #[arg(id = "stage_ca_file", long = "stage-ca-file", value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Our certificate, PEM, for a stage that asks for one.
    #[arg(
        id = "stage_cert_file",
        long = "stage-cert-file",
        value_name = "FILE",
        requires = "stage_key_file"
    )]
    cert_file: Option<PathBuf>,
    /// Its key, PEM.
    #[arg(id = "stage_key_file", long = "stage-key-file", value_name = "FILE", requires = "stage_cert_file")]
    key_file: Option<PathBuf>,
    /// The name in its certificate, if it is not that of its address.
    #[arg(id = "stage_server_name", long = "stage-server-name", value_name = "NAME")]
    server_name: Option<String>,
    /// How long one call may take.
    #[arg(long, value_name = "MS")]
    timeout_ms: Option<u64>,
    /// Offers in one call.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[serde(default)]
    batch_max: u32,
    /// Calls at the same time, of all processes together.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[serde(default)]
    calls_max: u32,
    /// Visits in a second, of all processes together.
    #[arg(long, value_name = "N", default_value_t = 0.0, hide_default_value = true)]
    #[serde(default)]
    rate: f64,
    /// The part of the visits that timers get beside fresh work.
    #[arg(long, value_name = "PART")]
    timer_share: Option<f64>,
    /// The part of the visits that the background gets beside fresh work.
    #[arg(long, value_name = "PART")]
    background_share: Option<f64>,
    /// Another version of it that is shown the same and only compared. May be given several times.
    #[arg(long = "shadow", value_name = "URL")]
    #[serde(default)]
    shadow_endpoints: Vec<String>,
    /// The part of the offers that the shadow sees.
    #[arg(long, value_name = "PART", requires = "shadow_endpoints")]
    shadow_share: Option<f64>,
}

impl Declaration {
    /// The stage with this id. Relative paths in the declaration are resolved against `folder`.
    pub fn stage(self, id: &str, folder: &Path) -> anyhow::Result<OutsideStage> {
        let read = |file: Option<&PathBuf>| match file.map(|file| folder.join(file)) {
            None => Ok(String::new()),
            Some(file) => std::fs::read_to_string(&file).map_err(|error| {
                advised(format!("cannot read {}: {error}", file.display()), "name a file that can be read")
            }),
        };
        let tls = Tls {
            ca_pem: read(self.ca_file.as_ref())?,
            certificate_pem: read(self.cert_file.as_ref())?,
            key_pem: read(self.key_file.as_ref())?,
            server_name: self.server_name.unwrap_or_default(),
            ..Tls::default()
        };
        let mask = |paths| Some(FieldMask { paths, ..FieldMask::default() }).into();
        let (endpoints, share) = (self.shadow_endpoints, self.shadow_share);
        let shadow = (!endpoints.is_empty()).then(|| Shadow { endpoints, share, ..Shadow::default() });
        Ok(OutsideStage {
            id: id.to_owned(),
            token: read(self.token_file.as_ref())?.trim().to_owned(),
            endpoints: self.endpoints,
            tls: (tls != Tls::default()).then_some(tls).into(),
            timeout: self.timeout_ms.map(|ms| Duration::from_millis(ms).into()).into(),
            batch_max: self.batch_max,
            calls_max: self.calls_max,
            rate: self.rate,
            may_change: mask(self.may_change),
            interest: mask(self.interest),
            timer_share: self.timer_share,
            background_share: self.background_share,
            shadow: shadow.into(),
            ..OutsideStage::default()
        })
    }
}
