//! Limits of requests, and their checks.

use std::time::Duration;

use buffa_types::google::protobuf::Timestamp;
use offers::time::is_possible;

use crate::errors::{FieldFault, Refusal};

/// Bytes of all fields of a refusal. Stock gRPC clients accept 8 KiB of headers, and base64 adds a
/// third.
pub const REFUSAL_FIELDS_BYTES_MAX: usize = 3072;
/// Bytes of a refusal's text. It is in the headers twice: in base64, and percent-encoded.
pub const REFUSAL_TEXT_BYTES_MAX: usize = 512;
/// Bytes of the path of a field in a refusal.
pub const REFUSAL_PATH_BYTES_MAX: usize = 256;
/// When to retry a temporary refusal.
pub const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Offers of one batch read.
pub const BATCH_GET_MAX: usize = 1000;
/// Offers read at once for it.
pub const BATCH_GET_STEP: usize = 50;
/// Bytes of its answer.
pub const BATCH_ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of an idempotency key.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 128;
/// Bytes of a page token.
pub const TOKEN_BYTES_MAX: usize = 1024;
/// Bytes of a watch token, which has an offset by partition.
pub const WATCH_TOKEN_BYTES_MAX: usize = 32 * 1024;
/// Bytes of the id of a category.
pub const CATEGORY_BYTES_MAX: usize = 200;
/// Characters of a search for a category.
pub const CATEGORY_QUERY_CHARS_MAX: usize = 200;
/// Bytes of the name of a language.
pub const LANGUAGE_BYTES_MAX: usize = 16;
/// Bytes of a reason for programs.
pub const REASON_CODE_BYTES_MAX: usize = 64;
/// Characters of a reason for people.
pub const REASON_TEXT_CHARS_MAX: usize = 1000;
/// Reasons of one opinion.
pub const OPINION_REASONS_MAX: usize = 20;
/// Bytes of a name: of a seller, a moderator, a tariff.
pub const NAME_BYTES_MAX: usize = 128;
/// Characters of a title prefix.
pub const TITLE_PREFIX_CHARS_MAX: usize = 100;
/// Changes in the explanation of an offer.
pub const EXPLAINED_CHANGES: usize = 20;
/// Visits counted by lane for the list of stages; the page of one stage counts further.
pub const LISTED_COUNTED_MAX: u64 = 10_000;
/// The age of cached counts in the list of stages.
pub const LISTED_COUNT_AGE_MAX: Duration = Duration::from_secs(60);
/// The age of cached counts of one stage: longer than the interval of the process's own counts, so
/// that pages need not count.
pub const COUNT_AGE_MAX: Duration = Duration::from_secs(15);
/// Parked visits shown by default.
pub const PARKED_SHOWN: u32 = 20;
/// Parked visits shown at most.
pub const PARKED_SHOWN_MAX: u32 = 500;
/// Waiting visits shown by lane.
pub const WAITING_SHOWN_MAX: u32 = 500;
/// Offers of a dry run by default.
pub const REHEARSED: usize = 100;
/// Offers of a dry run at most.
pub const REHEARSED_MAX: usize = 1000;
/// Offers scanned for those of a category.
pub const REHEARSED_SEEN_MAX: usize = 2_000;
/// Differences shown by a dry run.
pub const DIFFERENCES_SHOWN: usize = 100;
/// Notes, and kinds of promotion, of one offer.
pub const BILLING_ENTRIES_MAX: usize = 100;
/// Characters of one note.
pub const BILLING_NOTE_CHARS_MAX: usize = 2000;
/// Bytes of a feed's defaults.
pub const FEED_DEFAULTS_BYTES_MAX: usize = 16 * 1024;
/// Paths of the mask of a change to a feed.
pub const FEED_MASK_PATHS_MAX: usize = 20;
/// Codes by which problems are filtered.
pub const PROBLEM_CODES_MAX: usize = 100;
/// Bytes of the id of an offer in a file.
pub const EXTERNAL_ID_BYTES_MAX: usize = 256;
/// Names in the path of a seller's category.
pub const MAPPING_NAMES_MAX: usize = 20;
/// Problems that a report as a file reads at a time.
pub const REPORT_PAGE: usize = 500;
/// Values read or watched by name.
pub const VALUES_NAMED_MAX: usize = 1000;
/// Values of one stream by prefix: it remembers a version of each.
pub const VALUES_WATCHED_MAX: usize = 100_000;
/// Values in one message of a stream, and in one read.
pub const VALUES_PORTION: usize = 1000;
/// A stream rests this many times as long as its last scan took, so it uses at most a tenth of a
/// processor.
pub const VALUES_REST: u32 = 9;

