//! An HTTP client that requests pages over one connection, as a browser does, and keeps its cookie.

use std::net::SocketAddr;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Larger than any page.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(super) struct Client {
    stream: TcpStream,
    cookie: String,
}

pub(super) struct Answer {
    pub(super) status: u16,
    head: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Client {
    pub(super) async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.context("cannot connect to the server")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, cookie: String::new() })
    }

    /// Requests a page. Each line of `headers` includes its CRLF.
    pub(super) async fn get(&mut self, path: &str, headers: &str) -> anyhow::Result<Answer> {
        let cookie =
            if self.cookie.is_empty() { String::new() } else { format!("cookie: {}\r\n", self.cookie) };
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{cookie}{headers}\r\n");
        let answer = self.ask(&request).await?;
        if let Some(set) = answer.header("set-cookie").filter(|_| self.cookie.is_empty()) {
            set.split(';').next().unwrap_or_default().clone_into(&mut self.cookie);
        }
        Ok(answer)
    }

    pub(super) async fn post(&mut self, path: &str, body: &str) -> anyhow::Result<Answer> {
        self.post_as(path, "application/json", body).await
    }

    pub(super) async fn post_as(&mut self, path: &str, kind: &str, body: &str) -> anyhow::Result<Answer> {
        let length = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n");
        self.ask(&format!("{head}content-length: {length}\r\n\r\n{body}")).await
    }

    async fn ask(&mut self, request: &str) -> anyhow::Result<Answer> {
        self.stream.write_all(request.as_bytes()).await?;
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            self.read(&mut bytes).await?;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).context("no status")?;
        let mut answer = Answer { status, head, body: bytes.split_off(end + 4) };
        let length = match answer.header("content-length") {
            Some(length) => length.parse().context("no length")?,
            // A chunked response ends with an empty chunk.
            None if answer.header("transfer-encoding").is_some() => {
                while !answer.body.ends_with(b"0\r\n\r\n") {
                    self.read(&mut answer.body).await?;
                }
                answer.body = whole(&answer.body)?;
                return Ok(answer);
            }
            None => 0,
        };
        anyhow::ensure!(length <= ANSWER_BYTES_MAX, "an answer of {length} bytes");
        while answer.body.len() < length {
            self.read(&mut answer.body).await?;
        }
        Ok(answer)
    }

    async fn read(&mut self, bytes: &mut Vec<u8>) -> anyhow::Result<()> {
        let read = self.stream.read_buf(bytes).await?;
        anyhow::ensure!(read > 0, "the server hung up");
        Ok(())
    }
}

/// Joins the chunks of a body; each chunk follows its length.
fn whole(mut pieces: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let line = pieces.windows(2).position(|two| two == b"\r\n").context("a piece without a length")?;
        let length = std::str::from_utf8(&pieces[..line])?.split(';').next().unwrap_or_default();
        let length =
            usize::from_str_radix(length.trim(), 16).context("a piece with a length that is none")?;
        let piece = pieces.get(line + 2..line + 2 + length).context("a piece is cut")?;
        if piece.is_empty() {
            return Ok(whole);
        }
        whole.extend_from_slice(piece);
        pieces = pieces.get(line + 4 + length..).context("a piece is cut")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_pieces_is_put_together() {
        assert_eq!(whole(b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n").unwrap(), b"abc0123456789");
        assert!(whole(b"5\r\nabc").is_err() && whole(b"x\r\n").is_err());
    }
}
