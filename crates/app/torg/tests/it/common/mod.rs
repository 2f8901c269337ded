//! Runs the real binary and calls it.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

pub mod described;
pub mod python_stage;
pub mod wire;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Longer than any working operation takes, also on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Polls until the result is there; fails after [`PATIENCE`].
pub fn found<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "not in {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Recorded actions from `list`, once there are this many: the process may record them after the
/// response if the store is slow.
pub fn recorded(count: usize, list: impl Fn() -> Vec<serde_json::Value>) -> Vec<serde_json::Value> {
    found(&format!("{count} actions are recorded"), || Some(list()).filter(|actions| actions.len() >= count))
}

/// The binary with an empty environment for its settings and an empty folder to work in.
pub fn torg(folder: &tempfile::TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_torg"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TORG_") {
            command.env_remove(name);
        }
    }
    // Tests make no requests to the internet; the stages that do have their own tests.
    command.env("TORG_STAGES_BUILT_IN", "expiry,evolution,photo_order,price");
    command.env("TORG_FEEDS_ALLOW_HOSTS", "127.0.0.1");
    command.args(arguments).current_dir(folder.path()).stdin(Stdio::null());
    command
}

/// The output of a command that ends by itself.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command to its end.
pub fn run(mut command: Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A running `torg serve`; killed when dropped.
pub struct Server {
    child: Child,
    log: mpsc::Receiver<String>,
    pub address: SocketAddr,
    pub folder: Arc<tempfile::TempDir>,
}

impl Server {
    /// Starts on a free port with these environment variables and waits until it is ready.
    pub fn start(environment: &[(&str, &str)]) -> Server {
        Server::start_in(&Arc::new(tempfile::tempdir().unwrap()), environment)
    }

    /// The same in a folder that an earlier process may have used.
    pub fn start_in(folder: &Arc<tempfile::TempDir>, environment: &[(&str, &str)]) -> Server {
        Server::start_on(folder, "127.0.0.1:0", environment)
    }

    /// The same on a given port.
    pub fn start_on(folder: &Arc<tempfile::TempDir>, address: &str, environment: &[(&str, &str)]) -> Server {
        Server::start_as(folder, &["serve", "--listen", address], environment)
    }

    /// The same with these arguments.
    pub fn start_as(
        folder: &Arc<tempfile::TempDir>,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Server {
        let folder = Arc::clone(folder);
        let mut command = torg(&folder, arguments);
        command.env("TORG_LOG_FORMAT", "json").envs(environment.iter().copied()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, log) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut server = Server { child, log, address: SocketAddr::from(([127, 0, 0, 1], 0)), folder };
        let listening = server.log_line("listening");
        server.address = listening["listen"].as_str().unwrap().parse().unwrap();
        server.log_line("ready");
        server
    }

    /// Waits for the log line with this message.
    pub fn log_line(&self, message: &str) -> serde_json::Value {
        let until = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        while let Ok(line) = self.log.recv_timeout(until.saturating_duration_since(Instant::now())) {
            let parsed: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if parsed["message"] == message {
                return parsed;
            }
            seen.push(line);
        }
        panic!("no {message:?} in the log:\n{}", seen.join("\n"));
    }

    /// Every log line since the last read one.
    pub fn log_so_far(&self) -> Vec<String> {
        self.log.try_iter().collect()
    }

    /// The resident memory of the process.
    pub fn rss_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn signal(&self, name: &str) {
        let status =
            Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end of the process.
    pub fn wait(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the process did not end in {PATIENCE:?}");
    }

    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits until the port is closed.
    pub fn wait_until_closed(&self) {
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(self.address).is_ok() {
            assert!(Instant::now() < until, "still accepting");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.get_as(path, None)
    }

    /// A GET request with this token, or without any.
    pub fn get_as(&self, path: &str, token: Option<&str>) -> Answer {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        self.ask(&authorized(&request, token))
    }

    pub fn post_json(&self, path: &str, body: &str) -> Answer {
        self.ask(&post_json(path, body))
    }

    /// A call in JSON with this token, or without any.
    pub fn call(&self, path: &str, token: Option<&str>, body: &str) -> Answer {
        self.ask(&authorized(&post_json(path, body), token))
    }

    /// Stops the process in order.
    pub fn stop(mut self) {
        self.signal("TERM");
        assert_eq!(self.wait().code(), Some(0));
    }

    pub fn ask(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        Answer::read(stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The request with a token in it.
pub fn authorized(request: &str, token: Option<&str>) -> String {
    let header = token.map(|token| format!("\r\nauthorization: Bearer {token}")).unwrap_or_default();
    request.replacen("\r\n", &format!("{header}\r\n"), 1)
}

/// A complete HTTP/1.1 request.
pub fn post_json(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// An HTTP/1.1 response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    /// As text.
    pub body: String,
    /// As received.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// Reads to the end of the connection.
    pub fn read(mut stream: TcpStream) -> Answer {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut whole = Vec::new();
        stream.read_to_end(&mut whole).unwrap();
        Answer::of(&whole)
    }

    /// Parses a response.
    pub fn of(whole: &[u8]) -> Answer {
        const END_OF_HEAD: &[u8] = b"\r\n\r\n";
        let end = whole.windows(END_OF_HEAD.len()).position(|bytes| bytes == END_OF_HEAD);
        let (head, bytes) =
            end.map_or((whole, &[][..]), |end| (&whole[..end], &whole[end + END_OF_HEAD.len()..]));
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
        let chunked = head.contains("transfer-encoding: chunked");
        let bytes = if chunked { dechunked(bytes) } else { bytes.to_owned() };
        Answer { status, head, body: String::from_utf8_lossy(&bytes).into_owned(), bytes }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

fn dechunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        let rest = &body[end + 2..];
        whole.extend_from_slice(&rest[..length]);
        body = &rest[length + 2..];
    }
    whole
}
