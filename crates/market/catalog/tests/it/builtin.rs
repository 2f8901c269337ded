//! The built-in catalogue is whole and sound.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::builtin;
use catalog::{Category, Date, Decimal, Item, Kind, OwnedPrice, OwnedValue, PriceKind, Use};

const OWN_ROOTS: [&str; 4] = ["transport", "real-estate", "jobs", "services"];

fn is_own(category: Category<'_>) -> bool {
    let root = category.ancestors().last().unwrap_or(category);
    OWN_ROOTS.contains(&root.id()) || category.id().ends_with("/other")
}

#[test]
fn all_of_shopifys_categories_are_there_and_at_least_150_own_ones() {
    let own = builtin().categories().filter(|category| is_own(*category)).count();
    assert_eq!(builtin().len() - own, 14_606);
    assert!(own >= 150, "{own}");
    for root in OWN_ROOTS {
        assert!(builtin().category(root).unwrap().children().len() > 1, "{root}");
    }
}

#[test]
fn every_category_has_names_in_both_languages_and_a_way_to_its_root() {
    let mut ids = BTreeSet::new();
    for category in builtin().categories() {
        assert!(ids.insert(category.id()), "{} stands twice", category.id());
        for language in ["en", "ru"] {
            assert!(!category.name(language).trim().is_empty(), "{}", category.id());
        }
        assert!(category.ancestors().count() == category.depth());
        if let Some(parent) = category.parent() {
            assert!(parent.children().any(|child| child == category));
        }
    }
    assert!(is_russian(builtin().category("ap-2-1").unwrap().name("ru")));
    for category in builtin().categories().filter(|category| is_own(*category)) {
        assert!(is_russian(category.name("ru")), "{}", category.id());
        assert!(category.name("en").is_ascii(), "{}", category.id());
    }
}

fn is_russian(text: &str) -> bool {
    text.chars().any(|c| matches!(c, 'а'..='я' | 'А'..='Я' | 'ё' | 'Ё'))
}

#[test]
fn children_of_one_parent_have_different_names_in_our_own_branches() {
    for category in builtin().categories().filter(|category| is_own(*category)) {
        for language in ["en", "ru"] {
            let names: BTreeSet<&str> = category.children().map(|child| child.name(language)).collect();
            assert_eq!(names.len(), category.children().len(), "{}", category.id());
        }
    }
}

#[test]
fn within_a_category_no_two_attributes_have_one_name() {
    for category in builtin().categories().filter(|category| category.accepts_offers()) {
        let mut names = BTreeMap::new();
        for used in category.attributes() {
            let attribute = used.attribute();
            for language in ["en", "ru"] {
                if let Some(other) = names.insert((language, attribute.name(language)), attribute.id()) {
                    panic!(
                        "{}: {} and {other} are both called {}",
                        category.id(),
                        attribute.id(),
                        attribute.name(language)
                    );
                }
            }
        }
    }
}

#[test]
fn every_name_and_synonym_of_a_choice_leads_to_it() {
    for category in builtin().categories().filter(|category| category.accepts_offers() && is_own(*category)) {
        for used in category.attributes().filter(|used| used.kind().chooses()) {
            for choice in used.choices() {
                for name in [choice.name("en"), choice.name("ru")].into_iter().chain(choice.synonyms()) {
                    let read = used.read(name);
                    assert_eq!(read, Ok(vec![choice.id().into()]), "{}: {name}", used.attribute().id());
                }
            }
        }
    }
}

/// An offer that has what the category requires, made from the rules alone.
fn made_to_fit(category: Category<'_>) -> Item {
    let limits = category.limits();
    let mut item = Item {
        version: builtin().version(),
        category: category.id().into(),
        title: "x".repeat(limits.title.least.max(1) as usize),
        description: "x".repeat(limits.description.least as usize),
        photos: limits.photos.least as usize,
        ..Item::default()
    };
    item.condition =
        category.conditions().next().filter(|_| limits.condition_required).map(|found| found.id().into());
    item.price = limits.price_kinds().next().filter(|_| limits.price_required).map(|kind| OwnedPrice {
        kind,
        amount: (kind != PriceKind::Free).then(|| Decimal::from(1)),
        upper: None,
        currency: Some("RUB".into()),
    });
    for used in category.attributes() {
        item.attributes.insert(used.attribute().id().into(), vec![some_value(used)]);
    }
    item
}

