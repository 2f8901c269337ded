//! Avito's autoload format: `Ads` of `Ad`.

use super::{ignore_other, spot};
use crate::draft::{Draft, Spot};
use crate::model::CategoryKind;
use crate::reader::Item;
use crate::split::Sink;
use crate::xml::{Dialect, Element, Versioned};

pub(crate) static DIALECT: Dialect =
    Dialect { offer: "Ad", is_header, read_header, other: ignore_other, strict: false };

/// The fields that form the category, from the top down.
const CATEGORY: [&str; 8] = [
    "Category",
    "GoodsType",
    "GoodsSubType",
    "ProductType",
    "ProductSubType",
    "ServiceType",
    "ServiceSubtype",
    "VehicleType",
];
const ADDRESS_PARTS: [&str; 5] = ["Region", "City", "District", "Subway", "Street"];

/// Fields that describe the ad, not the item.
const TERMS: &str = "\
    AdStatus AllowEmail AvitoDateEnd AvitoId AvitoStatus CompanyName ContactMethod DateBegin \
    DateEnd DisplayAreas InternetCalls CallsDevices ListingFee PriceType Promo";

fn is_header(_: &str, _: &str) -> bool {
    false
}

fn read_header(_: &mut Sink<'_>, _: &Versioned<'_, '_>, _: Element<'_, '_>) {}

pub(crate) fn parse(root: Element<'_, '_>, mut draft: Draft<'_>) -> Item {
    for name in CATEGORY {
        if let Some(found) = root.child(name) {
            draft.category_text(CategoryKind::Avito, spot(&found));
        }
    }
    for child in root.children() {
        read_child(child, &mut draft);
    }
    draft.coordinates(
        root.child("Latitude").as_ref().map(spot).filter(|found| !found.value.is_empty()),
        root.child("Longitude").as_ref().map(spot).filter(|found| !found.value.is_empty()),
    );
    if draft.offer.address.is_none() {
        let (address, offset) = join(root, &ADDRESS_PARTS, ", ");
        draft.text(|offer| &mut offer.address, Spot::new("Address", &address, offset));
    }
    compose_title(root, &mut draft);
    draft.finish("Id", "Title")
}

fn read_child(child: Element<'_, '_>, draft: &mut Draft<'_>) {
    let found = spot(&child);
    match child.local() {
        "Id" => draft.id(found),
        "Title" => draft.title(Spot { value: &child.content(), ..found }),
        "Description" => draft.description(Spot { value: &child.content(), ..found }),
        "Price" | "Salary" => draft.fixed_price(found, Some("RUB")),
        "SalaryRange" => draft.price_range(
            child.child("From").as_ref().map(spot),
            child.child("To").as_ref().map(spot),
            Some("RUB"),
        ),
        "Images" => {
            for image in child.children() {
                match image.attribute("url") {
                    Some(url) => draft.photo(Spot::new("Image", &url.value, url.offset)),
                    None => draft.photo(spot(&image)),
                }
            }
        }
        "ImageUrls" => {
            for url in found.value.split(['|', '\n']) {
                draft.photo(Spot::new("ImageUrls", url, found.offset));
            }
        }
        "VideoURL" | "VideoUrl" | "VideoFileURL" => draft.url(|offer| &mut offer.video, found),
        "Address" => draft.text(|offer| &mut offer.address, found),
        "ContactPhone" => {
            for phone in found.value.split([',', ';', '|']) {
                draft.phone(Spot::new("ContactPhone", phone, found.offset));
            }
        }
        "ManagerName" => draft.text(|offer| &mut offer.contacts.name, found),
        "EMail" | "Email" => draft.email(found),
        "Condition" => draft.condition(found),
        "AdType" => {
            draft.text(|offer| &mut offer.kind, found);
            draft.field_as_param("AdType", "", found);
        }
        "Brand" | "Make" => {
            draft.text(|offer| &mut offer.vendor, found);
            draft.field_as_param(child.local(), "", found);
        }
        "Model" => {
            draft.text(|offer| &mut offer.model, found);
            draft.field_as_param("Model", "", found);
        }
        "Latitude" | "Longitude" => {}
        name if CATEGORY.contains(&name) || TERMS.split(' ').any(|term| term == name) => {}
        name => read_param(name, child, draft),
    }
}

/// One value, or several as `Option` elements.
fn read_param(name: &str, child: Element<'_, '_>, draft: &mut Draft<'_>) {
    if !child.has_children() {
        return draft.field_as_param(name, "", spot(&child));
    }
    for inner in child.children() {
        let inner_name =
            if matches!(inner.local(), "Option" | "option" | "Value") { name } else { inner.local() };
        read_param(inner_name, inner, draft);
    }
}

fn join(root: Element<'_, '_>, names: &[&str], between: &str) -> (String, usize) {
    let parts: Vec<Element<'_, '_>> =
        names.iter().filter_map(|name| root.child(name).filter(|part| !part.text().is_empty())).collect();
    let offset = parts.first().map_or(0, Element::text_offset);
    (parts.iter().map(Element::text).collect::<Vec<_>>().join(between), offset)
}

/// Cars and flats have no title of their own.
fn compose_title(root: Element<'_, '_>, draft: &mut Draft<'_>) {
    const PARTS: [&[&str]; 2] =
        [&["Make", "Model", "Year"], &["Category", "OperationType", "Rooms", "Square"]];
    for parts in PARTS {
        if draft.offer.title.value.is_empty()
            && root.child("Title").is_none()
            && root.child(parts[1]).is_some()
        {
            let (title, offset) = join(root, parts, " ");
            draft.title(Spot::new("Title", &title, offset));
        }
    }
}
