//! One suite on every engine of the store: memory, the embedded one and PostgreSQL. The clock
//! stands still unless a case moves it.

mod archiving;
mod billing;
mod drafting;
mod filtering;
mod following;
mod keys;
mod market;
mod moderating;
mod repairing;
mod watching;

use market::{Engine, Market};

/// Runs a case on an engine, if this machine has it.
async fn run(engine: Engine, case: impl AsyncFnOnce(Market)) {
    if let Some(market) = Market::on(engine).await {
        case(market).await;
    }
}

/// Defines a test of every case on every engine.
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
    archiving::an_offer_leaves_the_active_tables_in_time_and_stays_readable,
    archiving::an_offer_that_is_offered_again_does_not_leave,
    archiving::old_rows_are_deleted_after_their_retention,
    billing::writers_of_billing_conflict_with_each_other_and_not_with_the_offer,
    drafting::a_draft_is_opened_by_the_three_rules_and_moves_to_the_seller,
    drafting::a_draft_is_published_once_even_by_two_at_a_time,
    drafting::a_draft_belongs_to_its_owner_alone,
    drafting::a_writer_of_a_deleted_draft_does_not_overwrite_the_next_one,
    filtering::a_filter_finds_what_a_look_at_every_offer_finds,
    filtering::an_offer_is_found_by_its_id_in_a_feed_until_it_is_removed,
    filtering::a_page_goes_on_where_the_last_one_ended_whatever_came_and_went,
    following::every_move_updates_lists_and_counts,
    following::an_offer_is_sold_once_however_often_it_is_offered_again,
    following::lifting_a_ban_restores_the_status_and_removal_does_not_lift_it,
    following::every_change_is_in_the_history_with_its_author,
    following::an_id_in_a_feed_belongs_to_one_offer_at_a_time,
    following::a_change_of_a_version_that_is_gone_is_refused,
    keys::a_call_made_twice_has_one_effect,
    keys::a_key_of_another_call_is_refused_until_it_is_forgotten,
    keys::calls_made_at_the_same_time_under_one_key_have_one_effect,
    moderating::opinions_ban_and_allow_and_the_newest_counts,
    moderating::what_cannot_be_applied_goes_to_the_dead_letters_and_the_rest_goes_on,
    moderating::a_ban_stands_over_a_removed_offer_until_it_is_lifted,
    moderating::opinions_of_archived_offers_are_kept,
    moderating::a_row_of_the_version_before_keeps_its_ban_and_shows_no_internal_state,
    repairing::drifted_counts_are_corrected_exactly_while_writes_go_on,
    repairing::two_repairs_at_a_time_correct_once,
    watching::who_comes_late_gets_all_current_offers_and_then_every_change,
    watching::a_watch_goes_on_from_any_place_without_a_gap,
    watching::a_seller_gets_their_own_offers_only,
    watching::a_damaged_message_ends_no_watch,
}

/// Cases with topics in Kafka.
mod kafka {
    use crate::engines::Market;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_comes_late_gets_all_current_offers_and_then_every_change() {
        if let Some(market) = Market::on_kafka().await {
            crate::engines::watching::who_comes_late_gets_all_current_offers_and_then_every_change(market)
                .await;
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_cannot_be_applied_goes_to_the_dead_letters_and_the_rest_goes_on() {
        if let Some(market) = Market::on_kafka().await {
            crate::engines::moderating::what_cannot_be_applied_goes_to_the_dead_letters_and_the_rest_goes_on(
                market,
            )
            .await;
        }
    }
}
