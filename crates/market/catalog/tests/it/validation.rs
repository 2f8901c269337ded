//! Every rule that an offer can break, with its field, its code and its words.

use crate::common::{builtin, car, price, small};
use catalog::{Catalogue, Code, Date, Decimal, Fault, Item, OwnedValue, PriceKind};

/// `field: code` of every violation.
fn found(catalogue: &Catalogue, item: &Item) -> Vec<String> {
    catalogue.validate(item).iter().map(|found| format!("{}: {}", found.field, found.code())).collect()
}

fn with(attribute: &str, values: &[OwnedValue]) -> Item {
    let mut item = car();
    item.attributes.insert(attribute.into(), values.to_vec());
    item
}

#[track_caller]
fn breaks(item: &Item, expected: &[&str]) {
    assert_eq!(found(&small(), item), expected);
}

#[test]
fn a_sound_offer_breaks_nothing() {
    breaks(&car(), &[]);
    let mut full = car();
    full.attributes.insert("code".into(), vec!["AB12".into()]);
    full.attributes.insert("electric".into(), vec![false.into()]);
    full.attributes.insert("weight".into(), vec![Decimal::parse("99.95").unwrap().into()]);
    full.attributes.insert("inspected".into(), vec![Date::new(2024, 2, 29).unwrap().into()]);
    full.attributes.insert("options".into(), vec!["radio".into(), "hook".into()]);
    breaks(&full, &[]);
    breaks(&with("weight", &[OwnedValue::Whole(3)]), &[]);
    assert_eq!(small().validate(&full).capacity(), 0, "nothing is allocated for nothing");
}

#[test]
fn the_category_has_to_exist_and_to_be_open() {
    let in_category = |id: &str| Item { category: id.into(), ..car() };
    breaks(&in_category("vehicles/carz"), &["category: category_unknown"]);
    breaks(&in_category(""), &["category: required"]);
    breaks(&in_category("vehicles"), &["category: category_not_open"]);
    let closed = small().validate(&in_category("old/things"));
    assert_eq!(closed[0].fault, Fault::CategoryClosed { instead: Some("vehicles/parts".into()) });
    let named = small().validate(&in_category("Машины"));
    assert_eq!(
        named[0].fault,
        Fault::CategoryUnknown { given: "Машины".into(), suggestion: Some("vehicles/cars".into()) }
    );
}

#[test]
fn texts_and_photos_have_limits() {
    breaks(&Item { title: " a ".into(), ..car() }, &["title: too_short"]);
    breaks(&Item { title: "   ".into(), ..car() }, &["title: required"]);
    breaks(&Item { title: "я".repeat(20), ..car() }, &[]);
    breaks(&Item { title: "я".repeat(21), ..car() }, &["title: too_long"]);
    breaks(&Item { description: "d".repeat(51), ..car() }, &["description: too_long"]);
    breaks(&Item { photos: 0, ..car() }, &["photos: too_few"]);
    breaks(&Item { photos: 4, ..car() }, &["photos: too_many"]);
}

#[test]
fn the_condition_is_one_that_the_category_allows() {
    let in_condition = |id: Option<&str>| Item { condition: id.map(Into::into), ..car() };
    breaks(&in_condition(None), &["condition: required"]);
    breaks(&in_condition(Some("nwe")), &["condition: unknown_value"]);
    breaks(&in_condition(Some("broken")), &["condition: value_not_allowed"]);
    let mut bicycle = Item { category: "vehicles/bicycles".into(), ..car() };
    breaks(&bicycle, &["condition: not_allowed"]);
    bicycle.condition = None;
    breaks(&bicycle, &[]);
}

