//! The suite that every log passes.
//!
//! A log's test calls [`run`] with a way to open a [`Bed`]: a fresh, empty place with two handles
//! on it. Each case gets a place of its own, so that cases are independent.

mod appends;
mod consumers;
mod creation;
mod reads;
mod retention;

use std::fmt::Display;
use std::pin::Pin;

use store::{Schema, Store, Table};

use crate::{Delivered, Message, ReadLimit, TopicSpec, Topics};

/// What consumers of the suite write.
pub static APPLIED: Table<(u32, String)> = Table::versioned("suite_applied", &["shard", "id"]);

/// The tables that the suite's store needs.
pub fn schema() -> store::Result<Schema> {
    Schema::new(1, crate::tables().into_iter().chain([APPLIED.def()]))
}

/// A place for one case.
#[derive(Clone)]
pub struct Bed {
    /// The handle under test.
    pub topics: Topics,
    /// An independent handle on the same log, as another process would have it.
    pub other: Topics,
    /// Where the offsets of consumers are.
    pub store: Store,
}

/// What a case answers with.
pub type CaseResult = Result<(), Box<dyn std::error::Error + Send + Sync>>;
type Case = fn(Bed) -> Pin<Box<dyn Future<Output = CaseResult> + Send>>;

/// The time that the suite's messages have: far away, so that no broker finds them old.
pub const NOW: i64 = 4_000_000_000_000;

/// Every case, by name.
#[must_use]
pub fn cases() -> Vec<(&'static str, Case)> {
    macro_rules! cases {
        ($($module:ident :: $case:ident),* $(,)?) => {
            vec![$((stringify!($case), |bed| Box::pin($module::$case(bed)) as _)),*]
        };
    }
    cases![
        appends::messages_come_back_whole_and_in_order,
        appends::a_key_decides_the_partition_and_an_explicit_one_wins,
        appends::offsets_are_acknowledged_in_the_order_of_the_call,
        appends::concurrent_appenders_lose_nothing_and_keep_the_order_of_each_key,
        appends::two_processes_append_to_one_topic,
        appends::an_append_of_nothing_is_fine,
        appends::what_is_empty_stays_empty,
        appends::a_message_of_the_largest_size_is_kept,
        appends::what_is_too_large_is_refused,
        appends::what_cannot_be_kept_is_refused,
        creation::creating_a_topic_again_changes_nothing,
        creation::another_number_of_partitions_is_refused,
        creation::the_retention_can_be_changed,
        creation::many_creators_of_one_topic_agree,
        creation::topics_are_listed_by_name,
        creation::bad_names_and_numbers_are_refused,
        creation::an_unknown_topic_is_refused_everywhere,
        creation::an_unknown_partition_is_refused_everywhere,
        reads::pages_follow_each_other,
        reads::a_page_is_limited_in_bytes_but_never_empty,
        reads::a_read_at_the_end_is_empty,
        reads::an_offset_beyond_the_end_is_refused_with_the_bounds,
        reads::a_read_sees_what_another_process_was_told_is_there,
        reads::readers_at_different_places_do_not_disturb_each_other,
        reads::a_waiting_read_is_woken,
        reads::a_waiting_read_gives_up_in_time,
        reads::a_dropped_read_loses_nothing,
        reads::a_reader_at_the_end_keeps_up_with_large_appends,
        reads::the_offset_of_a_time_is_found,
        consumers::a_new_consumer_starts_at_zero,
        consumers::an_offset_moves_with_the_batch_that_applies_the_messages,
        consumers::a_stale_consumer_applies_nothing,
        consumers::competing_consumers_apply_each_message_once,
        consumers::consumers_do_not_touch_each_other,
        consumers::the_lag_is_told_by_partition,
        retention::old_messages_are_trimmed_from_the_front,
        retention::offsets_go_on_after_everything_was_trimmed,
        retention::without_a_retention_nothing_is_trimmed,
    ]
}

/// Runs every case on beds that `open` makes, and panics with the list of those that failed.
///
/// # Panics
/// If a case fails: this is a test.
pub async fn run<F, O>(mut open: O)
where
    O: FnMut(&'static str) -> F,
    F: Future<Output = Bed>,
{
    let mut failed = Vec::new();
    for (name, case) in cases() {
        let bed = open(name).await;
        match tokio::spawn(case(bed.clone())).await {
            Ok(Ok(())) => tracing::info!("{name}: passed"),
            Ok(Err(error)) => failed.push(format!("{name}: {error}")),
            Err(panic) => failed.push(format!("{name}: {panic}")),
        }
        for topics in [&bed.topics, &bed.other] {
            if let Err(error) = topics.close().await {
                failed.push(format!("{name}: closing: {error}"));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {} cases failed:\n{}", failed.len(), cases().len(), failed.join("\n"));
}

/// A topic of the suite.
const TOPIC: &str = "suite.topic";

async fn create(topics: &Topics, partitions: u32) -> crate::Result<()> {
    topics.create(&TopicSpec::new(TOPIC, partitions)).await
}

fn message(key: &str, payload: impl Display) -> Message {
    Message::new(key.to_owned(), payload.to_string(), NOW)
}

fn messages(key: &str, numbers: std::ops::Range<usize>) -> Vec<Message> {
    numbers.map(|n| message(key, n)).collect()
}

/// All messages of a partition from an offset on, page by page.
async fn read_all(topics: &Topics, partition: u32, from: i64) -> crate::Result<Vec<Delivered>> {
    let mut all = Vec::new();
    let mut next = from;
    loop {
        let page = topics.read(TOPIC, partition, next, ReadLimit::messages(97)).await?;
        if page.messages.is_empty() {
            return Ok(all);
        }
        next = page.next;
        all.extend(page.messages);
    }
}

/// The text of a payload.
fn text(message: &Message) -> &str {
    std::str::from_utf8(&message.payload).unwrap_or("not text")
}

fn texts(delivered: &[Delivered]) -> Vec<&str> {
    delivered.iter().map(|delivered| text(&delivered.message)).collect()
}
