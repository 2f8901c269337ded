//! What many people look at at the same time is made once for all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use clock::Time;
use maud::Markup;

use crate::language::Language;
use crate::limits::SHARED_FOR;

/// A part of a page that is the same for all who may see it and read the same language. Whether somebody may is asked before.
#[derive(Debug, Default)]
pub(crate) struct Shared(Mutex<BTreeMap<Language, (Time, Markup)>>);

impl Shared {
    /// What was made for somebody a moment ago.
    pub(crate) fn get(&self, language: Language, now: Time) -> Option<Markup> {
        let made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, markup) = made.get(&language)?;
        // A clock that was put back makes nothing young.
        (*at <= now && now.since(*at) < SHARED_FOR).then(|| markup.clone())
    }

    /// Keeps what was made now.
    pub(crate) fn put(&self, language: Language, now: Time, markup: &Markup) {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        made.insert(language, (now, markup.clone()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use maud::html;

    use super::*;

    #[test]
    fn what_was_made_is_good_for_a_moment_and_for_one_language() {
        let (shared, made) = (Shared::default(), Time::from_ms(1_000_000));
        shared.put(Language::English, made, &html! { p { "a" } });
        let at = |language, now| shared.get(language, now).map(maud::PreEscaped::into_string);
        assert_eq!(at(Language::English, made).as_deref(), Some("<p>a</p>"));
        assert_eq!(at(Language::Russian, made), None);
        assert_eq!(at(Language::English, made + SHARED_FOR), None);
        assert_eq!(at(Language::English, made - Duration::from_millis(1)), None);
    }
}
