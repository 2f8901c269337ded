//! The survey: looks at journals and manifests before the engine opens them.
//!
//! fjall verifies the blocks of its tables whenever it reads them. Two places are not covered. On opening it cuts a journal at the first entry
//! that makes no sense, whatever follows; and it trusts the manifest of each keyspace, which names the table files. The survey reads
//! both with their checksums and refuses what was damaged. It changes nothing itself; an end of the newest journal that a crash
//! tore is handed to the caller to be cut off, because fjall does not recover from every torn end.
//!
//! Every batch that Torg writes starts with a *group row* (see `commit.rs`): a number that grows by one, and the engine's
//! sequence number at that time. With these the survey also notices missing batches, and a sequence number that was altered.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::commit::GroupRow;
use super::errors::path_error;
use super::layout::KEYSPACE_COUNT;
use crate::{Error, Result};

const TAG_START: u8 = 1;
const TAG_ITEM: u8 = 2;
const TAG_END: u8 = 3;
const TRAILER: [u8; 4] = [b'F', b'J', b'L', 3];
/// The engine draws a few numbers of its own between two groups; a jump beyond this is damage.
const SEQUENCE_JUMP_MAX: u64 = 1 << 32;

/// An end of a journal that belongs to no acknowledged group.
#[derive(Debug)]
pub(super) struct TornEnd {
    journal: PathBuf,
    at: u64,
}

impl TornEnd {
    /// Cuts it off.
    pub(super) fn cut(&self) -> Result<()> {
        tracing::warn!(journal = %self.journal.display(), at = self.at, "cutting off a write that a crash has torn");
        let file = fs::OpenOptions::new().write(true).open(&self.journal);
        let cut = file.and_then(|file| file.set_len(self.at).and_then(|()| file.sync_all()));
        cut.map_err(|e| path_error(&e, &self.journal))
    }
}

/// Surveys a database in which group `acknowledged` was the last that was certainly on the disk; zero if none was, because
/// the store is new or was written without forcing anything to the disk.
pub(super) fn survey(database: &Path, acknowledged: u64) -> Result<Option<TornEnd>> {
    survey_manifests(&database.join("keyspaces"))?;
    let mut journals = Journals { last: None, torn: None, may_have_lost: acknowledged == 0 };
    let files = journal_files(database)?;
    let newest = files.keys().next_back().copied();
    for (number, path) in files {
        let data = fs::read(&path).map_err(|e| path_error(&e, &path))?;
        journals.read(&path, &data, Some(number) == newest)?;
    }
    match journals.last {
        Some(last) if last.group < acknowledged => Err(Error::Corrupt {
            place: database.display().to_string(),
            detail: format!(
                "the journal ends with group {}, but group {acknowledged} was acknowledged",
                last.group
            ),
        }),
        _ => Ok(journals.torn),
    }
}

/// Every keyspace has a `current` file that names its manifest and holds the manifest's checksum.
fn survey_manifests(keyspaces: &Path) -> Result<()> {
    let entries = fs::read_dir(keyspaces).map_err(|e| path_error(&e, keyspaces))?;
    let mut count = 0;
    for entry in entries {
        let folder = entry.map_err(|e| path_error(&e, keyspaces))?.path();
        let current = folder.join("current");
        let pointer = fs::read(&current).map_err(|e| path_error(&e, &current))?;
        let damaged =
            |detail: &str| Error::Corrupt { place: folder.display().to_string(), detail: detail.to_owned() };
        let mut pointer = &pointer[..];
        let version = take(&mut pointer).map(u64::from_le_bytes);
        let expected = take(&mut pointer).map(u128::from_le_bytes);
        let (Some(version), Some(expected), [0]) = (version, expected, pointer) else {
            return Err(damaged("the file `current` is malformed"));
        };
        let manifest = folder.join(format!("v{version}"));
        let content =
            fs::read(&manifest).map_err(|_| damaged("the manifest that `current` names is missing"))?;
        if xxh3_128(&content) != expected {
            return Err(damaged("the manifest does not match its checksum"));
        }
        count += 1;
    }
    if count == KEYSPACE_COUNT {
        return Ok(());
    }
    let detail = format!("{count} of {KEYSPACE_COUNT} keyspaces are there");
    Err(Error::Corrupt { place: keyspaces.display().to_string(), detail })
}

