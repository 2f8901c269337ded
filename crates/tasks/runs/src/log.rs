//! The log of a run: its output, of which the beginning and the end are kept.
//!
//! The first half of the limit goes into `log`. The rest goes into parts `log.N` of a quarter each,
//! where N is the offset in the output at which the part begins; the last two parts are kept. So a
//! reader sees the gap from the names alone, offsets do not change while the run continues, and
//! nothing is lost if the writer is killed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::durable::FILE_MODE;

const HEAD: &str = "log";
/// Attempts of a reader that meets removed parts.
const READ_TRIES: u32 = 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogChunk {
    /// Bytes that were dropped before this part.
    pub left_out: u64,
    /// The offset of this part in the output.
    pub offset: u64,
    pub bytes: Vec<u8>,
    /// Bytes of output so far.
    pub total: u64,
}

impl LogChunk {
    /// The offset of the next part.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// For people: the output, after a line with the number of dropped bytes, if any.
    #[must_use]
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        match self.left_out {
            0 => text.into_owned(),
            bytes => format!("\n[torg: {bytes} bytes were left out here]\n{text}"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Writer {
    folder: PathBuf,
    head_max: u64,
    part_max: u64,
    total: u64,
    head: File,
    /// The current part and its offset.
    part: Option<(u64, File)>,
    /// The offset of the part before it.
    before: Option<u64>,
}

impl Writer {
    /// Continues where the last writer stopped.
    pub(crate) fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        let head = append_to(&folder.join(HEAD))?;
        let parts = parts(folder)?;
        let mut later = parts.iter().map(|part| part.begins).filter(|&begins| begins > 0).rev();
        let part =
            later.next().map(|begins| append_to(&part_path(folder, begins)).map(|file| (begins, file)));
        let (part, before) = (part.transpose()?, later.next());
        let total = parts.last().map_or(0, Part::ends);
        let (head_max, part_max) = (bytes_max / 2, (bytes_max / 4).max(1));
        Ok(Self { folder: folder.to_owned(), head_max, part_max, total, head, part, before })
    }

    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (file, room) = match &mut self.part {
                None if self.total < self.head_max => (&mut self.head, self.head_max - self.total),
                Some((begins, file)) if self.total < *begins + self.part_max => {
                    (file, *begins + self.part_max - self.total)
                }
                _ => {
                    self.turn_over()?;
                    continue;
                }
            };
            let (now, later) =
                bytes.split_at(usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len())));
            file.write_all(now)?;
            self.total += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Begins a new part, and removes the last but one.
    fn turn_over(&mut self) -> io::Result<()> {
        if let Some(before) = self.before {
            crate::durable::remove(&part_path(&self.folder, before))?;
        }
        let file = append_to(&part_path(&self.folder, self.total))?;
        self.before = self.part.replace((self.total, file)).map(|(begins, _)| begins);
        Ok(())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(path)
}

fn part_path(folder: &Path, begins: u64) -> PathBuf {
    folder.join(format!("{HEAD}.{begins:020}"))
}

struct Part {
    begins: u64,
    bytes: u64,
    path: PathBuf,
}

impl Part {
    fn ends(&self) -> u64 {
        self.begins + self.bytes
    }
}

fn parts(folder: &Path) -> io::Result<Vec<Part>> {
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let begins = match name.to_str() {
            Some(HEAD) => Some(0),
            Some(name) => name.strip_prefix("log.").and_then(|begins| begins.parse().ok()),
            None => None,
        };
        let Some(begins) = begins else { continue };
        match entry.metadata() {
            Ok(about) => parts.push(Part { begins, bytes: about.len(), path: entry.path() }),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    parts.sort_by_key(|part| part.begins);
    Ok(parts)
}

/// Reads a part of a log from an offset in the output. Ends at a gap.
pub(crate) fn read(folder: &Path, offset: u64, limit: usize) -> io::Result<LogChunk> {
    for _ in 0..READ_TRIES {
        match read_parts(&parts(folder)?, offset, limit) {
            // A part was removed by the writer.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            read => return read,
        }
    }
    Err(io::Error::other("its log grows faster than it can be read"))
}

fn read_parts(parts: &[Part], offset: u64, limit: usize) -> io::Result<LogChunk> {
    let total = parts.last().map_or(0, Part::ends);
    let mut rest = parts.iter().skip_while(|part| part.ends() <= offset).peekable();
    let Some(first) = rest.peek() else {
        return Ok(LogChunk { offset: total.min(offset), total, ..LogChunk::default() });
    };
    let begins = first.begins.max(offset);
    let mut piece = LogChunk { left_out: begins - offset, offset: begins, bytes: Vec::new(), total };
    for part in rest {
        let (at, room) = (piece.next(), limit.saturating_sub(piece.bytes.len()));
        if part.begins > at || room == 0 {
            break;
        }
        let mut file = File::open(&part.path)?;
        file.seek(SeekFrom::Start(at - part.begins))?;
        file.take(room.min(usize::try_from(part.ends() - at).unwrap_or(room)) as u64)
            .read_to_end(&mut piece.bytes)?;
    }
    Ok(piece)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Everything that is kept, with its offsets.
    fn all(folder: &Path, limit: usize) -> Vec<(u64, u64, Vec<u8>)> {
        let (mut pieces, mut at) = (Vec::new(), 0);
        loop {
            let piece = read(folder, at, limit).unwrap();
            if piece.bytes.is_empty() {
                return pieces;
            }
            at = piece.next();
            pieces.push((piece.left_out, piece.offset, piece.bytes));
        }
    }

    #[test]
    fn a_short_log_is_kept_whole() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path(), 0, 10).unwrap(), LogChunk::default());
        let mut log = Writer::open(folder.path(), 100).unwrap();
        log.write(b"one\n").unwrap();
        log.write(b"two\n").unwrap();
        let piece = read(folder.path(), 2, 4).unwrap();
        assert_eq!(piece, LogChunk { left_out: 0, offset: 2, bytes: b"e\ntw".to_vec(), total: 8 });
        assert_eq!(read(folder.path(), 8, 4).unwrap().bytes, b"");
        assert_eq!(read(folder.path(), 99, 4).unwrap().offset, 8);
    }

    proptest! {
        #[test]
        fn the_beginning_and_the_end_are_kept_within_the_limit_and_the_gap_is_told(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..40),
            reopened in any::<bool>(),
            limit in 1_usize..50,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let max = 64;
            let mut log = Writer::open(folder.path(), max).unwrap();
            for piece in &pieces {
                log.write(piece).unwrap();
                if reopened {
                    log = Writer::open(folder.path(), max).unwrap();
                }
            }
            let text = pieces.concat();
            let kept = all(folder.path(), limit);
            let bytes: usize = kept.iter().map(|(_, _, bytes)| bytes.len()).sum();
            let left_out: u64 = kept.iter().map(|(left_out, _, _)| left_out).sum();
            prop_assert!(bytes as u64 <= max);
            prop_assert_eq!(bytes as u64 + left_out, text.len() as u64);
            prop_assert!(text.len() as u64 > max || left_out == 0 || bytes as u64 >= max / 2 + max / 4);
            for (_, offset, bytes) in kept {
                let at = offset as usize;
                prop_assert_eq!(&text[at..at + bytes.len()], &bytes[..]);
            }
        }
    }
}
