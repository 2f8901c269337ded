//! A category has what its ancestors have, and what it adds or narrows itself.

use crate::common::small;
use catalog::{Kind, PriceKind};

#[test]
fn attributes_are_inherited_in_the_order_of_the_ancestors() {
    let catalogue = small();
    let ids = |category: &str| -> Vec<String> {
        let category = catalogue.category(category).unwrap();
        category.attributes().map(|used| used.attribute().id().to_owned()).collect()
    };
    assert_eq!(ids("vehicles"), ["make", "mileage", "fuel", "weight"]);
    assert_eq!(
        ids("vehicles/cars"),
        ["make", "mileage", "fuel", "weight", "code", "electric", "inspected", "options"]
    );
    assert_eq!(ids("vehicles/bicycles"), ["make", "mileage", "fuel", "weight"]);
}

#[test]
fn a_child_makes_an_attribute_required_and_its_range_narrower() {
    let catalogue = small();
    let (above, cars) =
        (catalogue.category("vehicles").unwrap(), catalogue.category("vehicles/cars").unwrap());
    assert!(!above.attribute("mileage").unwrap().required());
    let mileage = cars.attribute("mileage").unwrap();
    assert!(mileage.required());
    assert_eq!(*mileage.kind(), Kind::Whole { min: 0, max: 300_000 });
    assert_eq!(*mileage.attribute().kind(), Kind::Whole { min: 0, max: 500_000 });
    let fuels: Vec<&str> =
        cars.attribute("fuel").unwrap().choices().map(|choice| choice.name("ru")).collect();
    assert_eq!(fuels, ["Бензин", "Дизель"]);
    assert_eq!(above.attribute("fuel").unwrap().choices().count(), 3);
}

#[test]
fn limits_are_inherited_until_a_category_has_its_own() {
    let catalogue = small();
    let limits = |category: &str| catalogue.category(category).unwrap().limits().clone();
    assert_eq!(limits("vehicles/cars"), limits("vehicles"));
    assert!(limits("vehicles/cars").allows_price(PriceKind::Free));
    let bicycles = limits("vehicles/bicycles");
    assert_eq!(bicycles.price_kinds().collect::<Vec<_>>(), [PriceKind::Fixed]);
    assert_eq!(bicycles.title, limits("vehicles").title);
    assert!(!bicycles.condition_required);
}

#[test]
fn offers_stand_in_leaves_and_a_closed_branch_is_closed_to_its_end() {
    let catalogue = small();
    let accepts = |category: &str| catalogue.category(category).unwrap().accepts_offers();
    assert!(accepts("vehicles/cars") && !accepts("vehicles") && !accepts("old/things"));
    let old = catalogue.category("old/things").unwrap();
    assert!(old.is_closed());
    assert_eq!(old.instead().unwrap().id(), "vehicles/parts");
}

#[test]
fn the_tree_can_be_walked_both_ways() {
    let catalogue = small();
    let roots: Vec<&str> = catalogue.roots().map(catalog::Category::id).collect();
    assert_eq!(roots, ["vehicles", "old"]);
    let cars = catalogue.category("vehicles/cars").unwrap();
    assert_eq!(cars.parent().unwrap().id(), "vehicles");
    assert_eq!(cars.depth(), 1);
    assert!(cars.is_within(catalogue.category("vehicles").unwrap()));
    assert!(!cars.is_within(catalogue.category("old").unwrap()));
    let children: Vec<&str> = cars.parent().unwrap().children().map(catalog::Category::id).collect();
    assert_eq!(children, ["vehicles/cars", "vehicles/bicycles", "vehicles/parts"]);
    assert_eq!(cars.name("fr"), "Cars", "an unknown language gets the first");
}
