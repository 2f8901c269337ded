//! Prints problems like a compiler, or as JSON.

use super::labels::Labels;
use super::{Example, Group, Report};
use crate::{Code, Language, Outcome, Problem};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

impl Report {
    /// The report for people. `file` is the name before lines and columns.
    #[must_use]
    pub fn render(&self, file: &str, language: Language) -> String {
        let mut out = String::new();
        for ((_, code), group) in self.groups.iter().rev() {
            render_group(&mut out, file, language, *code, group);
        }
        render_summary(&mut out, file, language, self);
        out
    }

    #[must_use]
    pub fn to_json(&self) -> Value {
        let summary = &self.summary;
        let broken = match &summary.outcome {
            Outcome::Broken(problem) => json!({
                "code": problem.code.name(),
                "line": problem.at.line,
                "column": problem.at.column,
                "message": problem.message,
            }),
            Outcome::Complete | Outcome::Stopped => Value::Null,
        };
        json!({
            "format": summary.format.map(crate::Format::name),
            "encoding": summary.encoding,
            "offers": summary.offers,
            "accepted": summary.accepted,
            "rejected": summary.rejected,
            "withdrawn": self.withdrawn,
            "warnings": summary.warnings(),
            "errors_by_code": by_code(&summary.errors_by_code),
            "warnings_by_code": by_code(&summary.warnings_by_code),
            "broken": broken,
        })
    }

    /// The examples for programs, errors first.
    #[must_use]
    pub fn problems_to_json(&self, language: Language) -> Value {
        let examples = self.groups.values().flat_map(|group| &group.examples);
        examples.map(|example| example_to_json(example, language)).collect()
    }
}

fn by_code(counts: &BTreeMap<Code, u64>) -> Value {
    counts.iter().map(|(code, count)| (code.name().to_owned(), json!(count))).collect::<Map<_, _>>().into()
}

fn example_to_json(Example { problem, same }: &Example, language: Language) -> Value {
    json!({
        "same": same,
        "code": problem.code.name(),
        "severity": problem.severity,
        "offer": problem.external_id,
        "field": problem.field,
        "value": problem.value,
        "line": problem.at.line,
        "column": problem.at.column,
        "message": problem.message_in(language),
        "remedy": problem.code.texts(language).remedy,
    })
}

fn render_group(out: &mut String, file: &str, language: Language, code: Code, group: &Group) {
    let labels = Labels::of(language);
    for Example { problem, same } in &group.examples {
        render_problem(out, file, language, problem);
        if *same > 0 {
            let _ = writeln!(out, "   {}", (labels.same)(&grouped(*same)));
        }
    }
    let texts = code.texts(language);
    let shown: u64 = group.examples.iter().map(|example| 1 + example.same).sum();
    let more = group.count - shown;
    if group.examples.is_empty() {
        let _ = writeln!(out, "{}[{}]: {}", labels.severity(group.severity), code.name(), grouped(more));
    } else if more > 0 {
        let _ = writeln!(out, "   {}", (labels.more)(&grouped(more)));
    }
    let is_said = |example: &Example| {
        example.problem.message.trim_end_matches('.')
            == code.texts(Language::English).meaning.trim_end_matches('.')
    };
    if !group.examples.iter().any(is_said) {
        let _ = writeln!(out, "   = {}", texts.meaning);
    }
    let _ = writeln!(out, "   = {} (docs/feed-errors.md#{})", texts.remedy, code.name());
    out.push('\n');
}

fn render_problem(out: &mut String, file: &str, language: Language, problem: &Problem) {
    let labels = Labels::of(language);
    let _ = write!(out, "{}[{}]: ", labels.severity(problem.severity), problem.code.name());
    if !problem.field.is_empty() && !names_its_field(problem) {
        let _ = write!(out, "{}: ", problem.field);
    }
    let _ = writeln!(out, "{}", problem.message_in(language));
    let _ = write!(out, "  --> {file}:{}", problem.at);
    if problem.external_id.is_empty() {
        out.push('\n');
    } else {
        let _ = writeln!(out, " ({} {})", labels.offer, problem.external_id);
    }
    if !problem.excerpt.text.is_empty() {
        let number = problem.at.line.to_string();
        let margin = " ".repeat(number.len());
        let _ = writeln!(out, " {number} | {}", problem.excerpt.text.trim_end());
        let _ = writeln!(out, " {margin} | {}^", " ".repeat(problem.excerpt.caret));
    }
}

/// Whether the message begins with the name of the field: `Title: ...`.
fn names_its_field(problem: &Problem) -> bool {
    let last = problem.field.rsplit('.').next().unwrap_or_default();
    let head = problem.message.split_once(": ").map(|(head, _)| head.to_lowercase());
    head.is_some_and(|head| head == last.to_lowercase())
}

fn render_summary(out: &mut String, file: &str, language: Language, report: &Report) {
    let (labels, summary) = (Labels::of(language), &report.summary);
    let format = summary.format.map_or(labels.no_format, crate::Format::name);
    let encoding = if summary.encoding.is_empty() { labels.no_encoding } else { summary.encoding };
    let counts = [summary.offers, summary.accepted, summary.rejected, summary.warnings()].map(grouped);
    let _ = writeln!(out, "{file}: {format}, {encoding}, {}", (labels.counts)(&counts));
    if report.withdrawn > 0 {
        let _ = writeln!(out, "  {}", (labels.withdrawn)(&grouped(report.withdrawn)));
    }
    for (title, counts) in
        [(labels.errors, &summary.errors_by_code), (labels.warnings, &summary.warnings_by_code)]
    {
        let mut counts: Vec<(u64, &str)> = counts.iter().map(|(code, count)| (*count, code.name())).collect();
        counts.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
        if !counts.is_empty() {
            let each: Vec<String> =
                counts.iter().map(|(count, code)| format!("{} {code}", grouped(*count))).collect();
            let _ = writeln!(out, "  {title}: {}", each.join(", "));
        }
    }
    if let (Outcome::Broken(problem), Some(_)) = (&summary.outcome, summary.format) {
        let _ = writeln!(out, "  {}", (labels.broken)(&problem.at.to_string()));
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        assert_eq!([0, 999, 1_000, 99_990].map(grouped), ["0", "999", "1,000", "99,990"]);
    }
}
