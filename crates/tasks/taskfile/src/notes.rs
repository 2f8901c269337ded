//! Collects problems while files are read, and finally attaches the lines of text.

use crate::limits::{ERRORS_MAX, EXCERPT_CHARS_MAX, WARNINGS_MAX};
use crate::location::Location;
use crate::problem::{Code, Excerpt, Problem, Related, Severity};
use std::borrow::Cow;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) severity: Severity,
    pub(crate) code: Code,
    pub(crate) place: Location,
    pub(crate) message: String,
    pub(crate) remedy: String,
    pub(crate) related: Vec<(Location, String)>,
}

impl Note {
    pub(crate) fn remedy(&mut self, remedy: impl Into<String>) -> &mut Self {
        self.remedy = remedy.into();
        self
    }

    pub(crate) fn related(&mut self, place: Location, message: impl Into<String>) -> &mut Self {
        self.related.push((place, message.into()));
        self
    }
}

/// A file: its name for messages, and its text.
pub(crate) type File = (String, String);

#[derive(Debug, Default)]
pub(crate) struct Notes {
    errors: Vec<Note>,
    warnings: Vec<Note>,
    more_errors: usize,
    more_warnings: usize,
    /// Secrets that are written into files: no excerpt shows them.
    hidden: BTreeSet<Location>,
    spare: Option<Note>,
}

impl Notes {
    pub(crate) fn error(&mut self, code: Code, place: Location, message: impl Into<String>) -> &mut Note {
        self.note(Severity::Error, code, place, message.into())
    }

    /// Notes an error whose part of the file is not used.
    pub(crate) fn refuse<T>(
        &mut self,
        code: Code,
        place: Location,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Option<T> {
        self.error(code, place, message).remedy(remedy);
        None
    }

    pub(crate) fn warning(&mut self, code: Code, place: Location, message: impl Into<String>) -> &mut Note {
        self.note(Severity::Warning, code, place, message.into())
    }

    fn note(&mut self, severity: Severity, code: Code, place: Location, message: String) -> &mut Note {
        let note = Note { severity, code, place, message, remedy: String::new(), related: Vec::new() };
        let (list, max, more) = match severity {
            Severity::Error => (&mut self.errors, ERRORS_MAX, &mut self.more_errors),
            Severity::Warning => (&mut self.warnings, WARNINGS_MAX, &mut self.more_warnings),
        };
        if list.len() == max {
            *more += 1;
            return self.spare.insert(note);
        }
        list.push(note);
        let last = list.len() - 1;
        &mut list[last]
    }

    pub(crate) fn hide(&mut self, place: Location) {
        self.hidden.insert(place);
    }

    pub(crate) fn errors(&self) -> usize {
        self.errors.len() + self.more_errors
    }

    pub(crate) const fn kept_errors(&self) -> usize {
        self.errors.len()
    }

    /// Takes out the kept errors from the `from`th on.
    pub(crate) fn errors_from(&mut self, from: usize) -> Vec<Note> {
        self.errors.split_off(from.min(self.errors.len()))
    }

    pub(crate) fn put_back(&mut self, errors: Vec<Note>) {
        self.errors.extend(errors);
    }

    pub(crate) const fn more_errors(&self) -> usize {
        self.more_errors
    }

    pub(crate) const fn more_warnings(&self) -> usize {
        self.more_warnings
    }

    /// Errors and warnings, sorted by file, line and column.
    pub(crate) fn into_problems(self, files: &[File]) -> (Vec<Problem>, Vec<Problem>) {
        let mut lines = Lines { files, starts: vec![None; files.len()], hidden: self.hidden };
        let mut finish = |mut notes: Vec<Note>| {
            notes.sort_by_key(|note| note.place);
            notes.into_iter().map(|note| lines.problem(note)).collect()
        };
        (finish(self.errors), finish(self.warnings))
    }
}

/// Looks up lines in files; line starts are computed once per file.
struct Lines<'f> {
    files: &'f [File],
    starts: Vec<Option<Vec<usize>>>,
    hidden: BTreeSet<Location>,
}

