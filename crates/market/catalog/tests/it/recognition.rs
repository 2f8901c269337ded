//! What people and feeds call a category, an attribute, a value.

use crate::common::{builtin, small};
use catalog::{Date, Decimal, Fault, OwnedValue, Reason};

/// Id and reason of the surest candidate.
#[track_caller]
fn best(text: &str) -> (&'static str, Reason) {
    let candidates = builtin().find_category(text, None);
    let first = candidates.first().unwrap_or_else(|| panic!("nothing for {text}"));
    (first.category.id(), first.reason)
}

#[test]
fn an_id_is_recognised() {
    assert_eq!(best("ap-2-1"), ("ap-2-1", Reason::Id));
    assert_eq!(best("transport/cars"), ("transport/cars", Reason::Id));
}

#[test]
fn a_whole_path_is_recognised_in_both_languages() {
    assert_eq!(best("Animals & Pet Supplies > Pet Supplies > Bird Supplies"), ("ap-2-1", Reason::Path));
    assert_eq!(
        best("Животные и товары для питомцев > Товары для домашних животных > Товары для птиц"),
        ("ap-2-1", Reason::Path)
    );
    assert_eq!(best("transport|CARS"), ("transport/cars", Reason::Path));
    assert_eq!(best("Недвижимость / Квартиры / Продажа квартир"), ("real-estate/flats/sale", Reason::Path));
}

#[test]
fn a_part_of_a_path_chooses_between_equal_names() {
    let shirts = best("Clothing > Kids > Baby & Children's Tops > T-Shirts");
    let path = builtin().category(shirts.0).unwrap().path("en");
    assert!(path.contains("Baby & Children's"), "{path}");
    assert_eq!(shirts.1, Reason::PartOfPath);
    assert_eq!(best("Каталог > Транспорт > Автобусы").0, "transport/trucks/buses");
}

#[test]
fn the_part_above_is_taken_if_the_last_is_unknown() {
    let (id, reason) = best("Transport > Cars > Quuxmobiles 3000");
    assert_eq!((id, reason), ("transport/cars", Reason::PartOfPath));
}

#[test]
fn a_name_is_recognised_whatever_its_case_and_punctuation() {
    assert_eq!(best("легковые АВТОМОБИЛИ"), ("transport/cars", Reason::Name));
    assert_eq!(best("  bird   supplies "), ("ap-2-1", Reason::Name));
    assert_eq!(best("колеса в сборе").0, "transport/parts/wheels");
    assert_eq!(best("Колёса в сборе").0, "transport/parts/wheels");
}

#[test]
fn a_synonym_is_recognised() {
    assert_eq!(best("машины"), ("transport/cars", Reason::Synonym));
    assert_eq!(best("smartphones"), ("el-4-8-5", Reason::Synonym));
    assert_eq!(best("сантехник").0, "services/repair/plumbing");
    assert_eq!(best("купить квартиру").0, "real-estate/flats/sale");
    assert_eq!(best("холодильник").0, "hg-11-7-41");
}

#[test]
fn another_number_or_order_of_words_is_similar() {
    let (id, reason) = best("Supply Bird");
    assert_eq!((id, reason), ("ap-2-1", Reason::Similar));
    assert_eq!(best("Велосипед").0, "sg-4-4-3");
    assert_eq!(best("аренда квартиры").0, "real-estate/flats/rent");
}

#[test]
fn words_give_a_guess_that_says_so() {
    let candidates = builtin().find_category("куплю старую клетку для птиц недорого", Some("ru"));
    assert_eq!(candidates[0].reason, Reason::Words);
    assert!(candidates[0].points < 650);
    assert!(candidates.iter().any(|found| found.category.id().starts_with("ap-2-1")));
    assert!(builtin().find_category("qwertyuiop", None).is_empty());
    assert!(builtin().find_category("  &&& ", None).is_empty());
}

#[test]
fn open_branches_are_preferred_to_closed_ones() {
    let candidates = builtin().find_category("Snowmobiles", None);
    assert_eq!(candidates[0].category.id(), "transport/motorcycles/snowmobiles");
    let closed = candidates.iter().find(|found| found.category.id() == "vp-2-2-6").unwrap();
    assert_eq!(closed.category.instead().unwrap().id(), "transport/motorcycles/snowmobiles");
}

#[test]
fn the_wanted_language_is_preferred() {
    let catalogue = small();
    let found = catalogue.find_category("Cars", Some("ru"));
    let same = catalogue.find_category("Cars", Some("en"));
    assert_eq!((found[0].category.id(), same[0].category.id()), ("vehicles/cars", "vehicles/cars"));
    assert!(found[0].points < same[0].points);
}

#[test]
fn every_name_and_every_path_of_the_built_in_catalogue_leads_back_to_its_category() {
    let catalogue = builtin();
    for category in catalogue.categories() {
        for language in ["en", "ru"] {
            let path = category.path(language);
            if path.chars().count() > catalog::limits::QUERY_CHARS_MAX || !path.contains('>') {
                continue;
            }
            let found = catalogue.find_category(&path, Some(language));
            let hit = found.iter().find(|candidate| candidate.category == category);
            assert!(hit.is_some_and(|hit| hit.reason == Reason::Path), "{path}");
            assert_eq!(found[0].reason, Reason::Path, "{path}");
        }
    }
}

