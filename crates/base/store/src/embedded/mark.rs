//! The mark: the number of the last acknowledged group, in a small file beside the database.
//!
//! A crash may tear the last group, which was not acknowledged, off the end of a journal, and fjall
//! rightly drops it. Damage to a journal looks the same to fjall, and it would drop acknowledged
//! groups too (its issue 311). The mark distinguishes the two cases. It is written after each group
//! without being forced to the disk: after a crash of the process it is exact, after a power loss
//! it may lag behind, and it is never ahead.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::errors::path_error;
use crate::{Error, Result};

/// Two slots are written alternately, so that one is always whole.
const SLOT_BYTES: u64 = 16;

pub(super) struct Mark {
    file: File,
}

impl Mark {
    pub(super) fn create(path: &Path) -> Result<Self> {
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
        let mark = Self { file: open.map_err(|e| path_error(&e, path))? };
        mark.reset().map_err(|e| path_error(&e, path))?;
        Ok(mark)
    }

    /// The second value is the last acknowledged group.
    pub(super) fn open(path: &Path) -> Result<(Self, u64)> {
        let open = OpenOptions::new().read(true).write(true).open(path);
        let file = open.map_err(|e| path_error(&e, path))?;
        let slots = (0..2).filter_map(|slot| read_slot(&file, slot));
        let group = slots.max().ok_or_else(|| Error::Corrupt {
            place: path.display().to_string(),
            detail: "the mark of the last acknowledged group cannot be read".to_owned(),
        })?;
        Ok((Self { file }, group))
    }

    pub(super) fn write(&self, group: u64) -> std::io::Result<()> {
        self.file.write_all_at(&encode(group), (group % 2) * SLOT_BYTES)
    }

    /// Forgets the last group: later acknowledged groups may be lost with the machine.
    pub(super) fn reset(&self) -> std::io::Result<()> {
        self.file.write_all_at(&encode(0), 0)?;
        self.file.write_all_at(&encode(0), SLOT_BYTES)?;
        self.file.sync_all()
    }

    pub(super) fn sync(&self) -> std::io::Result<()> {
        self.file.sync_all()
    }
}

fn encode(group: u64) -> [u8; SLOT_BYTES as usize] {
    let mut slot = [0; SLOT_BYTES as usize];
    slot[..8].copy_from_slice(&group.to_be_bytes());
    let sum = xxh3_64(&slot[..8]);
    slot[8..].copy_from_slice(&sum.to_be_bytes());
    slot
}

fn read_slot(file: &File, slot: u64) -> Option<u64> {
    let mut bytes = [0; SLOT_BYTES as usize];
    file.read_exact_at(&mut bytes, slot * SLOT_BYTES).ok()?;
    let group = u64::from_be_bytes(*bytes.first_chunk()?);
    (encode(group) == bytes).then_some(group)
}
