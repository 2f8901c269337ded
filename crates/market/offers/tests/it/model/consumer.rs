//! A consumer of the topic of changes that is killed again and again, and goes on where its
//! position in the store says.

use std::time::Duration;

use buffa::Message as _;
use store::{Batch, Store};
use tokio::task::JoinHandle;
use topics::{Delivered, ReadLimit, Topics};
use wire::torg::offers::v1::Offer;

use crate::model::dice::Dice;
use crate::model::journal::{Journal, Received};
use crate::model::market::{PARTITIONS, TOPIC};

/// The group under which its positions are kept.
pub(crate) const GROUP: &str = "collector";
/// Messages that it takes at a time, at most.
const PAGE: u64 = 9;
/// How long it rests when there is nothing.
const REST: Duration = Duration::from_millis(30);

/// What a consumer needs.
#[derive(Clone)]
pub(crate) struct Consumer {
    pub(crate) store: Store,
    pub(crate) topics: Topics,
    pub(crate) journal: Journal,
    pub(crate) seed: u64,
}

impl Consumer {
    /// Starts consumers one after the other, each with a life of at most this, and kills them
    /// wherever they are. Dropping the future kills the last one.
    pub(crate) async fn live_and_die(self, longest: Duration) {
        let mut dice = Dice::of(self.seed, "death");
        for life in 0.. {
            let running = Killed(tokio::spawn(self.clone().consume(life)));
            tokio::time::sleep(dice.ms(1..longest.as_millis() as u64)).await;
            drop(running);
            self.journal.notes().consumer_kills += 1;
            self.journal.event(format_args!("consumer {life} is killed"));
            // Sometimes the consumer is down for a while.
            if dice.percent(30) {
                tokio::time::sleep(dice.ms(1..longest.as_millis() as u64 / 4)).await;
            }
        }
    }

    async fn consume(self, life: u64) {
        let mut dice = Dice::of(self.seed, &format!("consumer {life}"));
        loop {
            let mut moved = false;
            for partition in 0..PARTITIONS {
                // An error of the store: it tries again, from where it was.
                moved |= self.take(partition, &mut dice).await.unwrap_or(false);
            }
            if !moved {
                tokio::time::sleep(REST).await;
            }
        }
    }

    /// Takes the next messages of a partition; says whether there were any.
    async fn take(&self, partition: u32, dice: &mut Dice) -> topics::Result<bool> {
        let position = self.topics.position(GROUP, TOPIC, partition).await?;
        let limit = ReadLimit::messages(dice.within(1..PAGE + 1) as usize);
        let page = self.topics.read(TOPIC, partition, position.offset(), limit).await?;
        for delivered in &page.messages {
            self.note(partition, delivered);
        }
        if page.messages.is_empty() {
            return Ok(false);
        }
        let mut batch = Batch::new();
        let _ = position.commit_into(&mut batch, page.next);
        // In conflict a consumer that was killed has moved on after all: so do we.
        let _: store::Outcome = self.store.commit(batch).await?;
        Ok(true)
    }

    fn note(&self, partition: u32, delivered: &Delivered) {
        let received = received(partition, delivered);
        let Received { offset, id, version, author, .. } = &received;
        self.journal.event(format_args!("{partition}/{offset}: {id} v{version} by {author:?}"));
        self.journal.notes().received.push(received);
    }
}

/// A task that ends, wherever it is, when this is dropped.
struct Killed(JoinHandle<()>);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reads a message of the topic as its contract says, without the help of the code that wrote it.
pub(crate) fn received(partition: u32, delivered: &Delivered) -> Received {
    let Delivered { offset, message } = delivered;
    let header = |name| {
        message.header_value(name).map(|value| String::from_utf8(value.to_vec()).unwrap()).unwrap_or_default()
    };
    assert_eq!(header("kind"), "offer");
    let (stage, signature) = (header("author"), header("signature"));
    let author = match (&*stage, signature.split_once(':')) {
        ("", Some((kind, name))) => (kind.to_owned(), name.to_owned()),
        ("", None) => panic!("{partition}/{offset} has no author"),
        (stage, _) => ("stage".to_owned(), stage.to_owned()),
    };
    let removed = header("removed") == "true";
    Received {
        partition,
        offset: *offset,
        id: std::str::from_utf8(&message.key).unwrap().parse().unwrap(),
        version: header("version").parse().unwrap(),
        author,
        changed: header("changed"),
        time_ms: message.time,
        offer: (!removed).then(|| Offer::decode_from_slice(&message.payload).unwrap()),
    }
}
