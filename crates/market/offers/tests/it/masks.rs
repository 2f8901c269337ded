//! Field masks over offers.

mod fixtures;
mod properties;

use offers::masks::{MASK_PATH_BYTES_MAX, MASK_PATHS_MAX, MaskError, ReadMask, UpdateMask, sellers_part};
use wire::torg::offers::v1::__buffa::oneof::price;
use wire::torg::offers::v1::price::Free;
use wire::torg::offers::v1::{
    Author, Contacts, Coordinates, GetOfferRequest, Money, Offer, Photo, Place, StatusReason,
};

use fixtures::{full, mask, money, price, read, update, values};

#[test]
fn a_read_mask_leaves_exactly_what_it_names() {
    let offer = full(0);
    let author = Author { name: "author 0".into(), ..Author::default() };
    let cases: Vec<(&[&str], Offer)> = vec![
        (&["title"], Offer { title: "title 0".into(), ..Offer::default() }),
        (&["title", "version"], Offer { title: "title 0".into(), version: 1, ..Offer::default() }),
        (
            &["place.address"],
            Offer { place: Place { address: "a 0".into(), ..Place::default() }.into(), ..Offer::default() },
        ),
        (
            &["place.coordinates.longitude"],
            Offer {
                place: Place {
                    coordinates: Coordinates { longitude: 2.0, ..Coordinates::default() }.into(),
                    ..Place::default()
                }
                .into(),
                ..Offer::default()
            },
        ),
        (
            &["contacts.phones"],
            Offer {
                contacts: Contacts { phones: vec!["+1 0".into()], ..Contacts::default() }.into(),
                ..Offer::default()
            },
        ),
        (
            &["status_reason.code", "status_reason.author.name"],
            Offer {
                status_reason: StatusReason {
                    code: "code 0".into(),
                    author: author.into(),
                    ..StatusReason::default()
                }
                .into(),
                ..Offer::default()
            },
        ),
        (&["price"], Offer { price: price(price::Kind::from(money(1))).into(), ..Offer::default() }),
        (
            &["price.fixed.micros"],
            Offer {
                price: price(price::Kind::from(Money { micros: 1, ..Money::default() })).into(),
                ..Offer::default()
            },
        ),
        // The price is of another kind.
        (&["price.range.from"], Offer::default()),
        (&["place", "place.address"], Offer { place: offer.place.clone(), ..Offer::default() }),
        (&["attributes"], Offer { attributes: offer.attributes.clone(), ..Offer::default() }),
    ];
    for (paths, expected) in cases {
        assert_eq!(read(paths, &offer), expected, "{paths:?}");
    }
    for everything in [&[][..], &["*"], &["title", "*"]] {
        assert_eq!(read(everything, &offer), offer);
    }
}

#[test]
fn attributes_are_read_by_their_names_however_json_wrote_them() {
    let names = |paths: &[&str]| read(paths, &full(0)).attributes.into_keys().collect::<Vec<_>>();
    assert_eq!(names(&["attributes.color"]), ["color"]);
    assert_eq!(names(&["attributes.engine-volume"]), ["engine-volume"]);
    assert_eq!(names(&["attributes.engine_volume"]), ["engine-volume"]);
    assert_eq!(names(&["attributes._farbe"]), ["Farbe"]);
    assert_eq!(names(&["attributes.Farbe", "attributes.цвет"]), ["Farbe", "цвет"]);
    assert_eq!(names(&["attributes.`engine-volume`"]), ["engine-volume"]);
    assert_eq!(names(&["attributes.`engine_volume`"]), [""; 0]);
    assert_eq!(names(&["attributes.FARBE"]), [""; 0]);
}

