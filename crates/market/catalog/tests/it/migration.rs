//! From one version of a catalogue to the next.

use crate::common::{SMALL, car, small};
use catalog::{Catalogue, Item, Migration, MigrationReport, Outcome, OwnedValue, Sources};
use proptest::prelude::*;

/// What version 2 of the small catalogue does: cars are divided by what they run on, bicycles and
/// parts become one, miles replace kilometres, `make` is called `brand`, petrol and gas are one
/// fuel, and nobody asks for a code any more.
const MIGRATION: &str = r#"
[migration]
from = 1
to = 2
about = "cars are divided by fuel"

[[category]]
from = "vehicles/cars"
by = "fuel"
into = { petrol = "vehicles/cars/engine", diesel = "vehicles/cars/engine", electric = "vehicles/cars/engine" }
otherwise = "vehicles/cars/unknown"

[[category]]
from = ["vehicles/bicycles", "vehicles/parts"]
to = "vehicles/other"

[[attribute]]
from = "make"
to = "brand"
[[attribute]]
from = "mileage"
unit = ["km", "mi"]
[[attribute]]
from = "fuel"
values = { petrol = "fluid", diesel = "fluid" }
[[attribute]]
from = "options"
values = { hook = "heater" }
[[attribute]]
from = "code"
remove = true
"#;

fn second_text() -> String {
    let cars = SMALL.find("[category.\"vehicles/cars\"]").unwrap();
    let tail = r#"
[category."vehicles/cars"]
name = { en = "Cars", ru = "Легковые автомобили" }
required = ["mileage"]
optional = ["electric", "inspected", "options"]
[category."vehicles/cars/engine"]
name = { en = "Cars with engine", ru = "С двигателем" }
[category."vehicles/cars/unknown"]
name = { en = "Other cars", ru = "Прочие" }
[category."vehicles/other"]
name = { en = "Other", ru = "Прочее" }
[category.old]
name = { en = "Old things", ru = "Старое" }
closed = true
[category."old/things"]
name = { en = "Very old things", ru = "Очень старое" }
"#;
    format!("{}{tail}", &SMALL[..cars])
        .replace("version = 1", "version = 2")
        .replace("[attribute.make]", "[attribute.brand]")
        .replace("required = [\"make\"]", "required = [\"brand\"]")
        .replace("[attribute.code]\nname = { en = \"Code\", ru = \"Код\" }\ntype = \"text\"\nlength = [4, 4]\ncharacters = \"ABC123\"\n", "")
        .replace("unit = \"km\"\nmin = 0\nmax = 500000", "unit = \"mi\"\nmin = 0\nmax = 200000")
        .replace("petrol = { en = \"Petrol\", ru = \"Бензин\", also = [\"gasoline\"] }\ndiesel = { en = \"Diesel\", ru = \"Дизель\" }", "fluid = { en = \"Fluid\", ru = \"Жидкое\" }")
        .replace("hook = { en = \"Tow bar\", ru = \"Фаркоп\" }\n", "")
}

fn second() -> Catalogue {
    Sources::new().text("second.toml", &second_text()).load().unwrap()
}

fn migration() -> Migration {
    Migration::read("1-2.toml", MIGRATION, Some(&small()), &second()).unwrap()
}

fn moved(item: &Item) -> Item {
    match migration().apply(item, &second()) {
        Outcome::Moved(item) => *item,
        other => panic!("{other:?}"),
    }
}

