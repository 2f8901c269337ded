//! The languages of the console.

use http::HeaderMap;
use http::header::ACCEPT_LANGUAGE;

/// Marks a text that is translated later. The test of `words` finds texts by this call.
pub(crate) const fn w(text: &'static str) -> &'static str {
    text
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Language {
    #[default]
    English,
    Russian,
}

impl Language {
    /// As in the attribute `lang` and in requests to services.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Russian => "ru",
        }
    }

    /// Its name in the language itself.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Russian => "Русский",
        }
    }

    /// The language that the page offers to switch to.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::English => Self::Russian,
            Self::Russian => Self::English,
        }
    }

    pub(crate) fn from_code(code: &str) -> Option<Self> {
        [Self::English, Self::Russian].into_iter().find(|language| language.code() == code)
    }

    /// The first known language of `Accept-Language`.
    pub(crate) fn asked_for(headers: &HeaderMap) -> Self {
        let params = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut named = params.split(',').filter_map(|part| Self::from_code(part.trim().get(..2)?));
        named.next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_comes_in_the_language_that_is_asked_for_first() {
        let params = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_LANGUAGE, value.parse().unwrap());
            Language::asked_for(&headers)
        };
        assert_eq!(params("ru-RU,ru;q=0.9,en;q=0.8"), Language::Russian);
        assert_eq!(params("de,en-GB;q=0.7,ru;q=0.3"), Language::English);
        assert_eq!(params(""), Language::English);
        assert_eq!(Language::asked_for(&HeaderMap::new()), Language::English);
    }
}
