//! Reads attributes and their values from texts of people and feeds.

use crate::attribute::{Attribute, Choice, Unit, Use};
use crate::catalogue::Category;
use crate::decimal::Decimal;
use crate::kind::Kind;
use crate::limits::{DESCRIPTION_PAIRS_MAX, QUERY_CHARS_MAX};
use crate::text::{echo, normalise};
use crate::validate::suggest;
use crate::value::{Date, OwnedValue};
use crate::violation::Fault;

impl<'c> Category<'c> {
    /// The attribute of this category with this id, name or synonym, in any language.
    #[must_use]
    pub fn find_attribute(self, text: &str) -> Option<Use<'c>> {
        if let Some(found) = self.attribute(text) {
            return Some(found);
        }
        let normal = normalise(text);
        let mut named = self.catalogue.search_index().attributes_named(&normal);
        named.find_map(|number| self.attribute(Attribute { catalogue: self.catalogue, number }.id()))
    }

    /// Reads `name: value` pairs, one on a line or several separated by `;`, `|` or `•`, or by
    /// commas if every part is a pair. Unknown attributes and unreadable values are skipped; the
    /// first value of an attribute wins. Only the first [`DESCRIPTION_PAIRS_MAX`] parts are read.
    #[must_use]
    pub fn read_pairs(self, text: &str) -> Vec<(Use<'c>, Vec<OwnedValue>)> {
        let mut read: Vec<(Use<'c>, Vec<OwnedValue>)> = Vec::new();
        let parts = text.split(['\n', ';', '|', '•']).flat_map(|part| {
            let by_comma = part.matches(':').count() > 1;
            part.split(if by_comma { ", " } else { "\n" })
        });
        for part in parts.take(DESCRIPTION_PAIRS_MAX) {
            let Some((name, value)) = part.split_once(':') else { continue };
            let Some(used) = self.find_attribute(name.trim()) else { continue };
            let known = read.iter().any(|(other, _)| other.slot.attribute == used.slot.attribute);
            if let (false, Ok(values)) = (known, used.read(value.trim_end_matches(['.', ',', ' ']))) {
                read.push((used, values));
            }
        }
        read
    }
}

impl<'c> Use<'c> {
    /// The choice of this attribute with this id, name or synonym. Cheaper than [`Self::read`]:
    /// nothing is suggested.
    #[must_use]
    pub fn find_choice(self, text: &str) -> Option<Choice<'c>> {
        let attribute = self.attribute();
        let data = attribute.data();
        let number = self.choice_number(text)?;
        attribute.choice(&data.choices[usize::from(number)].id)
    }

    fn choice_number(self, text: &str) -> Option<u16> {
        self.attribute().data().choice(text).or_else(|| {
            let normal = normalise(text);
            self.catalogue.search_index().choices_named(self.slot.attribute, &normal).next()
        })
    }
}

impl Use<'_> {
    /// Reads a value as people write it: a number with or without a unit (`75 000 mi` is converted
    /// to the attribute's unit), `да`, `31.12.2024`, or the id, name or synonym of a choice; a list
    /// of them if the attribute has several values. The range is not checked.
    pub fn read(self, text: &str) -> Result<Vec<OwnedValue>, Fault> {
        let text = text.trim();
        let wrong = || Fault::WrongType { wanted: self.kind().type_name() };
        let one = |value: Option<OwnedValue>| value.map(|value| vec![value]).ok_or_else(wrong);
        match self.kind() {
            Kind::Text { .. } => one((!text.is_empty()).then(|| OwnedValue::from(text))),
            Kind::Whole { .. } => {
                let whole = read_measure(text, self.attribute(), 0).and_then(Decimal::as_whole);
                one(whole.map(OwnedValue::Whole))
            }
            Kind::Decimal { scale, .. } => {
                one(read_measure(text, self.attribute(), *scale).map(OwnedValue::Decimal))
            }
            Kind::YesNo => one(read_answer(text).map(OwnedValue::YesNo)),
            Kind::Date { .. } => one(read_date(text).map(OwnedValue::Date)),
            Kind::One => self.read_choice(text).map(|value| vec![value]),
            Kind::Several { .. } => self.read_choices(text),
        }
    }

    fn read_choices(self, text: &str) -> Result<Vec<OwnedValue>, Fault> {
        if let Ok(whole) = self.read_choice(text) {
            return Ok(vec![whole]);
        }
        let mut values = Vec::new();
        for part in text.split([',', ';', '|', '\n']).map(str::trim).filter(|part| !part.is_empty()) {
            let value = self.read_choice(part)?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.is_empty() { Err(Fault::WrongType { wanted: self.kind().type_name() }) } else { Ok(values) }
    }

    fn read_choice(self, text: &str) -> Result<OwnedValue, Fault> {
        let data = self.attribute().data();
        match self.choice_number(text) {
            Some(number) => Ok(OwnedValue::Text(data.choices[usize::from(number)].id.to_string())),
            None => Err(Fault::UnknownValue { given: echo(text), suggestion: suggest(data, text) }),
        }
    }
}

