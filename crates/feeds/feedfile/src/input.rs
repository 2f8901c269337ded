//! Turns a reader into a window of UTF-8 text: unpacking within limits, encodings, positions.

mod encoding;
mod guard;
mod text;
mod zip;

pub(crate) use guard::{Progress, Refused, refused};
pub(crate) use text::Text;

use crate::position::Position;
use crate::{Code, Options, Problem};
use flate2::bufread::GzDecoder;
use guard::{Guard, QueueCounts};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;

const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];
const ZIP_MAGIC: [u8; 4] = *b"PK\x03\x04";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    Plain,
    Gzip,
    /// zip, of which the first file is read.
    Zip,
}

/// The unpacked bytes, never more than the options allow.
pub(crate) struct Unpacked<'a> {
    pub(crate) bytes: Box<dyn Read + Send + 'a>,
    pub(crate) packing: Packing,
    pub(crate) progress: Arc<Progress>,
}

pub(crate) fn unpack<'a>(input: impl Read + Send + 'a, options: &Options) -> io::Result<Unpacked<'a>> {
    let progress = Arc::new(Progress::default());
    let mut input = QueueCounts::new(input, Arc::clone(&progress));
    let head = first_bytes(&mut input, ZIP_MAGIC.len())?;
    let (gzipped, zipped) = (head.starts_with(&GZIP_MAGIC), head == ZIP_MAGIC);
    let whole = BufReader::with_capacity(crate::limits::READ_BYTES, Cursor::new(head).chain(input));
    let (packing, bytes): (Packing, Box<dyn Read + Send + 'a>) = if gzipped {
        (Packing::Gzip, Box::new(Archive(Members::new(whole))))
    } else if zipped {
        (Packing::Zip, Box::new(Archive(zip::FirstFile::open(whole, &progress).map_err(damaged)?)))
    } else {
        (Packing::Plain, Box::new(whole))
    };
    let bytes =
        Box::new(Guard::new(bytes, packing != Packing::Plain, options.file_bytes_max, Arc::clone(&progress)));
    Ok(Unpacked { bytes, packing, progress })
}

fn first_bytes(input: &mut impl Read, count: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.by_ref().take(count as u64).read_to_end(&mut head)?;
    Ok(head)
}

struct Archive<R>(R);

impl<R: Read> Read for Archive<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(damaged)
    }
}

/// The members of a gzip file in order. Trailing bytes that are no member are ignored.
struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Members<R> {
    fn new(input: R) -> Self {
        Self(Some(GzDecoder::new(input)))
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let mut rest = self.0.take().map(GzDecoder::into_inner);
            let more = match &mut rest {
                Some(rest) => rest.fill_buf()?.starts_with(&GZIP_MAGIC[..1]),
                None => false,
            };
            self.0 = rest.filter(|_| more).map(GzDecoder::new);
        }
        Ok(0)
    }
}

/// An error of an unpacker means a damaged archive, unless it has a code already.
fn damaged(error: io::Error) -> io::Error {
    let complains = matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
    );
    if complains && error.get_ref().is_none_or(|inner| !inner.is::<Refused>()) {
        return refused(Code::BrokenArchive, format!("the archive cannot be unpacked: {error}"));
    }
    error
}

/// The problem of an error at the beginning of the file.
pub(crate) fn problem(error: &io::Error) -> Box<Problem> {
    let (code, message) = guard::reason(error);
    Box::new(Problem::of_file(code, Position::START, message))
}
