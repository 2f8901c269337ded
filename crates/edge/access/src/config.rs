//! Configuration with defaults. A disabled setting is an empty text, never a missing key.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// `[access]`: who may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether callers must authenticate.
    pub mode: Mode,
    /// Whether callers without a credential may use what is public.
    pub anonymous: bool,
    /// Whether API keys are accepted.
    pub api_keys: bool,
    /// A file with a JSON Web Key Set.
    pub jwks_file: PathBuf,
    /// Where a JSON Web Key Set is fetched from: `https://...`, or `http://` on this machine.
    pub jwks_url: String,
    /// The age at which fetched keys are fetched again.
    pub jwks_refresh_s: u32,
    /// A file with one or more public keys, `-----BEGIN PUBLIC KEY-----`.
    pub pem_file: PathBuf,
    /// A file with the shared secret for HS256 tokens: at least 32 bytes.
    pub hs256_secret_file: PathBuf,
    /// The required `iss` of tokens; empty: any.
    pub issuer: String,
    /// The required `aud` of tokens; empty: any.
    pub audience: String,
    /// The claim with the roles: a list, or a text with spaces. A path such as `realm_access.roles`
    /// is allowed.
    pub roles_claim: String,
    /// The claim with the seller's id.
    pub seller_claim: String,
    /// Tolerance for clock differences.
    pub leeway_s: u32,
    /// The number of reverse proxies in front: the caller's address is this many entries from the
    /// end of `X-Forwarded-For`.
    pub proxies: u32,
    /// Concurrent requests of all callers, counted from the first header to the end of the answer.
    pub concurrent_max: u32,
    /// Limits of one address without a valid credential.
    pub unknown: Allowance,
    /// Limits of one authenticated caller.
    pub user: Allowance,
    /// Limits of one caller with the role service or admin.
    pub service: Allowance,
}

/// Whether callers must authenticate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// No: every client may do everything. Only on a loopback address.
    #[default]
    Off,
    /// Yes.
    Required,
}

/// Limits of one caller. Zero: unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    /// Sustained calls per second.
    pub rate_per_s: u32,
    /// Calls in a burst.
    pub burst: u32,
    /// Concurrent calls.
    pub concurrent_max: u32,
    pub request_bytes_max: u32,
}

impl Default for Config {
    fn default() -> Self {
        let mib = 1024 * 1024;
        let allow = |rate_per_s, burst, concurrent_max, request_bytes_max| Allowance {
            rate_per_s,
            burst,
            concurrent_max,
            request_bytes_max,
        };
        Self {
            mode: Mode::Off,
            anonymous: false,
            api_keys: true,
            jwks_file: PathBuf::new(),
            jwks_url: String::new(),
            jwks_refresh_s: 3600,
            pem_file: PathBuf::new(),
            hs256_secret_file: PathBuf::new(),
            issuer: String::new(),
            audience: String::new(),
            roles_claim: "roles".to_owned(),
            seller_claim: "seller_id".to_owned(),
            leeway_s: 60,
            proxies: 0,
            concurrent_max: 4096,
            unknown: allow(10, 40, 8, mib),
            user: allow(50, 200, 32, 4 * mib),
            service: allow(0, 0, 512, 0),
        }
    }
}

