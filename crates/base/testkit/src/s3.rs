//! A file server with the part of S3 that Torg uses: PUT, GET, HEAD and list, with the bucket in
//! the path.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::io::{BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// The modification time of every file.
const WRITTEN: (&str, &str) = ("Wed, 21 Oct 2015 07:28:00 GMT", "2015-10-21T07:28:00.000Z");

/// A server on a free port. It runs until the process ends.
#[derive(Clone, Debug)]
pub struct S3 {
    pub address: SocketAddr,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl S3 {
    /// The only accepted key.
    pub const ACCESS_KEY: &'static str = "torg-test-key";

    pub fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let s3 = Self { address: listener.local_addr()?, files: Arc::default() };
        let serving = s3.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let s3 = serving.clone();
                // A closed connection ends the thread.
                std::thread::spawn(move || drop(s3.serve(stream)));
            }
        });
        Ok(s3)
    }

    /// Environment variables for clients.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT", format!("http://{}", self.address)),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_REGION", "test".to_owned()),
            ("AWS_ACCESS_KEY_ID", Self::ACCESS_KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ]
    }

    /// By bucket and key: `bucket/a/b.jpg`.
    pub fn files(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.files.lock()
    }

    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let (mut from, mut to) = (BufReader::new(stream.try_clone()?), stream);
        while let Some(request) = Request::read(&mut from)? {
            let Answer { status, headers, body } = self.answer(&request);
            let length = body.len();
            write!(to, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n")?;
            if request.method != "HEAD" {
                to.write_all(&body)?;
            }
        }
        Ok(())
    }

    fn answer(&self, request: &Request) -> Answer {
        let credential = format!("AWS4-HMAC-SHA256 Credential={}/", Self::ACCESS_KEY);
        if !request.headers.get("authorization").is_some_and(|given| given.starts_with(&credential)) {
            return Answer::error("403 Forbidden", "AccessDenied");
        }
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let name = path.trim_matches('/');
        match &*request.method {
            "PUT" => {
                self.files().insert(name.to_owned(), request.body.clone());
                Answer { headers: "ETag: \"1\"\r\n".to_owned(), ..Answer::default() }
            }
            "GET" if query.contains("list-type=2") => self.list(name, query),
            "GET" | "HEAD" => match self.files().get(name) {
                Some(body) => Answer {
                    headers: format!("ETag: \"1\"\r\nLast-Modified: {}\r\n", WRITTEN.0),
                    body: body.clone(),
                    ..Answer::default()
                },
                None => Answer::error("404 Not Found", "NoSuchKey"),
            },
            _ => Answer::error("405 Method Not Allowed", "MethodNotAllowed"),
        }
    }

    fn list(&self, bucket: &str, query: &str) -> Answer {
        let prefix = query.split('&').find_map(|part| part.strip_prefix("prefix=")).unwrap_or_default();
        let begins = format!("{bucket}/{}", prefix.replace("%2F", "/"));
        let entry = |(name, body): (&String, &Vec<u8>)| {
            let key = &name[bucket.len() + 1..];
            format!(
                "<Contents><Key>{key}</Key><Size>{}</Size><LastModified>{}</LastModified><ETag>\"1\"</ETag></Contents>",
                body.len(),
                WRITTEN.1
            )
        };
        let files = self.files();
        let entries: String = files.iter().filter(|(name, _)| name.starts_with(&begins)).map(entry).collect();
        Answer {
            body: format!("<ListBucketResult>{entries}</ListBucketResult>").into_bytes(),
            ..Answer::default()
        }
    }
}

struct Answer {
    status: &'static str,
    headers: String,
    body: Vec<u8>,
}

impl Default for Answer {
    fn default() -> Self {
        Self { status: "200 OK", headers: String::new(), body: Vec::new() }
    }
}

impl Answer {
    fn error(status: &'static str, code: &str) -> Self {
        let body = format!("<Error><Code>{code}</Code></Error>").into_bytes();
        Self { status, body, ..Self::default() }
    }
}

struct Request {
    method: String,
    target: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Request {
    /// `None` at the end of the connection.
    fn read(from: &mut impl std::io::BufRead) -> std::io::Result<Option<Self>> {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut parts = line.split(' ').map(str::to_owned);
        let (method, target) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            from.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        Ok(Some(Self { method, target, headers, body }))
    }
}