#[test]
fn the_price_is_of_a_kind_that_the_category_allows() {
    let priced =
        |kind, amount, upper, currency| Item { price: Some(price(kind, amount, upper, currency)), ..car() };
    let eur = Some("EUR");
    breaks(&Item { price: None, ..car() }, &["price: required"]);
    breaks(&priced(PriceKind::Fixed, None, None, eur), &["price.amount: required"]);
    breaks(&priced(PriceKind::Fixed, Some(5), Some(6), eur), &["price.upper: not_allowed"]);
    breaks(&priced(PriceKind::Fixed, Some(0), None, eur), &["price.amount: too_small"]);
    breaks(&priced(PriceKind::Fixed, Some(-5), None, eur), &["price.amount: too_small"]);
    breaks(&priced(PriceKind::Fixed, Some(1001), None, eur), &["price.amount: too_large"]);
    breaks(&priced(PriceKind::Fixed, Some(5), None, None), &["price.currency: required"]);
    breaks(&priced(PriceKind::Fixed, Some(5), None, Some("DOGE")), &["price.currency: unknown_currency"]);
    breaks(&priced(PriceKind::Range, Some(5), Some(4), eur), &["price.upper: range_reversed"]);
    breaks(&priced(PriceKind::Range, Some(5), None, eur), &[]);
    breaks(&priced(PriceKind::Range, None, Some(5), eur), &[]);
    breaks(&priced(PriceKind::Range, None, None, eur), &["price.amount: required"]);
    breaks(&priced(PriceKind::Negotiable, None, None, None), &[]);
    breaks(&priced(PriceKind::Negotiable, Some(5), None, eur), &[]);
    breaks(&priced(PriceKind::Free, None, None, None), &[]);
    breaks(&priced(PriceKind::Free, Some(5), None, eur), &["price.amount: not_allowed"]);
    let mut precise = car();
    precise.price.as_mut().unwrap().amount = Decimal::parse("9.999");
    breaks(&precise, &["price.amount: too_precise"]);
    let bicycle = Item { category: "vehicles/bicycles".into(), condition: None, ..car() };
    let bicycle = Item { price: Some(price(PriceKind::Free, None, None, None)), ..bicycle };
    breaks(&bicycle, &["price.kind: value_not_allowed"]);
    breaks(&Item { category: "vehicles/parts".into(), ..car() }, &["price: not_allowed"]);
}

#[test]
fn attributes_are_known_and_the_required_ones_are_there() {
    let mut item = car();
    item.attributes.clear();
    breaks(&item, &["attributes.make: required", "attributes.mileage: required"]);
    let misspelt = small().validate(&with("mileag", &[1.into(), 2.into()]));
    assert_eq!(misspelt.len(), 1, "two values of an unknown attribute are one violation");
    assert_eq!(misspelt[0].fault, Fault::UnknownAttribute { suggestion: Some("mileage".into()) });
    breaks(&with("make", &[]), &["attributes.make: required"]);
    breaks(&with("make", &["  ".into()]), &["attributes.make: required"]);
}

#[test]
fn values_have_the_type_of_their_attribute() {
    for (attribute, value) in [
        ("make", OwnedValue::Whole(1)),
        ("mileage", "many".into()),
        ("mileage", Decimal::parse("1.5").unwrap().into()),
        ("weight", "heavy".into()),
        ("electric", "yes".into()),
        ("inspected", "yesterday".into()),
        ("fuel", true.into()),
        ("options", OwnedValue::Whole(2)),
    ] {
        breaks(&with(attribute, &[value]), &[&format!("attributes.{attribute}: wrong_type")]);
    }
}

#[test]
fn values_are_within_their_range() {
    let day = |year| OwnedValue::Date(Date::new(year, 1, 1).unwrap());
    let number = |text: &str| OwnedValue::Decimal(Decimal::parse(text).unwrap());
    for (attribute, value, code) in [
        ("mileage", OwnedValue::Whole(-1), Code::TooSmall),
        ("mileage", OwnedValue::Whole(300_001), Code::TooLarge),
        ("weight", number("0.49"), Code::TooSmall),
        ("weight", number("100.01"), Code::TooLarge),
        ("weight", number("1.005"), Code::TooPrecise),
        ("inspected", day(2019), Code::TooSmall),
        ("inspected", day(2031), Code::TooLarge),
        ("make", "V".into(), Code::TooShort),
        ("make", "V".repeat(11).as_str().into(), Code::TooLong),
        ("code", "AB1".into(), Code::TooShort),
        ("code", "AB1z".into(), Code::BadCharacter),
        ("fuel", "electric".into(), Code::ValueNotAllowed),
        ("fuel", "steam".into(), Code::UnknownValue),
    ] {
        breaks(&with(attribute, &[value]), &[&format!("attributes.{attribute}: {code}")]);
    }
}

