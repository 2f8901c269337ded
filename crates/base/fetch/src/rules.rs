//! What may be asked, and how much may come.

use std::time::Duration;

use ipnet::IpNet;
use rustls::pki_types::CertificateDer;

use crate::limits;
use crate::request::BasicAuth;

/// Where downloads may go. The default is right for URLs of strangers.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Ports that may be asked; empty: any.
    pub ports: Vec<u16>,
    /// Only these hosts and everything below them (`example.com` means `img.example.com` too); empty: all.
    pub allow_hosts: Vec<String>,
    /// Not these hosts and nothing below them. It wins over `allow_hosts`.
    pub deny_hosts: Vec<String>,
    /// Addresses that may be asked although they are not public: an operator's own servers, or a test's.
    pub allow_addresses: Vec<IpNet>,
    /// Only `https`.
    pub https_only: bool,
    /// Redirects that are followed.
    pub redirects_max: u32,
    /// How much may come, and how long it may take, unless a request says otherwise.
    pub limits: Limits,
    /// Goes through this proxy.
    pub proxy: Option<Proxy>,
    /// How the client names itself.
    pub user_agent: String,
    /// Authorities that are trusted beside the system's.
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
    /// The default rules, but this machine itself may be asked, on any port. For tests and demonstrations, where a local server stands
    /// in for the internet: never for URLs of strangers.
    #[must_use]
    pub fn allow_loopback() -> Self {
        let v4 = IpNet::new_assert(std::net::Ipv4Addr::new(127, 0, 0, 0).into(), 8);
        let v6 = IpNet::new_assert(std::net::Ipv6Addr::LOCALHOST.into(), 128);
        Self { ports: Vec::new(), allow_addresses: vec![v4, v6], ..Self::default() }
    }
}

/// A proxy that understands `CONNECT`.
///
/// The name is looked up and its addresses are checked here; the proxy is told a checked address, never a name, for `http` as for
/// `https`. It has to allow `CONNECT` to the ports of [`Rules::ports`].
#[derive(Clone, Debug)]
pub struct Proxy {
    /// Its host, which may be private: the operator chose it.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// What it wants to know of us.
    pub auth: Option<BasicAuth>,
}

/// How much may come, and how long it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the body as they come over the wire.
    pub bytes_max: u64,
    /// Bytes of the body after unpacking.
    pub unpacked_bytes_max: u64,
    /// How many times larger the unpacked body may be than the packed one.
    pub ratio_max: u64,
    /// Time to look up a name, to connect and to shake hands, for each connection.
    pub connect_time_max: Duration,
    /// Time from a request to the head of its answer.
    pub first_byte_time_max: Duration,
    /// Time for everything.
    pub total_time_max: Duration,
    /// The slowest speed that is waited for, in bytes a second.
    pub speed_min: u64,
    /// The time over which the speed is taken. Only time spent on waiting for the other side counts.
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
