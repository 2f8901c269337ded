//! What is wrong with an offer.

use std::sync::LazyLock;

use catalog::Catalogue;
use offers::validation::{self, violations};
use proptest::prelude::*;
use wire::torg::offers::v1::__buffa::oneof::{price, source};
use wire::torg::offers::v1::price::{Free, Negotiable, PriceRange};
use wire::torg::offers::v1::source::Feed;
use wire::torg::offers::v1::{
    Condition, Contacts, Coordinates, Money, Offer, Photo, Place, Price, Source, Values, Video,
};

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::builtin().unwrap());

fn values(values: &[&str]) -> Values {
    Values { values: values.iter().map(|value| (*value).to_owned()).collect(), ..Values::default() }
}

fn money(micros: i64, currency: &str) -> Money {
    Money { micros, currency: currency.into(), ..Money::default() }
}

fn price(kind: impl Into<price::Kind>) -> Price {
    Price { kind: Some(kind.into()), ..Price::default() }
}

fn photo(url: &str) -> Photo {
    Photo { source_url: url.into(), ..Photo::default() }
}

fn sound() -> Offer {
    let attributes = [
        ("car-make", "bmw"),
        ("vehicle-model", "320i"),
        ("year", "2019"),
        ("mileage", "64000"),
        ("body", "sedan"),
        ("fuel", "petrol"),
        ("gearbox", "automatic"),
        ("engine-volume", "1.99"),
        ("crashed", "false"),
        ("vin", "WBA8E9G55GNT12345"),
    ];
    let feed = Feed { namespace: "main".into(), external_id: "42".into(), ..Feed::default() };
    let coordinates = Coordinates { latitude: 52.5, longitude: 13.4, ..Coordinates::default() };
    Offer {
        seller: "s1".into(),
        category: "transport/cars".into(),
        title: "BMW 320i, one owner".into(),
        description: "Runs well.\n\tNo rust.".into(),
        price: price(money(18_500_000_000, "EUR")).into(),
        attributes: attributes.map(|(name, value)| (name.to_owned(), values(&[value]))).into(),
        photos: vec![photo("https://example.com/1.jpg"), photo("http://example.com/2.jpg")],
        video: Video { url: "https://example.com/v".into(), ..Video::default() }.into(),
        place: Place {
            address: "Berlin, Hauptstr. 1".into(),
            coordinates: coordinates.into(),
            ..Place::default()
        }
        .into(),
        contacts: Contacts {
            name: "Anna".into(),
            phones: vec!["+49 30 123456".into()],
            email: "anna@example.com".into(),
            ..Contacts::default()
        }
        .into(),
        condition: Condition::CONDITION_USED.into(),
        source: Source { kind: Some(source::Kind::from(feed)), ..Source::default() }.into(),
        ..Offer::default()
    }
}

/// What is wrong, as `field: code`.
fn wrong(offer: &Offer) -> Vec<String> {
    let mut wrong: Vec<String> = violations(&CATALOGUE, offer)
        .iter()
        .map(|found| format!("{}: {}", found.field, found.code))
        .collect();
    wrong.sort();
    wrong
}

#[test]
fn a_sound_offer_may_stand() {
    assert_eq!(violations(&CATALOGUE, &sound()), []);
}

#[test]
fn an_offer_that_is_broken_in_twelve_ways_is_told_all_of_them() {
    let mut offer = sound();
    offer.seller = "s".repeat(validation::SELLER_BYTES_MAX + 1);
    offer.title = "ab".into();
    offer.description = "a\u{0}b".into();
    offer.price = price(money(-1_000_000, "XXX")).into();
    offer.attributes.remove("year");
    offer.attributes.insert("mileage".into(), values(&["much"]));
    offer.attributes.insert("body".into(), values(&["sedann"]));
    offer.photos.push(photo("ftp://example.com/3.jpg"));
    offer.contacts.get_or_insert_default().phones.push("030 123456".into());
    offer.contacts.get_or_insert_default().email = "anna".into();
    offer.place.get_or_insert_default().coordinates.get_or_insert_default().latitude = f64::NAN;
    let expected = [
        "attributes.body: unknown_value",
        "attributes.mileage: wrong_type",
        "attributes.year: required",
        "contacts.email: wrong_email",
        "contacts.phones[1]: wrong_phone",
        "description: control_character",
        "photos[2].source_url: wrong_url",
        "place.coordinates.latitude: out_of_range",
        "price.fixed.currency: unknown_currency",
        "price.fixed.micros: negative",
        "seller: too_long",
        "title: too_short",
    ];
    assert_eq!(wrong(&offer), expected);
    assert!(violations(&CATALOGUE, &offer).iter().all(|found| !found.text.is_empty()));
}

