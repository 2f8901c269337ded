//! The watcher on every engine of the store, in real time: one suite, run on memory, on the embedded engine and on a real PostgreSQL.
//!
//! Nothing here waits for a time: a case waits for what must come to be, with a deadline that is long enough for a busy machine.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]
#![allow(clippy::similar_names, reason = "a stage has a state")]

#[path = "common/mod.rs"]
mod common;
#[path = "engines/evolving.rs"]
mod evolving;
#[path = "engines/failing.rs"]
mod failing;
#[path = "engines/held.rs"]
mod held;
#[path = "engines/leaving.rs"]
mod leaving;
#[path = "common/looking.rs"]
mod looking;
#[path = "engines/place.rs"]
mod place;
#[path = "engines/running.rs"]
mod running;
#[path = "engines/sharing.rs"]
mod sharing;
#[path = "engines/stage.rs"]
mod stage;
#[path = "engines/wrong.rs"]
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
    evolving::one_stage_answers_to_the_change_of_another,
    evolving::a_state_is_kept_beside_the_entity_and_can_be_seen_and_set,
    evolving::a_timer_fires_after_a_restart_and_not_before_its_time,
    evolving::a_stage_that_is_asked_is_visited_as_it_wishes,
    evolving::a_patch_is_made_to_the_version_that_came_meanwhile,
    evolving::an_answer_to_an_old_version_is_not_saved,
    failing::a_failing_stage_is_tried_again_then_parked_and_released_on_request,
    failing::a_stage_that_panics_or_hangs_fails_and_the_others_go_on,
    failing::stages_that_fight_are_slowed_down_and_nothing_is_lost,
    failing::a_stage_that_is_asked_visits_on_request_too,
    leaving::changes_reach_the_topic_and_their_stage_in_the_order_of_versions,
    leaving::a_removed_entity_leaves_nothing_behind_and_its_versions_go_on,
    sharing::two_watchers_share_the_shards_and_one_takes_over_when_the_other_leaves,
    sharing::work_goes_on_while_shards_change_hands,
    sharing::changes_that_are_on_their_way_when_a_shard_changes_hands_stay_in_order,
    wrong::what_cannot_work_is_refused_when_the_watcher_is_opened,
    wrong::answers_that_cannot_be_kept_are_parked_and_nothing_is_lost,
    wrong::what_cannot_be_kept_is_refused_at_once,
}
