//! Torg's own JSON, and profiles scraped from other sites: the same fields under a few more names.

use crate::Code;
use crate::draft::{Context, Draft, Spot};
use crate::header::{Header, cut};
use crate::json::{Object, Value};
use crate::limits::CURRENCIES_MAX;
use crate::model::{CategoryKind, Price};
use crate::position::{At, Position};
use crate::reader::Item;
use std::borrow::Cow;

/// Reads a key of the outermost object other than the offers.
pub(crate) fn read_header(header: &mut Header, key: &str, value: Value<'_>, at: Position) {
    match key {
        "shop" | "profile" | "seller" => {
            let Ok(object) = value.object() else { return };
            let text = |keys: &[&str]| object.text(keys).map(|text| cut(&text)).unwrap_or_default();
            (header.name, header.company, header.url) =
                (text(&["name", "title"]), text(&["company"]), text(&["url", "link"]));
            (header.email, header.phone) = (text(&["email"]), text(&["phone"]));
            header.uid = Some(text(&["uid", "id"]))
                .filter(|uid| !uid.is_empty())
                .unwrap_or_else(|| header.uid.clone());
            let source = Some(text(&["source"])).filter(|source| !source.is_empty());
            header.source = source.unwrap_or_else(|| header.source.clone());
        }
        "categories" => {
            for category in value.items().unwrap_or_default() {
                let Ok(category) = category.object() else { continue };
                let text = |keys: &[&str]| category.text(keys).unwrap_or_default();
                header.add_category(&text(&["id"]), &text(&["parent", "parent_id"]), &text(&["name"]), at);
            }
        }
        _ => {
            let Some(text) = value.text() else { return };
            match key {
                "uid" => header.uid = cut(&text),
                "source" => header.source = cut(&text),
                "link" | "url" if header.url.is_empty() => header.url = cut(&text),
                "name" => header.name = cut(&text),
                "date" => header.date = cut(&text),
                "currency" if header.currencies.len() < CURRENCIES_MAX => header.add_currency(&text, "1"),
                _ => {}
            }
        }
    }
}

pub(crate) fn parse(text: &str, at: Position, context: Context<'_>, is_profile: bool) -> Item {
    let mut draft = Draft::new(text, at, None, context);
    let object = match Value::whole(text).object() {
        Ok(object) => object,
        Err(error) => {
            super::salvage_id(&mut draft, text);
            let offset = offset_of(text, error.line(), error.column());
            draft.problem(Code::BrokenOffer, "", "", offset, without_place(&error));
            return draft.end();
        }
    };
    read_prices(&object, &mut draft);
    for (key, value) in object.0.iter().filter(|(_, value)| !value.is_null()) {
        read_field(key, value, is_profile, &mut draft);
    }
    if is_profile {
        inherit(&mut draft);
    }
    draft.finish("id", "title")
}

fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    start + column.saturating_sub(1)
}

/// Applies the profile's defaults to its offers.
fn inherit(draft: &mut Draft<'_>) {
    let (header, at) = (draft.context.header, draft.offer.at);
    let or_header = |own: &mut Option<At<String>>, text: &str| {
        if own.is_none() && !text.is_empty() {
            *own = Some(At::new(text.to_owned(), at));
        }
    };
    or_header(&mut draft.offer.source, &header.source);
    or_header(&mut draft.offer.contacts.name, &header.name);
    if draft.offer.contacts.phones.is_empty() && !header.phone.is_empty() {
        draft.offer.contacts.phones.push(At::new(header.phone.clone(), at));
    }
}

