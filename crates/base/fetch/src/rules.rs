//! Rules and limits of downloads.

use std::time::Duration;

use ipnet::IpNet;
use rustls::pki_types::CertificateDer;

use crate::limits;
use crate::request::BasicAuth;

/// Where downloads may go. The default is right for untrusted URLs.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Empty: any.
    pub ports: Vec<u16>,
    /// Only these hosts and their subdomains; empty: all.
    pub allow_hosts: Vec<String>,
    /// Denied hosts and their subdomains. It overrides `allow_hosts`.
    pub deny_hosts: Vec<String>,
    /// Addresses that are allowed although they are not public: servers of the operator, or of a
    /// test.
    pub allow_addresses: Vec<IpNet>,
    pub https_only: bool,
    pub redirects_max: u32,
    /// The limits of a request without limits of its own.
    pub limits: Limits,
    pub proxy: Option<Proxy>,
    pub user_agent: String,
    /// Authorities that are trusted in addition to those of the system.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            ports: limits::PORTS.to_vec(),
            allow_hosts: Vec::new(),
            deny_hosts: Vec::new(),
            allow_addresses: Vec::new(),
            https_only: false,
            redirects_max: limits::REDIRECTS_MAX,
            limits: Limits::default(),
            proxy: None,
            user_agent: concat!("torg/", env!("CARGO_PKG_VERSION")).to_owned(),
            extra_roots: Vec::new(),
        }
    }
}

impl Rules {
    /// The default rules, but this machine is allowed on any port. For tests and demonstrations,
    /// where a local server replaces the internet: never for untrusted URLs.
    #[must_use]
    pub fn allow_loopback() -> Self {
        let v4 = IpNet::new_assert(std::net::Ipv4Addr::new(127, 0, 0, 0).into(), 8);
        let v6 = IpNet::new_assert(std::net::Ipv6Addr::LOCALHOST.into(), 128);
        Self { ports: Vec::new(), allow_addresses: vec![v4, v6], ..Self::default() }
    }
}

/// A proxy with `CONNECT`.
///
/// The name is resolved and checked here; the proxy gets a checked address, never a name, for
/// `http` and `https`. It must allow `CONNECT` to [`Rules::ports`].
#[derive(Clone, Debug)]
pub struct Proxy {
    /// May be private: the operator chose it.
    pub host: String,
    pub port: u16,
    pub auth: Option<BasicAuth>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Received bytes of the body.
    pub bytes_max: u64,
    /// Decompressed bytes of the body.
    pub unpacked_bytes_max: u64,
    /// Ratio of decompressed to received bytes.
    pub ratio_max: u64,
    /// Time for name resolution, connection and TLS handshake, for each connection.
    pub connect_time_max: Duration,
    /// Time from a request to the head of its answer.
    pub first_byte_time_max: Duration,
    /// Total time.
    pub total_time_max: Duration,
    /// Slowest accepted speed in bytes a second.
    pub speed_min: u64,
    /// The window of the speed. Only time spent waiting for the server counts.
    pub speed_window: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes_max: limits::BYTES_MAX,
            unpacked_bytes_max: limits::UNPACKED_BYTES_MAX,
            ratio_max: limits::RATIO_MAX,
            connect_time_max: limits::CONNECT_TIME_MAX,
            first_byte_time_max: limits::FIRST_BYTE_TIME_MAX,
            total_time_max: limits::TOTAL_TIME_MAX,
            speed_min: limits::SPEED_MIN,
            speed_window: limits::SPEED_WINDOW,
        }
    }
}
