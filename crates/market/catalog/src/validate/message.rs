//! Messages of violations in English and Russian.

use std::fmt::Write as _;

use crate::catalogue::{Attribute, Catalogue};
use crate::violation::{Fault, Field, Violation};

impl Violation {
    /// One sentence, in Russian if `language` is `ru`, otherwise in English. `catalogue` gives the
    /// names of attributes and should be the one that found the violation.
    #[must_use]
    pub fn text(&self, catalogue: &Catalogue, language: &str) -> String {
        let russian = language == "ru";
        let mut text = label(&self.field, catalogue, language, russian);
        text.push_str(": ");
        let unit = unit_of(&self.field, catalogue, language);
        if russian {
            in_russian(&self.fault, &unit, &mut text);
        } else {
            in_english(&self.fault, &unit, &mut text);
        }
        text
    }
}

fn label(field: &Field, catalogue: &Catalogue, language: &str, russian: bool) -> String {
    let (in_english, in_russian) = match field {
        Field::Category => ("Category", "Категория"),
        Field::Title => ("Title", "Заголовок"),
        Field::Description => ("Description", "Описание"),
        Field::Photos => ("Photos", "Фотографии"),
        Field::Condition => ("Condition", "Состояние"),
        Field::Price => ("Price", "Цена"),
        Field::PriceKind => ("Kind of price", "Вид цены"),
        Field::PriceAmount => ("Amount", "Сумма"),
        Field::PriceUpper => ("Upper amount", "Верхняя граница цены"),
        Field::PriceCurrency => ("Currency", "Валюта"),
        Field::Attribute(id) => {
            return catalogue.attribute(id).map_or(&**id, |attribute| attribute.name(language)).to_owned();
        }
    };
    if russian { in_russian } else { in_english }.to_owned()
}

/// The unit of an attribute with a blank before it, or nothing.
fn unit_of(field: &Field, catalogue: &Catalogue, language: &str) -> String {
    let Field::Attribute(id) = field else { return String::new() };
    let unit = catalogue.attribute(id).and_then(Attribute::unit);
    unit.map_or_else(String::new, |unit| format!(" {}", unit.name(language)))
}

fn in_english(fault: &Fault, unit: &str, out: &mut String) {
    let _ = match fault {
        Fault::CategoryUnknown { given, suggestion } => write!(out, "there is no category \"{given}\"")
            .and_then(|()| meant(out, suggestion.as_deref(), "did you mean")),
        Fault::CategoryNotOpen => write!(out, "choose one of the categories below it"),
        Fault::CategoryClosed { instead } => write!(out, "it takes no offers any more")
            .and_then(|()| meant(out, instead.as_deref(), "use instead")),
        Fault::Required => write!(out, "has to be given"),
        Fault::NotAllowed => write!(out, "must not be given here"),
        Fault::TooShort { least, given } => write!(out, "at least {least} characters, there are {given}"),
        Fault::TooLong { most, given } => write!(out, "at most {most} characters, there are {given}"),
        Fault::BadCharacter { given, allowed } => {
            write!(out, "the character \"{given}\" is not allowed, only {allowed}")
        }
        Fault::UnknownAttribute { suggestion } => write!(out, "this category has no such attribute")
            .and_then(|()| meant(out, suggestion.as_deref(), "did you mean")),
        Fault::WrongType { wanted } => write!(out, "has to be {}", english_type(wanted)),
        Fault::TooSmall { least } => write!(out, "at least {least}{unit}"),
        Fault::TooLarge { most } => write!(out, "at most {most}{unit}"),
        Fault::TooPrecise { scale } => write!(out, "at most {scale} digits after the point"),
        Fault::UnknownValue { given, suggestion } => write!(out, "there is no value \"{given}\"")
            .and_then(|()| meant(out, suggestion.as_deref(), "did you mean")),
        Fault::ValueNotAllowed { given } => write!(out, "\"{given}\" is not allowed in this category"),
        Fault::TooManyValues { most, given } => write!(out, "at most {most} values, there are {given}"),
        Fault::DuplicateValue { given } => write!(out, "\"{given}\" is given twice"),
        Fault::RangeReversed => write!(out, "the upper end is below the lower one"),
        Fault::UnknownCurrency { given } => write!(out, "prices cannot be in \"{given}\""),
        Fault::TooFew { least, given } => write!(out, "at least {least}, there are {given}"),
        Fault::TooMany { most, given } => write!(out, "at most {most}, there are {given}"),
    };
}

