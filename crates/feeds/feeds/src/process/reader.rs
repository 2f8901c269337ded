//! Reads the file of a load and sends its offers.

use std::io::Read;
use std::num::NonZeroU32;
use std::ops::ControlFlow;

use feedfile::{Code, Options, Outcome, Reader, Summary};
use tokio::sync::mpsc;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{Feed, Guard, Load, LoadedOffer, Missing, Problem, QueuedLoad};

use super::convert::Converter;
use super::problems;
use super::recognitions::Recognitions;
use super::unchanged::{Compared, Fingerprints, PublishedLookup};
use crate::error::{Error, Result};
use crate::feed::StoredFeed;
use crate::feeds::Feeds;
use crate::limits::{BATCH_BYTES, GUARD_LEAST, GUARD_SHARE};
use crate::loads::{counts, internal_mut, is_over};
use crate::name::FeedName;

/// Capacity of the queue from the reading thread, in batches.
const READY: usize = 2;

/// A batch from the reading thread.
struct ReadBatch {
    offers: Vec<LoadedOffer>,
    read_bytes: u64,
}

/// How a file ended.
enum ReadEnd {
    /// The file cannot be read at all.
    Unreadable(Box<feedfile::Problem>),
    Read(Box<Summary>, Recognitions),
}

impl Feeds {
    /// Reads the file of a load and sends its offers and the end. A lasting error fails the load.
    pub(super) async fn read_and_send(&self, feed: &StoredFeed, queued: &QueuedLoad) -> Result<()> {
        match self.try_to_read(feed, queued).await {
            Err(error) if !error.is_passing() => {
                let (name, number) = (feed.name(), queued.number);
                tracing::error!(seller = name.seller, namespace = name.namespace, number, %error, "load failed");
                let text = match error {
                    Error::Files(_) => "the stored file is missing",
                    _ => "internal error, see the log of the process",
                };
                let problem = problems::of_code(Code::ReadFailed, "", text);
                self.end_unread(&name, number, &problem).await
            }
            done => done,
        }
    }

    /// Sends nothing of a load that is over.
    async fn try_to_read(&self, feed: &StoredFeed, queued: &QueuedLoad) -> Result<()> {
        let (name, number, now) = (feed.name(), queued.number, self.timestamp());
        let usual = self.deps.config.batch_offers;
        let begun = self
            .rewrite_load(&name, number, |load| {
                if !is_over(load) {
                    load.state = State::STATE_READING.into();
                    load.start_time = Some(now.clone()).into();
                    let batch_offers = &mut internal_mut(load).batch_offers;
                    *batch_offers = NonZeroU32::new(*batch_offers).map_or(usual, NonZeroU32::get);
                }
            })
            .await?;
        let Some(mut load) = begun.filter(|load| !is_over(load)) else { return Ok(()) };
        let batch = BatchBuilder::of(internal_mut(&mut load).batch_offers);
        let input = self.deps.files.fetch(&queued.file).await?;
        let mappings = self.mappings(&name.seller).await?;
        let (sender, mut ready) = mpsc::channel(READY);
        let converter = Converter::new(&self.deps, &feed.0, mappings);
        let published = PublishedLookup::about(self, &name).await?;
        let reading =
            tokio::task::spawn_blocking(move || read(input, &converter, published.as_ref(), batch, &sender));
        let mut batches = 0;
        while let Some(ReadBatch { offers, read_bytes }) = ready.recv().await {
            if !self.send_batch(&name, number, batches, offers, read_bytes).await? {
                // The closed channel stops the thread.
                drop(ready);
                self.give_load_up(&name, number).await?;
                return Ok(());
            }
            batches += 1;
        }
        match reading.await {
            Ok(ReadEnd::Unreadable(problem)) => {
                self.end_unread(&name, number, &problems::of_file(&problem)).await
            }
            Ok(ReadEnd::Read(summary, recognitions)) => {
                self.remember_recognitions(&name.seller, &recognitions).await?;
                self.end_load(&feed.0, number, batches, &summary).await
            }
            Err(error) => Err(Error::Fault(error.to_string())),
        }
    }