#[test]
fn an_attribute_has_as_many_values_as_it_takes() {
    breaks(&with("mileage", &[1.into(), 2.into()]), &["attributes.mileage: too_many_values"]);
    breaks(&with("options", &["radio".into(), "radio".into()]), &["attributes.options: duplicate_value"]);
    let three = with("options", &["radio".into(), "heater".into(), "hook".into()]);
    breaks(&three, &["attributes.options: too_many_values"]);
}

#[test]
fn an_unknown_value_gets_the_nearest_as_a_suggestion() {
    let catalogue = small();
    let suggestion = |given: &str| match &catalogue.validate(&with("fuel", &[given.into()]))[0].fault {
        Fault::UnknownValue { suggestion, .. } => suggestion.as_deref().map(ToOwned::to_owned),
        other => panic!("{other:?}"),
    };
    assert_eq!(suggestion("deisel").as_deref(), Some("diesel"));
    assert_eq!(suggestion("Дизель").as_deref(), Some("diesel"), "a name in any language leads to its id");
    assert_eq!(suggestion("Gasolin").as_deref(), Some("petrol"), "so does a synonym with a slip");
    assert_eq!(suggestion("steam"), None);
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let item = Item {
        category: "vehicles/cars".into(),
        title: "x".into(),
        photos: 9,
        condition: Some("mint".into()),
        price: None,
        ..with("mileage", &[OwnedValue::Whole(-5)])
    };
    breaks(
        &item,
        &[
            "title: too_short",
            "photos: too_many",
            "condition: unknown_value",
            "price: required",
            "attributes.mileage: too_small",
        ],
    );
    let mut unknown = item;
    unknown.category = "nothing like it".into();
    assert_eq!(found(&small(), &unknown)[..2], ["category: category_unknown", "title: too_short"]);
}

#[test]
fn hostile_offers_cost_no_more_than_the_limit() {
    let mut item = car();
    for number in 0..5_000 {
        item.attributes.insert(format!("{number}{}", "x".repeat(500)), vec![1.into()]);
    }
    let violations = small().validate(&item);
    assert_eq!(violations.len(), catalog::limits::VIOLATIONS_MAX);
    assert!(violations.iter().all(|found| found.field.to_string().chars().count() < 100));
}

#[test]
fn every_code_has_words_in_both_languages_and_a_stable_text() {
    let texts: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let unique: std::collections::BTreeSet<&&str> = texts.iter().collect();
    assert_eq!(unique.len(), texts.len());
    let catalogue = small();
    let mileage = &catalogue.validate(&with("mileage", &[OwnedValue::Whole(400_000)]))[0];
    assert_eq!(mileage.text(&catalogue, "en"), "Mileage: at most 300000 km");
    assert_eq!(mileage.text(&catalogue, "ru"), "Пробег: не больше 300000 км");
    let fuel = &catalogue.validate(&with("fuel", &["deisel".into()]))[0];
    assert_eq!(fuel.text(&catalogue, "en"), "Fuel: there is no value \"deisel\"; did you mean: diesel");
    assert_eq!(
        fuel.text(&catalogue, "ru"),
        "Топливо: нет значения «deisel»; возможно, имелось в виду: diesel"
    );
    let title = &catalogue.validate(&Item { title: "x".into(), ..car() })[0];
    assert_eq!(title.text(&catalogue, "ru"), "Заголовок: минимум символов: 3, сейчас 1");
}

#[test]
fn a_real_flat_is_judged_by_the_built_in_catalogue() {
    let mut flat = Item {
        category: "real-estate/flats/sale".into(),
        title: "2-к. квартира, 54 м²".into(),
        price: Some(price(PriceKind::Fixed, Some(9_500_000), None, Some("RUB"))),
        photos: 12,
        ..Item::default()
    };
    for (attribute, value) in [
        ("rooms", OwnedValue::from("two")),
        ("area", Decimal::parse("54.3").unwrap().into()),
        ("floor", 3.into()),
        ("floors", 9.into()),
        ("housing", "resale".into()),
    ] {
        flat.attributes.insert(attribute.into(), vec![value]);
    }
    assert_eq!(found(builtin(), &flat), Vec::<String>::new());
    flat.attributes.remove("housing");
    flat.condition = Some("new".into());
    assert_eq!(found(builtin(), &flat), ["condition: not_allowed", "attributes.housing: required"]);
}