impl Lines<'_> {
    fn problem(&mut self, note: Note) -> Problem {
        let related = note.related.into_iter().map(|(place, message)| Related {
            file: self.name(place),
            at: place.at,
            message,
            excerpt: self.excerpt(place),
        });
        Problem {
            related: related.collect(),
            severity: note.severity,
            code: note.code,
            file: self.name(note.place),
            at: note.place.at,
            message: note.message,
            remedy: note.remedy,
            excerpt: self.excerpt(note.place),
        }
    }

    fn name(&self, place: Location) -> String {
        self.files.get(place.file as usize).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    fn excerpt(&mut self, place: Location) -> Excerpt {
        let Some((_, text)) = self.files.get(place.file as usize) else { return Excerpt::default() };
        let starts = self.starts[place.file as usize].get_or_insert_with(|| {
            let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
        });
        let line = place.at.line as usize;
        let Some(start) = starts.get(line.wrapping_sub(1)) else { return Excerpt::default() };
        let end = starts.get(line).map_or(text.len(), |next| next - 1);
        let line = text[*start..end].trim_start_matches('\u{feff}');
        let line = self.without_secrets(line, place);
        cut(&line, place.at.column as usize - 1, place.width as usize)
    }

    /// The line with secrets as asterisks; a secret that continues on the next line is hidden to
    /// the end of the line.
    fn without_secrets<'l>(&self, line: &'l str, place: Location) -> Cow<'l, str> {
        let (first, last) =
            (Location::new(place.file, place.at.line, 0), Location::new(place.file, place.at.line + 1, 0));
        let mut shown = Cow::Borrowed(line);
        for hidden in self.hidden.range(first..last) {
            let from = hidden.at.column as usize - 1;
            let to = if hidden.width > 1 { from + hidden.width as usize } else { usize::MAX };
            let masked = |(at, c): (usize, char)| if (from..to).contains(&at) { '*' } else { c };
            shown = Cow::Owned(shown.chars().enumerate().map(masked).collect());
        }
        shown
    }
}

fn cut(line: &str, before: usize, width: usize) -> Excerpt {
    let skipped = before.saturating_sub(EXCERPT_CHARS_MAX);
    let shown = before - skipped + EXCERPT_CHARS_MAX;
    let mut characters = line.trim_end_matches('\r').chars().skip(skipped);
    let mut text: String = if skipped > 0 { "...".to_owned() } else { String::new() };
    let caret = text.len() + before - skipped;
    text.extend(characters.by_ref().take(shown).map(|c| if c.is_control() { ' ' } else { c }));
    let end = text.chars().count();
    if characters.next().is_some() {
        text.push_str("...");
    }
    Excerpt { caret: caret.min(end), width: width.min(end.saturating_sub(caret)).max(1), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_on_both_sides_of_the_place() {
        let line = format!("{}x{}", "a".repeat(200), "b".repeat(200));
        let excerpt = cut(&line, 200, 1);
        assert_eq!(excerpt.text.chars().nth(excerpt.caret), Some('x'));
        assert!(excerpt.text.starts_with("...aaa") && excerpt.text.ends_with("bbb..."));
        assert_eq!(excerpt.text.len(), 3 + 2 * EXCERPT_CHARS_MAX + 3);
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_as_a_space() {
        assert_eq!(cut("a\u{1b}[31m\tb\r", 0, 3), Excerpt { text: "a [31m b".into(), caret: 0, width: 3 });
    }

    #[test]
    fn errors_beyond_the_limit_are_counted() {
        let mut notes = Notes::default();
        for line in 1..=ERRORS_MAX as u32 + 7 {
            notes.error(Code::Syntax, Location::new(0, line, 1), "x").remedy("y");
        }
        assert_eq!((notes.errors(), notes.more_errors()), (ERRORS_MAX + 7, 7));
        assert_eq!(notes.into_problems(&[]).0.len(), ERRORS_MAX);
    }
}
