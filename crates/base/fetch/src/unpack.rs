//! Decompresses a body in steps.

use std::io::{self, Write};

use bytes::{Buf, Bytes};
use flate2::write::{MultiGzDecoder, ZlibDecoder};

use crate::error::Cause;
use crate::limits::UNPACK_STEP_BYTES;

/// The decoder of a `Content-Encoding`.
pub(crate) enum Unpacker {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

impl Unpacker {
    pub(crate) fn of(encoding: &str) -> Result<Self, Cause> {
        match &*encoding.trim().to_ascii_lowercase() {
            "" | "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))),
            "deflate" => Ok(Self::Deflate(Box::new(ZlibDecoder::new(Vec::new())))),
            other => Err(Cause::OtherPacking(other.chars().take(32).collect())),
        }
    }

    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Consumes one step of `packed` and returns the output, which is limited and may be empty.
    pub(crate) fn step(&mut self, packed: &mut Bytes) -> Result<Bytes, Cause> {
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
            Ok(0) => Err(Cause::BadPacking("bytes after the end".to_owned())),
            Ok(taken) => {
                packed.advance(taken);
                Ok(self.take())
            }
            Err(error) => Err(bad(&error)),
        }
    }

    /// The rest of the output after the last packed byte; an error if the input is incomplete.
    pub(crate) fn finish(&mut self) -> Result<Bytes, Cause> {
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

fn bad(error: &io::Error) -> Cause {
    Cause::BadPacking(error.to_string())
}
