//! Translates messages. Each is recognised by its English words, so stored messages can be
//! translated, too.

use crate::{Code, Language, Problem};
use std::borrow::Cow;

mod russian;

/// Translates a message; an unknown one stays as it is.
#[must_use]
pub fn translate(message: &str, language: Language) -> Cow<'_, str> {
    let table = match language {
        Language::English => return Cow::Borrowed(message),
        Language::Russian => russian::MESSAGES,
    };
    if let Some(text) = of_code(message, language) {
        return Cow::Owned(text);
    }
    let found = table.iter().find_map(|(english, other)| {
        let parts = captured(message, english)?;
        Some(filled(other, &parts))
    });
    found.map_or(Cow::Borrowed(message), Cow::Owned)
}

impl Problem {
    /// The message in a language, if there is a translation.
    #[must_use]
    pub fn message_in(&self, language: Language) -> Cow<'_, str> {
        translate(&self.message, language)
    }
}

/// Translates a message that is the meaning of a code, perhaps with a count of others.
fn of_code(message: &str, language: Language) -> Option<String> {
    let meaning = |code: Code, language| code.texts(language).meaning.trim_end_matches('.');
    let (code, rest) =
        Code::all().find_map(|code| Some((code, message.strip_prefix(meaning(code, Language::English))?)))?;
    let more = match rest {
        "" => String::new(),
        rest => filled(russian::MORE.1, &captured(rest, russian::MORE.0)?),
    };
    Some(format!("{}{more}", meaning(code, language)))
}

/// The text in place of each `{}` of a pattern, if the pattern matches.
fn captured<'t>(text: &'t str, pattern: &str) -> Option<Vec<&'t str>> {
    let mut fixed = pattern.split("{}");
    let mut rest = text.strip_prefix(fixed.next()?)?;
    let mut parts = Vec::new();
    let mut fixed = fixed.peekable();
    while let Some(next) = fixed.next() {
        let end = if fixed.peek().is_none() { rest.strip_suffix(next)?.len() } else { rest.find(next)? };
        parts.push(&rest[..end]);
        rest = &rest[end + next.len()..];
    }
    rest.is_empty().then_some(parts)
}

fn filled(pattern: &str, parts: &[&str]) -> String {
    let mut out = String::new();
    for (number, fixed) in pattern.split("{}").enumerate() {
        if number > 0 {
            out.push_str(parts.get(number - 1).copied().unwrap_or_default());
        }
        out.push_str(fixed);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_message_are_carried_over() {
        let russian = |text: &str| translate(text, Language::Russian).into_owned();
        assert_eq!(russian("there is no name"), "нет name");
        assert_eq!(russian("3 cells, and 12 columns"), "ячеек: 3, а столбцов: 12");
        assert_eq!(russian("a number is expected"), "ожидается число");
        let meaning = Code::BareAmpersand.texts(Language::English).meaning.trim_end_matches('.');
        assert!(
            russian(&format!("{meaning} (and 3 more in this offer)"))
                .ends_with("(и ещё 3 в этом объявлении)")
        );
        assert_eq!(russian("words of a later version"), "words of a later version");
        assert_eq!(translate("this is not a link", Language::English), "this is not a link");
    }

    #[test]
    fn both_sides_have_the_same_places_and_every_message_finds_its_own_line() {
        for (english, russian) in russian::MESSAGES {
            let places = |text: &str| text.matches("{}").count();
            assert_eq!(places(english), places(russian), "{english}");
            let message = english.replace("{}", "7");
            assert_eq!(translate(&message, Language::Russian), russian.replace("{}", "7"), "{english}");
        }
    }
}
