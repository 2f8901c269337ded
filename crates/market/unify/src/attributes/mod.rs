//! Attributes: by the names that the feed uses, then by what the title and the description say.

mod memory;
mod title;

use std::borrow::Cow;
use std::collections::BTreeMap;

use catalog::{Category, Fault, Kind, Use};

pub(crate) use self::memory::Memory;
use crate::error::Result;
use crate::input::{Input, Param};
use crate::limits::{DESCRIPTION_CHARS_FOR_PAIRS_MAX, PARAMS_MAX, VALUE_BYTES_MAX};
use crate::output::{Leftover, Mark, MarkKind, Unified};
use crate::tables;
use crate::words::{Word, Words, normal, of_name, push};

/// Attributes that say who makes a thing, and which one it is.
const MAKERS: [&str; 5] = ["brand", "car-make", "moto-make", "truck-make", "machine-make"];
const MODELS: [&str; 2] = ["model", "vehicle-model"];

/// What feeds call attributes beyond the names that the catalogue knows.
#[derive(Debug)]
pub(crate) struct Names {
    by_name: BTreeMap<String, Vec<&'static str>>,
    /// Makers by the words of titles.
    makers: BTreeMap<String, &'static str>,
}

impl Names {
    pub(crate) fn read() -> Result<Self> {
        Ok(Self { by_name: tables::params()?, makers: tables::makers()? })
    }

    /// The attribute of a category that a feed calls so.
    fn find<'c>(&self, category: Category<'c>, name: &str) -> Option<Use<'c>> {
        let by_feed = || self.by_name.get(&normal(name))?.iter().find_map(|id| category.attribute(id));
        category.find_attribute(name).or_else(by_feed)
    }
}

/// Words of parameters that say what the thing is: they help to recognise the category.
pub(crate) fn told_words(input: &Input<'_>) -> Words {
    let mut words = Words::new();
    for param in input.params.iter().take(PARAMS_MAX).filter(|param| says_what_it_is(param.name)) {
        of_name(param.value).iter().for_each(|word| push(&mut words, Word { stem: word.stem, weight: 0.9 }));
    }
    words
}

fn says_what_it_is(name: &str) -> bool {
    let is_short = name.len() <= 40;
    is_short
        && matches!(
            normal(name).as_str(),
            "operationtype"
                | "goodstype"
                | "goodssubtype"
                | "producttype"
                | "spareparttype"
                | "servicetype"
                | "apparel"
                | "appareltype"
                | "leasetype"
                | "тип товара"
                | "вид товара"
                | "тип сделки"
                | "вид сделки"
                | "вид операции"
                | "вид запчасти"
                | "тип запчасти"
                | "вид одежды"
                | "вид обуви"
                | "вид услуги"
                | "тип объекта"
                | "вид объекта"
                | "product type"
                | "срок аренды"
        )
}

/// Reads everything that the feed says into the attributes of the category, and leaves the rest over.
pub(crate) fn read(
    category: Option<Category<'_>>,
    names: &Names,
    input: &Input<'_>,
    memory: &mut Memory,
    unified: &mut Unified,
) {
    for param in input
        .params
        .iter()
        .filter(|param| !param.name.trim().is_empty() && !param.value.trim().is_empty())
        .take(PARAMS_MAX)
    {
        read_param(category, names, param, memory, unified);
    }
    for param in input.params.iter().skip(PARAMS_MAX) {
        leave(param, unified);
    }
    read_known(category, input.vendor, "vendor", &MAKERS, unified);
    read_known(category, input.model, "model", &MODELS, unified);
    let Some(category) = category else { return };
    let description = text::head(input.description, DESCRIPTION_CHARS_FOR_PAIRS_MAX);
    if description.contains(':') {
        for (used, values) in category.read_pairs(description) {
            unified.attributes.entry(used.attribute().id().to_owned()).or_insert(values);
        }
    }
    title::read(category, &names.makers, input.title, unified);
}

fn read_param(
    category: Option<Category<'_>>,
    names: &Names,
    param: &Param<'_>,
    memory: &mut Memory,
    unified: &mut Unified,
) {
    let Some(category) = category else { return leave(param, unified) };
    let (name, unit_in_name) = split_name(param.name);
    let found = names.find(category, param.name.trim()).or_else(|| names.find(category, name));
    let Some(used) = found else {
        if says_what_it_is(param.name) {
            // It has been read: the category comes from it.
            return leave(param, unified);
        }
        let given = format!("{} = {}", param.name, param.value);
        unified.marks.push(Mark::new(
            MarkKind::UnknownAttribute,
            format!("params.{}", param.name),
            &given,
            None,
        ));
        return leave(param, unified);
    };
    if unified.attributes.contains_key(used.attribute().id()) {
        return leave(param, unified);
    }
    let unit = if param.unit.trim().is_empty() { unit_in_name } else { param.unit.trim() };
    match memory.read(category, used, param.value.trim(), unit) {
        Ok(values) => {
            unified.attributes.insert(used.attribute().id().to_owned(), values);
        }
        Err(fault) => {
            unified.marks.push(bad_value(&format!("params.{}", param.name), param.value, &fault));
            leave(param, unified);
        }
    }
}

