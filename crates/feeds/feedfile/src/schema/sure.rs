//! A fast check that proves most offers valid. All others are validated by the schema, so it may
//! err on one side only.

use crate::limits::{
    DESCRIPTION_CHARS_MAX, ID_CHARS_MAX, PARAM_NAME_CHARS_MAX, PARAM_VALUE_CHARS_MAX, TEXT_CHARS_MAX,
    TITLE_CHARS_MAX, URL_CHARS_MAX,
};
use crate::xml::{Attribute, Element, Tree};

const PHOTOS: usize = 50;
const PARAMS: usize = 300;
const PHONES: usize = 10;

/// Whether the schema surely accepts this offer.
pub(crate) fn is_surely_valid(tree: &Tree<'_>) -> bool {
    let root = tree.root();
    tree.is_plain()
        && root.name() == "offer"
        && has_only(root, &["id"])
        && root.attribute("id").is_some_and(|id| is_token(&id.value, ID_CHARS_MAX))
        && root.text().is_empty()
        && children_are_valid(root)
}

fn children_are_valid(root: Element<'_, '_>) -> bool {
    let mut seen: u32 = 0;
    for child in root.children() {
        let Some((place, valid)) = judge(child) else { return false };
        if !valid || seen & (1 << place) != 0 {
            return false;
        }
        seen |= 1 << place;
    }
    seen & 1 != 0
}

/// The index of the element among the known ones (the title is the first), and whether it is valid.
fn judge(child: Element<'_, '_>) -> Option<(u32, bool)> {
    let has_attributes = child.name() == "category";
    if !has_attributes && !child.attributes().is_empty() {
        return None;
    }
    Some(match child.name() {
        "title" => (0, is_leaf(child) && is_token(child.text(), TITLE_CHARS_MAX)),
        "description" => (1, is_leaf(child) && child.text_bytes_at_most() <= DESCRIPTION_CHARS_MAX),
        "category" => (2, is_category(child)),
        "price" => (3, is_price(child)),
        "condition" => (
            4,
            is_leaf(child)
                && matches!(child.text(), "new" | "like_new" | "used" | "for_parts" | "refurbished"),
        ),
        "availability" => (
            5,
            is_leaf(child) && matches!(child.text(), "in_stock" | "out_of_stock" | "preorder" | "backorder"),
        ),
        "url" => (6, is_url(child)),
        "photos" => (7, is_list(child, "photo", PHOTOS, is_url)),
        "video" => (8, is_url(child)),
        "place" => (9, is_place(child)),
        "contacts" => (10, is_contacts(child)),
        "vendor" => (11, is_line(child)),
        "model" => (12, is_line(child)),
        "vendor-code" => (13, is_line(child)),
        "barcode" => (14, is_line(child)),
        "group" => (15, is_line(child)),
        "params" => (16, is_list(child, "param", PARAMS, is_param)),
        _ => return None,
    })
}

fn is_leaf(element: Element<'_, '_>) -> bool {
    !element.has_children()
}

/// Not empty, and short enough even in bytes.
fn is_token(text: &str, most: usize) -> bool {
    !text.trim_matches(is_space).is_empty() && (text.len() <= most || text.chars().count() <= most)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn is_line(element: Element<'_, '_>) -> bool {
    is_leaf(element) && element.attributes().is_empty() && is_token(element.text(), TEXT_CHARS_MAX)
}

fn is_url(element: Element<'_, '_>) -> bool {
    let text = element.text();
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let visible = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic());
    is_leaf(element)
        && element.attributes().is_empty()
        && text.len() <= URL_CHARS_MAX
        && rest.is_some_and(visible)
}

fn has_only(element: Element<'_, '_>, names: &[&str]) -> bool {
    let attributes = element.attributes();
    let known = |attribute: &Attribute<'_>| names.contains(&attribute.name);
    let twice = attributes.len() > 1 && attributes[0].name == attributes[1].name;
    attributes.len() <= names.len() && attributes.len() <= 2 && !twice && attributes.iter().all(known)
}

fn is_category(element: Element<'_, '_>) -> bool {
    let sound = |attribute: &Attribute<'_>| is_token(&attribute.value, ID_CHARS_MAX);
    is_leaf(element)
        && has_only(element, &["ref", "torg"])
        && element.attributes().iter().all(sound)
        && element.text().len() <= TEXT_CHARS_MAX
}

