//! Google Merchant and Meta: RSS 2.0 and Atom with fields `g:...`, and tables of the same fields.

use super::ignore_other;
use crate::Code;
use crate::draft::{Draft, Spot};
use crate::header::cut;
use crate::model::CategoryKind;
use crate::position::At;
use crate::reader::Item;
use crate::split::Sink;
use crate::xml::{Dialect, Element, Versioned};
use std::borrow::Cow;
use std::collections::BTreeSet;

pub(crate) static RSS: Dialect =
    Dialect { offer: "item", is_header, read_header, other: ignore_other, strict: false };
pub(crate) static ATOM: Dialect = Dialect { offer: "entry", ..RSS };

/// Prefixes of fields that describe the sale, advertising or the feed, not the item.
const TERMS: &str = "\
    ads_ adult adwords_ applink auto_pricing availability_date cost_of_goods custom_label_ \
    custom_number_ excluded_destination expiration_date identifier_exists included_destination \
    installment inventory is_bundle loyalty mobile_link multipack pause promotion_id quantity \
    sale_price_effective_date shipping";

fn is_header(parent: &str, name: &str) -> bool {
    matches!(parent, "channel" | "feed")
        && matches!(name, "title" | "link" | "updated" | "pubDate" | "lastBuildDate")
}

fn read_header(sink: &mut Sink<'_>, _: &Versioned<'_, '_>, element: Element<'_, '_>) {
    let href = element.attribute("href").map(|href| href.value.as_ref());
    match element.local() {
        "title" => sink.header.name = cut(&element.content()),
        "link" => sink.header.url = cut(href.unwrap_or(element.text())),
        _ => sink.header.date = cut(element.text()),
    }
}

/// A field of an offer, from an element or a cell.
#[derive(Debug)]
pub(crate) struct Field<'v> {
    pub(crate) name: &'v str,
    pub(crate) plain: Cow<'v, str>,
    pub(crate) value: Cow<'v, str>,
    pub(crate) offset: usize,
}

impl Field<'_> {
    fn spot(&self) -> Spot<'_> {
        Spot::new(self.name, &self.value, self.offset)
    }
}

pub(crate) fn parse(root: Element<'_, '_>, mut draft: Draft<'_>) -> Item {
    let mut fields: Vec<Field<'_>> = Vec::new();
    let prefixed: BTreeSet<&str> =
        root.children().filter(|child| child.name() != child.local()).map(|child| child.local()).collect();
    for child in root.children() {
        let name = child.local();
        if child.name() == name && prefixed.contains(name) {
            continue; // The feed's own title beside g:title.
        }
        match name {
            "product_detail" => read_detail(child, &mut draft),
            "link" if child.text().is_empty() => {
                if let Some(href) = child.attribute("href") {
                    fields.push(field(child, Cow::Borrowed(href.value.as_ref()), href.offset));
                }
            }
            "image" | "images" if child.has_children() => {
                for url in child.children().filter(|url| url.local() == "url") {
                    draft.photo(super::spot(&url));
                }
            }
            "title" | "description" => fields.push(field(child, child.content(), child.text_offset())),
            _ if child.has_children() => {}
            _ => fields.push(field(child, Cow::Borrowed(child.text()), child.text_offset())),
        }
    }
    read_fields(&fields, draft)
}

fn field<'v>(element: Element<'v, 'v>, value: Cow<'v, str>, offset: usize) -> Field<'v> {
    Field { name: element.name(), plain: plain_name(element.local()), value, offset }
}

/// `Image Link`, `g:image-link` and `image_link` are the same.
pub(crate) fn plain_name(name: &str) -> Cow<'_, str> {
    let name = crate::xml::local(name.trim());
    if name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit()) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.to_lowercase().replace([' ', '-'], "_"))
}

fn read_detail(element: Element<'_, '_>, draft: &mut Draft<'_>) {
    if let (Some(name), Some(value)) = (element.child("attribute_name"), element.child("attribute_value")) {
        draft.param(name.text(), "", super::spot(&value));
    }
}

/// Parses the fields of an offer from any container.
pub(crate) fn read_fields(fields: &[Field<'_>], mut draft: Draft<'_>) -> Item {
    let find = |name: &str| fields.iter().find(|field| field.plain == name && !field.value.trim().is_empty());
    read_prices(find("price"), find("sale_price"), &mut draft);
    for field in fields {
        read_field(field, &mut draft);
    }
    let nothing = |field: &&Field<'_>| !field.value.trim().is_empty();
    draft.coordinates(
        find("latitude").filter(nothing).map(Field::spot),
        find("longitude").filter(nothing).map(Field::spot),
    );
    draft.finish("id", "title")
}

/// With a sale price, the price becomes the old price.
fn read_prices(price: Option<&Field<'_>>, sale: Option<&Field<'_>>, draft: &mut Draft<'_>) {
    match (price, sale) {
        (None, None) => draft.missing(Code::MissingPrice, "price"),
        (Some(price), None) => draft.fixed_price(price.spot(), None),
        (None, Some(sale)) => draft.fixed_price(sale.spot(), None),
        (Some(price), Some(sale)) => {
            draft.fixed_price(sale.spot(), None);
            draft.old_price(price.spot(), None);
        }
    }
}

fn read_field(field: &Field<'_>, draft: &mut Draft<'_>) {
    let found = field.spot();
    match field.plain.as_ref() {
        "price" | "sale_price" | "latitude" | "longitude" => {}
        "id" => draft.id(found),
        "title" => draft.title(found),
        "description" => draft.description(found),
        "link" => draft.url(|offer| &mut offer.url, found),
        "image_link" => draft.photo(found),
        "additional_image_link" => {
            for url in links(found.value) {
                draft.photo(Spot::new(field.name, url, field.offset));
            }
        }
        "video_link" | "video" => draft.url(|offer| &mut offer.video, found),
        "availability" => draft.availability(found),
        "condition" => draft.condition(found),
        "brand" => draft.text(|offer| &mut offer.vendor, found),
        "mpn" => draft.text(|offer| &mut offer.vendor_code, found),
        "item_group_id" => draft.text(|offer| &mut offer.group_id, found),
        "address" => draft.text(|offer| &mut offer.address, found),
        "google_product_category" | "fb_product_category" => draft.category_text(CategoryKind::Google, found),
        "product_type" => draft.category_text(CategoryKind::Own, found),
        "gtin" => {
            if !found.value.is_empty() {
                let at = draft.position(found.offset);
                draft.offer.barcodes.push(At::new(found.value.chars().take(50).collect(), at));
            }
        }
        "rich_text_description" if draft.offer.description.is_some() => {}
        name if TERMS.split(' ').any(|term| name.starts_with(term)) => {}
        name => draft.field_as_param(name, "", found),
    }
}

/// Splits links at commas, except for commas inside a link.
fn links(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        if rest.trim().is_empty() {
            return None;
        }
        let end = rest
            .match_indices(',')
            .map(|(at, _)| at)
            .find(|at| rest[at + 1..].trim_start().starts_with("http"));
        let (link, next) = end.map_or((rest, ""), |at| (&rest[..at], &rest[at + 1..]));
        rest = next;
        Some(link.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_links_in_one_field_are_told_apart() {
        let found: Vec<&str> = links("http://a.b/1,2.jpg,https://c.d/3.jpg , http://e.f/").collect();
        assert_eq!(found, ["http://a.b/1,2.jpg", "https://c.d/3.jpg", "http://e.f/"]);
    }
}
