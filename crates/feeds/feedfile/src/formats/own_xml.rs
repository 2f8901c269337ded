//! Torg's own XML by `schema/torg-offers-1.xsd`. Each offer is validated by the schema before.

use super::spot;
use crate::draft::{Draft, Spot};
use crate::header::cut;
use crate::model::{CategoryKind, Money, Price};
use crate::position::{At, Locator, Position};
use crate::problem::Excerpt;
use crate::reader::Item;
use crate::schema::Schema;
use crate::split::Sink;
use crate::xml::{Dialect, Element, Versioned};
use crate::{Code, Problem, money};

pub(crate) static DIALECT: Dialect = Dialect { offer: "offer", is_header, read_header, other, strict: true };

thread_local! {
    static HEADER_SCHEMA: Schema = Schema::offers();
}

fn is_header(parent: &str, name: &str) -> bool {
    matches!((parent, name), ("torg-offers", "shop") | ("categories", "category"))
}

fn read_header(sink: &mut Sink<'_>, found: &Versioned<'_, '_>, element: Element<'_, '_>) {
    for violation in HEADER_SCHEMA.with(|schema| schema.check(found.source, element)) {
        let at = Locator::new(found.source, found.at).at(violation.offset);
        let problem = structure(at, violation.message);
        sink.problem(problem.with_excerpt(Excerpt::of(found.source, violation.offset)));
    }
    let attribute =
        |name: &str| element.attribute(name).map(|found| found.value.trim().to_owned()).unwrap_or_default();
    if element.local() == "category" {
        if !sink.header.add_category(&attribute("id"), &attribute("parent"), element.text(), found.at) {
            sink.problem(Problem::of_file(Code::WrongHeader, found.at, "another category has this id"));
        }
        return;
    }
    if !sink.seen.is_empty() {
        sink.problem(structure(found.at, "<shop> is repeated or comes too late"));
        return;
    }
    sink.seen.push("shop".to_owned());
    let text = |name: &str| element.child(name).map(|child| cut(child.text())).unwrap_or_default();
    let header = &mut sink.header;
    (header.name, header.company, header.url) = (text("name"), text("company"), text("url"));
    (header.email, header.phone) = (text("email"), text("phone"));
}

fn structure(at: Position, message: impl Into<String>) -> Problem {
    Problem::of_file(Code::WrongHeader, at, message).into_error()
}

/// Checks the elements outside of offers and header: `torg-offers` with `categories` and `offers`,
/// each once and in this order.
fn other(sink: &mut Sink<'_>, open: &[String], element: Element<'_, '_>, at: Position) {
    let seen = |name: &str| sink.seen.iter().any(|known| known == name);
    let names: Vec<&str> = open.iter().map(String::as_str).collect();
    let wrong = match (names.as_slice(), element.name()) {
        ([], _) => wrong_root(element),
        (["torg-offers"], "categories") if !seen("categories") && !seen("offers") => {
            wrong_attributes(element)
        }
        (["torg-offers"], "offers") if !seen("offers") => wrong_attributes(element),
        (["torg-offers"], name @ ("categories" | "offers")) => {
            Some(format!("<{name}> is repeated or comes too late"))
        }
        (_, name) => Some(format!("<{name}> is not allowed here")),
    };
    if names == ["torg-offers"] && matches!(element.name(), "categories" | "offers") && !seen(element.name())
    {
        sink.seen.push(element.name().to_owned());
    }
    if let Some(message) = wrong {
        sink.problem(structure(at, message));
    }
}

fn wrong_root(root: Element<'_, '_>) -> Option<String> {
    if root.attribute("version").is_none_or(|version| version.value.trim() != "1") {
        return Some("the root element needs the attribute version=\"1\"".to_owned());
    }
    let known = |name: &str| {
        matches!(name, "version" | "date") || name.starts_with("xmlns:") || name.starts_with("xsi:")
    };
    let unknown = root.attributes().iter().find(|attribute| !known(attribute.name));
    unknown.map(|attribute| format!("the attribute {} is not known", attribute.name))
}

fn wrong_attributes(element: Element<'_, '_>) -> Option<String> {
    element.attributes().first().map(|attribute| format!("the attribute {} is not known", attribute.name))
}

