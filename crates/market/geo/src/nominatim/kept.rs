//! Answers that are kept, so that an address is asked once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::geocoder::Located;
use crate::limits::ANSWERS_KEPT_MAX;

/// When it is full it begins anew: simple, and never more than the limit.
#[derive(Default)]
pub(super) struct Kept {
    answers: Mutex<BTreeMap<String, Option<Located>>>,
}

impl Kept {
    /// The answer, if the question was asked before; there may be no place in it.
    #[expect(clippy::option_option, reason = "not asked yet, no place, a place")]
    pub(super) fn get(&self, url: &str) -> Option<Option<Located>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(url).cloned()
    }

    pub(super) fn put(&self, url: String, answer: Option<Located>) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= ANSWERS_KEPT_MAX {
            answers.clear();
        }
        answers.insert(url, answer);
    }
}
