//! The network under the checks: tests put their own in its place.

use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A connection.
pub trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}

/// Names and connections. It decides nothing: [`Client`](crate::Client) checks what `resolve` answers before it asks to `connect`.
#[async_trait]
pub trait Network: Send + Sync {
    /// The addresses of a name.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// A connection to exactly this address.
    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Pipe>>;
}

/// The real network, with the system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Internet;

#[async_trait]
impl Network for Internet {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|found| found.ip()).collect())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Pipe>> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }
}