/// Parses an offer that is validated by the schema.
pub(crate) fn parse(root: Element<'_, '_>, mut draft: Draft<'_>) -> Item {
    if let Some(id) = root.attribute("id") {
        draft.id(Spot::new("id", &id.value, id.offset));
    }
    for child in root.children() {
        read_child(child, &mut draft);
    }
    draft.finish("id", "title")
}

fn read_child(child: Element<'_, '_>, draft: &mut Draft<'_>) {
    let found = spot(&child);
    match child.name() {
        "title" => draft.title(found),
        "description" => draft.description(Spot { value: &child.content(), ..found }),
        "category" => read_category(child, draft),
        "price" => read_price(child, draft),
        "condition" => draft.condition(found),
        "availability" => draft.availability(found),
        "url" => draft.url(|offer| &mut offer.url, found),
        "photos" => child.children().for_each(|photo| draft.photo(spot(&photo))),
        "video" => draft.url(|offer| &mut offer.video, found),
        "place" => {
            if let Some(address) = child.child("address") {
                draft.text(|offer| &mut offer.address, spot(&address));
            }
            draft.coordinates(
                child.child("latitude").as_ref().map(spot),
                child.child("longitude").as_ref().map(spot),
            );
        }
        "contacts" => {
            for contact in child.children() {
                match contact.name() {
                    "name" => draft.text(|offer| &mut offer.contacts.name, spot(&contact)),
                    "phone" => draft.phone(spot(&contact)),
                    "email" => draft.email(spot(&contact)),
                    _ => {}
                }
            }
        }
        "vendor" => draft.text(|offer| &mut offer.vendor, found),
        "model" => draft.text(|offer| &mut offer.model, found),
        "vendor-code" => draft.text(|offer| &mut offer.vendor_code, found),
        "group" => draft.text(|offer| &mut offer.group_id, found),
        "barcode" => {
            let at = draft.position(found.offset);
            draft.offer.barcodes.push(At::new(cut(found.value), at));
        }
        "params" => {
            for param in child.children() {
                let attribute =
                    |name: &str| param.attribute(name).map(|found| found.value.as_ref()).unwrap_or_default();
                draft.param(attribute("name"), attribute("unit"), spot(&param));
            }
        }
        _ => {}
    }
}

fn read_category(element: Element<'_, '_>, draft: &mut Draft<'_>) {
    if let Some(id) = element.attribute("ref") {
        draft.category_id(Spot::new("ref", &id.value, id.offset));
    }
    if let Some(id) = element.attribute("torg") {
        draft.category_text(CategoryKind::Torg, Spot::new("torg", &id.value, id.offset));
    }
    draft.category_text(CategoryKind::Own, spot(&element));
}

fn read_price(element: Element<'_, '_>, draft: &mut Draft<'_>) {
    let Some(kind) = element.children().next() else { return };
    let price = match kind.name() {
        "fixed" => read_money(kind, draft).map(Price::Fixed),
        "free" => Some(Price::Free),
        "negotiable" => Some(Price::Negotiable(kind.child("from").and_then(|from| read_money(from, draft)))),
        "range" => read_range(kind, draft),
        _ => None,
    };
    let at = draft.position(kind.offset());
    draft.offer.price = price.map(|price| At::new(price, at));
    let currency = kind.attribute("currency").and_then(|currency| money::currency(&currency.value));
    if let Some(old) = element.child("old") {
        draft.old_price(spot(&old), currency);
    }
}

fn read_money(element: Element<'_, '_>, draft: &mut Draft<'_>) -> Option<Money> {
    let currency = element.attribute("currency")?;
    let currency = draft.currency(Spot::new("currency", &currency.value, currency.offset))?;
    draft.exact_money(spot(&element), currency)
}

fn read_range(element: Element<'_, '_>, draft: &mut Draft<'_>) -> Option<Price> {
    let currency = element.attribute("currency")?;
    let currency = draft.currency(Spot::new("currency", &currency.value, currency.offset))?;
    let mut end = |name: &'static str| {
        let found = element.attribute(name)?;
        draft.exact_money(Spot::new(name, &found.value, found.offset), currency)
    };
    let (from, to) = (end("from"), end("to"));
    if let (Some(from), Some(to)) = (&from, &to)
        && from.micros > to.micros
    {
        draft.problem(
            Code::BadPrice,
            "range",
            "",
            element.offset(),
            "the end of the range is below its start",
        );
        return None;
    }
    Some(Price::Range(from, to))
}
