//! Typed access to TOML values that reports problems with their lines and goes on.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

use crate::decimal::Decimal;
use crate::declared::{Named, Names, Reference, Scalar};
use crate::error::{At, Problems};
use crate::limits::ID_BYTES_MAX;
use crate::value::Date;

#[derive(Clone)]
pub(crate) struct Entry<'d> {
    pub(crate) key: &'d str,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: &'d Spanned<DeValue<'d>>,
}

impl<'d> Entry<'d> {
    pub(crate) fn new(key: &'d Spanned<DeString<'d>>, value: &'d Spanned<DeValue<'d>>) -> Self {
        Self { key: key.get_ref(), key_span: key.span(), value }
    }
}

/// A reader of one file.
pub(crate) struct Reader<'p> {
    file: u16,
    line_starts: Vec<usize>,
    pub(crate) problems: &'p mut Problems,
}

impl<'p> Reader<'p> {
    pub(crate) fn new(name: &str, text: &str, problems: &'p mut Problems) -> Self {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { file: problems.file(name), line_starts, problems }
    }

    /// Parses the document. Syntax errors are reported, and nothing else is read then.
    pub(crate) fn parse<'d>(&mut self, text: &'d str) -> Option<DeTable<'d>> {
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let at = self.at(&error.span().unwrap_or_default());
            let advice = "correct the TOML; put texts in double quotes, and ids with `/` too";
            self.problems.add_unreadable(at, error.message(), advice);
        }
        errors.is_empty().then(|| document.into_inner())
    }

    pub(crate) fn at(&self, span: &Range<usize>) -> At {
        At { file: self.file, line: self.line_starts.partition_point(|start| *start <= span.start) as u32 }
    }

    /// An empty definition with the entry's key as its id.
    pub(crate) fn named(&self, entry: &Entry<'_>) -> Named {
        let at = self.at(&entry.key_span);
        Named { id: entry.key.into(), at, names: Names::new(), synonyms: Names::new() }
    }

    pub(crate) fn complain(
        &mut self,
        span: &Range<usize>,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) {
        let at = self.at(span);
        self.problems.add(at, what, advice);
    }

    pub(crate) fn unknown_key(&mut self, entry: &Entry<'_>, known: &[&str]) {
        let at = self.at(&entry.key_span);
        let otherwise = format!("keys here are: {}", known.join(", "));
        let what = format!("unknown key `{}`", entry.key);
        self.problems.add_unknown(at, what, entry.key, known.iter().copied(), &otherwise);
    }

    pub(crate) fn missing(&mut self, entry: &Entry<'_>, key: &str, advice: &str) {
        let what = format!("`{}` has no usable `{key}`", entry.key);
        self.complain(&entry.key_span, what, format!("give {advice}"));
    }

    fn wrong_type(&mut self, entry: &Entry<'_>, wanted: &str) {
        let found = entry.value.get_ref().type_str();
        let what = format!("`{}` is a value of type {found}", entry.key);
        self.complain(&entry.value.span(), what, format!("write {wanted}"));
    }

    pub(crate) fn table<'d>(&mut self, entry: &Entry<'d>) -> Option<&'d DeTable<'d>> {
        let table = entry.value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(entry, "a table: `{ key = value }`");
        }
        table
    }

    pub(crate) fn array<'d>(&mut self, entry: &Entry<'d>) -> Option<&'d DeArray<'d>> {
        let array = entry.value.get_ref().as_array();
        if array.is_none() {
            self.wrong_type(entry, "a list: `[first, second]`");
        }
        array
    }

    pub(crate) fn text<'d>(&mut self, entry: &Entry<'d>) -> Option<&'d str> {
        let text = entry.value.get_ref().as_str();
        if text.is_none() {
            self.wrong_type(entry, "a text in double quotes");
        }
        text
    }

    pub(crate) fn yes_no(&mut self, entry: &Entry<'_>) -> Option<bool> {
        let answer = entry.value.get_ref().as_bool();
        if answer.is_none() {
            self.wrong_type(entry, "true or false");
        }
        answer
    }

    /// A whole number within `allowed`.
    pub(crate) fn whole(&mut self, entry: &Entry<'_>, allowed: Range<i64>) -> Option<i64> {
        let number = Self::decimal_of(entry.value.get_ref()).and_then(Decimal::as_whole);
        let fits = number.filter(|number| allowed.contains(number));
        if fits.is_none() {
            let wanted = format!("a whole number from {} to {}", allowed.start, allowed.end - 1);
            match number {
                None => self.wrong_type(entry, &wanted),
                Some(number) => {
                    let what = format!("`{}` is {number}", entry.key);
                    self.complain(&entry.value.span(), what, format!("write {wanted}"));
                }
            }
        }
        fits
    }

    pub(crate) fn number(&mut self, entry: &Entry<'_>) -> Option<Decimal> {
        let number = Self::decimal_of(entry.value.get_ref());
        if number.is_none() {
            self.wrong_type(
                entry,
                "a decimal number such as 12 or 0.5, with at most 9 digits after the point",
            );
        }
        number
    }

    /// A number or a date.
    pub(crate) fn scalar(&mut self, entry: &Entry<'_>) -> Option<Scalar> {
        let value = entry.value.get_ref();
        if let Some(day) = value.as_datetime().and_then(|day| day.date) {
            let day = Date::new(day.year as i16, day.month as i8, day.day as i8).ok();
            return day.map(Scalar::Date);
        }
        self.number(entry).map(Scalar::Number)
    }

    /// `[least, most]`, both from 0 to `limit`.
    pub(crate) fn bounds(&mut self, entry: &Entry<'_>, limit: u32) -> Option<(u32, u32)> {
        let array = self.array(entry)?;
        let numbers: Vec<i64> = array
            .iter()
            .filter_map(|value| Self::decimal_of(value.get_ref()).and_then(Decimal::as_whole))
            .collect();
        match numbers[..] {
            [least, most] if array.len() == 2 && 0 <= least && least <= most && most <= i64::from(limit) => {
                Some((least as u32, most as u32))
            }
            _ => {
                let what = format!("`{}` is no pair of a least and a most", entry.key);
                let advice = format!("write `{} = [least, most]`, from 0 to {limit}", entry.key);
                self.complain(&entry.value.span(), what, advice);
                None
            }
        }
    }

    /// A list of ids with their places.
    pub(crate) fn references(&mut self, entry: &Entry<'_>) -> Option<Vec<Reference>> {
        let array = self.array(entry)?;
        let mut references = Vec::with_capacity(array.len());
        for value in array {
            if let Some(text) = value.get_ref().as_str() {
                references.push((text.into(), self.at(&value.span())));
            } else {
                let what = format!("`{}` contains something other than texts", entry.key);
                self.complain(&value.span(), what, "write ids in double quotes");
            }
        }
        Some(references)
    }

    /// A text with its place.
    pub(crate) fn reference(&mut self, entry: &Entry<'_>) -> Option<Reference> {
        let at = self.at(&entry.value.span());
        self.text(entry).map(|text| (text.into(), at))
    }

    /// Reports a problem unless the key is a valid id.
    pub(crate) fn is_id(&mut self, entry: &Entry<'_>) -> bool {
        let good = is_id(entry.key);
        if !good {
            self.complain(
                &entry.key_span,
                format!("`{}` is no valid id", crate::text::echo(entry.key)),
                "use lower-case Latin letters, digits, `-`, and `/` between parts, at most 100 characters",
            );
        }
        good
    }

    fn decimal_of(value: &DeValue<'_>) -> Option<Decimal> {
        match value {
            DeValue::Integer(number) if number.radix() == 10 => Decimal::parse(number.as_str()),
            DeValue::Float(number) => Decimal::parse(number.as_str()),
            DeValue::String(text) => Decimal::parse(text),
            _ => None,
        }
    }
}

/// Lower-case Latin letters, digits and `-`, in parts separated by `/`.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() <= ID_BYTES_MAX
        && text.split('/').all(|part| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        })
}