    async fn end_load(&self, feed: &Feed, number: u64, batches: u32, summary: &Summary) -> Result<()> {
        let name = FeedName::from(feed);
        let failure = match &summary.outcome {
            Outcome::Broken(problem) => Some(problems::of_file(problem)),
            Outcome::Complete | Outcome::Stopped => None,
        };
        let complete = summary.outcome == Outcome::Complete;
        self.rewrite_load(&name, number, |load| {
            if load.state.as_known() == Some(State::STATE_READING) {
                load.state = State::STATE_APPLYING.into();
            }
            note_summary(load, summary, failure.as_ref());
            internal_mut(load).sent_batches = batches;
            internal_mut(load).sent_all = true;
        })
        .await?;
        let usual = Guard { share: GUARD_SHARE, least: GUARD_LEAST, ..Guard::default() };
        let guard = feed.guard.as_option().cloned().unwrap_or(usual);
        let missing = if complete { feed.missing } else { Missing::MISSING_KEEP.into() };
        self.send_end(&name, number, batches, complete, missing, guard).await
    }

    /// Ends a load whose file could not be read.
    async fn end_unread(&self, name: &FeedName, number: u64, problem: &Problem) -> Result<()> {
        self.rewrite_load(name, number, |load| {
            if load.state.as_known() == Some(State::STATE_READING) {
                load.state = State::STATE_APPLYING.into();
                load.failure = Some(problem.clone()).into();
                internal_mut(load).sent_all = true;
            }
        })
        .await?;
        self.send_end(name, number, 0, false, Missing::MISSING_KEEP.into(), Guard::default()).await
    }

    /// Marks a load as superseded by a later one.
    pub(super) async fn give_load_up(&self, name: &FeedName, number: u64) -> Result<()> {
        let now = self.timestamp();
        self.rewrite_load(name, number, |load| {
            if !is_over(load) {
                load.state = State::STATE_SUPERSEDED.into();
                load.end_time = Some(now.clone()).into();
            }
        })
        .await?;
        Ok(())
    }
}

fn note_summary(load: &mut Load, summary: &Summary, failure: Option<&Problem>) {
    load.format = summary.format.map(|format| format.name().to_owned()).unwrap_or_default();
    summary.encoding.clone_into(&mut load.encoding);
    load.bytes = summary.bytes;
    load.failure = failure.cloned().into();
    counts(load).offers = summary.offers;
    internal_mut(load).read_bytes = summary.bytes;
}

/// Reads on this thread and on threads of the reader.
fn read(
    input: impl Read + Send + 'static,
    converter: &Converter,
    published: Option<&PublishedLookup>,
    mut batch: BatchBuilder,
    ready: &mpsc::Sender<ReadBatch>,
) -> ReadEnd {
    let options = Options { currency: converter.currency().to_owned(), ..Options::default() };
    let reader = match Reader::open(input, options) {
        Ok(reader) => reader,
        Err(problem) => return ReadEnd::Unreadable(problem),
    };
    let (mut session, fingerprints) = (converter.session(), Fingerprints::new(converter));
    let mut summary = reader.read(|part| {
        let compared = Compared::new(&part, &fingerprints, published);
        let (header, bytes_read) = (&part.header, part.bytes_read);
        for (number, item) in part.items.into_iter().enumerate() {
            let bytes = compared.bytes(number);
            if batch.is_full_with(bytes) && !batch.send(ready, bytes_read) {
                return ControlFlow::Break(());
            }
            batch.bytes += bytes;
            batch.offers.push(compared.loaded(number, item, header, &mut session));
        }
        ControlFlow::Continue(())
    });
    let read_bytes = summary.bytes;
    if !batch.offers.is_empty() && !batch.send(ready, read_bytes) {
        summary.outcome = Outcome::Stopped;
    }
    ReadEnd::Read(Box::new(summary), session.recognitions)
}

/// Builds batches. Their ends follow from the file and the load alone, so that reading again makes
/// the same batches.
struct BatchBuilder {
    offers_max: usize,
    offers: Vec<LoadedOffer>,
    bytes: usize,
}

impl BatchBuilder {
    fn of(offers_max: u32) -> Self {
        Self { offers_max: offers_max as usize, offers: Vec::new(), bytes: 0 }
    }

    fn is_full_with(&self, bytes: usize) -> bool {
        self.offers.len() >= self.offers_max || !self.offers.is_empty() && self.bytes + bytes > BATCH_BYTES
    }

    /// False if the receiver is gone.
    fn send(&mut self, ready: &mpsc::Sender<ReadBatch>, read_bytes: u64) -> bool {
        self.bytes = 0;
        ready.blocking_send(ReadBatch { offers: std::mem::take(&mut self.offers), read_bytes }).is_ok()
    }
}