/// The value with its unit, without it if the attribute has none; of a range its lower end.
fn read_value(used: Use<'_>, value: &str, unit: &str) -> Result<Vec<catalog::OwnedValue>, Fault> {
    if value.len() > VALUE_BYTES_MAX && !matches!(used.kind(), Kind::Text { .. }) {
        return Err(Fault::WrongType { wanted: used.kind().type_name() });
    }
    let has_letters = value.chars().any(char::is_alphabetic);
    let with_unit =
        if unit.is_empty() || has_letters { Cow::from(value) } else { Cow::from(format!("{value} {unit}")) };
    let first = match used.read(&with_unit) {
        Ok(values) => return Ok(values),
        Err(fault) => fault,
    };
    if used.kind().chooses() {
        return chosen_in_parts(used, value).ok_or(first);
    }
    if with_unit != value
        && let Ok(values) = used.read(value)
    {
        return Ok(values);
    }
    let lower = lower_end(&with_unit).ok_or(first)?;
    used.read(&lower)
}

/// "Blue/Синий": the first part that is a choice; of colours also "Тёмно-синий металлик" by one of its words.
fn chosen_in_parts(used: Use<'_>, value: &str) -> Option<Vec<catalog::OwnedValue>> {
    const PARTS: [char; 4] = ['/', ',', ';', '|'];
    let by_parts =
        value.contains(PARTS).then(|| value.split(PARTS).find_map(|part| used.read(part.trim()).ok()));
    let by_words = || {
        let words = value.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        words.into_iter().filter(|_| used.attribute().id() == "color").find_map(|word| used.read(word).ok())
    };
    by_parts.flatten().or_else(by_words)
}

/// "12–15 кг", "от 12 до 15 кг": "12 кг".
fn lower_end(text: &str) -> Option<String> {
    let text = text.strip_prefix("от ").or_else(|| text.strip_prefix("from ")).unwrap_or(text);
    let (low, high) =
        [" до ", " to ", "–", "—", "-", "…", ".."].iter().find_map(|mark| text.split_once(mark))?;
    let is_number = |text: &str| text.trim().starts_with(|c: char| c.is_ascii_digit());
    if !is_number(low) || !is_number(high) {
        return None;
    }
    let unit = high
        .trim()
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ' ' | '\u{a0}'));
    Some(format!("{} {unit}", low.trim()))
}

/// "Вес, кг" and "Вес (кг)": the name and the unit.
fn split_name(name: &str) -> (&str, &str) {
    let name = name.trim().trim_end_matches(':');
    match name.split_once(['(', ',', '[']) {
        Some((first, unit)) => (first.trim(), unit.trim_matches([')', ']', ' ', '.'])),
        None => (name, ""),
    }
}

/// Vendor or model: into the first of the attributes that the category has.
fn read_known(
    category: Option<Category<'_>>,
    value: Option<&str>,
    field: &str,
    ids: &[&str],
    unified: &mut Unified,
) {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else { return };
    let param = Param { name: field, value, unit: "" };
    let used = category.and_then(|category| ids.iter().find_map(|id| category.attribute(id)));
    match used {
        None => leave(&param, unified),
        Some(used) if unified.attributes.contains_key(used.attribute().id()) => {}
        Some(used) => match read_value(used, value, "") {
            Ok(values) => {
                unified.attributes.insert(used.attribute().id().to_owned(), values);
            }
            Err(fault) => {
                unified.marks.push(bad_value(field, value, &fault));
                leave(&param, unified);
            }
        },
    }
}

fn bad_value(field: &str, given: &str, fault: &Fault) -> Mark {
    let suggestion = match fault {
        Fault::UnknownValue { suggestion, .. } => suggestion.as_ref().map(ToString::to_string),
        Fault::WrongType { wanted } => Some((*wanted).to_owned()),
        _ => None,
    };
    Mark::new(MarkKind::BadAttributeValue, field, given, suggestion)
}

fn leave(param: &Param<'_>, unified: &mut Unified) {
    let value = if param.unit.is_empty() {
        param.value.to_owned()
    } else {
        format!("{} {}", param.value, param.unit)
    };
    unified.leftovers.push(Leftover { name: param.name.to_owned(), value });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_in_the_name_is_taken_off() {
        assert_eq!(split_name("Вес, кг"), ("Вес", "кг"));
        assert_eq!(split_name("Weight (kg)"), ("Weight", "kg"));
        assert_eq!(split_name("Цвет:"), ("Цвет", ""));
    }

    #[test]
    fn a_range_has_a_lower_end() {
        assert_eq!(lower_end("12–15 кг").as_deref(), Some("12 кг"));
        assert_eq!(lower_end("от 3 до 6 лет").as_deref(), Some("3 лет"));
        assert_eq!(lower_end("USB-C"), None);
    }
}
