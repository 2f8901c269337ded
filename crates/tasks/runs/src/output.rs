//! The values that a command sets: lines `sales.loaded_to=2021-04-25T00:00:00Z` in
//! `$TORG_OUTPUT_FILE`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use crate::limits::{OUTPUT_BYTES_MAX, OUTPUT_VALUES_MAX};
use crate::value::{Values, wrong_name};

/// Reads the file. No file means no values. The error is for people.
pub(crate) fn read(path: &Path) -> Result<Values, String> {
    // The command may have left a pipe without a writer.
    let unblocked = OFlags::NONBLOCK.bits().cast_signed();
    let file = match File::options().read(true).custom_flags(unblocked).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Values::new()),
        Err(error) => return Err(format!("$TORG_OUTPUT_FILE cannot be read: {error}")),
    };
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return Err("$TORG_OUTPUT_FILE is no plain file any more".to_owned());
    }
    let mut bytes = Vec::new();
    let read = file.take(OUTPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("$TORG_OUTPUT_FILE cannot be read: {error}"))?;
    if bytes.len() as u64 > OUTPUT_BYTES_MAX {
        return Err(format!("$TORG_OUTPUT_FILE is larger than {OUTPUT_BYTES_MAX} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "$TORG_OUTPUT_FILE is not UTF-8".to_owned())?;
    parse(&text)
}

/// Skips empty lines and those that begin with `#`.
fn parse(text: &str) -> Result<Values, String> {
    let mut values = Values::new();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: &str| format!("$TORG_OUTPUT_FILE, line {number}: {what}");
        let Some((name, value)) = line.split_once('=') else {
            return Err(wrong("there is no = in it: write entity.parameter=value"));
        };
        let (name, value) = (name.trim(), value.trim());
        if let Some(what) = wrong_name(name) {
            return Err(wrong(&what));
        }
        if let Some(first) = lines.insert(name, number) {
            return Err(wrong(&format!("{name} is set again, line {first} did already")));
        }
        if values.len() == OUTPUT_VALUES_MAX {
            return Err(wrong(&format!("more than {OUTPUT_VALUES_MAX} values are set")));
        }
        let value = value.parse().map_err(|error: triggers::Error| wrong(&error.to_string()))?;
        values.insert(name.to_owned(), value);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use triggers::Value;

    #[test]
    fn lines_are_read_and_those_that_say_nothing_are_passed_over() {
        let read =
            parse("# loaded\n\nsales.loaded_to = 2021-04-25T00:00:00Z\r\ndwh.sales.rows=-5\n").unwrap();
        let time = Value::Time("2021-04-25T00:00:00Z".parse().unwrap());
        let expected =
            [("dwh.sales.rows".to_owned(), Value::Number(-5)), ("sales.loaded_to".to_owned(), time)];
        assert_eq!(read, expected.into());
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        for (text, expected) in [
            ("a.b=1\nsales", "line 2: there is no ="),
            ("sales=1", "line 1: \"sales\" is no parameter: there is no dot"),
            (".b=1", "a part of it is empty"),
            ("a b.c=1", "only letters"),
            ("a.b=1\n#\na.b=2", "line 3: a.b is set again, line 1 did"),
            ("a.b=yesterday", "line 1: \"yesterday\" is neither"),
            ("a.b=", "line 1: \"\" is neither"),
        ] {
            let wrong = parse(text).unwrap_err();
            assert!(wrong.contains(expected), "{wrong}");
        }
        let many: Vec<String> = (0..=OUTPUT_VALUES_MAX).map(|number| format!("a.b{number}=1")).collect();
        assert!(parse(&many.join("\n")).unwrap_err().contains("more than 10000 values"));
        assert!(parse(&format!("{}.b=1", "a".repeat(500))).unwrap_err().contains("too long"));
    }

    #[test]
    fn a_file_that_is_none_or_too_large_or_no_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        assert_eq!(read(&path), Ok(Values::new()));
        assert!(read(folder.path()).unwrap_err().contains("no plain file"));
        std::fs::write(&path, b"a.b=\xff").unwrap();
        assert!(read(&path).unwrap_err().contains("not UTF-8"));
        std::fs::write(&path, vec![b'\n'; OUTPUT_BYTES_MAX as usize + 1]).unwrap();
        assert!(read(&path).unwrap_err().contains("larger than"));
    }
}