fn some_value(used: Use<'_>) -> OwnedValue {
    match used.kind() {
        Kind::Text { min_length, characters, .. } => {
            let c = characters.as_ref().and_then(|set| set.chars().next()).unwrap_or('x');
            OwnedValue::Text(c.to_string().repeat(*min_length as usize))
        }
        Kind::Whole { min, .. } => OwnedValue::Whole(*min),
        Kind::Decimal { min, .. } => OwnedValue::Decimal(min.unwrap_or_default()),
        Kind::YesNo => OwnedValue::YesNo(true),
        Kind::Date { min, .. } => OwnedValue::Date(Date::max(*min, Date::new(2020, 1, 1).unwrap())),
        Kind::One | Kind::Several { .. } => used.choices().next().unwrap().id().into(),
    }
}

#[test]
fn every_open_category_can_be_satisfied() {
    let mut open = 0;
    for category in builtin().categories().filter(|category| category.accepts_offers()) {
        open += 1;
        let violations = builtin().validate(&made_to_fit(category));
        assert!(violations.is_empty(), "{}: {violations:?}", category.id());
    }
    assert!(open > 13_000, "{open}");
}

#[test]
fn goods_can_stand_in_all_categories_but_the_roots() {
    let accepts = |id: &str| builtin().category(id).unwrap().accepts_offers();
    assert!(accepts("fr-22"), "sofas, although corner sofas stand below");
    assert!(accepts("hg-11-7-41"), "refrigerators");
    assert!(!accepts("fr"), "a root says too little");
    assert!(!accepts("vp-1-3"), "a closed branch stays closed");
    assert!(!accepts("real-estate/flats"), "own branches say it themselves: a flat is for sale or for rent");
}

#[test]
fn every_open_category_has_attributes_and_every_attribute_is_used() {
    let mut used = BTreeSet::new();
    for category in builtin().categories().filter(|category| category.accepts_offers()) {
        assert!(category.attributes().len() > 0, "{}", category.id());
        used.extend(category.attributes().map(|used| used.attribute().id()));
    }
    let unused: Vec<&str> =
        builtin().attributes().map(catalog::Attribute::id).filter(|id| !used.contains(id)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn closed_branches_lead_to_open_ones() {
    for category in builtin().categories().filter(|category| category.is_closed()) {
        assert!(!category.accepts_offers());
        if let Some(instead) = category.instead() {
            assert!(!instead.is_closed(), "{} leads to {}", category.id(), instead.id());
        }
    }
    let cars = builtin().category("vp-2-2-1-2-1").unwrap();
    assert_eq!(
        cars.path("en"),
        "Vehicles & Parts > Vehicles > Motor Vehicles > Cars, Trucks & Vans > Non-Electric Vehicles > Cars"
    );
    assert_eq!(cars.instead().unwrap().id(), "transport/cars");
}

#[test]
fn a_car_has_what_people_ask_about_it() {
    let cars = builtin().category("transport/cars").unwrap();
    let ids: BTreeSet<&str> = cars.attributes().map(|used| used.attribute().id()).collect();
    for id in [
        "car-make",
        "vehicle-model",
        "year",
        "mileage",
        "engine-volume",
        "gearbox",
        "body",
        "drive",
        "owners",
        "vin",
    ] {
        assert!(ids.contains(id), "{id}");
    }
    let makes = cars.attribute("car-make").unwrap();
    assert!(makes.choices().count() > 120);
    assert_eq!(makes.attribute().choice("toyota").unwrap().name("ru"), "Тойота");
}

#[test]
fn the_embedded_files_are_small_and_carry_the_notice() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let sizes = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    assert!(sizes.sum::<u64>() < 700_000);
    let notice = std::fs::read_to_string(data.join("LICENSE.shopify")).unwrap();
    assert!(notice.starts_with("Copyright (c) Shopify"));
    assert!(builtin().memory_bytes() < 20 * 1024 * 1024);
}
