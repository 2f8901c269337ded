//! TLS connections to the hosts of addresses.

use std::io;
use std::sync::Arc;

use http::Uri;
use rustls::ClientConfig;
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const HTTPS_PORT: u16 = 443;

/// Connects to `https` addresses for HTTP/2.
#[derive(Clone)]
pub struct Dialer {
    connector: TlsConnector,
    name: Option<ServerName<'static>>,
}

impl Dialer {
    /// `server_name` is the name in the server's certificate if it is not that of the address.
    pub fn new(mut config: ClientConfig, server_name: Option<&str>) -> Result<Self, InvalidDnsNameError> {
        config.alpn_protocols = vec![b"h2".to_vec()];
        let name = server_name.map(|name| ServerName::try_from(name.to_owned())).transpose()?;
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), name })
    }

    /// A connection to the host and port of an address. An error of TLS holds a [`rustls::Error`].
    pub async fn connect(&self, address: &Uri) -> io::Result<TlsStream<TcpStream>> {
        let host = bare_host(address.host().unwrap_or_default());
        let name = match &self.name {
            Some(name) => name.clone(),
            None => ServerName::try_from(host.to_owned()).map_err(io::Error::other)?,
        };
        let stream = TcpStream::connect((host, address.port_u16().unwrap_or(HTTPS_PORT))).await?;
        stream.set_nodelay(true)?;
        self.connector.connect(name, stream).await
    }
}

/// The host of a URL without the brackets of an IPv6 address.
#[must_use]
pub fn bare_host(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}
