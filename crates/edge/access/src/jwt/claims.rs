//! The claims of a token with a valid signature.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{not_begun, over};
use crate::caller::{Caller, Proof, is_seller_id};
use crate::config::Config;
use crate::error::Refusal;
use crate::limits::SUBJECT_BYTES_MAX;
use crate::role::{Role, Roles};
use crate::time::Time;

/// The required claims, and where roles and seller are.
#[derive(Clone, Debug)]
pub(crate) struct ClaimRules {
    issuer: String,
    audience: String,
    roles_claim: String,
    seller_claim: String,
    leeway: Duration,
}

impl ClaimRules {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            issuer: config.issuer.clone(),
            audience: config.audience.clone(),
            roles_claim: config.roles_claim.clone(),
            seller_claim: config.seller_claim.clone(),
            leeway: Duration::from_secs(config.leeway_s.into()),
        }
    }

    /// The caller, if the claims are valid now.
    pub(super) fn caller(&self, payload: &[u8], now: Time) -> Result<Caller, Refusal> {
        let claims: Map<String, Value> = serde_json::from_slice(payload)
            .map_err(|_| Refusal::Malformed { what: "the claims are no JSON object" })?;
        self.judge_time(&claims, now)?;
        let issuer = self.judge_issuer(&claims)?;
        self.judge_audience(&claims)?;
        Ok(Caller {
            subject: subject(&claims)?,
            seller: self.seller(&claims)?,
            anonymous: None,
            roles: self.roles(&claims)?,
            proof: Proof::Token { issuer },
        })
    }

    fn judge_time(&self, claims: &Map<String, Value>, now: Time) -> Result<(), Refusal> {
        let expires = moment(claims, "exp")?.ok_or_else(|| bad("exp", "absent"))?;
        if over(expires, self.leeway, now) {
            return Err(Refusal::Expired { at: expires });
        }
        match moment(claims, "nbf")? {
            Some(begins) if not_begun(begins, self.leeway, now) => Err(Refusal::NotYetValid { at: begins }),
            _ => Ok(()),
        }
    }

    fn judge_issuer(&self, claims: &Map<String, Value>) -> Result<String, Refusal> {
        let issuer = match claims.get("iss") {
            None => String::new(),
            Some(Value::String(issuer)) => issuer.clone(),
            Some(_) => return Err(bad("iss", "no text")),
        };
        let right = self.issuer.is_empty() || issuer == self.issuer;
        if right { Ok(issuer) } else { Err(Refusal::WrongIssuer { issuer }) }
    }

    fn judge_audience(&self, claims: &Map<String, Value>) -> Result<(), Refusal> {
        if self.audience.is_empty() {
            return Ok(());
        }
        let ours = |value: &Value| value.as_str() == Some(&self.audience);
        let right = match claims.get("aud") {
            Some(Value::Array(several)) => several.iter().any(ours),
            Some(one) => ours(one),
            None => false,
        };
        if right { Ok(()) } else { Err(Refusal::WrongAudience) }
    }

    /// Unknown roles are ignored: issuers list the roles of all their systems.
    fn roles(&self, claims: &Map<String, Value>) -> Result<Roles, Refusal> {
        let wrong = || bad(&self.roles_claim, "neither a list of texts nor a text");
        match find(claims, &self.roles_claim) {
            None => Ok(Roles::NONE),
            Some(Value::String(names)) => Ok(names.split_whitespace().filter_map(Role::from_name).collect()),
            Some(Value::Array(names)) => {
                let names: Option<Vec<&str>> = names.iter().map(Value::as_str).collect();
                Ok(names.ok_or_else(wrong)?.into_iter().filter_map(Role::from_name).collect())
            }
            Some(_) => Err(wrong()),
        }
    }

    fn seller(&self, claims: &Map<String, Value>) -> Result<Option<String>, Refusal> {
        let id = match find(claims, &self.seller_claim) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(number)) if number.is_u64() => number.to_string(),
            Some(_) => return Err(bad(&self.seller_claim, "neither a text nor a whole number")),
        };
        if is_seller_id(&id) { Ok(Some(id)) } else { Err(bad(&self.seller_claim, "no id of a seller")) }
    }
}

/// A claim by its name or its dotted path.
fn find<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(name) {
        return Some(value);
    }
    let (first, rest) = name.split_once('.')?;
    find(claims.get(first)?.as_object()?, rest)
}

fn subject(claims: &Map<String, Value>) -> Result<String, Refusal> {
    match claims.get("sub") {
        Some(Value::String(subject)) if subject.is_empty() => Err(bad("sub", "empty")),
        Some(Value::String(subject)) if subject.len() > SUBJECT_BYTES_MAX => Err(bad("sub", "too long")),
        Some(Value::String(subject)) if subject.chars().any(char::is_control) => {
            Err(bad("sub", "has control characters"))
        }
        Some(Value::String(subject)) => Ok(subject.clone()),
        Some(_) => Err(bad("sub", "no text")),
        None => Err(bad("sub", "absent")),
    }
}

/// Seconds since 1970, truncated.
fn moment(claims: &Map<String, Value>, name: &str) -> Result<Option<Time>, Refusal> {
    let Some(value) = claims.get(name) else { return Ok(None) };
    let seconds = value.as_i64().or_else(|| value.as_f64().map(|seconds| seconds as i64));
    seconds.map(|seconds| Some(Time::from_seconds(seconds))).ok_or_else(|| bad(name, "no number"))
}

fn bad(claim: &str, what: &'static str) -> Refusal {
    Refusal::BadClaim { claim: claim.to_owned(), what }
}
