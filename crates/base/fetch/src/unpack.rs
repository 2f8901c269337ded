//! Unpacks a body piece by piece.

use std::io::{self, Write};

use bytes::{Buf, Bytes};
use flate2::write::{MultiGzDecoder, ZlibDecoder};

use crate::error::Why;
use crate::limits::UNPACK_STEP_BYTES;

/// What turns the bytes of the wire into those of the file.
pub(crate) enum Unpacker {
    /// They are the same.
    Plain,
    /// By `Content-Encoding: gzip`.
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// By `Content-Encoding: deflate`.
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

impl Unpacker {
    /// For this value of `Content-Encoding`.
    pub(crate) fn of(encoding: &str) -> Result<Self, Why> {
        match &*encoding.trim().to_ascii_lowercase() {
            "" | "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))),
            "deflate" => Ok(Self::Deflate(Box::new(ZlibDecoder::new(Vec::new())))),
            other => Err(Why::OtherPacking(other.chars().take(32).collect())),
        }
    }

    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Takes a step's worth from `packed` and returns what comes out, which is limited by the step and may be nothing yet.
    pub(crate) fn step(&mut self, packed: &mut Bytes) -> Result<Bytes, Why> {
        if self.is_plain() {
            return Ok(std::mem::take(packed));
        }
        let step = &packed[..packed.len().min(UNPACK_STEP_BYTES)];
        let done = match self {
            Self::Plain => Ok(0),
            Self::Gzip(decoder) => decoder.write(step),
            Self::Deflate(decoder) => decoder.write(step),
        };
        match done {
            Ok(0) => Err(Why::BadPacking("bytes after the end".to_owned())),
            Ok(taken) => {
                packed.advance(taken);
                Ok(self.take())
            }
            Err(error) => Err(bad(&error)),
        }
    }

    /// What is left after the last packed byte; an error if more should have come.
    pub(crate) fn finish(&mut self) -> Result<Bytes, Why> {
        match self {
            Self::Plain => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Deflate(decoder) => decoder.try_finish(),
        }
        .map_err(|error| bad(&error))?;
        Ok(self.take())
    }

    fn take(&mut self) -> Bytes {
        match self {
            Self::Plain => Bytes::new(),
            Self::Gzip(decoder) => std::mem::take(decoder.get_mut()).into(),
            Self::Deflate(decoder) => std::mem::take(decoder.get_mut()).into(),
        }
    }
}

fn bad(error: &io::Error) -> Why {
    Why::BadPacking(error.to_string())
}
