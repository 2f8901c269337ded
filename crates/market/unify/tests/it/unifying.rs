//! What becomes of offers of feeds.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use catalog::{Catalogue, Decimal, OwnedValue};
use geo::{Geocoder, Hints, Located, Places, Point};
use unify::{Input, MarkKind, Param, Reason, Unified, Unifier, path_key};

fn unifier() -> &'static Unifier {
    static UNIFIER: OnceLock<Unifier> = OnceLock::new();
    UNIFIER.get_or_init(|| {
        let catalogue = Arc::new(Catalogue::builtin().unwrap());
        Unifier::new(catalogue, Arc::new(Places::builtin().unwrap())).unwrap()
    })
}

fn unify(input: &Input<'_>) -> Unified {
    unifier().session().unify(input)
}

fn param<'i>(name: &'i str, value: &'i str) -> Param<'i> {
    Param { name, value, unit: "" }
}

fn kinds(unified: &Unified) -> Vec<(MarkKind, &str)> {
    unified.marks.iter().map(|mark| (mark.kind, mark.field.as_str())).collect()
}

#[track_caller]
fn category(input: &Input<'_>) -> (String, Reason) {
    let found = unify(input).category.unwrap();
    (found.id, found.reason)
}

#[test]
fn a_category_comes_with_its_reason_and_the_next_likely_one() {
    let found =
        unify(&Input {
            title: "Диван угловой серый", path: &["Мебель", "Диваны"], ..Input::default()
        })
        .category
        .unwrap();
    assert_eq!((found.id.as_str(), found.reason), ("fr-22-3", Reason::PathAndTitle));
    let (second, points) = found.second.unwrap();
    assert!(second.starts_with("fr-") && points <= found.points, "{second}");
    assert_eq!(category(&Input { title: "Диван угловой", ..Input::default() }).1, Reason::Title);
    assert_eq!(
        category(&Input { title: "Jax 100500", path: &["Холодильники"], ..Input::default() }),
        ("hg-11-7-41".into(), Reason::Path)
    );
}

#[test]
fn the_sellers_mapping_wins_over_everything() {
    let path = ["Каталог", "Диваны!"];
    let mapping = BTreeMap::from([(path_key(&["каталог", "диваны"]), "hg-11-7-41".to_owned())]);
    let input =
        Input { title: "Диван угловой", path: &path, google: Some("460"), ..Input::default() };
    let found = unifier().session_with(&mapping).unify(&input).category.unwrap();
    assert_eq!((found.id.as_str(), found.reason, found.points), ("hg-11-7-41", Reason::Mapping, 1000));
    let stale = BTreeMap::from([(path_key(&path), "no-such-category".to_owned())]);
    let found = unifier().session_with(&stale).unify(&input).category.unwrap();
    assert_eq!(found.id, "fr-22-3", "what the catalogue does not have any more decides nothing");
}

#[test]
fn ids_of_our_own_and_of_google_are_known() {
    let id = Input { title: "Что-то", category: Some("transport/cars"), ..Input::default() };
    assert_eq!(category(&id), ("transport/cars".into(), Reason::Id));
    let closed = Input { title: "Something", category: Some("vp-2-2-6"), ..Input::default() };
    assert_eq!(
        category(&closed).0,
        "transport/motorcycles/snowmobiles",
        "a closed category leads to the one that replaces it"
    );
    for google in ["267", "Electronics > Communications > Telephony > Mobile Phones", "267 - Mobile Phones"] {
        let found = category(&Input { title: "Nokia 3310", google: Some(google), ..Input::default() });
        assert!(found.0.starts_with("el-4-8-5"), "{google}: {found:?}");
    }
    let finer = Input { title: "Corner sofa", google: Some("436"), ..Input::default() };
    assert_eq!(category(&finer).0, "fr-22-3", "the title says more than \"Furniture\"");
}

#[test]
fn what_is_done_with_a_thing_matters() {
    for (title, operation, wanted) in [
        ("2-к. квартира, 54 м²", "Продам", "real-estate/flats/sale"),
        ("2-к. квартира, 54 м²", "Сдам", "real-estate/flats/rent"),
    ] {
        let params = [param("OperationType", operation)];
        let input = Input { title, path: &["Квартиры"], params: &params, ..Input::default() };
        assert_eq!(category(&input).0, wanted, "{operation}");
    }
}

#[test]
fn what_is_not_recognised_is_marked_and_not_guessed() {
    let unified = unify(&Input {
        title: "Qwertyuiop 3000",
        path: &["Zxcvb"],
        params: &[param("Цвет", "синий")],
        ..Input::default()
    });
    assert_eq!(unified.category, None);
    assert_eq!(kinds(&unified), [(MarkKind::UnknownCategory, "category")]);
    assert_eq!(unified.marks[0].given, "Zxcvb");
    assert_eq!(unified.leftovers.len(), 1, "what the feed says is not lost");
    assert_eq!(unified.marks[0].kind.as_str(), "unknown_category");
}