/// The journals by their numbers.
fn journal_files(database: &Path) -> Result<BTreeMap<u64, PathBuf>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(database).map_err(|e| path_error(&e, database))? {
        let path = entry.map_err(|e| path_error(&e, database))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(number) = name.and_then(|name| name.strip_suffix(".jnl")).and_then(|n| n.parse().ok()) {
            files.insert(number, path);
        }
    }
    Ok(files)
}

/// One batch of a journal.
#[derive(Clone, Copy)]
struct JournalBatch {
    group: u64,
    sequence: u64,
}

/// What has been read so far.
struct Journals {
    last: Option<JournalBatch>,
    torn: Option<TornEnd>,
    /// Nothing was forced to the disk: whole groups may stand behind a lost one.
    may_have_lost: bool,
}

impl Journals {
    fn read(&mut self, path: &Path, data: &[u8], newest: bool) -> Result<()> {
        let mut at = 0;
        while let Some((batch, length)) = parse_batch(&data[at..]) {
            self.follow(&batch).map_err(|detail| damaged_journal(path, at, &detail))?;
            at += length;
        }
        let rest = &data[at..];
        let is_end = rest.iter().all(|&byte| byte == 0);
        if is_end {
            return Ok(());
        }
        // Only the newest journal can have a torn end, and nothing can stand behind that.
        if newest && (self.may_have_lost || !holds_a_batch(rest)) {
            self.torn = Some(TornEnd { journal: path.to_owned(), at: at as u64 });
            return Ok(());
        }
        Err(damaged_journal(path, at, "an entry cannot be read, and there is more behind it"))
    }

    /// Checks that a batch comes right behind the one before it.
    fn follow(&mut self, batch: &ParsedBatch) -> Result<(), String> {
        let group = batch.group.ok_or("a batch does not start with its group row")?;
        let sequence = batch.sequence;
        if sequence < group.sequence_min || sequence - group.sequence_min > SEQUENCE_JUMP_MAX {
            return Err(format!("group {} has an impossible sequence number", group.group));
        }
        if let Some(last) = self.last {
            if group.group != last.group + 1 {
                return Err(format!("group {} follows group {}", group.group, last.group));
            }
            if sequence <= last.sequence {
                return Err(format!("the sequence number of group {} does not grow", group.group));
            }
        }
        self.last = Some(JournalBatch { group: group.group, sequence });
        Ok(())
    }
}

fn damaged_journal(path: &Path, at: usize, detail: &str) -> Error {
    Error::Corrupt { place: format!("{} at byte {at}", path.display()), detail: detail.to_owned() }
}

/// Whether a whole batch starts anywhere in `data`.
fn holds_a_batch(data: &[u8]) -> bool {
    let starts = data.iter().enumerate().filter(|(_, byte)| **byte == TAG_START);
    starts.into_iter().any(|(at, _)| parse_batch(&data[at..]).is_some_and(|(batch, _)| batch.group.is_some()))
}

struct ParsedBatch {
    sequence: u64,
    group: Option<GroupRow>,
}

/// Reads one whole batch off the front, with its length; `None` if there is none whose checksum fits.
fn parse_batch(data: &[u8]) -> Option<(ParsedBatch, usize)> {
    let mut rest = data;
    let [TAG_START] = take(&mut rest)? else { return None };
    let count = u32::from_le_bytes(take(&mut rest)?);
    let sequence = u64::from_le_bytes(take(&mut rest)?);
    let items = rest;
    let mut group = None;
    for number in 0..count {
        let (key, value) = parse_item(&mut rest)?;
        if number == 0 {
            group = GroupRow::parse(key, value);
        }
    }
    let mut hasher = Xxh3::new();
    hasher.update(&items[..items.len() - rest.len()]);
    let [TAG_END] = take(&mut rest)? else { return None };
    let sum = u64::from_le_bytes(take(&mut rest)?);
    let whole = sum == hasher.digest() && take(&mut rest)? == TRAILER;
    whole.then(|| (ParsedBatch { sequence, group }, data.len() - rest.len()))
}

/// Reads one item off the front: its key, and its value as it is stored.
fn parse_item<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let [TAG_ITEM, _value_type, _compression] = take(rest)? else { return None };
    let _keyspace: [u8; 8] = take(rest)?;
    let key_length = u16::from_le_bytes(take(rest)?);
    let _value_length: [u8; 4] = take(rest)?;
    let stored_length = u32::from_le_bytes(take(rest)?);
    let key = take_slice(rest, key_length.into())?;
    let value = take_slice(rest, stored_length as usize)?;
    Some((key, value))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

fn take_slice<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(head)
}
