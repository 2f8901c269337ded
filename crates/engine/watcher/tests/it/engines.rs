//! The watcher on every engine of the store, in real time: one suite, run on memory, on the
//! embedded engine and on a real PostgreSQL.
//!
//! Nothing here waits for a time: a case waits for what must come to be, with a deadline that is
//! long enough for a busy machine.

mod crawling;
mod down;
mod evolving;
mod explaining;
mod failing;
mod held;
mod late;
mod leaving;
mod orders;
mod own_table;
mod parcel;
mod place;
mod running;
mod sharing;
mod wrong;

use place::{Engine, Place};

/// Runs a case on an engine, if this machine has it.
async fn run(engine: Engine, case: impl AsyncFnOnce(Place)) {
    if let Some(place) = Place::on(engine) {
        case(place).await;
    }
}

/// Makes a test of every case on every engine.
macro_rules! suite {
    ($($(#[$attribute:meta])* $file:ident::$case:ident,)*) => {
        suite!(@ memory, Memory; $($(#[$attribute])* $file::$case,)*);
        suite!(@ fjall, Fjall; $($(#[$attribute])* $file::$case,)*);
        suite!(@ postgres, Postgres; $($(#[$attribute])* $file::$case,)*);
    };
    (@ $name:ident, $engine:ident; $($(#[$attribute:meta])* $file:ident::$case:ident,)*) => {
        mod $name {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                $(#[$attribute])*
                async fn $case() {
                    super::run(super::Engine::$engine, super::$file::$case).await;
                }
            )*
        }
    };
}

suite! {
    crawling::a_stage_that_is_new_sees_what_was_there_before_it,
    crawling::a_recrawl_rests_and_goes_on_where_it_was_after_restarts_too,
    crawling::a_recrawl_that_is_cancelled_stays_where_it_is_and_another_may_follow,
    down::a_stage_that_does_not_answer_is_probed_and_goes_on_when_it_is_back,
    down::an_entity_loses_no_attempt_while_its_stage_cannot_be_reached,
    evolving::one_stage_answers_to_the_change_of_another,
    evolving::a_state_is_kept_beside_the_entity_and_can_be_seen_and_set,
    evolving::a_timer_fires_after_a_restart_and_not_before_its_time,
    evolving::a_stage_that_is_asked_is_visited_as_it_wishes,
    evolving::a_patch_is_made_to_the_version_that_came_meanwhile,
    evolving::an_answer_to_an_old_version_is_not_saved,
    explaining::another_process_explains_where_an_entity_stands_with_every_stage,
    explaining::another_process_reports_how_a_stage_fares,
    failing::a_failing_stage_is_tried_again_then_parked_and_released_on_request,
    failing::a_stage_that_panics_or_hangs_fails_and_the_others_go_on,
    failing::stages_that_fight_are_slowed_down_and_nothing_is_lost,
    failing::a_stage_that_is_asked_visits_on_request_too,
    late::timers_that_came_due_while_nobody_served_are_spread,
    late::timers_that_came_due_during_a_pause_are_spread,
    leaving::changes_reach_the_topic_and_their_stage_in_the_order_of_versions,
    leaving::a_removed_entity_leaves_nothing_behind_and_its_versions_go_on,
    orders::a_stage_that_is_paused_rests_after_a_restart_too_until_it_is_resumed,
    orders::a_rate_holds_visits_back_and_says_so_until_another_is_ordered,
    orders::limits_that_were_ordered_while_nobody_served_hold_from_the_first_call_on,
    orders::all_that_a_stage_has_parked_is_released_at_once_and_nothing_of_another,
    own_table::an_entity_evolves_in_a_table_of_its_own_and_leaves_it,
    own_table::a_recrawl_goes_through_a_table_of_its_own,
    own_table::kinds_in_different_tables_do_not_meet,
    sharing::two_watchers_share_the_shards_and_one_takes_over_when_the_other_leaves,
    sharing::work_goes_on_while_shards_change_hands,
    sharing::changes_that_are_on_their_way_when_a_shard_changes_hands_stay_in_order,
    wrong::what_cannot_work_is_refused_when_the_watcher_is_opened,
    wrong::answers_that_cannot_be_kept_are_parked_and_nothing_is_lost,
    wrong::what_cannot_be_kept_is_refused_at_once,
}
