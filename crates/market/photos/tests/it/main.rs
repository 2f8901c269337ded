//! Photos on every engine of the store, from a local site in place of the internet.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod again;
mod bomb;
mod failing;
mod hostile;
mod making;
mod once;
#[cfg(feature = "s3")]
mod s3;
mod serving;
mod site;
mod studio;

use studio::{Engine, Studio};

/// Runs a case on an engine, if this machine has it.
async fn run(engine: Engine, case: impl AsyncFnOnce(Studio)) {
    if let Some(studio) = Studio::on(engine).await {
        case(studio).await;
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
    once::a_url_is_fetched_once,
    once::many_callers_at_once_cause_one_fetch,
    once::the_same_bytes_are_stored_once_whatever_their_url,
    once::other_sizes_are_made_when_the_configuration_changes,
    once::a_slow_host_is_asked_for_few_at_a_time_and_holds_up_no_other,
    again::an_unchanged_photo_is_confirmed_and_a_changed_one_is_taken,
    again::a_check_that_fails_leaves_the_photo,
    failing::passing_errors_are_tried_again_after_growing_pauses,
    failing::lasting_errors_are_not_tried_again_until_they_are_forgotten,
    failing::errors_are_found_by_url_and_page_by_page,
    failing::a_full_disk_is_not_the_urls_fault,
    serving::a_file_is_served_with_headers_for_ever,
    serving::files_that_are_missing_or_cut_are_found_some_photos_at_a_time,
    hostile::each_of_the_hostile_set_is_refused_with_its_reason,
}