#[test]
fn a_mask_in_json_names_attributes_by_words_in_camel_case() {
    let names = |mask: &str| {
        let json = format!(r#"{{"id":"1","readMask":"{mask}"}}"#);
        let request: GetOfferRequest = serde_json::from_str(&json).unwrap();
        let mask = ReadMask::parse(request.read_mask.as_option().unwrap()).unwrap();
        mask.reduce(full(0)).attributes.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(names("title,attributes.engineVolume"), ["engine-volume"]);
    assert_eq!(names("attributes.Farbe"), ["Farbe"]);
    assert_eq!(names("attributes.color,attributes.engineVolume,place.placeId"), ["color", "engine-volume"]);
    // The codec refuses the rest before Torg sees it.
    for refused in
        ["attributes.engine-volume", "attributes.engine_volume", "attributes.3d", "attributes.цвет"]
    {
        let json = format!(r#"{{"readMask":"{refused}"}}"#);
        assert!(serde_json::from_str::<GetOfferRequest>(&json).is_err(), "{refused}");
    }
}

#[test]
fn a_path_that_no_offer_has_is_refused_with_the_nearest_one() {
    for (path, nearest) in [
        ("titel", Some("title")),
        ("place.adress", Some("place.address")),
        ("statusReason", Some("status_reason")),
        ("title.text", Some("title")),
        ("photos.source_url", Some("photos")),
        ("contacts.phones.0", Some("contacts.phones")),
        ("create_time.seconds", Some("create_time")),
        ("attributes.", Some("attributes")),
        ("attributes.``", Some("attributes")),
        ("keeping", None),
        ("keeping.author", None),
        ("", None),
        (".", None),
        ("*.title", Some("title")),
    ] {
        let expected = MaskError::Unknown { path: path.into(), nearest: nearest.map(Into::into) };
        assert_eq!(ReadMask::parse(&mask(&["title", path])), Err(expected.clone()));
        assert_eq!(UpdateMask::parse(&mask(&["title", path])), Err(expected));
    }
    let text = ReadMask::parse(&mask(&["titel"])).unwrap_err().to_string();
    assert_eq!(text, "an offer has no field `titel`; did you mean `title`?");
}

#[test]
fn masks_have_limits() {
    let long = format!("attributes.{}", "x".repeat(MASK_PATH_BYTES_MAX));
    assert!(matches!(ReadMask::parse(&mask(&[&long])), Err(MaskError::PathTooLong { .. })));
    let many = vec!["title"; MASK_PATHS_MAX + 1];
    assert!(matches!(UpdateMask::parse(&mask(&many)), Err(MaskError::TooManyPaths { .. })));
    assert!(ReadMask::parse(&mask(&many[1..])).is_ok());
}

#[test]
fn what_only_torg_sets_cannot_be_changed() {
    let torgs = [
        "id",
        "seller",
        "source",
        "source.feed.namespace",
        "status",
        "status_reason.code",
        "version",
        "create_time",
    ];
    for path in torgs {
        let refused = UpdateMask::parse(&mask(&["title", path]));
        assert_eq!(refused, Err(MaskError::NotSellers { path: path.into() }));
    }
}

#[test]
fn a_change_sets_what_its_mask_names_and_nothing_else() {
    let (old, new) = (full(0), full(2));
    let cases: Vec<(&[&str], Offer)> = vec![
        (&["title"], Offer { title: new.title.clone(), ..old.clone() }),
        (&["condition", "video"], Offer { video: new.video.clone(), ..old.clone() }),
        (&["price"], Offer { price: new.price.clone(), ..old.clone() }),
        (&["attributes"], Offer { attributes: new.attributes.clone(), ..old.clone() }),
        (
            &["place.address"],
            Offer { place: Place { address: "a 2".into(), ..(*old.place).clone() }.into(), ..old.clone() },
        ),
        (
            &["contacts.phones", "contacts.email"],
            Offer {
                contacts: Contacts {
                    phones: vec!["+1 2".into()],
                    email: "e 2".into(),
                    ..(*old.contacts).clone()
                }
                .into(),
                ..old.clone()
            },
        ),
    ];
    for (paths, expected) in cases {
        assert_eq!(update(paths, &old, &new), expected, "{paths:?}");
    }
}

#[test]
fn a_change_of_everything_takes_what_a_seller_sets() {
    let (old, new) = (full(0), full(3));
    for paths in [&[][..], &["*"], &["*", "title"]] {
        let changed = update(paths, &old, &new);
        let photo = Photo { source_url: new.photos[0].source_url.clone(), ..Photo::default() };
        assert_eq!((&changed.title, &changed.price, &changed.photos), (&new.title, &new.price, &vec![photo]));
        assert_eq!((&changed.id, &changed.seller, &changed.source), (&old.id, &old.seller, &old.source));
        assert_eq!((&changed.status_reason, changed.version), (&old.status_reason, old.version));
    }
    assert_eq!(update(&[], &old, &Offer::default()).title, "");
    let part = sellers_part(&new);
    assert_eq!(
        (part.id, part.seller, part.version, part.title),
        (String::new(), String::new(), 0, new.title)
    );
}

#[test]
fn an_emptied_part_of_a_message_empties_it_and_makes_none() {
    let empty = Offer::default();
    assert!(update(&["place.address"], &empty, &empty).place.is_unset());
    assert!(update(&["price.fixed.micros", "price.free"], &empty, &empty).price.is_unset());
    let placed =
        Offer { place: Place { address: "here".into(), ..Place::default() }.into(), ..empty.clone() };
    assert!(update(&["place.address"], &placed, &empty).place.is_unset());
    assert_eq!(update(&["place.address"], &empty, &placed), placed);
    assert_eq!(update(&["place.place_id"], &placed, &empty), placed);
}

#[test]
fn a_kind_of_price_takes_the_place_of_another_only_if_there_is_one() {
    let offer = |kind: Option<price::Kind>| Offer { price: price(kind).into(), ..Offer::default() };
    let (fixed, free) = (offer(Some(money(5).into())), offer(Some(Free::default().into())));
    let dear = offer(Some(Money { micros: 9, currency: "USD".into(), ..Money::default() }.into()));
    assert_eq!(update(&["price.free"], &fixed, &free), free);
    assert_eq!(update(&["price.fixed"], &free, &fixed), fixed);
    assert_eq!(update(&["price.range"], &fixed, &free), fixed);
    assert_eq!(update(&["price.fixed"], &fixed, &free), Offer::default());
    let mixed = Money { micros: 9, currency: "EUR".into(), ..Money::default() };
    assert_eq!(update(&["price.fixed.micros"], &fixed, &dear), offer(Some(mixed.into())));
    let bare = Money { micros: 5, ..Money::default() };
    assert_eq!(update(&["price.fixed.micros"], &free, &fixed), offer(Some(bare.into())));
}

/// Attributes with one value each.
type Pairs = &'static [(&'static str, &'static str)];

#[test]
fn one_attribute_is_set_replaced_or_removed() {
    let attributes = |pairs: &[(&str, &str)]| Offer {
        attributes: pairs.iter().map(|(name, value)| ((*name).to_owned(), values(&[value]))).collect(),
        ..Offer::default()
    };
    let old = attributes(&[("color", "red"), ("engine-volume", "1.6")]);
    let new = attributes(&[("engine-volume", "2.0"), ("doors", "5")]);
    let cases: [(&[&str], Pairs); 5] = [
        (&["attributes.engine-volume"], &[("color", "red"), ("engine-volume", "2.0")]),
        (&["attributes.engine_volume"], &[("color", "red"), ("engine-volume", "2.0")]),
        (&["attributes.color"], &[("engine-volume", "1.6")]),
        (&["attributes.doors"], &[("color", "red"), ("engine-volume", "1.6"), ("doors", "5")]),
        (
            &["attributes.`engine_volume`", "attributes.unknown"],
            &[("color", "red"), ("engine-volume", "1.6")],
        ),
    ];
    for (paths, expected) in cases {
        assert_eq!(update(paths, &old, &new), attributes(expected), "{paths:?}");
    }
    let mut twice = attributes(&[("engine-volume", "1.6"), ("engineVolume", "1.6")]);
    let ambiguous = UpdateMask::parse(&mask(&["title", "attributes.engine_volume"])).unwrap();
    let error = ambiguous.apply(&mut twice, &Offer { title: "new".into(), ..new }).unwrap_err();
    assert!(error.to_string().contains("engine-volume or engineVolume"), "{error}");
    assert_eq!(twice.title, "");
}

#[test]
fn a_photo_keeps_what_torg_knows_of_it_and_a_seller_cannot_say_it() {
    let known = Photo { source_url: "https://a/1".into(), width: 800, height: 600, ..Photo::default() };
    let liar = |url: &str| Photo { source_url: url.into(), width: 1, ..Photo::default() };
    let old = Offer { photos: vec![known.clone()], ..Offer::default() };
    let new = Offer { photos: vec![liar("https://a/2"), liar("https://a/1")], ..Offer::default() };
    let unknown = Photo { source_url: "https://a/2".into(), ..Photo::default() };
    assert_eq!(update(&["photos"], &old, &new).photos, [unknown, known.clone()]);
    assert_eq!(update(&["title"], &old, &new).photos, [known]);
}
