//! Reads the first file of a zip archive front to back, by its local headers. Checksums and sizes
//! are verified.

use super::guard::{Progress, refused};
use crate::Code;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const LOCAL_HEADER: [u8; 4] = *b"PK\x03\x04";
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
const LOCAL_HEADER_BYTES: usize = 26;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const FLAG_ENCRYPTED: u16 = 1;
const FLAG_SIZES_LATER: u16 = 1 << 3;
const SIZE_IN_EXTRA: u32 = u32::MAX;
/// At most this many folders and other files are skipped.
const PASSED_MAX: usize = 100;
const PASSED_BYTES_MAX: u64 = 1 << 20;

struct Header {
    flags: u16,
    method: u16,
    crc: u32,
    packed: u32,
    unpacked: u32,
    name: Vec<u8>,
}

enum Body<R> {
    Stored(io::Take<R>),
    Deflated(DeflateDecoder<R>),
    Done,
}

/// The first file that is neither a folder nor hidden.
pub(super) struct FirstFile<R> {
    body: Body<R>,
    header: Header,
    crc: Crc,
    progress: Arc<Progress>,
}

impl<R: BufRead> FirstFile<R> {
    /// Opens the archive at the content of that file.
    pub(super) fn open(mut input: R, progress: &Arc<Progress>) -> io::Result<Self> {
        for _ in 0..PASSED_MAX {
            let Some(header) = Header::read(&mut input)? else { break };
            let passed = header.is_passed_over();
            let body = header.body(input)?;
            let mut file = Self { body, header, crc: Crc::new(), progress: Arc::clone(progress) };
            if !passed {
                return Ok(file);
            }
            io::copy(&mut file.by_ref().take(PASSED_BYTES_MAX), &mut io::sink())?;
            let sizes_later = file.header.flags & FLAG_SIZES_LATER != 0;
            input = file.into_inner().ok_or_else(|| broken("there is no feed in the archive"))?;
            if sizes_later {
                read_descriptor(&mut input)?;
            }
        }
        Err(broken("there is no file in the archive"))
    }

    fn into_inner(self) -> Option<R> {
        match self.body {
            Body::Stored(body) if body.limit() == 0 => Some(body.into_inner()),
            Body::Deflated(body) => Some(body.into_inner()),
            Body::Stored(_) | Body::Done => None,
        }
    }

    /// Verifies the content at its end.
    fn finish(&mut self) -> io::Result<()> {
        let mut rest = match std::mem::replace(&mut self.body, Body::Done) {
            Body::Done => return Ok(()),
            Body::Stored(body) if body.limit() > 0 => return Err(broken("the archive ends too early")),
            Body::Stored(body) => body.into_inner(),
            Body::Deflated(body) => body.into_inner(),
        };
        let (crc, size) = if self.header.flags & FLAG_SIZES_LATER == 0 {
            (self.header.crc, self.header.unpacked)
        } else {
            read_descriptor(&mut rest)?
        };
        let size_differs = size != SIZE_IN_EXTRA && size != self.crc.amount();
        if crc != self.crc.sum() || size_differs {
            return Err(broken("the content does not match its checksum or size in the archive"));
        }
        let more = Header::read(&mut rest).ok().flatten().is_some_and(|next| !next.is_passed_over());
        self.progress.more_files.store(more, Ordering::Relaxed);
        Ok(())
    }
}

impl<R: BufRead> Read for FirstFile<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let count = match &mut self.body {
            Body::Stored(body) => body.read(buffer)?,
            Body::Deflated(body) => body.read(buffer)?,
            Body::Done => 0,
        };
        self.crc.update(&buffer[..count]);
        if count == 0 && !self.header.is_passed_over() {
            self.finish()?;
        }
        Ok(count)
    }
}

impl Header {
    /// The next local header; `None` after the last file.
    fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let mut magic = [0; 4];
        if input.read_exact(&mut magic).is_err() || magic != LOCAL_HEADER {
            return Ok(None);
        }
        let mut fixed = [0; LOCAL_HEADER_BYTES];
        input.read_exact(&mut fixed)?;
        let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let long = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let mut name = vec![0; usize::from(short(22))];
        input.read_exact(&mut name)?;
        let mut extra = vec![0; usize::from(short(24))];
        input.read_exact(&mut extra)?;
        Ok(Some(Self {
            flags: short(2),
            method: short(4),
            crc: long(10),
            packed: long(14),
            unpacked: long(18),
            name,
        }))
    }

    fn is_passed_over(&self) -> bool {
        let last = self.name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        last.is_empty() || last.starts_with(b".") || self.name.starts_with(b"__MACOSX/")
    }

    fn body<R: BufRead>(&self, input: R) -> io::Result<Body<R>> {
        if self.flags & FLAG_ENCRYPTED != 0 {
            return Err(broken("the archive has a password"));
        }
        match self.method {
            STORED if self.flags & FLAG_SIZES_LATER != 0 || self.packed == SIZE_IN_EXTRA => {
                Err(broken("the archive does not say how long its file is"))
            }
            STORED => Ok(Body::Stored(input.take(u64::from(self.packed)))),
            DEFLATED => Ok(Body::Deflated(DeflateDecoder::new(input))),
            other => Err(broken(format!("compression method {other} is not supported"))),
        }
    }
}

/// The checksum and size after the content; the size is verified only if it fits into 32 bits.
fn read_descriptor(input: &mut impl Read) -> io::Result<(u32, u32)> {
    let mut word = || {
        let mut bytes = [0; 4];
        input.read_exact(&mut bytes).map(|()| bytes)
    };
    let first = word()?;
    let crc = if first == DESCRIPTOR { word()? } else { first };
    let _packed = word()?;
    let unpacked = word()?;
    Ok((u32::from_le_bytes(crc), u32::from_le_bytes(unpacked)))
}

fn broken(message: impl Into<String>) -> io::Error {
    refused(Code::BrokenArchive, message)
}
