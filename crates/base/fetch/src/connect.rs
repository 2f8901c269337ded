//! Connections to checked addresses.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;

use crate::address::forbidden;
use crate::error::Cause;
use crate::limits::{ADDRESSES_MAX, ADDRESSES_TRIED_MAX, PROXY_ANSWER_BYTES_MAX};
use crate::network::{Network, Pipe};
use crate::rules::{Limits, Proxy, Rules};
use crate::target::{HostName, Target};

/// The only place that makes connections.
pub(crate) struct Connector {
    network: Arc<dyn Network>,
    tls: TlsConnector,
}

impl Connector {
    pub(crate) fn new(network: Arc<dyn Network>, rules: &Rules) -> Self {
        Self { network, tls: TlsConnector::from(Arc::new(tls_config(rules))) }
    }

    /// Uses TLS for `https`.
    pub(crate) async fn connect(
        &self,
        target: &Target,
        rules: &Rules,
        limits: &Limits,
    ) -> Result<Box<dyn Pipe>, Cause> {
        let addresses = self.addresses(target, rules).await?;
        let pipe = match &rules.proxy {
            None => self.dial(&addresses, limits).await?,
            Some(proxy) => self.tunnel(proxy, addresses[0]).await?,
        };
        if target.is_https() { self.encrypt(pipe, target).await } else { Ok(pipe) }
    }

    /// The allowed addresses of a target; at least one, or an error.
    async fn addresses(&self, target: &Target, rules: &Rules) -> Result<Vec<SocketAddr>, Cause> {
        let found = match &target.host {
            HostName::Address(address) => vec![*address],
            HostName::Name(name) => {
                self.network.resolve(name).await.map_err(|error| no_address(target, &error))?
            }
        };
        let mut refused = None;
        let mut allowed = Vec::new();
        for address in found.into_iter().take(ADDRESSES_MAX).map(|address| address.to_canonical()) {
            match refusal(address, rules) {
                None => allowed.push(SocketAddr::new(address, target.port)),
                Some(what) => refused = refused.or(Some((address, what))),
            }
        }
        match (allowed.is_empty(), refused) {
            (false, _) => Ok(allowed),
            (true, Some((address, what))) => {
                Err(Cause::PrivateAddress { host: target.host_text(), address, what })
            }
            (true, None) => Err(no_address(target, &"the answer is empty")),
        }
    }

    /// Tries the addresses in turn; each gets a share of the time.
    async fn dial(&self, addresses: &[SocketAddr], limits: &Limits) -> Result<Box<dyn Pipe>, Cause> {
        let tried = &addresses[..addresses.len().min(ADDRESSES_TRIED_MAX)];
        let share = limits.connect_time_max / tried.len().max(1) as u32;
        let mut last = Cause::Proxy("no address".to_owned());
        for address in tried {
            let detail = match tokio::time::timeout(share, self.network.connect(*address)).await {
                Ok(Ok(pipe)) => return Ok(pipe),
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no answer in {share:?}"),
            };
            last = Cause::Unreachable { address: *address, detail };
        }
        Err(last)
    }

    async fn tunnel(&self, proxy: &Proxy, address: SocketAddr) -> Result<Box<dyn Pipe>, Cause> {
        let failed = |error: std::io::Error| Cause::Proxy(error.to_string());
        let found = if let Ok(address) = proxy.host.parse::<IpAddr>() {
            address
        } else {
            let found = self.network.resolve(&proxy.host).await.map_err(failed)?;
            *found.first().ok_or_else(|| Cause::Proxy("its name has no address".to_owned()))?
        };
        let mut pipe = self.network.connect(SocketAddr::new(found, proxy.port)).await.map_err(failed)?;
        let auth = proxy.auth.as_ref().map(|auth| format!("Proxy-Authorization: {}\r\n", auth.header()));
        let head =
            format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n{}\r\n", auth.unwrap_or_default());
        pipe.write_all(head.as_bytes()).await.map_err(failed)?;
        let answer = read_head(&mut pipe).await.map_err(failed)?;
        let line = answer.lines().next().unwrap_or_default();
        let is_made =
            line.starts_with("HTTP/1.") && line.split(' ').nth(1).is_some_and(|s| s.starts_with('2'));
        if is_made { Ok(pipe) } else { Err(Cause::Proxy(format!("{:?}", line.get(..64).unwrap_or(line)))) }
    }

    async fn encrypt(&self, pipe: Box<dyn Pipe>, target: &Target) -> Result<Box<dyn Pipe>, Cause> {
        let name = match &target.host {
            HostName::Address(address) => ServerName::IpAddress((*address).into()),
            HostName::Name(_) => {
                ServerName::try_from(target.host_text()).map_err(|error| Cause::Tls(error.to_string()))?
            }
        };
        let encrypted = self.tls.connect(name, pipe).await.map_err(|error| Cause::Tls(error.to_string()))?;
        Ok(Box::new(encrypted))
    }
}

/// The reason why an address is not allowed.
fn refusal(address: IpAddr, rules: &Rules) -> Option<&'static str> {
    let is_allowed = rules.allow_addresses.iter().any(|net| net.contains(&address));
    forbidden(address).filter(|_| !is_allowed)
}

fn no_address(target: &Target, detail: &dyn std::fmt::Display) -> Cause {
    Cause::NoAddress { host: target.host_text(), detail: detail.to_string() }
}

/// Reads byte by byte up to the empty line: the next bytes belong to the tunnel.
async fn read_head(pipe: &mut Box<dyn Pipe>) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= PROXY_ANSWER_BYTES_MAX {
            return Err(std::io::Error::other("its answer is too long"));
        }
        head.push(pipe.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

fn tls_config(rules: &Rules) -> ClientConfig {
    let mut roots = net::system_roots();
    roots.add_parsable_certificates(rules.extra_roots.iter().cloned());
    let mut config = net::client(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}
