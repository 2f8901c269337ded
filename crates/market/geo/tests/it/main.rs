//! Addresses as people write them, and the places they mean.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::{Arc, OnceLock};

use geo::{Builtin, Geocoder, Hints, Places, Point};

fn places() -> &'static Places {
    static PLACES: OnceLock<Places> = OnceLock::new();
    PLACES.get_or_init(|| Places::builtin().unwrap())
}

/// Name, country and region of the place that an address means.
#[track_caller]
fn found(address: &str, hints: Hints<'_>) -> String {
    let Some(found) = places().find(address, hints) else { return "nothing".to_owned() };
    let place = found.best.place;
    format!("{} {}-{}", place.name(), place.country(), place.region())
}

#[track_caller]
fn finds(cases: &[(&str, &str)]) {
    for (address, wanted) in cases {
        assert_eq!(found(address, Hints::default()), *wanted, "{address}");
    }
}

#[test]
fn a_name_is_found_in_russian_and_english_and_in_its_own_language() {
    finds(&[
        ("Москва", "Moscow RU-48"),
        ("Moscow", "Moscow RU-48"),
        ("Питер", "Saint Petersburg RU-66"),
        ("СПб", "Saint Petersburg RU-66"),
        ("Köln", "Köln DE-07"),
        ("München", "Munich DE-02"),
        ("Нью-Йорк", "New York City US-NY"),
        ("Астана", "Astana KZ-05"),
        ("Orël", "Orël RU-56"),
        ("Орёл", "Orël RU-56"),
    ]);
}

#[test]
fn a_declined_name_is_found() {
    finds(&[
        ("в Москве", "Moscow RU-48"),
        ("Продаю в Казани", "Kazan RU-73"),
        ("в Нижнем Новгороде", "Nizhniy Novgorod RU-51"),
        ("из Набережных Челнов", "Naberezhnyye Chelny RU-73"),
        ("в Орле", "Orël RU-56"),
        ("в Ростове-на-Дону", "Rostov-on-Don RU-61"),
        ("в Перми", "Perm RU-90"),
    ]);
}

#[test]
fn streets_and_houses_do_not_matter() {
    finds(&[
        ("г. Санкт-Петербург, Невский пр., 1", "Saint Petersburg RU-66"),
        ("109012, г.Москва, ул. Ильинка, д.4", "Moscow RU-48"),
        ("Москва, Киевское шоссе, 6", "Moscow RU-48"),
        ("Москва ул. Тверская 7", "Moscow RU-48"),
        ("Екатеринбург, улица Москва, 3", "Yekaterinburg RU-71"),
        ("10 Downing Street, London", "London GB-ENG"),
        ("Unter den Linden 5, 10117 Berlin", "Berlin DE-16"),
    ]);
}

#[test]
fn region_and_country_choose_between_namesakes() {
    finds(&[
        ("London", "London GB-ENG"),
        ("London, ON", "London CA-08"),
        ("London, Ontario, Canada", "London CA-08"),
        ("Berlin, Germany", "Berlin DE-16"),
        ("Казань, Республика Татарстан", "Kazan RU-73"),
        ("Киров", "Kirov RU-33"),
        ("Киров, Калужская область", "Kirov RU-25"),
        ("Калужская обл., г. Киров", "Kirov RU-25"),
        ("Московская область, Химки", "Khimki RU-47"),
        ("Paris, TX", "Paris US-TX"),
        ("Portland, OR 97201", "Portland US-OR"),
        ("Portland, Maine", "Portland US-ME"),
        ("Birmingham, Alabama", "Birmingham US-AL"),
        ("Россия, Благовещенск, Республика Башкортостан", "Blagoveshchensk RU-08"),
    ]);
}

#[test]
fn hints_decide_what_the_address_leaves_open_and_no_more() {
    let canada = Hints { country: Some("CA"), region: Some("08") };
    assert_eq!(found("London", canada), "London CA-08");
    assert_eq!(found("London, United Kingdom", canada), "London GB-ENG");
    assert_eq!(found("Springfield", Hints { country: Some("US"), region: Some("MO") }), "Springfield US-MO");
}

