//! The survey: verifies journals and manifests before fjall opens them.
//!
//! fjall verifies the blocks of its tables whenever it reads them, but not two other places. On
//! opening it truncates a journal at the first malformed entry, whatever follows; and it trusts the
//! manifest of each keyspace, which names the table files. The survey verifies the checksums of
//! both and refuses damage. It changes nothing: a torn end of the newest journal is returned to the
//! caller, which cuts it off, because fjall does not recover from every torn end.
//!
//! Every batch starts with a *group row* (see `commit.rs`): a number that grows by one, and the
//! sequence number of fjall at that time. They reveal missing batches and altered sequence numbers.

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
/// fjall uses a few numbers itself between two groups; a larger jump is damage.
const SEQUENCE_JUMP_MAX: u64 = 1 << 32;

/// The end of a journal that belongs to no acknowledged group.
#[derive(Debug)]
pub(super) struct TornEnd {
    journal: PathBuf,
    at: u64,
}

impl TornEnd {
    pub(super) fn cut(&self) -> Result<()> {
        tracing::warn!(journal = %self.journal.display(), at = self.at, "cutting off a write that was torn by a crash");
        let file = fs::OpenOptions::new().write(true).open(&self.journal);
        let cut = file.and_then(|file| file.set_len(self.at).and_then(|()| file.sync_all()));
        cut.map_err(|e| path_error(&e, &self.journal))
    }
}

/// `acknowledged` is the last group that was certainly on the disk; zero if none was, because the
/// store is new or is not forced to the disk.
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

/// Each keyspace has a file `current` with the name and the checksum of its manifest.
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

#[derive(Clone, Copy)]
struct JournalBatch {
    group: u64,
    sequence: u64,
}

struct Journals {
    last: Option<JournalBatch>,
    torn: Option<TornEnd>,
    /// Nothing was forced to the disk: whole groups may follow a lost one.
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
        // Only the newest journal can have a torn end, and nothing follows that.
        if newest && (self.may_have_lost || !holds_a_batch(rest)) {
            self.torn = Some(TornEnd { journal: path.to_owned(), at: at as u64 });
            return Ok(());
        }
        Err(damaged_journal(path, at, "an entry is malformed, and data follows it"))
    }

    /// Checks that a batch follows the one before it.
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

fn holds_a_batch(data: &[u8]) -> bool {
    let starts = data.iter().enumerate().filter(|(_, byte)| **byte == TAG_START);
    starts.into_iter().any(|(at, _)| parse_batch(&data[at..]).is_some_and(|(batch, _)| batch.group.is_some()))
}

struct ParsedBatch {
    sequence: u64,
    group: Option<GroupRow>,
}

/// Parses one batch, with its length; `None` if there is none with a correct checksum.
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

/// Parses the key and the stored value of one item.
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
