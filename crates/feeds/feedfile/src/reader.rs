//! Reads a file: one thread splits it, others parse, and the caller gets batches in file order.

use crate::formats::Parser;
use crate::header::Header;
use crate::ids::IdSet;
use crate::input::{Packing, Progress, Text, unpack};
use crate::limits::{FILE_BYTES_MAX, OFFERS_MAX, QUEUE_BATCHES, THREADS_MAX};
use crate::model::FeedOffer;
use crate::position::Position;
use crate::problem::Excerpt;
use crate::sniff::sniff;
use crate::split::{RawBatch, Sink, Stop};
use crate::summary::{Outcome, Summary};
use crate::xml::Splitter;
use crate::{Code, Format, Problem, delimited, json};
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

#[derive(Debug, Clone)]
pub struct Options {
    /// Threads that parse; by default one for each core.
    pub threads: Option<usize>,
    /// The currency of prices without one if the file has none either; may be empty.
    pub currency: String,
    pub file_bytes_max: u64,
    pub offers_max: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: None,
            currency: String::new(),
            file_bytes_max: FILE_BYTES_MAX,
            offers_max: OFFERS_MAX,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub external_id: String,
    /// For reports: the title of a rejected offer.
    pub title: String,
    pub at: Position,
    /// `None` if it is rejected.
    pub offer: Option<FeedOffer>,
    pub problems: Vec<Problem>,
}

#[derive(Debug)]
pub struct Batch {
    pub items: Vec<Item>,
    /// What precedes the first offers of the file.
    pub header: Arc<Header>,
    /// Bytes of the packed input that are read so far.
    pub bytes_read: u64,
    source: RawBatch,
}

impl Batch {
    /// The text of an offer in the file, by its index in the batch.
    #[must_use]
    pub fn text(&self, item: usize) -> &str {
        let piece = self.source.pieces.get(item);
        piece.map(|piece| &self.source.text[piece.start..piece.end]).unwrap_or_default()
    }

    /// The line around a position inside an offer, by its index in the batch; empty if the position
    /// is outside of the offer.
    #[must_use]
    pub fn excerpt(&self, item: usize, at: Position) -> Excerpt {
        let found = self.source.pieces.get(item).and_then(|piece| {
            let text = &self.source.text[piece.start..piece.end];
            Some(Excerpt::of(text, at.offset_in(text, piece.at)?))
        });
        found.unwrap_or_default()
    }
}

/// A file whose format is known.
pub struct Reader<'a> {
    text: Text<'a>,
    format: Format,
    packing: Packing,
    progress: Arc<Progress>,
    options: Options,
    warnings: Vec<Problem>,
}

