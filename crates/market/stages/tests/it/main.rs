//! The built-in stages at work: real offers, a real watcher and real topics, on the memory store
//! (with tokio's clock paused) and on the embedded one (in real time). The clock of offers stands
//! still unless a case moves it. A site stands in for the internet, and nothing else is made up.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod evolving;
mod expiring;
mod ground;
mod market;
mod photographing;
mod pricing;
mod shop;
mod site;
mod together;
mod watching_videos;

use ground::{Engine, Ground};

/// Makes a test of every case on every engine.
macro_rules! suite {
    ($($file:ident::$case:ident,)*) => {
        mod memory {
            $(
                #[tokio::test(start_paused = true)]
                async fn $case() {
                    super::$file::$case(super::Ground::on(super::Engine::Memory).await).await;
                }
            )*
        }
        mod fjall {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    super::$file::$case(super::Ground::on(super::Engine::Fjall).await).await;
                }
            )*
        }
    };
}

suite! {
    expiring::a_seller_is_warned_then_the_offer_expires_and_both_are_told,
    expiring::an_offer_that_is_renewed_is_warned_again,
    expiring::an_event_that_could_not_be_told_is_told_again,
    evolving::offers_of_the_first_catalogue_are_moved_to_the_third_or_say_why_not,
    evolving::an_offer_that_its_seller_mends_is_of_the_present_catalogue,
    photographing::photos_are_taken_once_and_then_put_into_order,
    photographing::a_photo_that_fails_for_now_is_tried_again_and_one_that_fails_for_good_is_not,
    photographing::only_the_photo_that_is_new_is_fetched,
    pricing::an_offer_says_what_offers_like_it_cost,
    pricing::a_prediction_changes_only_when_it_moves,
    pricing::what_is_kept_of_prices_is_what_a_look_at_every_offer_finds,
    pricing::offers_that_were_there_before_count_too,
    pricing::processes_that_follow_at_once_count_each_change_once,
    together::all_stages_together_settle_an_offer_and_do_not_fight,
    watching_videos::a_video_is_looked_at_and_looked_at_again_in_time,
    watching_videos::a_host_that_is_busy_is_asked_again_and_one_that_is_not_known_never,
    watching_videos::a_host_without_oembed_is_asked_for_the_page,
}