/// A number with an optional unit, converted to the attribute's unit and then rounded to `scale`
/// digits.
fn read_measure(text: &str, attribute: Attribute<'_>, scale: u8) -> Option<Decimal> {
    if text.len() > QUERY_CHARS_MAX {
        return None;
    }
    let end = text.char_indices().find(|(_, c)| !is_of_number(*c)).map_or(text.len(), |(at, _)| at);
    let (digits, rest) = text.split_at(end);
    let number = read_number(digits, scale == 0)?;
    let rest = normalise(rest);
    let (thousands, unit) = match rest.strip_prefix("тыс").or_else(|| rest.strip_prefix("thousand")) {
        Some(unit) => (1000, unit.trim_start()),
        None => (1, rest.as_str()),
    };
    let number = number.convert(Decimal::from(thousands), Decimal::from(1), number.scale())?;
    if unit.is_empty() {
        return Some(number);
    }
    let own = attribute.unit()?;
    let given = find_unit(own, unit)?;
    if given.id() == own.id() { Some(number) } else { given.convert(number, own, scale) }
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'')
}

/// Blanks and apostrophes between digits are skipped. A comma is a decimal point unless it
/// separates thousands: three digits follow it in a whole number, or it occurs several times.
/// Several points separate thousands too.
fn read_number(digits: &str, whole: bool) -> Option<Decimal> {
    let mut plain: String =
        digits.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+')).collect();
    for mark in [',', '.'] {
        let parts_thousands = plain.matches(mark).count() > 1
            || (whole && plain.split_once(mark).is_some_and(|(_, after)| after.len() == 3))
            || (mark == ',' && plain.contains('.'));
        if parts_thousands {
            plain.retain(|c| c != mark);
        }
    }
    Decimal::parse(plain.replace(',', ".").trim_end_matches('.'))
}

/// The unit of the same quantity with this name.
fn find_unit<'c>(own: Unit<'c>, normal: &str) -> Option<Unit<'c>> {
    let catalogue = own.catalogue;
    let is_named = |unit: Unit<'_>| {
        let known = unit.labelled();
        *known.id == *normal || known.labels.all().any(|name| normalise(name) == normal)
    };
    (0..catalogue.units.len() as u16)
        .map(|number| Unit { catalogue, number })
        .find(|unit| unit.quantity() == own.quantity() && is_named(*unit))
}

fn read_answer(text: &str) -> Option<bool> {
    match normalise(text).as_str() {
        "yes" | "true" | "1" | "y" | "да" | "есть" | "имеется" => Some(true),
        "no" | "false" | "0" | "n" | "нет" | "отсутствует" => Some(false),
        _ => None,
    }
}

/// `2024-12-31`, `31.12.2024` or `31/12/2024`.
fn read_date(text: &str) -> Option<Date> {
    let mut parts = text.split(['-', '.', '/']).map(|part| part.trim().parse::<i16>().ok());
    let (first, second, third) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() {
        return None;
    }
    let (year, day) = if first > 31 { (first, third) } else { (third, first) };
    Date::new(year, i8::try_from(second).ok()?, i8::try_from(day).ok()?).ok().filter(|_| year >= 1000)
}
