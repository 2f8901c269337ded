//! The network below the checks; tests replace it.

use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

pub trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}

/// Name resolution and connections. It decides nothing: [`Client`](crate::Client) checks the
/// addresses from `resolve` before it calls `connect`.
#[async_trait]
pub trait Network: Send + Sync {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// Connects to exactly this address.
    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Pipe>>;
}

/// The real network, with the resolver of the system.
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