fn in_russian(fault: &Fault, unit: &str, out: &mut String) {
    let _ = match fault {
        Fault::CategoryUnknown { given, suggestion } => write!(out, "нет категории «{given}»")
            .and_then(|()| meant(out, suggestion.as_deref(), "возможно, имелось в виду")),
        Fault::CategoryNotOpen => write!(out, "выберите одну из вложенных категорий"),
        Fault::CategoryClosed { instead } => write!(out, "объявления больше не принимаются")
            .and_then(|()| meant(out, instead.as_deref(), "используйте")),
        Fault::Required => write!(out, "нужно указать"),
        Fault::NotAllowed => write!(out, "здесь указывать нельзя"),
        Fault::TooShort { least, given } => write!(out, "минимум символов: {least}, сейчас {given}"),
        Fault::TooLong { most, given } => write!(out, "максимум символов: {most}, сейчас {given}"),
        Fault::BadCharacter { given, allowed } => {
            write!(out, "символ «{given}» недопустим, можно только {allowed}")
        }
        Fault::UnknownAttribute { suggestion } => write!(out, "в этой категории нет такой характеристики")
            .and_then(|()| meant(out, suggestion.as_deref(), "возможно, имелось в виду")),
        Fault::WrongType { wanted } => write!(out, "ожидается {}", russian_type(wanted)),
        Fault::TooSmall { least } => write!(out, "не меньше {least}{unit}"),
        Fault::TooLarge { most } => write!(out, "не больше {most}{unit}"),
        Fault::TooPrecise { scale } => write!(out, "знаков после запятой не больше {scale}"),
        Fault::UnknownValue { given, suggestion } => write!(out, "нет значения «{given}»")
            .and_then(|()| meant(out, suggestion.as_deref(), "возможно, имелось в виду")),
        Fault::ValueNotAllowed { given } => write!(out, "«{given}» нельзя использовать в этой категории"),
        Fault::TooManyValues { most, given } => write!(out, "максимум значений: {most}, сейчас {given}"),
        Fault::DuplicateValue { given } => write!(out, "«{given}» указано дважды"),
        Fault::RangeReversed => write!(out, "верхняя граница меньше нижней"),
        Fault::UnknownCurrency { given } => write!(out, "цена не может быть в валюте «{given}»"),
        Fault::TooFew { least, given } => write!(out, "не меньше {least}, сейчас {given}"),
        Fault::TooMany { most, given } => write!(out, "не больше {most}, сейчас {given}"),
    };
}

fn meant(out: &mut String, suggestion: Option<&str>, words: &str) -> std::fmt::Result {
    match suggestion {
        Some(id) => write!(out, "; {words}: {id}"),
        None => Ok(()),
    }
}

fn english_type(name: &str) -> &str {
    match name {
        "text" => "a text",
        "whole" => "a whole number",
        "decimal" => "a number",
        "yes-no" => "yes or no",
        "date" => "a date",
        "one" => "one of the values to choose from",
        _ => "values to choose from",
    }
}

fn russian_type(name: &str) -> &str {
    match name {
        "text" => "текст",
        "whole" => "целое число",
        "decimal" => "число",
        "yes-no" => "да или нет",
        "date" => "дата",
        "one" => "одно из значений списка",
        _ => "значения из списка",
    }
}