fn read_field(key: &str, value: &Value<'_>, is_profile: bool, draft: &mut Draft<'_>) {
    match key {
        "photos" | "images" | "pictures" => each(value, |item| {
            if let Some(url) = url_of(item) {
                draft.photo(Spot::new(key, &url, item.offset()));
            }
        }),
        "phones" => each(value, |item| phone(key, item, draft)),
        "barcodes" | "barcode" | "gtin" => each(value, |item| {
            let at = draft.position(item.offset());
            draft.offer.barcodes.extend(item.text().map(|text| At::new(cut(&text), at)));
        }),
        "params" | "attributes" => read_params(value, draft),
        "category" => read_category(value, draft),
        "place" | "location" | "coordinates" | "geo" => read_place(value, draft),
        "contacts" => read_contacts(value, draft),
        "price" | "currency" | "old_price" => {}
        "video" => {
            if let Some(url) = url_of(value) {
                draft.url(|offer| &mut offer.video, Spot::new(key, &url, value.offset()));
            }
        }
        _ => match value.text() {
            Some(text) => read_text(key, Spot::new(key, &text, value.offset()), is_profile, draft),
            None => draft.problem(Code::UnknownField, key, "", value.offset(), format!("{key} is not known")),
        },
    }
}

fn read_text(key: &str, found: Spot<'_>, is_profile: bool, draft: &mut Draft<'_>) {
    match key {
        "id" | "external_id" | "uid" => draft.id(found),
        "title" | "name" => draft.title(found),
        "description" => draft.description(found),
        "category_id" => draft.category_id(found),
        "address" => draft.text(|offer| &mut offer.address, found),
        "phone" => draft.phone(found),
        "email" => draft.email(found),
        "condition" => draft.condition(found),
        "availability" | "available" => draft.availability(found),
        "url" | "link" => draft.url(|offer| &mut offer.url, found),
        "vendor" | "brand" => draft.text(|offer| &mut offer.vendor, found),
        "model" => draft.text(|offer| &mut offer.model, found),
        "vendor_code" | "mpn" => draft.text(|offer| &mut offer.vendor_code, found),
        "group" | "group_id" => draft.text(|offer| &mut offer.group_id, found),
        "photo" | "image" => draft.photo(found),
        "source" => draft.text(|offer| &mut offer.source, found),
        _ if is_profile => draft.field_as_param(key, "", found),
        _ => draft.problem(Code::UnknownField, key, found.value, found.offset, format!("{key} is not known")),
    }
}

fn each<'t>(value: &Value<'t>, mut with: impl FnMut(&Value<'t>)) {
    match value.items() {
        Some(items) => items.iter().for_each(with),
        None => with(value),
    }
}

/// A string, or an object with a `url`.
fn url_of<'t>(value: &Value<'t>) -> Option<Cow<'t, str>> {
    value.text().or_else(|| value.object().ok()?.text(&["url", "source_url", "link"]))
}

fn phone(key: &str, value: &Value<'_>, draft: &mut Draft<'_>) {
    if let Some(text) = value.text() {
        draft.phone(Spot::new(key, &text, value.offset()));
    }
}

/// An object of names and values, or an array of objects with `name`, `value`, `unit`.
fn read_params(value: &Value<'_>, draft: &mut Draft<'_>) {
    if let Some(items) = value.items() {
        for item in items {
            let Ok(object) = item.object() else { continue };
            let name = object.text(&["name"]).unwrap_or_default();
            let unit = object.text(&["unit"]).unwrap_or_default();
            if let Some(value) = object.get(&["value", "values"]) {
                param(&name, &unit, value, draft);
            }
        }
    } else if let Ok(object) = value.object() {
        for (name, value) in &object.0 {
            param(name, "", value, draft);
        }
    }
}

fn param(name: &str, unit: &str, value: &Value<'_>, draft: &mut Draft<'_>) {
    each(value, |item| {
        if let Some(text) = item.text() {
            draft.param(name, unit, Spot::new(name, &text, item.offset()));
        }
    });
}

/// A string, names from the top down, or an object with `id`, `torg` or `path`.
fn read_category(value: &Value<'_>, draft: &mut Draft<'_>) {
    if let Some(text) = value.text() {
        return draft.category_text(CategoryKind::Own, Spot::new("category", &text, value.offset()));
    }
    if value.items().is_some() {
        let mut names = Vec::new();
        each(value, |item| names.extend(item.text().map(Cow::into_owned)));
        return draft
            .category_text(CategoryKind::Own, Spot::new("category", &names.join(" > "), value.offset()));
    }
    let Ok(object) = value.object() else { return };
    for (key, value) in &object.0 {
        let text = value.text().unwrap_or_default();
        match key.as_str() {
            "id" | "ref" => draft.category_id(Spot::new("category.id", &text, value.offset())),
            "torg" => {
                draft.category_text(CategoryKind::Torg, Spot::new("category.torg", &text, value.offset()));
            }
            "path" | "name" => read_category(value, draft),
            _ => {}
        }
    }
}

