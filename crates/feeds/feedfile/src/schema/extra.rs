//! Checks that the validator lacks: it counts lengths in bytes and ignores attributes of text
//! elements.

use super::Violation;
use crate::limits::{
    DESCRIPTION_CHARS_MAX, ID_CHARS_MAX, PARAM_NAME_CHARS_MAX, PARAM_VALUE_CHARS_MAX, TEXT_CHARS_MAX,
    TITLE_CHARS_MAX, URL_CHARS_MAX,
};
use crate::xml::Element;

const EMAIL_CHARS_MAX: usize = 254;

/// The schema without the constraints that are checked here.
pub(super) fn without_lengths(schema: &str) -> String {
    let mut out = String::with_capacity(schema.len());
    let mut rest = schema;
    while let Some(start) = rest.find("<xs:maxLength") {
        out.push_str(&rest[..start]);
        rest = rest[start..].split_once("/>").map_or("", |(_, behind)| behind);
    }
    out + rest
}

/// Texts that are too long, and unknown attributes.
pub(super) fn violations(root: Element<'_, '_>) -> Vec<Violation> {
    let mut found = Vec::new();
    look_at(root, root.name() == "category", &mut found);
    found
}

fn look_at(element: Element<'_, '_>, in_header: bool, found: &mut Vec<Violation>) {
    let mut violation = |message: String| {
        found.push(Violation { field: element.name().to_owned(), offset: element.offset(), message });
    };
    if let Some(most) = text_max(element.name()) {
        let count = if element.name() == "description" {
            element.text_chars()
        } else {
            collapsed_chars(element.text())
        };
        if count > most {
            violation(format!("{count} characters, and {most} at most"));
        }
    }
    for attribute in element.attributes() {
        match attribute_max(element.name(), attribute.name, in_header) {
            Some(most) if collapsed_chars(&attribute.value) > most => {
                violation(format!("{} has more than {most} characters", attribute.name));
            }
            Some(_) => {}
            None if attribute.name.starts_with("xmlns") || attribute.name.starts_with("xsi:") => {}
            None => violation(format!("the attribute {} is not allowed here", attribute.name)),
        }
    }
    element.children().for_each(|child| look_at(child, in_header, found));
}

fn text_max(name: &str) -> Option<usize> {
    Some(match name {
        "title" => TITLE_CHARS_MAX,
        "description" => DESCRIPTION_CHARS_MAX,
        "url" | "photo" | "video" => URL_CHARS_MAX,
        "email" => EMAIL_CHARS_MAX,
        "param" => PARAM_VALUE_CHARS_MAX,
        "category" | "address" | "name" | "company" | "vendor" | "model" | "vendor-code" | "barcode"
        | "group" => TEXT_CHARS_MAX,
        _ => return None,
    })
}

/// `None` if the element has no such attribute.
fn attribute_max(element: &str, attribute: &str, in_header: bool) -> Option<usize> {
    match (element, attribute) {
        ("offer", "id") | ("category", "id" | "parent") if element == "offer" || in_header => {
            Some(ID_CHARS_MAX)
        }
        ("category", "ref" | "torg") if !in_header => Some(ID_CHARS_MAX),
        ("param", "name" | "unit") => Some(PARAM_NAME_CHARS_MAX),
        ("fixed" | "from", "currency") | ("range", "from" | "to" | "currency") => Some(usize::MAX),
        _ => None,
    }
}

fn collapsed_chars(text: &str) -> usize {
    let words = text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty());
    let (count, chars) = words.fold((0, 0), |(count, chars), word| (count + 1, chars + word.chars().count()));
    chars + usize::saturating_sub(count, 1)
}
