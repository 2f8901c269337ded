//! Reads attributes from the parameters of a feed, then from the description and the title.

mod title;

use std::borrow::Cow;
use std::collections::BTreeMap;

use catalog::text::normalise;
use catalog::{Category, Fault, Kind, OwnedValue, Use};

use crate::cache::Cache;
use crate::error::Result;
use crate::input::{Input, Param};
use crate::limits::{CACHED_VALUE_BYTES_MAX, DESCRIPTION_CHARS_FOR_PAIRS_MAX, PARAMS_MAX, VALUE_BYTES_MAX};
use crate::output::{Leftover, Mark, MarkKind, Unified};
use crate::tables;
use crate::unifier::truncate;
use crate::words::{Word, Words, of_name, push};

/// Values of choices: feeds repeat a few colours and materials, and suggestions are slow.
pub(crate) type ValueCache = Cache<Result<Vec<OwnedValue>, Fault>>;

/// Attributes for the maker and the model.
const MAKERS: [&str; 5] = ["brand", "car-make", "moto-make", "truck-make", "machine-make"];
const MODELS: [&str; 2] = ["model", "vehicle-model"];

/// Names of attributes in feeds, in addition to those of the catalogue.
#[derive(Debug)]
pub(crate) struct Names {
    by_name: BTreeMap<String, Vec<&'static str>>,
    /// Makers by words in titles.
    makers: BTreeMap<String, &'static str>,
}

impl Names {
    pub(crate) fn read() -> Result<Self> {
        Ok(Self { by_name: tables::params()?, makers: tables::makers()? })
    }

    /// The attribute of a category with this name in a feed.
    fn find<'c>(&self, category: Category<'c>, name: &str) -> Option<Use<'c>> {
        let by_feed = || self.by_name.get(&normalise(name))?.iter().find_map(|id| category.attribute(id));
        category.find_attribute(name).or_else(by_feed)
    }
}

/// Words of parameters that describe the kind of the item, for the recognition of its category.
pub(crate) fn kind_words(input: &Input<'_>) -> Words {
    let mut words = Words::new();
    for param in input.params.iter().take(PARAMS_MAX).filter(|param| is_kind(param.name)) {
        of_name(param.value).iter().for_each(|word| push(&mut words, Word { stem: word.stem, weight: 0.9 }));
    }
    words
}

fn is_kind(name: &str) -> bool {
    name.len() <= 40
        && matches!(
            normalise(name).as_str(),
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

/// Reads attributes of the category; everything else becomes a leftover.
pub(crate) fn read(
    category: Option<Category<'_>>,
    names: &Names,
    input: &Input<'_>,
    cache: &mut ValueCache,
    unified: &mut Unified,
) {
    let is_given = |param: &&Param<'_>| !param.name.trim().is_empty() && !param.value.trim().is_empty();
    for param in input.params.iter().filter(is_given).take(PARAMS_MAX) {
        read_param(category, names, param, cache, unified);
    }
    for param in input.params.iter().skip(PARAMS_MAX) {
        leave(param, unified);
    }
    read_known(category, input.vendor, "vendor", &MAKERS, unified);
    read_known(category, input.model, "model", &MODELS, unified);
    let Some(category) = category else { return };
    let description = truncate(input.description, DESCRIPTION_CHARS_FOR_PAIRS_MAX);
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
    cache: &mut ValueCache,
    unified: &mut Unified,
) {
    let Some(category) = category else { return leave(param, unified) };
    let (name, unit_in_name) = split_name(param.name);
    let found = names.find(category, param.name.trim()).or_else(|| names.find(category, name));
    let Some(used) = found else {
        if is_kind(param.name) {
            // It was used for the recognition of the category.
            return leave(param, unified);
        }
        let field = format!("params.{}", param.name);
        let given = format!("{} = {}", param.name, param.value);
        unified.marks.push(Mark::new(MarkKind::UnknownAttribute, field, &given, None));
        return leave(param, unified);
    };
    if unified.attributes.contains_key(used.attribute().id()) {
        return leave(param, unified);
    }
    let unit = if param.unit.trim().is_empty() { unit_in_name } else { param.unit.trim() };
    match read_cached(cache, category, used, param.value.trim(), unit) {
        Ok(values) => {
            unified.attributes.insert(used.attribute().id().to_owned(), values);
        }
        Err(fault) => {
            unified.marks.push(bad_value(&format!("params.{}", param.name), param.value, &fault));
            leave(param, unified);
        }
    }
}

fn read_cached(
    cache: &mut ValueCache,
    category: Category<'_>,
    used: Use<'_>,
    value: &str,
    unit: &str,
) -> Result<Vec<OwnedValue>, Fault> {
    if !used.kind().chooses() || value.len() + unit.len() > CACHED_VALUE_BYTES_MAX {
        return read_value(used, value, unit);
    }
    let texts = [category.id(), used.attribute().id(), value, unit];
    cache.get_or_insert(texts, || read_value(used, value, unit))
}

/// Reads a value with its unit, or without it if the attribute has none; of a range the lower end.
fn read_value(used: Use<'_>, value: &str, unit: &str) -> Result<Vec<OwnedValue>, Fault> {
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

/// "Blue/Синий": the first part that is a choice; for colours also a single word of "Тёмно-синий
/// металлик".
fn chosen_in_parts(used: Use<'_>, value: &str) -> Option<Vec<OwnedValue>> {
    const PARTS: [char; 4] = ['/', ',', ';', '|'];
    let by_parts =
        value.contains(PARTS).then(|| value.split(PARTS).find_map(|part| used.read(part.trim()).ok()));
    let by_words = || {
        let words = value.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        words.into_iter().filter(|_| used.attribute().id() == "color").find_map(|word| used.read(word).ok())
    };
    by_parts.flatten().or_else(by_words)
}

/// "12–15 кг" and "от 12 до 15 кг" become "12 кг".
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

/// Puts a vendor or model into the first attribute of `ids` that the category has.
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
    fn a_unit_in_the_name_is_split_off() {
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
