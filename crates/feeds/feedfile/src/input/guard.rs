//! Counts and limits what is read.

use crate::Code;
use crate::limits::{PACK_RATIO_FROM_BYTES, PACK_RATIO_MAX};
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) packed: AtomicU64,
    pub(crate) unpacked: AtomicU64,
    /// The archive has more than one file.
    pub(crate) more_files: AtomicBool,
}

/// Why reading ends; carried by an [`io::Error`].
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

pub(crate) fn refused(code: Code, message: impl Into<String>) -> io::Error {
    io::Error::other(Refused { code, message: message.into() })
}

pub(super) fn reason(error: &io::Error) -> (Code, String) {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Refused>()) {
        Some(refused) => (refused.code, refused.message.clone()),
        None => (Code::ReadFailed, format!("reading failed: {error}")),
    }
}

pub(super) struct QueueCounts<R> {
    input: R,
    progress: Arc<Progress>,
}

impl<R> QueueCounts<R> {
    pub(super) fn new(input: R, progress: Arc<Progress>) -> Self {
        Self { input, progress }
    }
}

impl<R: Read> Read for QueueCounts<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.progress.packed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Fails when a file is too large or unpacks to too much.
pub(super) struct Guard<R> {
    input: R,
    packed: bool,
    bytes_max: u64,
    progress: Arc<Progress>,
}

impl<R> Guard<R> {
    pub(super) fn new(input: R, packed: bool, bytes_max: u64, progress: Arc<Progress>) -> Self {
        Self { input, packed, bytes_max, progress }
    }

    fn check(&self, unpacked: u64) -> io::Result<()> {
        if unpacked > self.bytes_max {
            let message = format!("the file is larger than {} MB", self.bytes_max >> 20);
            return Err(refused(Code::TooLarge, message));
        }
        let packed = self.progress.packed.load(Ordering::Relaxed).max(1);
        if self.packed && unpacked > PACK_RATIO_FROM_BYTES && unpacked / packed > PACK_RATIO_MAX {
            let message = format!("{packed} bytes unpack to more than {unpacked}");
            return Err(refused(Code::PackedTooTight, message));
        }
        Ok(())
    }
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        let before = self.progress.unpacked.fetch_add(count as u64, Ordering::Relaxed);
        self.check(before + count as u64)?;
        Ok(count)
    }
}
