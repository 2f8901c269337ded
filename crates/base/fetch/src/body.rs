//! A body, in pieces, within its limits.

use std::collections::VecDeque;
use std::io;

use bytes::{Buf, Bytes};
use futures::{Stream, stream};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::io::AsyncRead;
use tokio::time::{Duration, Instant, timeout};
use tokio_util::io::StreamReader;

use crate::error::{Cause, Error, Result};
use crate::exchange::Line;
use crate::limits::{RATIO_FREE_BYTES, SNIFF_BYTES};
use crate::rules::Limits;
use crate::unpack::Unpacker;

/// The body of an answer. Nothing is read from the network before it is requested; dropping it
/// closes the connection.
///
/// After an error every further call returns the same error: an incomplete body never seems
/// complete.
pub struct Body {
    wire: Wire,
    unpacker: Unpacker,
    /// Received and still compressed.
    packed: Bytes,
    /// Read ahead for the detection of the type.
    head: VecDeque<Bytes>,
    unpacked_bytes: u64,
    has_ended: bool,
    failed: Option<Cause>,
    at: String,
    redirects: u32,
}

impl Body {
    pub(crate) fn new(wire: Wire, unpacker: Unpacker, at: String, redirects: u32) -> Self {
        Self {
            wire,
            unpacker,
            packed: Bytes::new(),
            head: VecDeque::new(),
            unpacked_bytes: 0,
            has_ended: false,
            failed: None,
            at,
            redirects,
        }
    }

    /// The next piece; `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>> {
        match self.head.pop_front() {
            Some(piece) => Ok(Some(piece)),
            None => self.next_piece().await,
        }
    }

    /// At most [`Limits::unpacked_bytes_max`] bytes.
    pub async fn collect(mut self) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        while let Some(piece) = self.chunk().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes>> + Send {
        stream::try_unfold(self, async |mut body| Ok(body.chunk().await?.map(|piece| (piece, body))))
    }

    /// An [`Error`] is inside of the [`io::Error`].
    pub fn into_reader(self) -> impl AsyncRead + Send {
        let stream = futures::TryStreamExt::map_err(self.into_stream(), io::Error::other);
        StreamReader::new(Box::pin(stream))
    }

    /// Bytes received so far.
    #[must_use]
    pub fn wire_bytes(&self) -> u64 {
        self.wire.bytes
    }

    /// Reads ahead enough to detect the type, and returns the first bytes.
    pub(crate) async fn peek(&mut self) -> Result<Vec<u8>> {
        let mut first = Vec::new();
        while first.len() < SNIFF_BYTES {
            let Some(piece) = self.next_piece().await? else { break };
            first.extend_from_slice(&piece[..piece.len().min(SNIFF_BYTES)]);
            self.head.push_back(piece);
        }
        Ok(first)
    }

    async fn next_piece(&mut self) -> Result<Option<Bytes>> {
        let piece = match &self.failed {
            Some(cause) => Err(cause.clone()),
            None => self.read().await,
        };
        piece.map_err(|cause| {
            self.failed = Some(cause.clone());
            self.packed = Bytes::new();
            Error::new(&self.at, self.redirects, cause)
        })
    }

    async fn read(&mut self) -> Result<Option<Bytes>, Cause> {
        loop {
            let piece = if self.packed.has_remaining() {
                self.unpacker.step(&mut self.packed)?
            } else if self.has_ended {
                return Ok(None);
            } else if let Some(packed) = self.wire.next().await? {
                self.packed = packed;
                continue;
            } else {
                self.has_ended = true;
                if self.wire.bytes == 0 { Bytes::new() } else { self.unpacker.finish()? }
            };
            self.count(&piece)?;
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
    }

    fn count(&mut self, piece: &Bytes) -> Result<(), Cause> {
        let limits = &self.wire.limits;
        self.unpacked_bytes += piece.len() as u64;
        let is_small = self.unpacker.is_plain() || self.unpacked_bytes <= RATIO_FREE_BYTES;
        if !is_small && self.unpacked_bytes / self.wire.bytes.max(1) >= limits.ratio_max {
            return Err(Cause::Ratio(limits.ratio_max));
        }
        if self.unpacked_bytes > limits.unpacked_bytes_max {
            return Err(Cause::TooLargeUnpacked(limits.unpacked_bytes_max));
        }
        Ok(())
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body")
            .field("at", &self.at)
            .field("wire_bytes", &self.wire.bytes)
            .finish_non_exhaustive()
    }
}

/// Received bytes, counted and timed.
pub(crate) struct Wire {
    incoming: Incoming,
    _line: Line,
    limits: Limits,
    deadline: Instant,
    bytes: u64,
    window_bytes: u64,
    window_time: Duration,
}

impl Wire {
    pub(crate) fn new(incoming: Incoming, line: Line, limits: Limits, deadline: Instant) -> Self {
        let window_time = Duration::ZERO;
        Self { incoming, _line: line, limits, deadline, bytes: 0, window_bytes: 0, window_time }
    }

    pub(crate) fn bytes_max(&self) -> u64 {
        self.limits.bytes_max
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Cause> {
        loop {
            let Some(frame) = self.frame().await? else { return Ok(None) };
            let Ok(data) = frame.into_data() else { continue };
            self.bytes += data.len() as u64;
            self.window_bytes += data.len() as u64;
            if self.bytes > self.limits.bytes_max {
                return Err(Cause::TooLarge(self.limits.bytes_max));
            }
            if !data.is_empty() {
                return Ok(Some(data));
            }
        }
    }

    /// Waits for a frame within the limits of speed and total time.
    async fn frame(&mut self) -> Result<Option<hyper::body::Frame<Bytes>>, Cause> {
        loop {
            let began = Instant::now();
            let total_left = self.deadline.saturating_duration_since(began);
            if total_left.is_zero() {
                return Err(Cause::TooLong { what: "in total", max: self.limits.total_time_max });
            }
            let window_left = self.limits.speed_window.saturating_sub(self.window_time);
            let waited = timeout(window_left.min(total_left), self.incoming.frame()).await;
            self.window_time += began.elapsed();
            if self.window_time >= self.limits.speed_window {
                self.close_window()?;
            }
            match waited {
                Ok(None) => return Ok(None),
                Ok(Some(Ok(frame))) => return Ok(Some(frame)),
                Ok(Some(Err(error))) => return Err(Cause::Truncated(error.to_string())),
                Err(_) => {}
            }
        }
    }

    fn close_window(&mut self) -> Result<(), Cause> {
        let (bytes, time) = (self.window_bytes, self.window_time);
        (self.window_bytes, self.window_time) = (0, Duration::ZERO);
        let least = self.limits.speed_min as f64 * time.as_secs_f64();
        if (bytes as f64) < least {
            return Err(Cause::TooSlow { bytes, time, min: self.limits.speed_min });
        }
        Ok(())
    }
}