/// Tasks shown of a queue.
pub const QUEUE_SHOWN: usize = 1000;
/// Waiting tasks whose reasons are explained.
pub const QUEUE_EXPLAINED: usize = 100;
/// Bytes of a piece of a log.
pub const LOG_PIECE_BYTES: usize = 256 * 1024;
/// How long `ApplyTasks` waits until the new task files are in use.
pub const TAKE_UP_WAIT: Duration = Duration::from_secs(5);
/// The poll interval for it.
pub const TAKE_UP_LOOK: Duration = Duration::from_millis(20);

/// The largest amount in millionths: 10^12 of any currency.
pub const MONEY_MICROS_MAX: i64 = 1_000_000_000_000_000_000;

/// Page sizes of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSizes {
    pub default: u32,
    pub most: u32,
}

pub const OFFERS_PAGE: PageSizes = PageSizes { default: 50, most: 200 };
pub const HISTORY_PAGE: PageSizes = PageSizes { default: 100, most: 1000 };

pub const FEEDS_PAGE: PageSizes = PageSizes { default: 50, most: 100 };
/// Surveys read for one page of feeds by state.
pub const FEED_SURVEYS_MAX: usize = 4;
pub const LOADS_PAGE: PageSizes = PageSizes { default: 20, most: 100 };
pub const PROBLEMS_PAGE: PageSizes = PageSizes { default: 100, most: 500 };
pub const MAPPINGS_PAGE: PageSizes = PageSizes { default: 100, most: 500 };
pub const VALUES_PAGE: PageSizes = PageSizes { default: 100, most: 1000 };
pub const PAST_PAGE: PageSizes = PageSizes { default: 100, most: 1000 };

pub const TASKS_PAGE: PageSizes = PageSizes { default: 100, most: 500 };
pub const TASK_PAST_PAGE: PageSizes = PageSizes { default: 100, most: 1000 };

/// The page size; zero means the default.
pub fn page_size(given: u32, sizes: PageSizes) -> Result<usize, Refusal> {
    match given {
        0 => Ok(sizes.default as usize),
        given if given <= sizes.most => Ok(given as usize),
        given => Err(too_many("page_size", given as usize, sizes.most as usize)),
    }
}

/// Checks a number of entries.
pub fn count(field: &str, given: usize, most: usize) -> Result<(), Refusal> {
    if given > most { Err(too_many(field, given, most)) } else { Ok(()) }
}

/// The idempotency key; `None` if it is empty. Only visible ASCII, so that it can be logged.
pub fn idempotency_key(key: &str) -> Result<Option<&str>, Refusal> {
    const FIELD: &str = "idempotency_key";
    if key.len() > IDEMPOTENCY_KEY_BYTES_MAX {
        return Err(too_long(FIELD, key.len(), IDEMPOTENCY_KEY_BYTES_MAX, "bytes"));
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let text = "only visible characters of ASCII, such as a UUID";
        return Err(Refusal::wrong_field(FIELD, "BAD_CHARACTER", text));
    }
    Ok((!key.is_empty()).then_some(key))
}

/// Checks a text: its length, and no control characters except line breaks and tabs.
pub fn text(field: &str, text: &str, most: usize) -> Result<(), Refusal> {
    // Stops counting early: a text may be as long as a request.
    if text.chars().nth(most).is_some() {
        return Err(too_long(field, text.chars().count(), most, "characters"));
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err(Refusal::wrong_field(field, "BAD_CHARACTER", "control characters are not allowed"));
    }
    Ok(())
}

/// Checks a name that becomes part of a key: not empty, not too long, no control characters.
pub fn name(field: &str, name: &str, most: usize) -> Result<(), Refusal> {
    if name.is_empty() {
        return Err(Refusal::required(field));
    }
    if name.len() > most {
        return Err(too_long(field, name.len(), most, "bytes"));
    }
    if name.chars().any(char::is_control) {
        return Err(Refusal::wrong_field(field, "BAD_CHARACTER", "control characters are not allowed"));
    }
    Ok(())
}

