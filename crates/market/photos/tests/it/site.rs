//! A site with photos: pages by path, counted, and no network.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use fetch::{Network, Pipe};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::Semaphore;

/// The address behind every name, unless told otherwise.
const PUBLIC: &str = "93.184.216.34";

/// What a page does.
#[derive(Clone)]
enum Page {
    /// Sends this answer.
    Says(Vec<u8>),
    /// Sends bytes until nobody wants them any more.
    Endless(Vec<u8>),
    /// Sends this answer once somebody lets it.
    Held(Vec<u8>),
}

/// A site. Cheap to clone; all clones are one site.
#[derive(Clone, Default)]
pub(crate) struct Site(Arc<Mutex<Inside>>);

struct Inside {
    names: BTreeMap<String, IpAddr>,
    pages: BTreeMap<String, Page>,
    heads: Vec<String>,
    dialled: Vec<IpAddr>,
    let_go: Arc<Semaphore>,
}

impl Default for Inside {
    fn default() -> Self {
        let (names, pages) = (BTreeMap::new(), BTreeMap::new());
        Self { names, pages, heads: Vec::new(), dialled: Vec::new(), let_go: Arc::new(Semaphore::new(0)) }
    }
}

impl Site {
    /// Puts a file at a path.
    pub(crate) fn file(&self, path: &str, bytes: &[u8]) {
        self.says(path, "200 OK", bytes);
    }

    /// Puts an answer with this head at a path.
    pub(crate) fn says(&self, path: &str, head: &str, bytes: &[u8]) {
        self.page(path, Page::Says(answer(head, bytes)));
    }

    /// Puts a file at a path that does not come before [`let_go`](Self::let_go).
    pub(crate) fn held(&self, path: &str, bytes: &[u8]) {
        self.page(path, Page::Held(answer("200 OK", bytes)));
    }

    /// Lets come everything that was held.
    pub(crate) fn let_go(&self) {
        self.0.lock().unwrap().let_go.close();
    }

    /// Puts a stream without an end at a path, which begins like this.
    pub(crate) fn endless(&self, path: &str, start: &[u8]) {
        self.page(path, Page::Endless(start.to_vec()));
    }

    fn page(&self, path: &str, page: Page) {
        self.0.lock().unwrap().pages.insert(path.to_owned(), page);
    }

    /// A name with an address of its own.
    pub(crate) fn name(&self, name: &str, address: &str) {
        self.0.lock().unwrap().names.insert(name.to_owned(), address.parse().unwrap());
    }

    /// How many requests came.
    pub(crate) fn requests(&self) -> usize {
        self.0.lock().unwrap().heads.len()
    }

    /// The head of the last request.
    pub(crate) fn last_head(&self) -> String {
        self.0.lock().unwrap().heads.last().cloned().unwrap_or_default()
    }

    /// The addresses that were asked.
    pub(crate) fn dialled(&self) -> Vec<IpAddr> {
        self.0.lock().unwrap().dialled.clone()
    }

    async fn answer(&self, mut pipe: DuplexStream) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = pipe.read_u8().await else { return };
            head.push(byte);
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let (page, let_go) = {
            let mut inside = self.0.lock().unwrap();
            inside.heads.push(head);
            (inside.pages.get(&path).cloned(), Arc::clone(&inside.let_go))
        };
        // Whoever has seen enough hangs up.
        match page {
            Some(Page::Says(answer)) => drop(pipe.write_all(&answer).await),
            Some(Page::Held(answer)) => {
                assert!(let_go.acquire().await.is_err(), "it is closed, or waited for");
                drop(pipe.write_all(&answer).await);
            }
            Some(Page::Endless(start)) => {
                let _ = pipe.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
                let _ = pipe.write_all(&start).await;
                while pipe.write_all(&[0; 16 * 1024]).await.is_ok() {}
            }
            None => drop(pipe.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await),
        }
    }
}

fn answer(head: &str, bytes: &[u8]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", bytes.len()).into_bytes();
    answer.extend_from_slice(bytes);
    answer
}

#[async_trait]
impl Network for Site {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![self.0.lock().unwrap().names.get(name).copied().unwrap_or(PUBLIC.parse().unwrap())])
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Pipe>> {
        self.0.lock().unwrap().dialled.push(address.ip());
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let site = self.clone();
        tokio::spawn(async move { site.answer(theirs).await });
        Ok(Box::new(ours))
    }
}
