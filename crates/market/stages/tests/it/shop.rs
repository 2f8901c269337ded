//! What is for sale, and by which catalogue.

use std::sync::Arc;

use catalog::{Catalogue, Sources};
use wire::torg::offers::v1::{Money, Offer, Photo, Place, Price, Values, Video};

/// The catalogue of most cases.
const CATALOGUE: &str = r#"
[catalogue]
name = "market"
version = 1
languages = ["en"]
currencies = ["EUR", "USD"]
title = [1, 100]
description = [0, 5000]
photos = [0, 20]
price = { kinds = ["fixed", "negotiable", "free", "range"], required = false, max = 100000000000 }
condition = { allowed = ["used"], required = false }

[condition.used]
name = { en = "Used" }

[attribute.brand]
name = { en = "Brand" }
type = "text"
[attribute.frame]
name = { en = "Frame" }
type = "one"
[attribute.frame.values]
steel = { en = "Steel" }
carbon = { en = "Carbon" }

[category.bikes]
name = { en = "Bikes" }
optional = ["brand", "frame"]
[category.toys]
name = { en = "Toys" }
"#;

pub(crate) fn catalogue() -> Arc<Catalogue> {
    catalogue_of(CATALOGUE)
}

pub(crate) fn catalogue_of(text: &str) -> Arc<Catalogue> {
    Arc::new(Sources::new().text("market.toml", text).load().unwrap())
}

/// A bike of `ann` for so many euros.
pub(crate) fn bike(euros: i64) -> Offer {
    Offer {
        seller: "ann".to_owned(),
        title: "A bike".to_owned(),
        category: "bikes".to_owned(),
        price: Some(fixed(euros)).into(),
        ..Offer::default()
    }
}

pub(crate) fn fixed(euros: i64) -> Price {
    Price { kind: Some(money(euros).into()), ..Price::default() }
}

pub(crate) fn money(euros: i64) -> Money {
    Money { micros: euros * 1_000_000, currency: "EUR".to_owned(), ..Money::default() }
}

/// The same offer in a place.
pub(crate) fn placed(mut offer: Offer, place_id: &str) -> Offer {
    offer.place = Some(Place { place_id: place_id.to_owned(), ..Place::default() }).into();
    offer
}

/// The same offer with one more attribute.
pub(crate) fn with(mut offer: Offer, attribute: &str, value: &str) -> Offer {
    let values = Values { values: vec![value.to_owned()], ..Values::default() };
    offer.attributes.insert(attribute.to_owned(), values);
    offer
}

/// The same offer with a video.
pub(crate) fn filmed(mut offer: Offer, url: &str) -> Offer {
    offer.video = Some(Video { url: url.to_owned(), ..Video::default() }).into();
    offer
}

/// The same offer with photos.
pub(crate) fn pictured(mut offer: Offer, urls: &[&str]) -> Offer {
    let photo = |url: &&str| Photo { source_url: (*url).to_owned(), ..Photo::default() };
    offer.photos = urls.iter().map(photo).collect();
    offer
}