/// Checks a reason code, which may be empty: lower-case letters, digits, `_`, `-` and `.`.
pub fn reason_code(field: &str, code: &str) -> Result<(), Refusal> {
    if code.len() > REASON_CODE_BYTES_MAX {
        return Err(too_long(field, code.len(), REASON_CODE_BYTES_MAX, "bytes"));
    }
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.');
    if !code.bytes().all(fits) {
        let text = "small letters, digits, `_`, `-` and `.`, such as sold_here";
        return Err(Refusal::wrong_field(field, "BAD_CHARACTER", text));
    }
    Ok(())
}

/// Checks that a time is representable.
pub fn time(field: &str, time: &Timestamp) -> Result<(), Refusal> {
    if is_possible(time) {
        return Ok(());
    }
    let text = "between the years 1 and 9999, with 0 to 999999999 nanoseconds";
    Err(Refusal::wrong_field(field, "OUT_OF_RANGE", text))
}

fn too_long(field: &str, given: usize, most: usize, unit: &str) -> Refusal {
    beyond(field, "TOO_LONG", format!("at most {most} {unit}, there are {given}"))
}

fn too_many(field: &str, given: usize, most: usize) -> Refusal {
    beyond(field, "TOO_MANY", format!("at most {most}, there are {given}"))
}

fn beyond(field: &str, reason: &'static str, text: String) -> Refusal {
    Refusal::wrong("LIMIT_EXCEEDED", vec![FieldFault::new(field, reason, text)])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reasons(refused: Result<(), Refusal>) -> Option<(&'static str, String)> {
        refused.err().map(|refusal| (refusal.reason(), refusal.fields()[0].reason.clone()))
    }

    #[test]
    fn a_page_has_its_default_size_and_never_more_than_the_most() {
        assert_eq!(page_size(0, OFFERS_PAGE), Ok(50));
        assert_eq!((page_size(1, OFFERS_PAGE), page_size(200, OFFERS_PAGE)), (Ok(1), Ok(200)));
        assert_eq!(page_size(1000, HISTORY_PAGE), Ok(1000));
        let refusal = page_size(201, OFFERS_PAGE).unwrap_err();
        assert_eq!(refusal.text(), "page_size: at most 200, there are 201");
        assert!(page_size(u32::MAX, HISTORY_PAGE).is_err());
    }

    #[test]
    fn keys_are_short_and_visible() {
        assert_eq!(idempotency_key(""), Ok(None));
        assert_eq!(idempotency_key("a-1"), Ok(Some("a-1")));
        assert!(idempotency_key(&"k".repeat(IDEMPOTENCY_KEY_BYTES_MAX)).is_ok());
        for wrong in ["a b", "a\n", "ключ", "\u{0}", &"k".repeat(IDEMPOTENCY_KEY_BYTES_MAX + 1)] {
            assert!(idempotency_key(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_too_long_too_many_or_unreadable_is_refused_by_its_name() {
        let limit = "LIMIT_EXCEEDED";
        assert_eq!(reasons(count("ids", 1001, BATCH_GET_MAX)), Some((limit, "TOO_MANY".into())));
        assert_eq!(reasons(count("ids", 1000, BATCH_GET_MAX)), None);
        assert_eq!(reasons(text("t", "äöü\n", 4)), None);
        assert_eq!(reasons(text("t", "äöü\n", 3)), Some((limit, "TOO_LONG".into())));
        assert_eq!(reasons(text("t", "\u{0}", 3)), Some(("BAD_CHARACTER", "BAD_CHARACTER".into())));
        assert_eq!(reasons(name("n", "", 3)), Some(("REQUIRED", "REQUIRED".into())));
        assert_eq!(reasons(name("n", "äö", 3)), Some((limit, "TOO_LONG".into())));
        assert_eq!(reasons(name("n", "a\n", 3)), Some(("BAD_CHARACTER", "BAD_CHARACTER".into())));
        assert_eq!(reasons(reason_code("c", "sold_here")), None);
        assert_eq!(reasons(reason_code("c", "Sold")), Some(("BAD_CHARACTER", "BAD_CHARACTER".into())));
    }

    proptest! {
        #[test]
        fn a_key_that_is_taken_is_short_and_visible(key in "\\PC{0,200}|[ -~]{0,200}") {
            if let Ok(Some(taken)) = idempotency_key(&key) {
                prop_assert!(taken.len() <= IDEMPOTENCY_KEY_BYTES_MAX && taken.bytes().all(|byte| byte > b' ' && byte < 0x7f));
            }
        }
    }
}