impl Config {
    /// The allowed range of every number, by its key in `[access]`.
    pub const RANGES: &'static [(&'static str, i64, i64)] = &[
        ("jwks_refresh_s", 60, 86_400),
        ("leeway_s", 0, 600),
        ("proxies", 0, 16),
        ("concurrent_max", 1, 1_000_000),
        ("unknown.rate_per_s", 0, 1_000_000),
        ("unknown.burst", 0, 1_000_000),
        ("unknown.concurrent_max", 0, 1_000_000),
        ("unknown.request_bytes_max", 0, 1_073_741_824),
        ("user.rate_per_s", 0, 1_000_000),
        ("user.burst", 0, 1_000_000),
        ("user.concurrent_max", 0, 1_000_000),
        ("user.request_bytes_max", 0, 1_073_741_824),
        ("service.rate_per_s", 0, 1_000_000),
        ("service.burst", 0, 1_000_000),
        ("service.concurrent_max", 0, 1_000_000),
        ("service.request_bytes_max", 0, 1_073_741_824),
    ];

    /// Checks the settings against each other. Files are checked when they are loaded.
    pub fn validate(&self) -> Result<()> {
        let tokens = self.has_token_keys();
        if self.mode == Mode::Required && !tokens && !self.api_keys {
            let why = "\"required\", but no credential can be verified: set jwks_file, jwks_url, pem_file, hs256_secret_file or api_keys";
            return Err(Error::setting("access.mode", why));
        }
        if !self.jwks_url.is_empty() {
            KeysUrl::parse(&self.jwks_url).map_err(|why| Error::setting("access.jwks_url", why))?;
        }
        if tokens && self.roles_claim.is_empty() {
            return Err(Error::setting(
                "access.roles_claim",
                "empty: without roles no caller may do anything",
            ));
        }
        if tokens && self.seller_claim.is_empty() {
            return Err(Error::setting(
                "access.seller_claim",
                "empty: name the claim with the seller's id, such as sub",
            ));
        }
        for (key, allowance) in [
            ("access.unknown.burst", self.unknown),
            ("access.user.burst", self.user),
            ("access.service.burst", self.service),
        ] {
            if allowance.rate_per_s > 0 && allowance.burst == 0 {
                return Err(Error::setting(key, "0, but rate_per_s is set: at least 1 call has to fit"));
            }
        }
        if self.concurrent_max == 0 {
            return Err(Error::setting("access.concurrent_max", "0: nothing could run"));
        }
        self.validate_ranges()
    }

    fn validate_ranges(&self) -> Result<()> {
        let written = serde_json::to_value(self).unwrap_or_default();
        for (key, min, max) in Self::RANGES {
            let value = key.split('.').fold(&written, |value, part| &value[part]).as_i64();
            if value.is_none_or(|value| value < *min || value > *max) {
                let value = value.unwrap_or_default();
                return Err(Error::setting(
                    "access",
                    format!("{key}: {value} is not between {min} and {max}"),
                ));
            }
        }
        Ok(())
    }

    /// Whether any source of token keys is configured.
    #[must_use]
    pub fn has_token_keys(&self) -> bool {
        let files = [&self.jwks_file, &self.pem_file, &self.hs256_secret_file];
        !self.jwks_url.is_empty() || files.iter().any(|file| !file.as_os_str().is_empty())
    }
}

/// Refuses to listen on a public address with access control off.
pub fn require_safe_listen(address: SocketAddr, config: &Config) -> Result<()> {
    let here = address.ip().to_canonical().is_loopback();
    if here || config.mode == Mode::Required { Ok(()) } else { Err(Error::OpenToOthers { address }) }
}

/// `[tls]`: both files empty means no TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TlsConfig {
    /// The certificate chain of the server, PEM.
    pub cert_file: PathBuf,
    /// The private key, PEM.
    pub key_file: PathBuf,
    /// Client authorities, PEM: if set, clients need a certificate of one of them.
    pub client_ca_file: PathBuf,
}

impl TlsConfig {
    /// Whether TLS is on; an incomplete configuration is an error.
    pub fn is_on(&self) -> Result<bool> {
        let set = |path: &PathBuf| !path.as_os_str().is_empty();
        match (set(&self.cert_file), set(&self.key_file), set(&self.client_ca_file)) {
            (true, true, _) => Ok(true),
            (false, false, false) => Ok(false),
            (true, false, _) => Err(Error::setting("tls.key_file", "empty, but tls.cert_file is set")),
            (false, true, _) => Err(Error::setting("tls.cert_file", "empty, but tls.key_file is set")),
            (false, false, true) => {
                Err(Error::setting("tls.cert_file", "empty, but tls.client_ca_file is set: clients need TLS"))
            }
        }
    }
}

/// A URL of a key set.
#[derive(Debug)]
pub(crate) struct KeysUrl {
    uri: http::Uri,
    encrypted: bool,
}

impl KeysUrl {
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let uri: http::Uri = url.parse().map_err(|error| format!("no URL: {error}"))?;
        let host = uri.host().unwrap_or_default();
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err("a user or password in the URL is not sent".to_owned());
        }
        let encrypted = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if is_this_machine(host) => false,
            Some("http") => {
                return Err("http: an attacker on the network could replace the keys; use https".to_owned());
            }
            _ => return Err("not an https URL".to_owned()),
        };
        if host.is_empty() { Err("without a host".to_owned()) } else { Ok(Self { uri, encrypted }) }
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    /// The host; IPv6 addresses without brackets.
    pub(crate) fn host(&self) -> &str {
        net::bare_host(self.uri.host().unwrap_or_default())
    }

    pub(crate) fn port(&self) -> u16 {
        self.uri.port_u16().unwrap_or(if self.encrypted { 443 } else { 80 })
    }

    pub(crate) fn authority(&self) -> &str {
        self.uri.authority().map_or("", http::uri::Authority::as_str)
    }

    pub(crate) fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str)
    }
}

/// Whether a host name is this machine, without a DNS lookup.
pub(crate) fn is_this_machine(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || net::bare_host(host).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
