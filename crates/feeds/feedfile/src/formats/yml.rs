//! YML, the format of Yandex Market and of most Russian shops; `torg_price` is the same with
//! another root.

use super::spot;
use crate::draft::{Draft, Spot};
use crate::header::cut;
use crate::model::{CategoryKind, Price};
use crate::position::{At, Position};
use crate::reader::Item;
use crate::split::Sink;
use crate::xml::{Dialect, Element, Versioned};
use crate::{Code, Problem};

pub(crate) static DIALECT: Dialect = Dialect { offer: "offer", is_header, read_header, other, strict: false };

/// Fields that describe the sale, not the item.
const TERMS: &str = "\
    adult available bid booking cbid count cpa credit-template delivery disabled downloadable \
    enable_auto_discounts fee group_id local_delivery_cost local_delivery_days \
    manufacturer_warranty market-sku min-quantity orderingTime otherparameters pickup \
    purchase_price rec sales_notes seller_warranty shop-sku step-quantity store vat";

fn is_header(parent: &str, name: &str) -> bool {
    match parent {
        "shop" => matches!(name, "name" | "company" | "url" | "email" | "phone"),
        "currencies" => name == "currency",
        "categories" => name == "category",
        _ => false,
    }
}

fn read_header(sink: &mut Sink<'_>, found: &Versioned<'_, '_>, element: Element<'_, '_>) {
    let attribute =
        |name: &str| element.attribute(name).map(|found| found.value.trim().to_owned()).unwrap_or_default();
    let late = sink.is_late() && found.parent != "shop";
    match (found.parent, element.local()) {
        ("currencies", _) => sink.header.add_currency(&attribute("id"), &attribute("rate")),
        ("categories", _) => {
            let content = element.content();
            if !sink.header.add_category(&attribute("id"), &attribute("parentId"), &content, found.at) {
                let message = "a category has no id or a repeated one, or there are too many categories";
                sink.problem(Problem::of_file(Code::WrongHeader, found.at, message));
            }
        }
        (_, "name") => sink.header.name = cut(element.text()),
        (_, "company") => sink.header.company = cut(element.text()),
        (_, "url") => sink.header.url = cut(element.text()),
        (_, "email") => sink.header.email = cut(element.text()),
        (_, "phone") => sink.header.phone = cut(element.text()),
        _ => {}
    }
    if late && !sink.problems.iter().any(|known| known.code == Code::LateCategories) {
        sink.problem(Problem::of_file(
            Code::LateCategories,
            found.at,
            "offers come before the categories or currencies that they use",
        ));
    }
}

fn other(sink: &mut Sink<'_>, open: &[String], element: Element<'_, '_>, at: Position) {
    if !open.is_empty() {
        return;
    }
    sink.header.date = element.attribute("date").map(|date| cut(&date.value)).unwrap_or_default();
    if !is_date(&sink.header.date) {
        let at = element.attribute("date").map_or(at, |date| at.after(element.source_before(date.offset)));
        let mut problem =
            Problem::of_file(Code::WrongHeader, at, "a date such as 2026-01-31 12:00 is expected");
        "date".clone_into(&mut problem.field);
        problem.value = crate::problem::shorten(&sink.header.date);
        sink.problem(problem);
    }
}

/// `2026-01-31`, perhaps with a time after it.
fn is_date(text: &str) -> bool {
    let shape = |c: u8| if c.is_ascii_digit() { b'0' } else { c };
    let head: Vec<u8> = text.bytes().take(10).map(shape).collect();
    head == *b"0000-00-00" && text.as_bytes().get(10).is_none_or(|next| matches!(next, b' ' | b'T'))
}

pub(crate) fn parse(root: Element<'_, '_>, mut draft: Draft<'_>) -> Item {
    for attribute in root.attributes() {
        let spot = Spot::new(attribute.name, &attribute.value, attribute.offset);
        match attribute.name {
            "id" => draft.id(spot),
            "available" => draft.availability(spot),
            "group_id" => draft.text(|offer| &mut offer.group_id, spot),
            "type" => draft.text(|offer| &mut offer.kind, spot),
            _ => {}
        }
    }
    read_price(root, &mut draft);
    for child in root.children() {
        read_child(child, &mut draft);
    }
    compose_title(root, &mut draft);
    draft.finish("id", "name")
}