/// `field: code` of everything that could not be moved.
fn obstacles(item: &Item) -> Vec<String> {
    match migration().apply(item, &second()) {
        Outcome::Stuck(obstacles) => {
            obstacles.iter().map(|found| format!("{}: {}", found.field, found.hindrance.code())).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn with(attribute: &str, values: &[OwnedValue]) -> Item {
    let mut item = car();
    item.attributes.insert(attribute.into(), values.to_vec());
    item
}

#[test]
fn a_category_is_divided_by_the_value_of_an_attribute() {
    assert_eq!(moved(&with("fuel", &["diesel".into()])).category, "vehicles/cars/engine");
    assert_eq!(moved(&car()).category, "vehicles/cars/unknown", "no fuel is told: otherwise");
}

#[test]
fn a_category_is_divided_by_the_range_of_a_number() {
    let by_range = MIGRATION.replace(
        "by = \"fuel\"\ninto = { petrol = \"vehicles/cars/engine\", diesel = \"vehicles/cars/engine\", electric = \"vehicles/cars/engine\" }\notherwise = \"vehicles/cars/unknown\"",
        "by = \"mileage\"\nranges = [{ below = 1000, to = \"vehicles/cars/engine\" }, { to = \"vehicles/cars/unknown\" }]",
    );
    let migration = Migration::read("1-2.toml", &by_range, Some(&small()), &second()).unwrap();
    let category = |mileage: i64| match migration.apply(&with("mileage", &[mileage.into()]), &second()) {
        Outcome::Moved(item) => item.category,
        other => panic!("{other:?}"),
    };
    assert_eq!(category(999), "vehicles/cars/engine");
    assert_eq!(category(1000), "vehicles/cars/unknown");
    let mut without = car();
    without.attributes.remove("mileage");
    assert!(
        matches!(migration.apply(&without, &second()), Outcome::Stuck(found) if found[0].hindrance.code() == "no_rule_fits")
    );
}

#[test]
fn categories_are_merged_and_attributes_renamed_converted_and_kept_as_leftover() {
    let bicycle = Item { category: "vehicles/bicycles".into(), ..car() };
    let moved_bicycle = moved(&bicycle);
    assert_eq!((moved_bicycle.category.as_str(), moved_bicycle.version), ("vehicles/other", 2));
    assert_eq!(moved_bicycle.attributes["brand"], ["Volga".into()]);
    assert_eq!(moved_bicycle.attributes["mileage"], [OwnedValue::Whole(74_565)]);
    assert_eq!(moved_bicycle.title, bicycle.title);

    let coded = moved(&with("code", &["AB12".into()]));
    assert!(!coded.attributes.contains_key("code"));
    assert_eq!(coded.leftover["code"], ["AB12".into()]);

    assert_eq!(moved(&with("fuel", &["petrol".into()])).attributes["fuel"], ["fluid".into()]);
    let options = moved(&with("options", &["heater".into(), "hook".into()]));
    assert_eq!(options.attributes["options"], ["heater".into()], "two that became one are one");
}

#[test]
fn a_moved_offer_is_sound_in_the_new_catalogue() {
    assert!(second().validate(&moved(&with("fuel", &["petrol".into()]))).is_empty());
}

#[test]
fn a_second_time_changes_nothing() {
    let once = moved(&car());
    assert_eq!(migration().apply(&once, &second()), Outcome::UpToDate);
}

#[test]
fn what_cannot_be_moved_is_told_and_left_as_it_is() {
    assert_eq!(obstacles(&Item { category: "nowhere".into(), ..car() }), ["category: category_gone"]);
    assert_eq!(obstacles(&Item { version: 0, ..car() }), ["category: wrong_version"]);
    assert_eq!(obstacles(&with("mileage", &["far".into()])), ["attributes.mileage: cannot_convert"]);
    assert_eq!(obstacles(&with("mileage", &[OwnedValue::Whole(499_999)])), ["attributes.mileage: too_large"]);
    assert_eq!(obstacles(&with("brand", &["Lada".into()])), ["attributes.make: target_taken"]);
    assert_eq!(obstacles(&with("fuel", &["steam".into()])), ["attributes.fuel: unknown_value"]);
    assert_eq!(obstacles(&with("wings", &[2.into()])), ["attributes.wings: unknown_attribute"]);
}

#[test]
fn a_report_counts_and_names_examples() {
    let mut report = MigrationReport::default();
    let (migration, second) = (migration(), second());
    let offers = [car(), moved(&car()), with("mileage", &["far".into()]), with("mileage", &["near".into()])];
    for (number, offer) in offers.iter().enumerate() {
        report.note(&format!("offer-{number}"), &migration.apply(offer, &second));
    }
    assert_eq!((report.moved, report.up_to_date, report.stuck), (1, 1, 2));
    assert_eq!(report.examples[0].0, "offer-2");
    assert_eq!(
        report.to_string(),
        "moved 1, already moved 1, could not be moved 2\n  attributes.mileage: cannot_convert, 2 times"
    );
}

#[test]
fn the_step_for_the_deepest_branch_counts() {
    let text = MIGRATION.replace(
        "[[attribute]]\nfrom = \"make\"\nto = \"brand\"\n",
        "[[attribute]]\nfrom = \"make\"\nto = \"brand\"\n[[attribute]]\nfrom = \"make\"\nremove = true\nwithin = \"vehicles/other\"\n",
    );
    let migration = Migration::read("1-2.toml", &text, Some(&small()), &second()).unwrap();
    let bicycle = Item { category: "vehicles/bicycles".into(), ..car() };
    let Outcome::Moved(bicycle) = migration.apply(&bicycle, &second()) else { panic!() };
    assert!(bicycle.leftover.contains_key("make") && !bicycle.attributes.contains_key("brand"));
    let Outcome::Moved(car) = migration.apply(&car(), &second()) else { panic!() };
    assert!(car.attributes.contains_key("brand"));
}

/// Problems of a migration that differs from the right one.
fn problems(from: &str, to: &str) -> Vec<String> {
    assert!(MIGRATION.contains(from), "{from}");
    let error =
        Migration::read("1-2.toml", &MIGRATION.replacen(from, to, 1), Some(&small()), &second()).unwrap_err();
    error.problems.iter().map(|problem| format!("{}: {}", problem.line, problem.what)).collect()
}

#[test]
fn a_migration_that_forgets_something_is_refused() {
    assert_eq!(
        problems("[[attribute]]\nfrom = \"code\"\nremove = true\n", ""),
        ["2: the attribute `code` is gone, and no step handles it"]
    );
    assert_eq!(
        problems("[\"vehicles/bicycles\", \"vehicles/parts\"]", "\"vehicles/bicycles\""),
        ["2: the category `vehicles/parts` is gone, and no step moves its offers"]
    );
    assert_eq!(
        problems("[[attribute]]\nfrom = \"mileage\"\nunit = [\"km\", \"mi\"]\n", ""),
        ["2: the unit of `mileage` changed, and no step converts it"]
    );
    assert_eq!(
        problems("petrol = \"fluid\", ", ""),
        ["2: the value `petrol` of `fuel` is gone, and no step handles it"]
    );
    assert_eq!(
        problems(", electric = \"vehicles/cars/engine\" }\notherwise = \"vehicles/cars/unknown\"", " }"),
        ["7: no branch is for the value `electric` of `fuel`"]
    );
}

#[test]
fn a_migration_that_does_not_fit_is_refused_with_its_line() {
    assert_eq!(
        problems("to = \"vehicles/other\"", "to = \"vehicles/othr\""),
        ["13: there is no category `vehicles/othr` in version 2"]
    );
    assert_eq!(
        problems("to = \"brand\"", "to = \"brnd\""),
        ["17: there is no attribute `brnd` in version 2"]
    );
    assert_eq!(problems("diesel = \"fluid\"", "diesel = \"fluit\""), ["23: `fuel` has no value `fluit`"]);
    assert_eq!(
        problems("[\"km\", \"mi\"]", "[\"km\", \"kg\"]"),
        ["20: `mileage` cannot go from `km` to `kg`"]
    );
    assert!(problems("remove = true", "remov = true").contains(&"31: unknown key `remov`".to_owned()));
    assert_eq!(problems("to = 2", "to = 3").len(), 2);
    assert_eq!(
        problems(
            "from = [\"vehicles/bicycles\", \"vehicles/parts\"]",
            "from = [\"vehicles/bicycles\", \"vehicles/parts\", \"vehicles/cars\"]"
        ),
        ["13: `vehicles/cars` is moved twice, first at 1-2.toml:7"]
    );
}

fn any_value() -> impl Strategy<Value = OwnedValue> {
    prop_oneof![
        prop::sample::select(vec![
            "petrol", "diesel", "electric", "fluid", "radio", "hook", "heater", "AB12", ""
        ])
        .prop_map(OwnedValue::from),
        any::<i64>().prop_map(OwnedValue::Whole),
        (0i64..600_000).prop_map(OwnedValue::Whole),
        any::<bool>().prop_map(OwnedValue::YesNo),
    ]
}

fn any_item() -> impl Strategy<Value = Item> {
    let categories = vec![
        "vehicles/cars",
        "vehicles/bicycles",
        "vehicles/parts",
        "vehicles/cars/engine",
        "old/things",
        "x",
    ];
    let attributes = vec!["make", "brand", "mileage", "fuel", "options", "code", "weight", "x"];
    let values = prop::collection::vec(any_value(), 0..3);
    (
        0u32..4,
        prop::sample::select(categories),
        prop::collection::btree_map(prop::sample::select(attributes).prop_map(String::from), values, 0..5),
    )
        .prop_map(|(version, category, attributes)| Item {
            version,
            category: category.into(),
            attributes,
            ..Item::default()
        })
}

proptest! {
    #[test]
    fn applying_twice_is_applying_once_and_nothing_is_lost(item in any_item()) {
        let (migration, second) = (migration(), second());
        let first = migration.apply(&item, &second);
        match &first {
            Outcome::Moved(moved) => {
                prop_assert_eq!(migration.apply(moved, &second), Outcome::UpToDate);
                let fields = |item: &Item| item.attributes.len() + item.leftover.len();
                prop_assert_eq!(fields(moved), fields(&item));
                prop_assert_eq!(moved.version, 2);
            }
            Outcome::UpToDate => prop_assert!(item.version >= 2),
            Outcome::Stuck(obstacles) => prop_assert!(!obstacles.is_empty()),
        }
        prop_assert_eq!(migration.apply(&item, &second), first);
    }
}