fn is_list(element: Element<'_, '_>, name: &str, most: usize, valid: fn(Element<'_, '_>) -> bool) -> bool {
    let mut count = 0;
    element.text().is_empty()
        && element.children().all(|child| {
            count += 1;
            count <= most && child.name() == name && valid(child)
        })
}

fn is_param(element: Element<'_, '_>) -> bool {
    let unit = element.attribute("unit").is_none_or(|unit| unit.value.len() <= PARAM_NAME_CHARS_MAX);
    is_leaf(element)
        && has_only(element, &["name", "unit"])
        && element.attribute("name").is_some_and(|name| is_token(&name.value, PARAM_NAME_CHARS_MAX))
        && unit
        && is_token(element.text(), PARAM_VALUE_CHARS_MAX)
}

/// Digits with at most one point.
fn is_decimal(text: &str, whole_max: usize, fraction_max: usize) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str, most: usize| {
        !part.is_empty() && part.len() <= most && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    digits(whole, whole_max) && digits(fraction, fraction_max)
}

fn is_amount(text: &str) -> bool {
    is_decimal(text, 12, 6)
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_money(element: Element<'_, '_>) -> bool {
    is_leaf(element)
        && has_only(element, &["currency"])
        && element.attribute("currency").is_some_and(|found| is_currency(&found.value))
        && is_amount(element.text())
}

fn is_price(element: Element<'_, '_>) -> bool {
    let mut children = element.children();
    let Some(kind) = children.next() else { return false };
    let (kind_valid, may_have_old) = match kind.name() {
        "fixed" => (is_money(kind), true),
        "free" => (is_empty(kind) && kind.attributes().is_empty(), false),
        "negotiable" => (is_negotiable(kind), false),
        "range" => (is_range(kind), false),
        _ => return false,
    };
    let is_old = |old: Element<'_, '_>| {
        old.name() == "old" && is_leaf(old) && old.attributes().is_empty() && is_amount(old.text())
    };
    let old = children.next().is_none_or(|old| may_have_old && is_old(old));
    element.text().is_empty() && kind_valid && old && children.next().is_none()
}

/// Not even white space inside.
fn is_empty(element: Element<'_, '_>) -> bool {
    is_leaf(element) && element.text_bytes_at_most() == 0
}

fn is_negotiable(element: Element<'_, '_>) -> bool {
    let mut children = element.children();
    let from = children.next().is_none_or(|from| from.name() == "from" && is_money(from));
    element.attributes().is_empty() && element.text().is_empty() && from && children.next().is_none()
}

fn is_range(element: Element<'_, '_>) -> bool {
    let [currency, from, to] = ["currency", "from", "to"].map(|name| element.attribute(name));
    let present = [currency, from, to].iter().flatten().count();
    is_empty(element)
        && element.attributes().len() == present
        && currency.is_some_and(|found| is_currency(&found.value))
        && [from, to].iter().flatten().all(|found| is_amount(&found.value))
}

fn is_place(element: Element<'_, '_>) -> bool {
    let mut children = element.children().peekable();
    if let Some(address) = children.next_if(|child| child.name() == "address")
        && !is_line(address)
    {
        return false;
    }
    let degrees = |child: Option<Element<'_, '_>>, name: &str, most: f64| {
        child.is_some_and(|child| {
            let text = child.text();
            let number = text.strip_prefix('-').unwrap_or(text);
            let inside = is_decimal(number, 3, 15) && number.parse::<f64>().is_ok_and(|number| number < most);
            child.name() == name && is_leaf(child) && child.attributes().is_empty() && inside
        })
    };
    let rest = children.peek().is_none()
        || (degrees(children.next(), "latitude", 90.0) && degrees(children.next(), "longitude", 180.0));
    element.text().is_empty() && rest && children.next().is_none()
}

fn is_contacts(element: Element<'_, '_>) -> bool {
    let mut children = element.children().peekable();
    if let Some(name) = children.next_if(|child| child.name() == "name")
        && !is_line(name)
    {
        return false;
    }
    let mut phones = 0;
    while let Some(phone) = children.next_if(|child| child.name() == "phone") {
        let text = phone.text();
        let number = text.strip_prefix('+').unwrap_or(text);
        let sound = (5..=25).contains(&number.len())
            && number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'(' | b')' | b'-'));
        phones += 1;
        if phones > PHONES
            || !sound
            || number.contains("  ")
            || !is_leaf(phone)
            || !phone.attributes().is_empty()
        {
            return false;
        }
    }
    element.text().is_empty() && children.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::xml::repair;

    #[test]
    fn what_it_is_sure_of_the_schema_accepts() {
        let schema = Schema::offers();
        let title = "<title>T</title>";
        let parts = [
            "<price><fixed currency='EUR'>5.5</fixed><old>6</old></price>",
            "<price><free/></price>",
            "<price><negotiable/></price>",
            "<price><negotiable><from currency='EUR'>5</from></negotiable></price>",
            "<price><range to='5' currency='EUR'/></price>",
            "<place><address>A</address><latitude>-5.5</latitude><longitude>37</longitude></place>",
            "<contacts><name>N</name><phone>+7 495 123-45-67</phone></contacts>",
            "<params><param name='a' unit='b'>c</param></params>",
            "<photos><photo>https://a.b/c</photo></photos>",
            "<category ref='1' torg='x'>words</category>",
            "<!-- - --><vendor>a<!-- b -->c</vendor>",
            "<description> a\n b </description>",
        ];
        for part in parts {
            let offer = format!("<offer id='1'>{title}{part}</offer>");
            assert!(is_surely_valid(&Tree::parse(&offer).unwrap()), "{part}");
            assert!(schema.check(&offer, Tree::parse(&offer).unwrap().root()).is_empty(), "{part}");
        }
    }

    #[test]
    fn it_is_never_sure_of_what_the_schema_refuses() {
        for offer in [
            "<offer id='1'/>",
            "<offer><title>T</title></offer>",
            "<offer id='1'><title>T</title><title>T</title></offer>",
            "<offer id='1' x='2'><title>T</title></offer>",
            "<offer id='1'>text<title>T</title></offer>",
            "<offer id='1'><title> </title></offer>",
            "<offer id='1'><title>T</title><price><fixed>5</fixed></price></offer>",
            "<offer id='1'><title>T</title><price><fixed currency='EUR'>5,5</fixed></price></offer>",
            "<offer id='1'><title>T</title><place><latitude>95</latitude><longitude>1</longitude></place></offer>",
            "<offer id='1'><title>T</title><place><latitude>5</latitude></place></offer>",
            "<offer id='1'><title>T</title><params><param>x</param></params></offer>",
            "<offer id='1'><title>T</title><condition>broken</condition></offer>",
            "<offer id='1'><title>T]]></title></offer>",
            "<offer id='1'><title>T</title><!-- a -- b --></offer>",
            "<offer id='1'><title>T</title><!-- a ---></offer>",
            "<offer id='1'><title>T</title><category ref='1'torg='2'/></offer>",
            "<offer id='1'><title>T<br></title></offer>",
        ] {
            let tree = Tree::parse(offer).unwrap();
            assert!(!is_surely_valid(&tree), "{offer}");
            assert!(!Schema::offers().check(offer, tree.root()).is_empty(), "{offer}");
        }
    }

    const FULL: &str = "<offer id='1'><title>T</title><price><fixed currency='EUR'>5.5</fixed><old>6</old></price>\
        <condition>new</condition><place><address>A</address><latitude>-5.5</latitude><longitude>37</longitude></place>\
        <url>https://a.b/c</url><contacts><name>N</name><phone>+7 495 123</phone></contacts>\
        <params><param name='a' unit='b'>c</param></params><category ref='1'>w</category></offer>";

    proptest::proptest! {
        #[test]
        fn it_is_never_sure_of_a_changed_offer_that_the_schema_refuses(
            changes in proptest::collection::vec((0..FULL.len(), 0..FULL.len(), 0..4_u8, 0..16_usize), 1..4),
        ) {
            let schema = Schema::offers();
            let mut offer = FULL.to_owned();
            for (at, to, kind, sign) in changes {
                let (at, to) = (at.min(offer.len()), to.min(offer.len()));
                match kind {
                    0 => offer.insert(at, char::from(b" <>/&'=.,-+1aA\n\""[sign])),
                    1 => drop(offer.drain(at..(at + sign).min(offer.len()))),
                    2 => offer.insert_str(at, &FULL[to..(to + sign).min(FULL.len())]),
                    _ => offer.insert_str(at, "<x/>"),
                }
            }
            let offer = repair(&offer, true).text.into_owned();
            if let Ok(tree) = Tree::parse(&offer)
                && is_surely_valid(&tree)
            {
                let found = schema.check(&offer, tree.root());
                proptest::prop_assert!(found.is_empty(), "{} {:?}", offer, found);
            }
        }
    }
}