#[test]
fn equally_likely_places_are_told() {
    let springfield = places().find("Springfield", Hints::default()).unwrap();
    assert!(springfield.is_ambiguous(), "{springfield:?}");
    assert!(springfield.second.unwrap().place.name().starts_with("Springfield"));
    for address in ["Москва", "London, ON", "Springfield, Illinois", "Берлин"] {
        let found = places().find(address, Hints::default()).unwrap();
        assert!(!found.is_ambiguous(), "{address}: {found:?}");
    }
}

#[test]
fn a_suburb_is_preferred_to_its_city_and_a_far_namesake_is_not() {
    finds(&[
        ("Москва, Зеленоград", "Zelenograd RU-48"),
        ("Санкт-Петербург, Пушкин", "Pushkin RU-66"),
        ("Brooklyn, New York, NY", "Brooklyn US-NY"),
        ("Новосибирск, Омск", "Novosibirsk RU-53"),
    ]);
}

#[test]
fn what_names_no_place_finds_nothing() {
    for address in ["", "  ", "ул. Ленина, 5", "12345", "самовывоз со склада", "!!!", "область"]
    {
        assert_eq!(found(address, Hints::default()), "nothing", "{address}");
    }
}

#[test]
fn ids_are_those_of_geonames() {
    let moscow = places().get("524901").unwrap();
    assert_eq!((moscow.name(), moscow.id().as_str()), ("Moscow", "524901"));
    assert_eq!(moscow.country_name("ru"), Some("Россия"));
    let kazan = places().get("551487").unwrap();
    assert_eq!(kazan.region_name("ru"), Some("Татарстан"));
    assert!(places().get("1").is_none() && places().get("moscow").is_none());
    assert_eq!(places().len(), 34_006);
}

#[test]
fn nearly_every_first_name_leads_to_its_place_or_to_a_namesake() {
    let is_lost = |place: &geo::Place<'_>| {
        let hints = Hints { country: Some(place.country()), region: Some(place.region()) };
        let candidates = places().candidates(place.name(), hints);
        !candidates.iter().any(|found| found.place.country() == place.country())
    };
    let lost: Vec<&str> = places().all().filter(is_lost).map(geo::Place::name).collect();
    assert!(lost.len() < 40, "{lost:?}");
}

#[test]
fn a_point_belongs_to_its_city() {
    let at = |latitude, longitude| {
        let (place, km) = places().locate(Point::new(latitude, longitude).unwrap()).unwrap();
        (place.name().to_owned(), km)
    };
    assert_eq!(at(55.75, 37.62).0, "Moscow");
    assert_eq!(at(55.67, 37.55).0, "Moscow", "although a district is nearer");
    assert_eq!(at(55.89, 37.44).0, "Khimki");
    assert_eq!(at(59.93, 30.36).0, "Saint Petersburg");
    assert_eq!(at(40.71, -74.0).0, "New York City");
    assert!(at(43.6, 39.73).1 < 5.0);
    assert!(places().locate(Point::new(-60.0, -120.0).unwrap()).is_none(), "the ocean");
    assert!(Point::new(91.0, 0.0).is_none() && Point::new(f64::NAN, 0.0).is_none());
}

#[tokio::test]
async fn the_built_in_places_are_a_geocoder_too() {
    let builtin: Box<dyn Geocoder> = Box::new(Builtin::new(Arc::new(Places::builtin().unwrap())));
    let found = builtin.find("Springfield", Hints::default()).await.unwrap().unwrap();
    assert!(found.or_else.is_some());
    let found = builtin.find("в Казани", Hints::default()).await.unwrap().unwrap();
    assert_eq!((found.place_id.as_str(), found.or_else), ("551487", None));
    let point = Point::new(52.5, 13.4).unwrap();
    assert_eq!(builtin.locate(point).await.unwrap().unwrap().name, "Berlin");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn the_tree_finds_what_a_walk_over_all_places_finds(latitude in -90.0..90.0f64, longitude in -180.0..180.0f64) {
        let point = Point::new(latitude, longitude).unwrap();
        let (_, km) = places().nearest(point).unwrap();
        let least = places().all().map(|place| place.point().distance_km(point)).fold(f64::INFINITY, f64::min);
        proptest::prop_assert!((km - least).abs() < 0.01, "{km} {least}");
    }

    #[test]
    fn no_text_does_harm(text in "\\PC{0,300}") {
        let found = places().candidates(&text, Hints::default());
        proptest::prop_assert!(found.len() <= geo::limits::CANDIDATES_MAX);
    }
}
