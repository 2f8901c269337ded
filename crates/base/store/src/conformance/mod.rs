//! The suite that every engine passes.
//!
//! An engine's test calls [`run`] with a way to open a fresh store that knows the tables of
//! [`schema`]. Each case gets a store of its own, so that cases are independent.

mod batches;
mod counters;
mod limits;
mod model;
mod scans;
mod snapshots;

use std::pin::Pin;

use crate::table::{Schema, Table};
use crate::{Batch, Error, Key, Outcome, Read, Result, Row, Store};

/// Large versioned rows.
pub static OFFERS: Table<(u32, String)> = Table::versioned("offers", &["shard", "id"]).large();
/// Small versioned rows.
pub static ENTRIES: Table<(u32, Vec<u8>, String)> =
    Table::versioned("entries", &["shard", "entity", "stage"]);
/// Plain rows with every type of key column.
pub static LISTS: Table<(u32, i64, String, Vec<u8>)> =
    Table::plain("lists", &["shard", "at", "name", "tail"]);
/// Rows that come and go.
pub static QUEUE: Table<(u32, i64, Vec<u8>)> = Table::plain("queue", &["shard", "due", "entity"]).queue();
/// Counters.
pub static COUNTS: Table<(u32, String)> = Table::counters("counts", &["shard", "name"]);
/// A table that no store of the suite is opened with.
pub static STRANGER: Table<(u32,)> = Table::plain("stranger", &["shard"]);

/// The tables that the suite uses.
pub fn schema() -> Result<Schema> {
    Schema::new(1, [OFFERS.def(), ENTRIES.def(), LISTS.def(), QUEUE.def(), COUNTS.def()])
}

pub type CaseResult = Result<(), Box<dyn std::error::Error + Send + Sync>>;
type Case = fn(Store) -> Pin<Box<dyn Future<Output = CaseResult> + Send>>;

#[must_use]
pub fn cases() -> Vec<(&'static str, Case)> {
    macro_rules! cases {
        ($($module:ident :: $case:ident),* $(,)?) => {
            vec![$((stringify!($case), |store| Box::pin($module::$case(store)) as _)),*]
        };
    }
    cases![
        batches::a_put_row_is_read_back_with_its_version,
        batches::a_batch_is_applied_as_a_whole_or_not_at_all,
        batches::a_conflict_names_exactly_the_keys_that_failed,
        batches::an_absent_row_can_be_demanded_and_only_one_creator_wins,
        batches::checks_speak_of_the_state_before_the_batch,
        batches::the_later_of_two_writes_to_one_row_wins,
        batches::deleting_what_is_not_there_is_no_error,
        batches::a_row_can_be_deleted_and_created_again,
        batches::a_check_can_guard_a_row_that_the_batch_does_not_write,
        batches::an_absence_check_can_guard_a_row_that_the_batch_does_not_write,
        batches::an_empty_batch_is_applied,
        batches::an_empty_value_is_a_value,
        batches::of_many_racing_updates_each_version_has_one_winner,
        batches::an_applied_batch_is_known_by_its_id,
        batches::a_dropped_commit_is_still_whole,
        batches::hints_name_the_rows_of_queues_and_the_shards_of_other_tables,
        batches::a_closed_store_says_so,
        counters::adds_sum_up_over_batches_and_callers,
        counters::a_counter_that_was_never_touched_reads_as_zero,
        counters::a_counter_may_go_below_zero,
        counters::adds_of_a_refused_batch_do_not_count,
        counters::an_overflow_is_refused_and_its_neighbours_are_not,
        limits::too_large_a_value_is_refused_with_its_key,
        limits::a_value_of_the_largest_size_is_kept,
        limits::too_large_a_key_is_refused,
        limits::a_key_of_the_largest_size_is_kept,
        limits::too_large_a_batch_is_refused,
        limits::operations_that_do_not_fit_the_table_are_refused,
        limits::a_nul_in_text_is_refused_everywhere_and_allowed_in_bytes,
        limits::an_unknown_table_is_refused,
        limits::a_key_with_wrong_columns_is_refused,
        limits::extreme_key_values_survive_the_round_trip,
        scans::rows_come_in_key_order_and_against_it,
        scans::bounds_take_in_and_leave_out_whole_prefixes,
        scans::pages_go_on_where_the_last_one_ended,
        scans::pages_go_on_while_rows_come_and_go,
        scans::a_page_is_limited_in_bytes,
        scans::tables_do_not_run_into_each_other,
        scans::an_empty_range_is_empty,
        scans::a_page_sees_each_batch_whole,
        scans::a_queue_is_drained_from_a_remembered_place,
        snapshots::a_snapshot_does_not_see_later_batches,
        snapshots::a_snapshot_sees_each_batch_whole,
        snapshots::a_drifted_counter_is_repaired_while_writes_go_on,
        model::random_batches_agree_with_a_simple_model,
    ]
}

/// Runs every case on a fresh store from `open`, and panics with the list of failed cases.
///
/// # Panics
/// If a case fails: this is a test.
pub async fn run<F, O>(mut open: O)
where
    O: FnMut(&'static str) -> F,
    F: Future<Output = Store>,
{
    let mut failed = Vec::new();
    for (name, case) in cases() {
        let store = open(name).await;
        let outcome = tokio::spawn(case(store.clone())).await;
        match outcome {
            Ok(Ok(())) => tracing::info!("{name}: passed"),
            Ok(Err(error)) => failed.push(format!("{name}: {error}")),
            Err(panic) => failed.push(format!("{name}: {panic}")),
        }
        let _ = store.close().await;
    }
    assert!(failed.is_empty(), "{} of {} cases failed:\n{}", failed.len(), cases().len(), failed.join("\n"));
}

/// Commits what must be applied.
async fn applied(store: &Store, batch: Batch) -> Result<()> {
    match store.commit(batch).await? {
        Outcome::Applied => Ok(()),
        Outcome::Conflict(keys) => {
            Err(Error::Engine { engine: "conformance", detail: format!("unexpected conflict on {keys:?}") })
        }
    }
}

/// Commits what must be refused, and returns the keys it names.
async fn refused(store: &Store, batch: Batch) -> Result<Vec<Key>> {
    match store.commit(batch).await? {
        Outcome::Conflict(keys) => Ok(keys),
        Outcome::Applied => Err(Error::Engine {
            engine: "conformance",
            detail: "applied, but a conflict was expected".to_owned(),
        }),
    }
}

async fn version(store: &Store, key: &Key) -> Result<u64> {
    Ok(store.get_one(key).await?.map_or(0, |row| row.version))
}

/// All rows of a scan, page by page.
async fn all_rows(reader: &dyn Read, scan: crate::Scan) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut next = Some(scan.clone());
    while let Some(scan) = next.take() {
        let page = reader.scan(&scan).await?;
        rows.extend(page.rows);
        next = page.next.map(|key| scan.after(key));
    }
    Ok(rows)
}