#[test]
fn the_description_helps_when_the_title_says_nothing() {
    let input = Input {
        title: "Продаю недорого",
        description: "Холодильник двухкамерный, работает тихо",
        ..Input::default()
    };
    assert_eq!(category(&input), ("hg-11-7-41".into(), Reason::Description));
}

#[test]
fn attributes_are_read_by_the_catalogues_names() {
    let params = [
        param("Год выпуска", "2018"),
        param("Kilometrage", "95 тыс. км"),
        Param { name: "Объём двигателя", value: "2500", unit: "см³" },
        param("Transmission", "АКПП"),
        param("Цвет", "в крапинку"),
        param("Любимый цвет хозяина", "зелёный"),
    ];
    let unified = unify(&Input {
        title: "Toyota Camry, 2018, бензин",
        path: &["Автомобили"],
        params: &params,
        vendor: Some("Тойота"),
        model: Some("Camry"),
        ..Input::default()
    });
    let values = |id: &str| unified.attributes.get(id).cloned().unwrap_or_default();
    assert_eq!(values("year"), [OwnedValue::Whole(2018)]);
    assert_eq!(values("mileage"), [OwnedValue::Whole(95_000)]);
    assert_eq!(values("engine-volume"), [OwnedValue::Decimal(Decimal::parse("2.5").unwrap())]);
    assert_eq!(values("gearbox"), ["automatic".into()]);
    assert_eq!(values("car-make"), ["toyota".into()]);
    assert_eq!(values("vehicle-model"), ["Camry".into()]);
    assert_eq!(values("fuel"), ["petrol".into()], "from the title");
    assert_eq!(
        kinds(&unified),
        [
            (MarkKind::BadAttributeValue, "params.Цвет"),
            (MarkKind::UnknownAttribute, "params.Любимый цвет хозяина")
        ]
    );
    let left: Vec<&str> = unified.leftovers.iter().map(|left| left.name.as_str()).collect();
    assert_eq!(left, ["Цвет", "Любимый цвет хозяина"]);
}

#[test]
fn units_in_names_ranges_and_descriptions_are_read() {
    let params = [param("Вес, г", "1500"), param("Ширина (см)", "80-90")];
    let unified = unify(&Input {
        title: "Комод",
        path: &["Комоды"],
        description: "Хороший комод.\nЦвет: белый\nВысота: 1,2 м",
        params: &params,
        ..Input::default()
    });
    let values = |id: &str| unified.attributes.get(id).cloned().unwrap_or_default();
    assert_eq!(values("color"), ["white".into()]);
    assert_eq!(values("width").len(), 1, "{:?}", unified.marks);
    assert_eq!(values("height").len(), 1);
}

#[test]
fn a_place_comes_from_coordinates_or_from_the_address() {
    let place = |input: Input<'_>| unify(&Input { title: "Диван", ..input });
    assert_eq!(
        place(Input { address: Some("в Казани"), ..Input::default() }).place.unwrap().place_id,
        "551487"
    );
    let both =
        place(Input { address: Some("Казань"), point: Some((59.93, 30.33)), ..Input::default() });
    assert_eq!(both.place.unwrap().place_id, "498817", "coordinates win");
    let zero = place(Input { address: Some("Казань"), point: Some((0.0, 0.0)), ..Input::default() });
    assert_eq!(zero.place.unwrap().place_id, "551487");
    let sea = place(Input { point: Some((-60.0, -120.0)), ..Input::default() });
    assert_eq!(kinds(&sea), [(MarkKind::UnknownPlace, "coordinates")]);
    let nowhere = place(Input { address: Some("самовывоз"), ..Input::default() });
    assert_eq!(kinds(&nowhere), [(MarkKind::UnknownPlace, "address")]);
    let wrong = place(Input { point: Some((555.0, 37.0)), ..Input::default() });
    assert_eq!(kinds(&wrong), [(MarkKind::UnknownPlace, "coordinates")]);
    let many = place(Input { address: Some("Springfield"), ..Input::default() });
    assert_eq!(kinds(&many), [(MarkKind::AmbiguousPlace, "address")]);
    let hints = Hints { country: Some("US"), region: Some("MO") };
    assert!(place(Input { address: Some("Springfield"), hints, ..Input::default() }).marks.is_empty());
    assert!(place(Input::default()).marks.is_empty(), "an offer without a place is not wrong");
}

/// A geocoder that always fails.
struct Broken(geo::Error);

#[async_trait]
impl Geocoder for Broken {
    async fn find(&self, _: &str, _: Hints<'_>) -> geo::Result<Option<Located>> {
        Err(self.0.clone())
    }

    async fn locate(&self, _: Point) -> geo::Result<Option<Located>> {
        Err(self.0.clone())
    }
}

