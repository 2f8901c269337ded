//! Problems like a compiler prints them, and as JSON.

use crate::location::Position;
use crate::problem::{Errors, Excerpt, Problem, Related, Severity};
use serde_json::{Value, json};
use std::fmt::{self, Write};

/// For people: each problem with its line, then their number. `more_errors` and `more_warnings`
/// were not kept.
#[must_use]
pub fn render(problems: &[Problem], more_errors: usize, more_warnings: usize) -> String {
    let mut out = String::new();
    for problem in problems {
        let _ = writeln!(out, "{problem}");
    }
    let count = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let errors = counted(count(Severity::Error) + more_errors, "error");
    let warnings = counted(count(Severity::Warning) + more_warnings, "warning");
    let all: Vec<String> = [errors, warnings].into_iter().flatten().collect();
    if !all.is_empty() {
        let _ = write!(out, "{}", all.join(", "));
        let more = more_errors + more_warnings;
        if more > 0 {
            let _ = write!(out, "; {more} of them not shown");
        }
        out.push('\n');
    }
    out
}

/// For programs: a list of objects with `severity, code, file, line, column, message, remedy, text,
/// related`.
#[must_use]
pub fn problems_to_json(problems: &[Problem]) -> Value {
    problems.iter().map(Problem::to_json).collect()
}

impl Errors {
    /// For programs: `errors`, and `more` for the number that was not kept.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "errors": problems_to_json(&self.errors), "more": self.more })
    }
}

impl Problem {
    #[must_use]
    pub fn to_json(&self) -> Value {
        let related = |related: &Related| {
            json!({
                "file": related.file,
                "line": related.at.line,
                "column": related.at.column,
                "message": related.message,
            })
        };
        json!({
            "severity": self.severity.name(),
            "code": self.code.name(),
            "file": self.file,
            "line": self.at.line,
            "column": self.at.column,
            "message": self.message,
            "remedy": self.remedy,
            "text": self.excerpt.text,
            "related": self.related.iter().map(related).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}[{}]: {}", self.severity.name(), self.code.name(), self.message)?;
        show_place(out, &self.file, self.at, &self.excerpt, '^')?;
        for related in &self.related {
            writeln!(out, "   = {}", related.message)?;
            show_place(out, &related.file, related.at, &related.excerpt, '-')?;
        }
        if !self.remedy.is_empty() {
            writeln!(out, "   = {}", self.remedy)?;
        }
        Ok(())
    }
}

fn show_place(
    out: &mut fmt::Formatter<'_>,
    file: &str,
    at: Position,
    excerpt: &Excerpt,
    mark: char,
) -> fmt::Result {
    writeln!(out, "  --> {file}:{at}")?;
    if !excerpt.text.is_empty() {
        let number = at.line.to_string();
        let margin = " ".repeat(number.len());
        let marks: String = std::iter::repeat_n(mark, excerpt.width).collect();
        writeln!(out, " {number} | {}", excerpt.text.trim_end())?;
        writeln!(out, " {margin} | {}{marks}", " ".repeat(excerpt.caret))?;
    }
    Ok(())
}

fn counted(count: usize, what: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    }
}