fn read_place(value: &Value<'_>, draft: &mut Draft<'_>) {
    if let Some(text) = value.text() {
        return draft.text(|offer| &mut offer.address, Spot::new("place", &text, value.offset()));
    }
    let Ok(object) = value.object() else { return };
    if let Some(address) = object.get(&["address"])
        && let Some(text) = address.text()
    {
        draft.text(|offer| &mut offer.address, Spot::new("place.address", &text, address.offset()));
    }
    if let Some(inner) = object.get(&["coordinates"]) {
        return read_place(inner, draft);
    }
    let number = |keys: &[&str]| object.get(keys).and_then(|value| Some((value.text()?, value.offset())));
    let (north, east) = (number(&["latitude", "lat"]), number(&["longitude", "lon", "lng"]));
    draft.coordinates(
        north.as_ref().map(|(text, offset)| Spot::new("latitude", text, *offset)),
        east.as_ref().map(|(text, offset)| Spot::new("longitude", text, *offset)),
    );
}

fn read_contacts(value: &Value<'_>, draft: &mut Draft<'_>) {
    let Ok(object) = value.object() else { return };
    for (key, value) in &object.0 {
        match (key.as_str(), value.text()) {
            ("phones" | "phone", _) => each(value, |item| phone(key, item, draft)),
            ("name", Some(text)) => {
                draft.text(|offer| &mut offer.contacts.name, Spot::new(key, &text, value.offset()));
            }
            ("email", Some(text)) => draft.email(Spot::new(key, &text, value.offset())),
            _ => {}
        }
    }
}

fn read_prices(object: &Object<'_>, draft: &mut Draft<'_>) {
    let currency = object.get(&["currency"]).and_then(|value| Some((value.text()?, value.offset())));
    let currency = match currency {
        None => None,
        Some((name, offset)) => match draft.currency(Spot::new("currency", &name, offset)) {
            None => return,
            known => known,
        },
    };
    if let Some(price) = object.get(&["price"]) {
        read_price(price, currency, draft);
    }
    if let Some(old) = object.get(&["old_price"])
        && let Some(text) = old.text()
    {
        draft.old_price(Spot::new("old_price", &text, old.offset()), currency);
    }
}

/// A number, a string such as `15.00 EUR`, `free` or `negotiable`, or an object: amount and
/// currency, or from and to.
fn read_price(value: &Value<'_>, currency: Option<&'static str>, draft: &mut Draft<'_>) {
    if let Some(text) = value.text() {
        return draft.fixed_price(Spot::new("price", &text, value.offset()), currency);
    }
    let Ok(object) = value.object() else { return };
    let named = object.get(&["currency"]).and_then(|value| Some((value.text()?, value.offset())));
    let currency = match &named {
        None => currency,
        Some((name, offset)) => draft.currency(Spot::new("currency", name, *offset)),
    };
    if named.is_some() && currency.is_none() {
        return;
    }
    if let Some(inner) = object.get(&["amount", "value", "fixed"]) {
        return read_price(inner, currency, draft);
    }
    let mut end = |key: &str| {
        let found = object.get(&[key])?;
        let text = found.text()?;
        draft.money(Spot::new(key, &text, found.offset()), currency, Code::BadPrice).map(|money| money.value)
    };
    let (from, to) = (end("from"), end("to"));
    if from.is_some() || to.is_some() {
        let at = draft.position(value.offset());
        draft.offer.price = Some(At::new(Price::Range(from, to), at));
    } else {
        draft.problem(Code::BadPrice, "price", "", value.offset(), "an amount is expected");
    }
}

/// The error without its position, which counts from the beginning of the offer.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
