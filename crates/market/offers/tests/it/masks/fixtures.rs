//! Offers in which every field is set, and shorthands.

use buffa_types::google::protobuf::{FieldMask, Timestamp};
use offers::masks::{ReadMask, UpdateMask};
use wire::torg::offers::v1::__buffa::oneof::{price, source};
use wire::torg::offers::v1::price::{Free, Negotiable, PriceRange};
use wire::torg::offers::v1::source::{Feed, Manual};
use wire::torg::offers::v1::{
    Author, Condition, Contacts, Coordinates, Money, Offer, Photo, Place, Price, Source, Status,
    StatusReason, Values, Video, author,
};

pub(crate) fn mask(paths: &[&str]) -> FieldMask {
    FieldMask::from_paths(paths.iter().copied())
}

pub(crate) fn read(paths: &[&str], offer: &Offer) -> Offer {
    ReadMask::parse(&mask(paths)).unwrap().reduce(offer.clone())
}

pub(crate) fn update(paths: &[&str], to: &Offer, from: &Offer) -> Offer {
    let mut changed = to.clone();
    UpdateMask::parse(&mask(paths)).unwrap().apply(&mut changed, from).unwrap();
    changed
}

pub(crate) fn money(micros: i64) -> Money {
    Money { micros, currency: "EUR".into(), ..Money::default() }
}

pub(crate) fn price(kind: impl Into<Option<price::Kind>>) -> Price {
    Price { kind: kind.into(), ..Price::default() }
}

pub(crate) fn values(values: &[&str]) -> Values {
    Values { values: values.iter().map(|value| (*value).to_owned()).collect(), ..Values::default() }
}

pub(crate) fn time(seconds: i64) -> Timestamp {
    Timestamp { seconds, ..Timestamp::default() }
}

/// An offer in which every field is set, to something that the seed decides.
pub(crate) fn full(seed: u8) -> Offer {
    let text = |name: &str| format!("{name} {seed}");
    let n = i64::from(seed) + 1;
    let kind: price::Kind = match seed % 4 {
        0 => money(n).into(),
        1 => Free::default().into(),
        2 => Negotiable { from: money(n).into(), ..Negotiable::default() }.into(),
        _ => PriceRange { from: money(n).into(), to: money(2 * n).into(), ..PriceRange::default() }.into(),
    };
    let origin: source::Kind = if seed.is_multiple_of(2) {
        Feed { namespace: text("feed"), external_id: text("external"), ..Feed::default() }.into()
    } else {
        Manual::default().into()
    };
    let author = Author { kind: author::Kind::KIND_ADMIN.into(), name: text("author"), ..Author::default() };
    let reason = StatusReason {
        code: text("code"),
        text: text("text"),
        author: author.clone().into(),
        ..StatusReason::default()
    };
    let coordinates =
        Coordinates { latitude: f64::from(seed) + 1.0, longitude: 2.0, ..Coordinates::default() };
    let photo = Photo { source_url: text("https://a/"), width: 5, height: 6, ..Photo::default() };
    let attributes = [("color", "red"), ("engine-volume", "1.6"), ("Farbe", "rot"), ("цвет", "красный")];
    Offer {
        id: text("id"),
        seller: text("seller"),
        category: text("category"),
        title: text("title"),
        description: text("description"),
        price: price(kind).into(),
        attributes: attributes.map(|(name, value)| (name.to_owned(), values(&[value, &text("v")]))).into(),
        photos: vec![photo],
        video: Video { url: text("video"), ..Video::default() }.into(),
        place: Place {
            address: text("a"),
            place_id: text("p"),
            coordinates: coordinates.into(),
            ..Place::default()
        }
        .into(),
        contacts: Contacts {
            name: text("n"),
            phones: vec![text("+1")],
            email: text("e"),
            chat: true,
            ..Contacts::default()
        }
        .into(),
        condition: Condition::CONDITION_USED.into(),
        source: Source { kind: Some(origin), ..Source::default() }.into(),
        status: Status::STATUS_SOLD.into(),
        status_reason: reason.into(),
        status_time: time(n).into(),
        create_time: time(n + 1).into(),
        update_time: time(n + 2).into(),
        expire_time: time(n + 3).into(),
        version: u64::from(seed) + 1,
        ..Offer::default()
    }
}
