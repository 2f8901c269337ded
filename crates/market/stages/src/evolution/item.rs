//! Conversion between offers and items of migrations.

use catalog::{Catalogue, Date, Decimal, Item, Kind, OwnedValue};
use wire::torg::offers::v1::{Offer, Values};

/// The length of a date such as `2024-05-01`.
const DAY_BYTES: usize = 10;

/// Converts an offer. `catalogue` is the one that the offer conforms to: it gives the types of
/// values.
pub(super) fn read(offer: &Offer, catalogue: &Catalogue) -> Item {
    let values_of = |name: &str, values: &Values| {
        let kind = catalogue.attribute(name).map(catalog::Attribute::kind);
        values.values.iter().map(|text| value(kind, text)).collect()
    };
    let attributes = offer.attributes.iter();
    Item {
        version: catalogue.version(),
        category: offer.category.clone(),
        attributes: attributes.map(|(name, values)| (name.clone(), values_of(name, values))).collect(),
        ..Item::default()
    }
}

/// Writes a moved item back to its offer. Untouched values keep their spelling.
pub(super) fn write(offer: &mut Offer, before: &Item, after: &Item) {
    offer.category.clone_from(&after.category);
    offer.attributes.retain(|name, _| after.attributes.contains_key(name));
    for (name, values) in &after.attributes {
        if before.attributes.get(name) != Some(values) {
            let values = values.iter().map(text).collect();
            offer.attributes.insert(name.clone(), Values { values, ..Values::default() });
        }
    }
}

/// A value by the kind of its attribute. An unreadable value stays a text, which does not fit a
/// number.
fn value(kind: Option<&Kind>, text: &str) -> OwnedValue {
    let read = match kind {
        Some(Kind::Whole { .. }) => Decimal::parse(text).and_then(Decimal::as_whole).map(OwnedValue::Whole),
        Some(Kind::Decimal { .. }) => Decimal::parse(text).map(OwnedValue::Decimal),
        Some(Kind::YesNo) => text.parse().ok().map(OwnedValue::YesNo),
        Some(Kind::Date { .. }) => day(text).map(OwnedValue::Date),
        Some(Kind::Text { .. } | Kind::One | Kind::Several { .. }) | None => None,
    };
    read.unwrap_or_else(|| OwnedValue::Text(text.to_owned()))
}

fn day(text: &str) -> Option<Date> {
    text.parse().ok().filter(|_| text.len() == DAY_BYTES)
}

fn text(value: &OwnedValue) -> String {
    match value {
        OwnedValue::Text(text) => text.clone(),
        OwnedValue::Whole(number) => number.to_string(),
        OwnedValue::Decimal(number) => number.to_string(),
        OwnedValue::YesNo(answer) => answer.to_string(),
        OwnedValue::Date(day) => day.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_migration_left_alone_keep_their_spelling() {
        let values = |text: &str| Values { values: vec![text.to_owned()], ..Values::default() };
        let mut offer = Offer::default();
        for (name, text) in [("volume", "1.50"), ("seats", "5"), ("old", "x"), ("inspected", "true")] {
            offer.attributes.insert(name.to_owned(), values(text));
        }
        let number = |text: &str| OwnedValue::Decimal(Decimal::parse(text).unwrap());
        let mut before = Item::default();
        before.attributes.insert("volume".into(), vec![number("1.50")]);
        before.attributes.insert("seats".into(), vec![OwnedValue::Whole(5)]);
        before.attributes.insert("old".into(), vec!["x".into()]);
        before.attributes.insert("inspected".into(), vec![OwnedValue::YesNo(true)]);
        let mut after = before.clone();
        after.category = "cars".into();
        after.attributes.remove("old");
        after.attributes.insert("seats".into(), vec![OwnedValue::Whole(6)]);
        after.attributes.insert("day".into(), vec!["2024-05-01".parse::<Date>().unwrap().into()]);
        after.attributes.insert("inspected".into(), vec![OwnedValue::YesNo(false)]);
        write(&mut offer, &before, &after);
        let texts: Vec<_> =
            ["volume", "seats", "day", "inspected"].map(|name| &*offer.attributes[name].values[0]).into();
        assert_eq!(texts, ["1.50", "6", "2024-05-01", "false"]);
        assert_eq!((offer.attributes.len(), &*offer.category), (4, "cars"));
    }
}
