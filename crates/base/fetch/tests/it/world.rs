//! A small internet: names, addresses, and servers that behave as told. No byte leaves the process,
//! and time is the paused clock's.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use fetch::{Client, Error, Fetched, Network, Pipe, Request, Rules};
use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

type Server = Arc<dyn Fn(String, DuplexStream) -> BoxFuture<'static, ()> + Send + Sync>;

/// What stands in for the internet.
#[derive(Clone, Default)]
pub(crate) struct World(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    names: BTreeMap<String, VecDeque<Vec<IpAddr>>>,
    servers: BTreeMap<SocketAddr, Server>,
    dialled: Vec<SocketAddr>,
    heads: Vec<String>,
}

impl World {
    /// A name that is answered with these addresses in turn; the last answer stays.
    pub(crate) fn name(&self, name: &str, answers: &[&[&str]]) -> &Self {
        let answers =
            answers.iter().map(|answer| answer.iter().map(|a| a.parse().unwrap()).collect()).collect();
        self.0.lock().unwrap().names.insert(name.to_owned(), answers);
        self
    }

    /// A server that does this with each connection, once the head of a request was read.
    pub(crate) fn server<F>(
        &self,
        address: &str,
        behave: impl Fn(String, DuplexStream) -> F + Send + Sync + 'static,
    ) -> &Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let server: Server = Arc::new(move |head, pipe| Box::pin(behave(head, pipe)));
        self.0.lock().unwrap().servers.insert(address.parse().unwrap(), server);
        self
    }

    /// A server that always sends these bytes and hangs up.
    pub(crate) fn says(&self, address: &str, answer: impl Into<Vec<u8>>) -> &Self {
        let answer = answer.into();
        self.server(address, move |_, mut pipe| {
            let answer = answer.clone();
            async move {
                // Whoever was refused has hung up already.
                let _ = pipe.write_all(&answer).await;
            }
        })
    }

    /// The connections that were made.
    pub(crate) fn dialled(&self) -> Vec<String> {
        self.0.lock().unwrap().dialled.iter().map(ToString::to_string).collect()
    }

    /// The heads of the requests that came.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.0.lock().unwrap().heads.clone()
    }

    pub(crate) fn client(&self, rules: Rules) -> Client {
        Client::over(Arc::new(self.clone()), rules)
    }

    /// Fetches a URL whole, by the default rules.
    pub(crate) async fn get(&self, url: &str) -> Result<Vec<u8>, Error> {
        whole(&self.client(Rules::default()), &Request::get(url)).await
    }

    /// The code of the refusal.
    pub(crate) async fn refusal(&self, url: &str) -> &'static str {
        self.get(url).await.unwrap_err().code()
    }
}

/// Fetches a body whole.
pub(crate) async fn whole(client: &Client, request: &Request) -> Result<Vec<u8>, Error> {
    match client.send(request).await? {
        Fetched::Found(download) => download.body.collect().await,
        Fetched::NotModified => Ok(b"not modified".to_vec()),
    }
}

/// An answer with this head and body; the length is added.
pub(crate) fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    answer.extend_from_slice(body);
    answer
}

/// A redirect to this place.
pub(crate) fn moved(place: &str) -> Vec<u8> {
    answer(&format!("302 Found\r\nLocation: {place}"), b"")
}

#[async_trait]
impl Network for World {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut inside = self.0.lock().unwrap();
        let answers = inside.names.get_mut(name).ok_or_else(|| io::Error::other("no such name"))?;
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Ok(answer.unwrap_or_default())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Pipe>> {
        let server = {
            let mut inside = self.0.lock().unwrap();
            inside.dialled.push(address);
            inside.servers.get(&address).cloned().ok_or_else(|| io::Error::other("nobody listens"))?
        };
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        let world = self.clone();
        tokio::spawn(async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = theirs.read_u8().await else { return };
                head.push(byte);
            }
            let head = String::from_utf8(head).unwrap();
            world.0.lock().unwrap().heads.push(head.clone());
            server(head, theirs).await;
        });
        Ok(Box::new(ours))
    }
}
