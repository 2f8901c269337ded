//! The web: one file at one address, from a server that is busy now and then, or hangs up in the
//! middle.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use fetch::{Network, Pipe};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::dice::Dice;

#[derive(Clone)]
pub(crate) struct Web {
    file: Arc<Mutex<String>>,
    dice: Arc<Dice>,
    is_calm: Arc<AtomicBool>,
}

impl Web {
    pub(crate) fn new(seed: u64) -> Self {
        Self { file: Arc::default(), dice: Arc::new(Dice::of(seed, "web")), is_calm: Arc::default() }
    }

    pub(crate) fn calm(&self) {
        self.is_calm.store(true, Ordering::Relaxed);
    }

    /// From now on this is what is found there.
    pub(crate) fn has(&self, file: String) {
        *self.file.lock().unwrap() = file;
    }

    async fn answer(&self, mut pipe: impl Pipe) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = pipe.read_u8().await else { return };
            head.push(byte);
        }
        let file = self.file.lock().unwrap().clone();
        let etag = blake3::hash(file.as_bytes()).to_hex();
        let is_known = String::from_utf8(head).unwrap().contains(&etag[..]);
        let chance = if self.is_calm.load(Ordering::Relaxed) { 100 } else { self.dice.within(0..100) };
        let answer = match chance {
            0..15 => "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".to_owned(),
            _ if is_known => "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned(),
            _ => {
                format!("HTTP/1.1 200 OK\r\nETag: \"{etag}\"\r\nContent-Length: {}\r\n\r\n{file}", file.len())
            }
        };
        let bytes = answer.as_bytes();
        let sent = if (15..30).contains(&chance) { bytes.len() / 2 } else { bytes.len() };
        // Whoever has seen enough hangs up.
        let _ = pipe.write_all(&bytes[..sent]).await;
    }
}

#[async_trait]
impl Network for Web {
    async fn resolve(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec!["93.184.216.34".parse().unwrap()])
    }

    async fn connect(&self, _address: SocketAddr) -> io::Result<Box<dyn Pipe>> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let web = self.clone();
        tokio::spawn(async move { web.answer(theirs).await });
        Ok(Box::new(ours))
    }
}
