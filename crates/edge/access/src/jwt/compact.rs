//! The compact serialization of a token: three base64 parts separated by dots.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::error::Refusal;
use crate::limits::{SUBJECT_BYTES_MAX, TOKEN_BYTES_MAX};

/// A parsed token. Nothing in it is trusted yet.
pub(super) struct Compact<'a> {
    header: Header,
    signed: &'a str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

/// The header fields that are used. Keys and key URLs in a token are ignored.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<serde::de::IgnoredAny>,
    zip: Option<serde::de::IgnoredAny>,
}

impl<'a> Compact<'a> {
    pub(super) fn parse(token: &'a str) -> Result<Self, Refusal> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Refusal::TooLong { bytes: token.len() });
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(malformed("it has no dots"))?;
        let (header, payload) = signed.split_once('.').ok_or(malformed("it has one dot"))?;
        let header = decode(header, "the header is no base64")?;
        let header: Header =
            serde_json::from_slice(&header).map_err(|_| malformed("the header cannot be read"))?;
        header.judge()?;
        let payload = decode(payload, "the claims are no base64")?;
        let signature = decode(signature, "the signature is no base64")?;
        Ok(Self { header, signed, payload, signature })
    }

    pub(super) fn algorithm(&self) -> &str {
        &self.header.alg
    }

    pub(super) fn kid(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    pub(super) fn signed(&self) -> &[u8] {
        self.signed.as_bytes()
    }

    pub(super) fn payload(&self) -> &[u8] {
        &self.payload
    }

    pub(super) fn signature(&self) -> &[u8] {
        &self.signature
    }
}

impl Header {
    fn judge(&self) -> Result<(), Refusal> {
        let unsupported = |what| Err(Refusal::Unsupported { what });
        if self.crit.is_some() || self.zip.is_some() {
            return unsupported("extensions that are not understood");
        }
        if [Some(&self.alg), self.kid.as_ref()]
            .into_iter()
            .flatten()
            .any(|text| text.len() > SUBJECT_BYTES_MAX)
        {
            return unsupported("an overlong name");
        }
        // A token for another purpose (logout, event) is not accepted.
        let typ = self.typ.as_deref().unwrap_or("JWT").to_ascii_lowercase();
        match typ.strip_prefix("application/").unwrap_or(&typ) {
            "jwt" | "at+jwt" => Ok(()),
            _ => unsupported("another type than a token for access"),
        }
    }
}

fn decode(part: &str, what: &'static str) -> Result<Vec<u8>, Refusal> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| malformed(what))
}

fn malformed(what: &'static str) -> Refusal {
    Refusal::Malformed { what }
}