fn read_price(root: Element<'_, '_>, draft: &mut Draft<'_>) {
    let currency = root.child("currencyId").filter(|found| !found.text().is_empty());
    let named = currency.and_then(|found| draft.currency(spot(&found)));
    if currency.is_some() && named.is_none() {
        return;
    }
    match root.child("price").filter(|price| !price.text().is_empty()) {
        None => draft.missing(Code::MissingPrice, "price"),
        Some(price) => {
            draft.fixed_price(spot(&price), named);
            let is_from = price.attribute("from").is_some_and(|from| from.value.trim() == "true");
            if let Some(At { value: Price::Fixed(money), at }) = draft.offer.price.clone().filter(|_| is_from)
            {
                draft.offer.price = Some(At::new(Price::Range(Some(money), None), at));
            }
        }
    }
    if let Some(old) = root.child("oldprice") {
        draft.old_price(spot(&old), named);
    }
}

fn read_child(child: Element<'_, '_>, draft: &mut Draft<'_>) {
    let found = spot(&child);
    match child.local() {
        "price" | "oldprice" | "currencyId" | "typePrefix" | "title" => {}
        "name" => draft.title(Spot { value: &child.content(), ..found }),
        "description" => draft.description(Spot { value: &child.content(), ..found }),
        "url" => draft.url(|offer| &mut offer.url, found),
        "picture" => draft.photo(found),
        "video" => draft.url(|offer| &mut offer.video, found),
        "categoryId" => draft.category_id(found),
        "market_category" => draft.category_text(CategoryKind::Own, found),
        "vendor" => draft.text(|offer| &mut offer.vendor, found),
        "model" => draft.text(|offer| &mut offer.model, found),
        "vendorCode" => draft.text(|offer| &mut offer.vendor_code, found),
        "barcode" | "ISBN" => {
            let at = draft.position(found.offset);
            for code in found.value.split(',').map(str::trim).filter(|code| !code.is_empty()) {
                draft.offer.barcodes.push(At::new(code.to_owned(), at));
            }
        }
        "address" => draft.text(|offer| &mut offer.address, found),
        "condition" => match child.attribute("type") {
            Some(kind) => draft.condition(Spot::new("condition", &kind.value, kind.offset)),
            None => draft.condition(found),
        },
        "param" => match child.attribute("name").filter(|name| !name.value.trim().is_empty()) {
            Some(name) => {
                let unit = child.attribute("unit").map(|unit| unit.value.as_ref()).unwrap_or_default();
                draft.param(&name.value, unit, Spot { value: &child.content(), ..found });
            }
            None => {
                draft.problem(
                    Code::UnknownField,
                    "param",
                    found.value,
                    child.offset(),
                    "a param has no name",
                );
            }
        },
        name if TERMS.split(' ').any(|term| term == name) || name.starts_with("custom_label_") => {}
        name if !child.has_children() => {
            let unit = child.attribute("unit").map(|unit| unit.value.as_ref()).unwrap_or_default();
            draft.field_as_param(name, unit, found);
        }
        _ => {}
    }
}

/// Types without a name have it in several fields.
fn compose_title(root: Element<'_, '_>, draft: &mut Draft<'_>) {
    if !draft.offer.title.value.is_empty() {
        return;
    }
    if let Some(title) = root.child("title") {
        draft.title(spot(&title));
        return;
    }
    let parts: Vec<Element<'_, '_>> = ["typePrefix", "vendor", "model"]
        .iter()
        .filter_map(|name| root.child(name).filter(|part| !part.text().is_empty()))
        .collect();
    let Some(first) = parts.first() else { return };
    let title = parts.iter().map(Element::text).collect::<Vec<_>>().join(" ");
    draft.title(Spot::new("model", &title, first.text_offset()));
}
