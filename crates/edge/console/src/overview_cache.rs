//! A short-lived cache of rendered markup that many visitors share.

use parking_lot::Mutex;
use std::collections::BTreeMap;

use clock::Time;
use maud::Markup;

use crate::language::Language;
use crate::limits::SHARED_FOR;

/// Visitors who see the same markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Audience {
    pub(crate) language: Language,
    /// They may use topics: links lead there.
    pub(crate) topics: bool,
}

/// The cached markup by audience. Permissions are checked before.
#[derive(Debug, Default)]
pub(crate) struct OverviewCache(Mutex<BTreeMap<Audience, (Time, Markup)>>);

impl OverviewCache {
    /// Markup that is still fresh.
    pub(crate) fn get(&self, audience: Audience, now: Time) -> Option<Markup> {
        let made = self.0.lock();
        let (at, markup) = made.get(&audience)?;
        // A clock that was set back makes nothing fresh.
        (*at <= now && now.since(*at) < SHARED_FOR).then(|| markup.clone())
    }

    pub(crate) fn put(&self, audience: Audience, now: Time, markup: &Markup) {
        let mut made = self.0.lock();
        made.insert(audience, (now, markup.clone()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use maud::html;

    use super::*;

    #[test]
    fn what_was_made_is_good_for_a_moment_and_for_one_audience() {
        let (shared, made) = (OverviewCache::default(), Time::from_ms(1_000_000));
        let of = |language, topics| Audience { language, topics };
        let mine = of(Language::English, true);
        shared.put(mine, made, &html! { p { "a" } });
        let at = |audience, now| shared.get(audience, now).map(maud::PreEscaped::into_string);
        assert_eq!(at(mine, made).as_deref(), Some("<p>a</p>"));
        assert_eq!(at(of(Language::Russian, true), made), None);
        assert_eq!(at(of(Language::English, false), made), None);
        assert_eq!(at(mine, made + SHARED_FOR), None);
        assert_eq!(at(mine, made - Duration::from_millis(1)), None);
    }
}
