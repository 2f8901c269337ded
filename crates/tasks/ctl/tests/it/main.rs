//! Values on every engine of the store: one suite, run on memory, on the embedded engine and on a
//! real PostgreSQL. Time stands still unless a case moves it.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod changing;
mod fixture;
mod history;
mod listing;
mod marking;
mod refusing;

use fixture::{Engine, Fixture};

/// Runs a case on an engine, if this machine has it.
async fn run(engine: Engine, case: impl AsyncFnOnce(Fixture)) {
    if let Some(fixture) = Fixture::on(engine).await {
        case(fixture).await;
    }
}

/// Makes a test of every case on every engine.
macro_rules! suite {
    ($($file:ident::$case:ident,)*) => {
        suite!(@ memory, Memory; $($file::$case,)*);
        suite!(@ fjall, Fjall; $($file::$case,)*);
        suite!(@ postgres, Postgres; $($file::$case,)*);
    };
    (@ $name:ident, $engine:ident; $($file:ident::$case:ident,)*) => {
        mod $name {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    super::run(super::Engine::$engine, super::$file::$case).await;
                }
            )*
        }
    };
}

suite! {
    changing::a_value_is_set_changed_and_deleted_with_author_and_time,
    changing::moments_are_kept_to_the_nanosecond_also_before_1970,
    changing::of_two_writers_who_saw_the_same_version_one_wins,
    changing::who_expects_a_value_that_is_gone_is_refused_with_the_one_that_is,
    changing::writers_who_expect_nothing_all_get_through,
    changing::a_value_moves_back_only_if_that_is_allowed,
    changing::the_same_value_again_changes_nothing_unless_asked,
    changing::many_changes_are_made_together_or_not_at_all,
    changing::a_parameter_keeps_its_kind_until_it_is_deleted,
    changing::versions_go_on_after_a_deletion,
    changing::changes_are_committed_with_what_the_caller_writes,
    history::every_change_stands_in_the_history_the_newest_first,
    history::an_old_history_is_cut_in_portions_and_what_is_kept_has_no_gap,
    history::a_history_that_is_to_be_shorter_becomes_so,
    listing::values_are_listed_in_order_page_by_page_without_the_deleted,
    listing::a_beginning_selects_a_namespace_and_its_entities,
    listing::many_values_are_read_at_once_in_their_order,
    listing::the_default_namespace_need_not_be_written,
    marking::many_changes_of_one_parameter_are_one_mark,
    marking::a_mark_of_a_later_change_is_not_forgotten,
    marking::no_change_is_lost_whatever_the_order_of_writers_and_consumer,
    marking::no_change_is_lost_beside_writers_that_never_stop,
    marking::with_more_changes_than_can_be_looked_at_every_parameter_has_its_turn,
    marking::a_watch_wakes_up_for_a_change_and_ends_with_the_store,
    refusing::a_wrong_name_is_refused_with_the_reason,
    refusing::too_much_of_anything_is_refused_with_the_limit,
    refusing::a_parameter_is_changed_once_in_a_call,
}

#[tokio::test(start_paused = true)]
async fn a_watch_looks_every_second_even_if_nothing_was_heard() {
    let fixture = Fixture::on(Engine::Memory).await.unwrap();
    let mut watch = fixture.ctl.watch();
    let before = tokio::time::Instant::now();
    assert!(watch.next().await);
    assert_eq!(before.elapsed(), ctl::limits::POLL_EVERY);
}

/// The limits of a batch are the same on every engine.
#[tokio::test]
async fn histories_of_many_values_at_once_are_cut_within_one_batch() {
    run(Engine::Memory, history::histories_of_many_values_at_once_are_cut_within_one_batch).await;
}