#[tokio::test]
async fn an_offer_goes_on_marked_when_the_geocoder_fails() {
    let input = Input {
        title: "Диван", address: Some("Казань, ул. Баумана"), ..Input::default()
    };
    let passing = unifier()
        .session()
        .unify_asking(&input, &Broken(geo::Error::GeocoderUnavailable("busy".to_owned())))
        .await;
    assert_eq!(kinds(&passing), [(MarkKind::GeocoderUnavailable, "address")]);
    assert!(passing.is_passing() && passing.category.is_some());
    let refused = geo::Error::GeocoderRefused("x".to_owned());
    let lasting = unifier().session().unify_asking(&input, &Broken(refused)).await;
    assert_eq!(kinds(&lasting), [(MarkKind::GeocoderRefused, "address")]);
    assert!(!lasting.is_passing());
}

#[test]
fn what_came_before_changes_nothing() {
    let inputs = [
        Input { title: "Диван угловой", path: &["Мебель"], ..Input::default() },
        Input { title: "Чехол для iPhone", path: &["Телефоны"], ..Input::default() },
        Input { title: "Шины", path: &["Мебель"], ..Input::default() },
        Input { title: "Диван угловой", path: &["Мебель"], ..Input::default() },
    ];
    let mut session = unifier().session();
    for input in inputs {
        assert_eq!(session.unify(&input), unify(&input), "{}", input.title);
    }
}

#[test]
fn a_title_tells_the_maker_and_the_model_if_the_feed_does_not() {
    let unified =
        unify(&Input { title: "iPhone 12 PRO MAX 512GB", path: &["Телефоны"], ..Input::default() });
    assert_eq!(unified.category.unwrap().id, "el-4-8-5");
    assert_eq!(unified.attributes["brand"], [OwnedValue::Text("Apple".into())]);
    assert_eq!(unified.attributes["model"], [OwnedValue::Text("iPhone 12 PRO MAX 512GB".into())]);
    let told = [param("Brand", "Noname")];
    let unified =
        unify(&Input {
            title: "Чехол iPhone", path: &["Телефоны"], params: &told, ..Input::default()
        });
    assert_ne!(unified.attributes.get("brand"), Some(&vec![OwnedValue::Text("Apple".into())]));
}

#[test]
fn a_choice_in_several_parts_is_the_first_that_is_one() {
    let colors = ["Pacific Blue/Тихоокеанский Синий", "тёмно-синий металлик"];
    for color in colors {
        let params = [param("Цвет", color)];
        let unified = unify(&Input { title: "iPhone 12", params: &params, ..Input::default() });
        assert!(unified.attributes.contains_key("color"), "{color}: {:?}", unified.marks);
    }
}

#[test]
fn what_a_feed_puts_into_a_root_goes_to_the_rest_of_that_root() {
    // Two letters of a make say nothing: "AC" is no car here.
    let title = "Elektrozawór 21H14KOE250-14W-AC-DC";
    let unified = unify(&Input { title, google: Some("536"), ..Input::default() });
    let found = unified.category.as_ref().unwrap();
    assert_eq!((found.id.as_str(), found.is_ambiguous), ("hg/other", true));
    assert_eq!(kinds(&unified), [(MarkKind::AmbiguousCategory, "category")]);
}

#[test]
fn long_texts_and_many_params_do_no_harm() {
    let long = "диван аксессуары для дома ".repeat(50_000);
    let path = [long.as_str(); 50];
    let params = vec![param("Цвет", &long); 1_000];
    let input = Input {
        title: &long,
        description: &long,
        path: &path,
        params: &params,
        vendor: Some(&long),
        address: Some(&long),
        ..Input::default()
    };
    let unified = unify(&input);
    assert!(unified.marks.iter().all(|mark| mark.given.len() < 1_000), "marks repeat only the beginning");
    assert!(unified.leftovers.len() >= 1_000, "nothing is lost");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_feed_says_the_category_takes_offers_and_nothing_is_lost(
        title in "\\PC{0,80}", part in "\\PC{0,40}", name in "\\PC{1,20}", value in "\\PC{1,40}", address in "\\PC{0,60}",
    ) {
        let (path, params) = ([part.as_str()], [param(&name, &value)]);
        let input = Input { title: &title, path: &path, params: &params, address: Some(&address), ..Input::default() };
        let unified = unify(&input);
        if let Some(found) = &unified.category {
            let catalogue = Catalogue::builtin().unwrap();
            proptest::prop_assert!(catalogue.category(&found.id).unwrap().accepts_offers());
        }
        let kept = unified.attributes.len() + unified.leftovers.len();
        proptest::prop_assert!(kept >= 1 || name.trim().is_empty() || value.trim().is_empty());
    }
}

#[test]
fn a_session_that_remembers_values_says_the_same_as_one_that_does_not() {
    let mut session = unifier().session();
    let colours = ["серый", "серый", "фиолетово", "серый", "фиолетово", "синй"];
    for (title, path) in [("Диван угловой", ["Мебель", "Диваны"]), ("Велосипед", ["Спорт", "Велосипеды"])]
    {
        for colour in colours {
            let params = [param("Цвет", colour), param("Материал", colour)];
            let input = Input { title, path: &path, params: &params, ..Input::default() };
            assert_eq!(session.unify(&input), unify(&input), "{title} {colour}");
        }
    }
}
