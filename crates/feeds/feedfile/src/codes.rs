//! The kinds of problems: the type, the texts and the page `docs/feed-errors.md` come from one
//! table (`codes/table.rs`).

mod page;
mod table;

pub use page::page;
pub use table::Code;

use crate::Severity;

/// The step that finds a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// The file as a whole: nothing after the error is read.
    File,
    /// Encoding, markup, quotes.
    Markup,
    Validation,
    Catalogue,
    Place,
    Media,
    Rules,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Texts {
    pub meaning: &'static str,
    pub remedy: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    Russian,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) code: Code,
    pub(crate) name: &'static str,
    pub(crate) area: Area,
    pub(crate) severity: Severity,
    pub(crate) english: Texts,
    pub(crate) russian: Texts,
}

impl Code {
    fn row(self) -> &'static Row {
        &table::ROWS[self as usize]
    }

    /// The name in programs: `missing_field`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        table::ROWS.iter().find(|row| row.name == name).map(|row| row.code)
    }

    /// The usual severity; a problem may have another one.
    #[must_use]
    pub fn severity(self) -> Severity {
        self.row().severity
    }

    #[must_use]
    pub fn area(self) -> Area {
        self.row().area
    }

    #[must_use]
    pub fn texts(self, language: Language) -> Texts {
        match language {
            Language::English => self.row().english,
            Language::Russian => self.row().russian,
        }
    }

    /// All codes, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        table::ROWS.iter().map(|row| row.code)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_name_and_has_texts_in_both_languages() {
        for code in Code::all() {
            assert_eq!(Code::from_name(code.name()), Some(code));
            for language in [Language::English, Language::Russian] {
                let texts = code.texts(language);
                assert!(!texts.meaning.is_empty() && texts.remedy.ends_with('.'), "{code}");
            }
            let cyrillic = |text: &str| text.chars().any(|c| ('а'..='я').contains(&c));
            assert!(cyrillic(code.texts(Language::Russian).remedy), "{code}");
            assert!(!cyrillic(code.texts(Language::English).remedy), "{code}");
        }
    }
}