#[test]
fn values_of_attributes_are_read_by_their_kind() {
    for (name, value, code) in [
        ("year", "2019.0", None),
        ("year", "2019.5", Some("wrong_type")),
        ("year", "1700", Some("too_small")),
        ("year", "99999999999999999999", Some("wrong_type")),
        ("engine-volume", "2", None),
        ("engine-volume", "1,6", Some("wrong_type")),
        ("engine-volume", "1.667", Some("too_precise")),
        ("crashed", "true", None),
        ("crashed", "yes", Some("wrong_type")),
        ("vin", "WBA8E9", Some("too_short")),
        ("vin", "short", Some("bad_character")),
        ("gearbox", "Automatic", Some("unknown_value")),
        ("colour", "red", Some("unknown_attribute")),
        ("vehicle-model", "", Some("required")),
        ("vehicle-model", "a\u{7}", Some("control_character")),
    ] {
        let mut offer = sound();
        offer.attributes.insert(name.into(), values(&[value]));
        let expected: Vec<String> = code.iter().map(|code| format!("attributes.{name}: {code}")).collect();
        assert_eq!(wrong(&offer), expected, "{name} = {value:?}");
    }
    let mut offer = sound();
    offer.attributes.insert("crashed".into(), values(&[]));
    offer.attributes.insert("fuel".into(), values(&["petrol", "diesel"]));
    assert_eq!(wrong(&offer), ["attributes.crashed: required", "attributes.fuel: too_many_values"]);
}

#[test]
fn dates_have_one_form() {
    let with = |date: &str| {
        let mut offer = Offer { category: "services/events".into(), ..sound() };
        let category = CATALOGUE
            .categories()
            .find(|category| category.accepts_offers() && category.attribute("event-date").is_some());
        offer.category = category.unwrap().id().into();
        offer.attributes = [("event-date".to_owned(), values(&[date]))].into();
        wrong(&offer).contains(&"attributes.event-date: wrong_type".to_owned())
    };
    assert!(!with("2026-05-01"));
    for date in ["01.05.2026", "20260501", "2026-05-01T10:00", "2026-13-01", "2026-02-30", "soon", ""] {
        assert!(with(date), "{date}");
    }
}

#[test]
fn prices_are_named_as_the_contract_names_them() {
    let range = |from, to| PriceRange { from, to, ..PriceRange::default() };
    let jobs = CATALOGUE
        .categories()
        .find(|category| {
            category.accepts_offers() && category.limits().allows_price(catalog::PriceKind::Range)
        })
        .unwrap();
    let of = |price: Price, category: &str| {
        let offer = Offer { price: price.into(), category: category.into(), ..sound() };
        let mut wrong = wrong(&offer);
        wrong.retain(|found| found.starts_with("price"));
        wrong
    };
    let (cars, jobs) = ("transport/cars", jobs.id());
    assert_eq!(of(Price::default(), cars), ["price: required"]);
    assert_eq!(of(price(Free::default()), cars), ["price.free: value_not_allowed"]);
    assert_eq!(of(price(money(1_000_000, "")), cars), ["price.fixed.currency: required"]);
    assert_eq!(of(price(money(1_234_567, "EUR")), cars), ["price.fixed.micros: too_precise"]);
    assert_eq!(of(price(money(0, "EUR")), cars), ["price.fixed.micros: too_small"]);
    let talks = |from: Option<Money>| price(Negotiable { from: from.into(), ..Negotiable::default() });
    assert_eq!(of(talks(None), cars), [""; 0]);
    assert_eq!(of(talks(Some(money(i64::MIN, "EUR"))), cars), ["price.negotiable.from.micros: negative"]);
    let (low, high) = (money(1_000_000_000, "EUR"), money(2_000_000_000, "EUR"));
    assert_eq!(of(price(range(low.clone().into(), high.clone().into())), jobs), [""; 0]);
    assert_eq!(
        of(price(range(high.clone().into(), low.clone().into())), jobs),
        ["price.range.to.micros: range_reversed"]
    );
    assert_eq!(of(price(range(None.into(), None.into())), jobs), ["price.range.from.micros: required"]);
    assert_eq!(
        of(price(range(None.into(), money(5_000_000, "XXX").into())), jobs),
        ["price.range.to.currency: unknown_currency"]
    );
    let dollars = money(3_000_000_000, "USD");
    assert_eq!(
        of(price(range(low.into(), dollars.into())), jobs),
        ["price.range.to.currency: two_currencies"]
    );
}

