//! Findings of the doctor and their output.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use terminal::errors::told;
use terminal::{counted, one_line, state};

/// What a finding is about, in output order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Area {
    Configuration,
    Machine,
    Folders,
    Process,
    Clock,
    Tls,
    Store,
    Access,
    Topics,
    Files,
    Catalogue,
    Stages,
    Feeds,
    Tasks,
}

impl fmt::Display for Area {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&format!("{self:?}").to_lowercase())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// Checked and as expected.
    Ok,
    /// Information only.
    Note,
    /// Needs attention, or will stop working.
    Warning,
    Error,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Severity::Ok => "ok",
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) area: Area,
    pub(super) severity: Severity,
    pub(super) what: String,
    /// Empty if there is nothing to do.
    pub(super) remedy: String,
}

impl Finding {
    pub(super) fn ok(area: Area, what: impl Into<String>) -> Finding {
        Finding { area, severity: Severity::Ok, what: what.into(), remedy: String::new() }
    }

    pub(super) fn note(area: Area, what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { area, severity: Severity::Note, what: what.into(), remedy: remedy.into() }
    }

    pub(super) fn warning(area: Area, what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { area, severity: Severity::Warning, what: what.into(), remedy: remedy.into() }
    }

    pub(super) fn error(area: Area, what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { area, severity: Severity::Error, what: what.into(), remedy: remedy.into() }
    }

    /// An error with the hint that it carries, or with `otherwise`.
    pub(super) fn failed(area: Area, error: &anyhow::Error, otherwise: &str) -> Finding {
        let (what, remedy) = told(error);
        Finding::error(area, what, remedy.unwrap_or_else(|| otherwise.to_owned()))
    }
}

#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    pub(super) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.0.extend(findings);
    }

    /// Groups findings by area.
    pub(super) fn sort(&mut self) {
        self.0.sort_by_key(|finding| finding.area);
    }

    pub(super) fn count(&self, severity: Severity) -> u64 {
        self.0.iter().filter(|finding| finding.severity == severity).count() as u64
    }

    /// One line per finding, followed by a line with its remedy.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for Finding { area, severity, what, remedy } in &self.0 {
            let name = severity.name();
            let blanks = " ".repeat("warning".len() - name.len());
            lines.push(format!("{}{blanks}  {area:<13}  {}", state(name), one_line(what)));
            if !remedy.is_empty() {
                lines.push(format!("{:<7}  {:<13}    -> {}", "", "", one_line(remedy)));
            }
        }
        lines.push(self.verdict());
        lines
    }

    /// The number of errors and warnings, as text.
    pub(super) fn verdict(&self) -> String {
        match (self.count(Severity::Error), self.count(Severity::Warning)) {
            (0, 0) => "nothing is wrong".to_owned(),
            (errors, 0) => counted(errors, "error"),
            (0, warnings) => counted(warnings, "warning"),
            (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "findings": self.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_is_a_line_and_what_to_do_stands_below_it() {
        let mut found = Findings::default();
        found.add(Finding::ok(Area::Store, "it is sound"));
        found.add(Finding::error(Area::Tls, "the certificate\nhas expired", "renew it"));
        found.add(Finding::note(Area::Process, "none", ""));
        found.sort();
        assert_eq!(
            found.lines(),
            [
                "note     process        none",
                "error    tls            the certificate has expired",
                "                          -> renew it",
                "ok       store          it is sound",
                "1 error",
            ]
        );
        assert_eq!(found.json()["findings"][1]["severity"], "error");
        assert_eq!(found.json()["findings"][1]["area"], "tls");
    }

    #[test]
    fn the_verdict_counts_what_is_wrong() {
        let mut found = Findings::default();
        found.add(Finding::note(Area::Tasks, "none", ""));
        assert_eq!(found.verdict(), "nothing is wrong");
        found.extend((0..2).map(|_| Finding::warning(Area::Tasks, "late", "look")));
        assert_eq!(found.verdict(), "2 warnings");
        found.add(Finding::error(Area::Store, "away", "start it"));
        assert_eq!(found.verdict(), "1 error, 2 warnings");
    }
}
