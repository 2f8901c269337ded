//! The internet: every name leads to one server, over loopback or, where time stands still, over a
//! pipe.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use fetch::{Network, Pipe};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The address behind every name.
const PUBLIC: &str = "93.184.216.34";

/// A server. Cheap to clone; all clones are one.
#[derive(Clone)]
pub(crate) struct Site {
    inside: Arc<Mutex<Inside>>,
    listening: Option<SocketAddr>,
}

#[derive(Default)]
struct Inside {
    /// Answers by method and what is asked for; without a method, for any.
    pages: BTreeMap<String, Vec<u8>>,
    asked: Vec<String>,
}

impl Site {
    /// A server that is reached by pipes.
    pub(crate) fn in_memory() -> Self {
        Self { inside: Arc::default(), listening: None }
    }

    /// A server on a port of this machine.
    pub(crate) async fn on_loopback() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let site = Self { inside: Arc::default(), listening: Some(listener.local_addr().unwrap()) };
        let served = site.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = served.clone();
                tokio::spawn(async move { served.answer(stream).await });
            }
        });
        site
    }

    /// Answers a path, or a method and a path, with this status and these bytes.
    pub(crate) fn says(&self, path: &str, status: &str, bytes: &[u8]) {
        let mut answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", bytes.len()).into_bytes();
        answer.extend_from_slice(bytes);
        self.inside.lock().unwrap().pages.insert(path.to_owned(), answer);
    }

    /// What was asked for, with the methods, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.inside.lock().unwrap().asked.clone()
    }

    async fn answer(&self, mut pipe: impl Pipe) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = pipe.read_u8().await else { return };
            head.push(byte);
        }
        let head = String::from_utf8(head).unwrap();
        let mut words = head.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let asked = format!("{method} {path}");
        let page = {
            let mut inside = self.inside.lock().unwrap();
            let page = inside.pages.get(&asked).or_else(|| inside.pages.get(path)).cloned();
            inside.asked.push(asked);
            page
        };
        let answer = page.unwrap_or_else(|| b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec());
        // Whoever has seen enough hangs up.
        let _ = pipe.write_all(&answer).await;
    }
}

#[async_trait]
impl Network for Site {
    async fn resolve(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![PUBLIC.parse().unwrap()])
    }

    async fn connect(&self, _address: SocketAddr) -> io::Result<Box<dyn Pipe>> {
        if let Some(listening) = self.listening {
            return Ok(Box::new(TcpStream::connect(listening).await?));
        }
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let site = self.clone();
        tokio::spawn(async move { site.answer(theirs).await });
        Ok(Box::new(ours))
    }
}