struct SplitEnd {
    stop: Option<Stop>,
    header: Header,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    /// Unpacks the beginning and detects encoding and format. A file that cannot be read is an
    /// error.
    pub fn open(input: impl Read + Send + 'a, options: Options) -> Result<Self, Box<Problem>> {
        let unpacked = unpack(input, &options).map_err(|error| crate::input::problem(&error))?;
        let mut text = Text::open(unpacked.bytes)?;
        let (format, warnings) = sniff(&mut text)?;
        Ok(Self { text, format, packing: unpacked.packing, progress: unpacked.progress, options, warnings })
    }

    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Reads to the end, or as far as possible. `take` gets every offer in file order.
    pub fn read(mut self, mut take: impl FnMut(Batch) -> ControlFlow<()>) -> Summary {
        let mut summary = Summary::new();
        summary.format = Some(self.format);
        summary.packing = self.packing;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = self.options.threads.unwrap_or(cores).clamp(1, THREADS_MAX);
        let (format, offers_max, progress) =
            (self.format, self.options.offers_max, Arc::clone(&self.progress));
        let (text, currency) = (&mut self.text, self.options.currency.as_str());
        let mut stopped = false;
        let end = thread::scope(|scope| {
            let mut queues = Vec::new();
            let mut results = Vec::new();
            for _ in 0..threads {
                let (queue, jobs) = sync_channel(QUEUE_BATCHES);
                let (done, parsed) = sync_channel(QUEUE_BATCHES);
                scope.spawn(move || parse_all(format, currency, &jobs, &done));
                queues.push(queue);
                results.push(parsed);
            }
            let splitter = scope.spawn(move || split_all(format, text, offers_max, &queues));
            let mut ids = IdSet::new();
            for turn in 0.. {
                let Ok((items, source)) = results[turn % threads].recv() else { break };
                let (header, bytes_read) =
                    (Arc::clone(&source.header), progress.packed.load(Ordering::Relaxed));
                let batch = settle(&mut summary, &mut ids, Batch { items, header, bytes_read, source });
                if take(batch).is_break() {
                    stopped = true;
                    break;
                }
            }
            drop(results);
            splitter.join()
        });
        match end {
            Ok(end) => self.finish(&mut summary, end, stopped),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        summary
    }

    fn finish(&mut self, summary: &mut Summary, end: SplitEnd, stopped: bool) {
        summary.encoding = self.text.encoding();
        summary.bytes = self.progress.unpacked.load(Ordering::Relaxed);
        summary.header = end.header;
        summary.problems = std::mem::take(&mut self.warnings);
        summary.problems.extend(self.text.take_warnings());
        summary.problems.extend(end.problems);
        if self.progress.more_files.load(Ordering::Relaxed) {
            let message = "the archive holds more than one file; the first one is read";
            summary.problems.push(Problem::of_file(Code::ExtraContent, Position::START, message));
        }
        for problem in std::mem::take(&mut summary.problems) {
            summary.count(&problem);
            summary.problems.push(problem);
        }
        match end.stop {
            Some(Stop::Broken(problem)) => summary.break_off(problem),
            _ if stopped => summary.outcome = Outcome::Stopped,
            _ => {}
        }
    }
}

type Parsed = (Vec<Item>, RawBatch);

fn parse_all(format: Format, currency: &str, jobs: &Receiver<RawBatch>, done: &SyncSender<Parsed>) {
    let parser = Parser::new(format, currency);
    while let Ok(batch) = jobs.recv() {
        let items = parser.parse(&batch);
        if done.send((items, batch)).is_err() {
            return;
        }
    }
}

/// Batches go to the threads in turn and are collected in the same turn, which keeps their order.
fn split_all(
    format: Format,
    text: &mut Text<'_>,
    offers_max: u64,
    queues: &[SyncSender<RawBatch>],
) -> SplitEnd {
    let mut turn = 0;
    let mut sink = Sink::new(offers_max, |batch| {
        let queue = &queues[turn % queues.len()];
        turn += 1;
        queue.send(batch).map_err(|_| Stop::Unwanted)
    });
    let split = match (format.dialect(), format) {
        (Some(dialect), _) => Splitter::new(dialect).run(text, &mut sink),
        (None, Format::OwnJson | Format::ParsedProfile) => json::split(text, &mut sink),
        (None, _) => delimited::split(text, &mut sink),
    };
    let flushed = if matches!(split, Err(Stop::Unwanted)) { Ok(()) } else { sink.flush() };
    SplitEnd { stop: split.and(flushed).err(), header: sink.header, problems: sink.problems }
}

/// Rejects duplicates and counts.
fn settle(summary: &mut Summary, ids: &mut IdSet, mut batch: Batch) -> Batch {
    for number in 0..batch.items.len() {
        let item = &batch.items[number];
        if !item.external_id.is_empty() && !ids.insert(&item.external_id) {
            let problem = duplicate(item).with_excerpt(batch.excerpt(number, item.at));
            batch.items[number].offer = None;
            batch.items[number].problems.push(problem);
        }
        let item = &batch.items[number];
        summary.offers += 1;
        match item.offer {
            Some(_) => summary.accepted += 1,
            None => summary.rejected += 1,
        }
        if item.offer.is_none() && item.external_id.is_empty() {
            summary.rejected_without_id += 1;
        }
        for problem in &item.problems {
            summary.count(problem);
        }
    }
    batch
}

fn duplicate(item: &Item) -> Problem {
    Problem {
        field: "id".to_owned(),
        value: item.external_id.clone(),
        external_id: item.external_id.clone(),
        ..Problem::of_file(Code::DuplicateId, item.at, "an earlier offer has this id")
    }
}
