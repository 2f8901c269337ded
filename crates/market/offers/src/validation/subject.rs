//! The checks of the catalogue: an offer as its subject, its violations by the paths of the
//! contract.

use catalog::{Catalogue, Category, Date, Decimal, Field, Kind, Price, PriceKind, Subject, Value};
use wire::torg::offers::v1::__buffa::oneof::price::Kind as WireKind;
use wire::torg::offers::v1::{Condition, Money, Offer};

use super::{LANGUAGE, Violations, codes};

/// Decimal places of an amount in millionths.
const MICROS_SCALE: u8 = 6;
/// Bytes of a day such as `2024-05-01`.
const DAY_BYTES: usize = 10;

pub(super) fn check(catalogue: &Catalogue, offer: &Offer, found: &mut Violations) {
    if offer.condition.as_known().is_none() {
        found.add("condition", codes::UNKNOWN_VALUE, "there is no such condition");
    }
    let subject = CatalogueSubject { category: catalogue.category(&offer.category), offer };
    for violation in catalogue.validate(&subject) {
        let field = path(&violation.field, offer);
        // A negative amount is also out of the range of its category.
        if !found.has(&field, codes::NEGATIVE) {
            found.add(field, violation.code().as_str(), violation.text(catalogue, LANGUAGE));
        }
    }
}

struct CatalogueSubject<'a> {
    category: Option<Category<'a>>,
    offer: &'a Offer,
}

impl Subject for CatalogueSubject<'_> {
    fn category(&self) -> &str {
        &self.offer.category
    }

    fn title(&self) -> &str {
        &self.offer.title
    }

    fn description(&self) -> &str {
        &self.offer.description
    }

    fn price(&self) -> Option<Price<'_>> {
        Some(match self.offer.price.as_option()?.kind.as_ref()? {
            WireKind::Fixed(money) => price(PriceKind::Fixed, Some(money), None),
            WireKind::Free(_) => price(PriceKind::Free, None, None),
            WireKind::Negotiable(start) => price(PriceKind::Negotiable, start.from.as_option(), None),
            WireKind::Range(range) => price(PriceKind::Range, range.from.as_option(), range.to.as_option()),
        })
    }

    fn photos(&self) -> usize {
        self.offer.photos.len()
    }

    fn condition(&self) -> Option<&str> {
        match self.offer.condition.as_known()? {
            Condition::CONDITION_UNSPECIFIED => None,
            Condition::CONDITION_NEW => Some("new"),
            Condition::CONDITION_LIKE_NEW => Some("like-new"),
            Condition::CONDITION_USED => Some("used"),
            Condition::CONDITION_FOR_PARTS => Some("for-parts"),
            Condition::CONDITION_REFURBISHED => Some("refurbished"),
        }
    }

    fn each_value(&self, visit: &mut dyn FnMut(&str, Value<'_>)) {
        for (name, values) in &self.offer.attributes {
            let kind = self.category.and_then(|category| category.attribute(name)).map(catalog::Use::kind);
            for text in &values.values {
                visit(name, value(kind, text));
            }
        }
    }
}

fn price<'a>(kind: PriceKind, amount: Option<&'a Money>, upper: Option<&'a Money>) -> Price<'a> {
    let currency = amount.or(upper).map(|money| &*money.currency).filter(|currency| !currency.is_empty());
    Price { kind, amount: amount.and_then(decimal), upper: upper.and_then(decimal), currency }
}

fn decimal(money: &Money) -> Option<Decimal> {
    Decimal::new(money.micros, MICROS_SCALE)
}

/// A value by the kind of its attribute. One that cannot be parsed stays a text, which the
/// catalogue reports as a wrong type.
fn value<'a>(kind: Option<&Kind>, text: &'a str) -> Value<'a> {
    let read = match kind {
        Some(Kind::Whole { .. }) => Decimal::parse(text).and_then(Decimal::as_whole).map(Value::Whole),
        Some(Kind::Decimal { .. }) => Decimal::parse(text).map(Value::Decimal),
        Some(Kind::YesNo) => text.parse().ok().map(Value::YesNo),
        Some(Kind::Date { .. }) => day(text).map(Value::Date),
        Some(Kind::Text { .. } | Kind::One | Kind::Several { .. }) | None => None,
    };
    read.unwrap_or(Value::Text(text))
}

/// Only the form `2024-05-01`.
fn day(text: &str) -> Option<Date> {
    let is_day = text.len() == DAY_BYTES && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    text.parse().ok().filter(|_| is_day)
}

/// The path of a field of the catalogue in the contract.
fn path(field: &Field, offer: &Offer) -> String {
    let kind = offer.price.as_option().and_then(|price| price.kind.as_ref());
    let (kind, from) = match kind {
        Some(WireKind::Fixed(_)) => ("price.fixed", "price.fixed"),
        Some(WireKind::Free(_)) => ("price.free", "price.free"),
        Some(WireKind::Negotiable(_)) => ("price.negotiable", "price.negotiable.from"),
        Some(WireKind::Range(range)) if range.from.is_unset() && range.to.is_set() => {
            ("price.range", "price.range.to")
        }
        Some(WireKind::Range(_)) => ("price.range", "price.range.from"),
        None => ("price", "price"),
    };
    match field {
        Field::PriceKind => kind.to_owned(),
        Field::PriceAmount => format!("{from}.micros"),
        Field::PriceCurrency => format!("{from}.currency"),
        Field::PriceUpper => format!("{kind}.to.micros"),
        other => other.to_string(),
    }
}