/// Breaks an offer.
type Break = Box<dyn Fn(&mut Offer)>;

#[test]
fn everything_has_a_limit() {
    let text = |length: usize| "x".repeat(length + 1);
    let feed = |namespace: String, external_id: String| {
        let feed = Feed { namespace, external_id, ..Feed::default() };
        Source { kind: Some(source::Kind::from(feed)), ..Source::default() }
    };
    let cases: Vec<(&str, Break)> = vec![
        ("seller: required", Box::new(|offer| offer.seller.clear())),
        ("seller: control_character", Box::new(|offer| offer.seller = "a\nb".into())),
        ("title: control_character", Box::new(|offer| offer.title = "two\nlines".into())),
        (
            "source.feed.namespace: too_long",
            Box::new(move |offer| {
                offer.source = feed(text(validation::NAMESPACE_BYTES_MAX), "1".into()).into();
            }),
        ),
        (
            "source.feed.external_id: too_long",
            Box::new(move |offer| {
                offer.source = feed("n".into(), text(validation::EXTERNAL_ID_BYTES_MAX)).into();
            }),
        ),
        (
            "source.feed.external_id: required",
            Box::new(move |offer| offer.source = feed("n".into(), String::new()).into()),
        ),
        (
            "video.url: too_long",
            Box::new(move |offer| {
                offer.video.get_or_insert_default().url =
                    format!("https://{}", text(validation::URL_BYTES_MAX));
            }),
        ),
        (
            "place.address: too_long",
            Box::new(move |offer| {
                offer.place.get_or_insert_default().address = text(validation::ADDRESS_CHARS_MAX);
            }),
        ),
        (
            "place.place_id: too_long",
            Box::new(move |offer| {
                offer.place.get_or_insert_default().place_id = text(validation::PLACE_ID_BYTES_MAX);
            }),
        ),
        (
            "contacts.name: too_long",
            Box::new(move |offer| {
                offer.contacts.get_or_insert_default().name = text(validation::CONTACT_NAME_CHARS_MAX);
            }),
        ),
        (
            "contacts.phones: too_many",
            Box::new(|offer| {
                offer.contacts.get_or_insert_default().phones =
                    vec!["+49 30 123456".into(); validation::PHONES_MAX + 1];
            }),
        ),
        (
            "photos: too_many",
            Box::new(|offer| offer.photos = vec![photo("https://a/b"); validation::PHOTOS_MAX + 1]),
        ),
        (
            "attributes.vin: too_many",
            Box::new(|offer| {
                offer.attributes.insert("vin".into(), values(&["x"; validation::VALUES_MAX + 1]));
            }),
        ),
        (
            "attributes: unknown_value",
            Box::new(move |offer| {
                offer.attributes.insert(text(validation::ATTRIBUTE_NAME_BYTES_MAX), values(&["x"]));
            }),
        ),
        (
            "attributes: too_many",
            Box::new(|offer| {
                for n in 0..validation::ATTRIBUTES_MAX {
                    offer.attributes.insert(format!("a{n}"), values(&["x"]));
                }
            }),
        ),
        (
            ": offer_too_large",
            Box::new(move |offer| offer.description = text(offers::limits::OFFER_BYTES_MAX)),
        ),
        ("condition: unknown_value", Box::new(|offer| offer.condition = 77.into())),
    ];
    for (expected, breaks) in cases {
        let mut offer = sound();
        breaks(&mut offer);
        assert!(wrong(&offer).contains(&expected.to_owned()), "{expected} not in {:?}", wrong(&offer));
    }
}

proptest! {
    #[test]
    fn strange_texts_are_told_and_never_too_much(
        texts in prop::collection::vec("\\PC{0,30}|.{0,10}", 8),
        micros: i64,
        degrees: f64,
    ) {
        let mut offer = sound();
        offer.seller.clone_from(&texts[0]);
        offer.category.clone_from(&texts[1]);
        offer.title.clone_from(&texts[2]);
        offer.attributes.insert(texts[3].clone(), values(&[&texts[4]]));
        offer.contacts.get_or_insert_default().phones.push(texts[5].clone());
        offer.contacts.get_or_insert_default().email.clone_from(&texts[6]);
        offer.price = price(money(micros, &texts[7])).into();
        offer.place.get_or_insert_default().coordinates.get_or_insert_default().longitude = degrees;
        prop_assert!(violations(&CATALOGUE, &offer).len() <= validation::VIOLATIONS_MAX);
    }
}
