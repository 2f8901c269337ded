//! Problems as reports have them, without remedies: whoever shows them knows those.

use feedfile::{Code, Position};
use wire::torg::feeds::v1::Problem;
use wire::torg::feeds::v1::problem::Severity;

/// Characters of a message or a value.
const TEXT_CHARS_MAX: usize = 300;

/// A problem that the reader found in an offer, or in the file.
pub(super) fn of_file(problem: &feedfile::Problem) -> Problem {
    Problem {
        code: problem.code.name().to_owned(),
        severity: severity(problem.severity).into(),
        field: problem.field.clone(),
        value: cut(&problem.value),
        line: problem.at.line,
        column: problem.at.column,
        message: cut(&problem.message),
        ..Problem::default()
    }
}

/// A problem of this kind.
pub(super) fn of_code(code: Code, field: &str, message: &str) -> Problem {
    Problem {
        code: code.name().to_owned(),
        severity: severity(code.severity()).into(),
        field: field.to_owned(),
        message: cut(message),
        ..Problem::default()
    }
}

/// The same at a place of the file, about this value.
pub(super) fn at(problem: Problem, at: Position, value: &str) -> Problem {
    Problem { line: at.line, column: at.column, value: cut(value), ..problem }
}

/// The same, whatever its code usually means.
pub(super) fn as_error(problem: Problem) -> Problem {
    Problem { severity: Severity::SEVERITY_ERROR.into(), ..problem }
}

pub(super) fn as_warning(problem: Problem) -> Problem {
    Problem { severity: Severity::SEVERITY_WARNING.into(), ..problem }
}

fn severity(severity: feedfile::Severity) -> Severity {
    match severity {
        feedfile::Severity::Error => Severity::SEVERITY_ERROR,
        feedfile::Severity::Warning => Severity::SEVERITY_WARNING,
    }
}

fn cut(text: &str) -> String {
    text::head(text, TEXT_CHARS_MAX).to_owned()
}