#[test]
fn a_long_or_strange_text_does_no_harm() {
    for text in
        ["a > ".repeat(10_000), "я".repeat(100_000), ">>>>".into(), "\u{0}\u{1}".into(), String::new()]
    {
        assert!(builtin().find_category(&text, None).len() <= catalog::limits::CANDIDATES_MAX);
    }
}

#[test]
fn an_attribute_is_found_by_its_name_within_its_category() {
    let cars = builtin().category("transport/cars").unwrap();
    let found = |text: &str| cars.find_attribute(text).map(|used| used.attribute().id());
    assert_eq!(found("mileage"), Some("mileage"));
    assert_eq!(found("ПРОБЕГ"), Some("mileage"));
    assert_eq!(found("марка"), Some("car-make"), "not that of motorcycles");
    assert_eq!(found("кпп"), Some("gearbox"));
    assert_eq!(found("Количество комнат"), None, "flats have rooms, cars do not");
}

#[test]
fn values_are_read_as_people_write_them() {
    let cars = builtin().category("transport/cars").unwrap();
    let read = |attribute: &str, text: &str| cars.attribute(attribute).unwrap().read(text);
    let whole = |number: i64| Ok(vec![OwnedValue::Whole(number)]);
    assert_eq!(read("mileage", "120 000 км"), whole(120_000));
    assert_eq!(read("mileage", "75,000 miles"), whole(120_701));
    assert_eq!(read("mileage", "85 тыс. км"), whole(85_000));
    assert_eq!(read("mileage", "85\u{a0}000"), whole(85_000));
    assert_eq!(read("power", "100 кВт"), whole(136));
    assert_eq!(read("engine-volume", "1,6 л"), Ok(vec![Decimal::parse("1.6").unwrap().into()]));
    assert_eq!(read("engine-volume", "1998 см³"), Ok(vec![Decimal::parse("2").unwrap().into()]));
    assert_eq!(read("gearbox", "АКПП"), Ok(vec!["automatic".into()]));
    assert_eq!(read("car-make", "Мерседес"), Ok(vec!["mercedes-benz".into()]));
    assert_eq!(read("crashed", "нет"), Ok(vec![false.into()]));
    assert_eq!(
        read("car-options", "Люк; парктроники, ABS"),
        Ok(vec!["sunroof".into(), "parking-sensors".into(), "abs".into()])
    );
    assert_eq!(read("mileage", "120 kg"), Err(Fault::WrongType { wanted: "whole" }));
    assert_eq!(read("mileage", "a lot"), Err(Fault::WrongType { wanted: "whole" }));
    let wrong = read("fuel", "Дизл").unwrap_err();
    assert_eq!(wrong, Fault::UnknownValue { given: "Дизл".into(), suggestion: Some("diesel".into()) });
    let ticket = builtin().category("ae-1").unwrap().attribute("event-date").unwrap();
    for text in ["2026-03-09", "09.03.2026", "9/3/2026"] {
        assert_eq!(ticket.read(text), Ok(vec![Date::new(2026, 3, 9).unwrap().into()]), "{text}");
    }
    assert!(ticket.read("31.02.2026").is_err());
    let land = builtin().category("real-estate/land/sale").unwrap().attribute("land-area").unwrap();
    assert_eq!(land.read("1,5 га"), Ok(vec![Decimal::from(150).into()]));
}

#[test]
fn a_choice_is_found_without_a_suggestion() {
    let cars = builtin().category("transport/cars").unwrap();
    let found = |attribute: &str, text: &str| {
        cars.attribute(attribute).unwrap().find_choice(text).map(|choice| choice.id().to_owned())
    };
    assert_eq!(found("gearbox", "АКПП").as_deref(), Some("automatic"));
    assert_eq!(found("car-make", "bmw").as_deref(), Some("bmw"));
    assert_eq!(found("fuel", "Дизл"), None);
    assert_eq!(found("mileage", "100"), None);
}

#[test]
fn pairs_of_name_and_value_are_read_from_a_text() {
    let cars = builtin().category("transport/cars").unwrap();
    let read = |text: &str| -> Vec<(String, Vec<OwnedValue>)> {
        cars.read_pairs(text)
            .into_iter()
            .map(|(used, values)| (used.attribute().id().to_owned(), values))
            .collect()
    };
    let text = "Продаю ласточку!\nПробег: 120 тыс. км.\nКоробка: автомат; Объём двигателя: 1,6 л | Цвет: в крапинку\nПробег: 5 км";
    assert_eq!(
        read(text),
        [
            ("mileage".to_owned(), vec![OwnedValue::Whole(120_000)]),
            ("gearbox".to_owned(), vec!["automatic".into()]),
            ("engine-volume".to_owned(), vec![Decimal::parse("1.6").unwrap().into()]),
        ]
    );
    let in_line = read("Mileage: 75,000 mi, Gearbox: CVT, Number of rooms: 3");
    assert_eq!(in_line[0], ("mileage".to_owned(), vec![OwnedValue::Whole(120_701)]));
    assert_eq!(in_line[1], ("gearbox".to_owned(), vec!["cvt".into()]));
    assert_eq!(in_line.len(), 2);
    assert!(read("no pairs here").is_empty());
}
