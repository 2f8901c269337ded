//! Values in files: a log of changes for a [simulation](crate::simulate), and the values of one
//! moment for a [deployment](crate::deploy).
//!
//! Both are lines of comma-separated fields. Empty lines, lines that begin with `#` and a first
//! line with the field names are skipped. Names and values contain no commas, so there are no
//! quotes.
//!
//! ```text
//! time,parameter,value
//! 2026-03-25T08:05:00+01:00,shop.exported_to,2026-03-25T08:04:00+01:00
//! 2026-03-25T08:06:10+01:00,stock.snapshot,4100
//! 2026-03-25T08:07:00+01:00,stock.snapshot,
//! ```

use jiff::Timestamp;
use triggers::{Parameter, Value};

use crate::Seen;
use crate::limits::{LINE_CHARS_SHOWN, SIMULATED_CHANGES_MAX};
use crate::simulate::Recorded;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct WrongLine {
    pub line: usize,
    /// What is wrong, and what is expected.
    pub what: String,
}

/// Reads a log: `time,parameter,value`, in any order of times. A time is written as in RFC 3339,
/// with its offset or `Z`; a value is such a time or a number, and empty for a deleted value. Reads
/// at most [`SIMULATED_CHANGES_MAX`] changes.
///
/// ```
/// let log = planner::recorded::read_log("2026-03-25T08:05:00Z,stock.snapshot,4100\n")?;
/// assert_eq!(log[0].value, Some(triggers::Value::Number(4100)));
/// let wrong = planner::recorded::read_log("time,parameter,value\nyesterday,stock.snapshot,1\n").unwrap_err();
/// assert_eq!(wrong.line, 2);
/// # Ok::<(), planner::recorded::WrongLine>(())
/// ```
pub fn read_log(text: &str) -> Result<Vec<Recorded>, WrongLine> {
    let mut log = Vec::new();
    for (line, fields) in lines(text, "time,parameter,value")? {
        let [at, parameter, value] = fields;
        if log.len() == SIMULATED_CHANGES_MAX {
            let what =
                format!("at most {SIMULATED_CHANGES_MAX} changes can be simulated; take a shorter time");
            return Err(WrongLine { line, what });
        }
        let wrong = |what| WrongLine { line, what };
        log.push(Recorded {
            at: moment(at).map_err(wrong)?,
            parameter: named(parameter).map_err(wrong)?,
            value: if value.is_empty() { None } else { Some(value_of(value).map_err(wrong)?) },
        });
    }
    Ok(log)
}

/// Reads the values of one moment: `parameter,value`, each parameter once.
pub fn read_values(text: &str) -> Result<Seen, WrongLine> {
    let mut values = Seen::new();
    for (line, fields) in lines(text, "parameter,value")? {
        let [parameter, value] = fields;
        let wrong = |what| WrongLine { line, what };
        let parameter = named(parameter).map_err(wrong)?;
        let value = value_of(value).map_err(wrong)?;
        if values.insert(parameter.clone(), value).is_some() {
            return Err(WrongLine {
                line,
                what: format!("{parameter} has a value already: remove one of them"),
            });
        }
    }
    Ok(values)
}

fn lines<'t, const FIELDS: usize>(
    text: &'t str,
    head: &str,
) -> Result<Vec<(usize, [&'t str; FIELDS])>, WrongLine> {
    let mut found = Vec::new();
    for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = content.split(',').map(str::trim).collect();
        if found.is_empty() && fields.join(",").eq_ignore_ascii_case(head) {
            continue;
        }
        let count = fields.len();
        let Ok(fields) = <[&str; FIELDS]>::try_from(fields) else {
            let what = format!("{head} is expected, and there are {count} fields: {:?}", shown(content));
            return Err(WrongLine { line, what });
        };
        found.push((line, fields));
    }
    Ok(found)
}

fn moment(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| {
        format!("{:?} is no time: write it as 2026-03-25T08:05:00+01:00 or 2026-03-25T07:05:00Z", shown(text))
    })
}

fn named(text: &str) -> Result<Parameter, String> {
    text.parse().map_err(|error: triggers::Error| error.to_string())
}

fn value_of(text: &str) -> Result<Value, String> {
    text.parse().map_err(|error: triggers::Error| error.to_string())
}

fn shown(text: &str) -> String {
    text.chars().take(LINE_CHARS_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_change_is_refused_with_its_line_and_the_reason() {
        for (line, reason) in [
            ("2026-03-25T08:05:00Z,a.b", "there are 2 fields"),
            ("2026-03-25T08:05:00Z,a.b,1,2", "there are 4 fields"),
            ("2026-03-25 08:05,a.b,1", "is no time"),
            ("2026-03-25T08:05:00Z,ab,1", "there is no dot"),
            ("2026-03-25T08:05:00Z,a.b,1.5", "is neither"),
            ("2026-03-25T08:05:00Z,a.b,99999999999999999999", "is neither"),
        ] {
            let text = format!("# recorded\n\ntime, parameter, value\n{line}\n");
            let wrong = read_log(&text).unwrap_err();
            assert_eq!(wrong.line, 4, "{line}");
            assert!(wrong.what.contains(reason), "{line}: {}", wrong.what);
        }
    }

    #[test]
    fn an_empty_value_is_a_deletion_in_a_log_and_refused_among_values() {
        let log = read_log("2026-03-25T08:05:00Z,a.b,\n").unwrap();
        assert_eq!(log[0].value, None);
        assert!(read_values("a.b,\n").unwrap_err().what.contains("is neither"));
    }

    #[test]
    fn a_parameter_has_one_value_at_a_moment() {
        let values = read_values("parameter,value\na.b,1\nc.d,2026-03-25T09:05:00+01:00\n").unwrap();
        let time = "2026-03-25T08:05:00Z".parse().unwrap();
        assert_eq!(values.values().copied().collect::<Vec<_>>(), [Value::Number(1), Value::Time(time)]);
        let wrong = read_values("a.b,1\na.b,2\n").unwrap_err();
        assert_eq!((wrong.line, wrong.what.contains("a.b has a value already")), (2, true));
    }
}
