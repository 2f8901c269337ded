//! Generates offers by number: the same number gives the same offer.

use wire::torg::offers::v1::{Contacts, Money, Offer, Photo, Place, Price, Source, Values, price, source};

use super::dice::{Dice, Language};
use super::limits::{COLORS_BY_PHOTOGRAPHED, WITH_PHOTOS_PERCENT};
use super::pictures::{Picture, VIEWS_MAX};
use super::sellers::Seller;
use super::site::Site;
use super::things::Thing;

const SEED: u64 = 0x746f_7267_6465_6d6f;
const MICROS: i64 = 1_000_000;

/// Titles in this category contain names, so they are never in capitals.
const BOOKS: &str = "me-1";

/// Homes get an address in a street; these street names exist in nearly every town.
const HOMES: &str = "real-estate/";
const STREETS_RUSSIAN: &[&str] = &[
    "Гагарина",
    "Мира",
    "Победы",
    "Садовая",
    "Лесная",
    "Пушкина",
    "Чехова",
    "Молодёжная",
    "Новая",
    "Луговая",
];
const STREETS_GERMAN: &[&str] = &[
    "Hauptstraße",
    "Bahnhofstraße",
    "Gartenstraße",
    "Schillerstraße",
    "Goethestraße",
    "Lindenstraße",
    "Bergstraße",
];
const STREETS_BRITISH: &[&str] =
    &["Station Road", "Church Lane", "Victoria Road", "Park Road", "Mill Lane", "Queens Road", "Kingsway"];

/// Letters that look alike in the Latin and the Cyrillic alphabet, for simulated typing errors.
const LOOK_ALIKE: &[(char, char)] = &[('о', 'o'), ('е', 'e'), ('а', 'a'), ('o', 'о'), ('e', 'е'), ('a', 'а')];

/// The offer of this number, and its seller. Photo links lead to the site.
pub(super) fn numbered(number: u64, site: Site) -> (&'static Seller, Offer) {
    let mut dice = Dice::new(SEED ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let seller = Seller::somebody(&mut dice);
    let offer = of(&mut dice, seller, site);
    (seller, offer)
}

/// A random offer of a seller.
pub(super) fn of(dice: &mut Dice, seller: &Seller, site: Site) -> Offer {
    let mut thing = Thing::of(dice, seller);
    thing.title = typed(dice, seller.language, thing.category, thing.title);
    let amount = thing.price_in(seller.currency);
    let values = |value: String| Values { values: vec![value], ..Values::default() };
    let manual = source::Manual::default();
    let address = address_of(dice, thing.category, seller);
    let contacts = Contacts {
        name: seller.name.to_owned(),
        phones: vec![seller.phone()],
        chat: true,
        ..Contacts::default()
    };
    Offer {
        seller: seller.id.to_owned(),
        category: thing.category.to_owned(),
        title: thing.title,
        description: thing.text,
        price: Some(price_of(dice, amount, seller.currency)).into(),
        photos: thing.picture.map_or_else(Vec::new, |picture| photos_of(dice, picture, site)),
        attributes: thing
            .attributes
            .into_iter()
            .map(|(name, value)| (name.to_owned(), values(value)))
            .collect(),
        place: Some(Place { address, ..Place::default() }).into(),
        contacts: Some(contacts).into(),
        condition: thing.condition.unwrap_or_default().into(),
        source: Some(Source { kind: Some(manual.into()), ..Source::default() }).into(),
        ..Offer::default()
    }
}

/// A home has a street address; other things have the address of their seller.
fn address_of(dice: &mut Dice, category: &str, seller: &Seller) -> String {
    if !category.starts_with(HOMES) {
        return seller.city.to_owned();
    }
    let (city, house) = (seller.city, dice.between(1, 60));
    match seller.currency {
        "RUB" => format!("{city}, улица {}, {house}", dice.one_of(STREETS_RUSSIAN)),
        "GBP" => format!("{house} {}, {city}", dice.one_of(STREETS_BRITISH)),
        _ => format!("{} {house}, {city}", dice.one_of(STREETS_GERMAN)),
    }
}

/// Photos of a thing, or none: only some offers have photos.
fn photos_of(dice: &mut Dice, picture: Picture, site: Site) -> Vec<Photo> {
    let is_photographed =
        (picture.scene as usize + picture.color as usize).is_multiple_of(COLORS_BY_PHOTOGRAPHED);
    if !is_photographed || !dice.chance(WITH_PHOTOS_PERCENT) {
        return Vec::new();
    }
    // Small counts are more likely.
    let mut count = || dice.between(1, VIEWS_MAX.into());
    let count = count().min(count());
    (0..count)
        .map(|view| Photo { source_url: site.photo(picture, view as u32), ..Photo::default() })
        .collect()
}

pub(super) fn money(amount: i64, currency: &str) -> Money {
    Money { micros: amount.saturating_mul(MICROS), currency: currency.to_owned(), ..Money::default() }
}

/// Most prices are fixed, some are negotiable.
fn price_of(dice: &mut Dice, amount: i64, currency: &str) -> Price {
    let kind = if dice.chance(4) {
        let from = Some(money(amount, currency)).into();
        price::Negotiable { from, ..price::Negotiable::default() }.into()
    } else {
        money(amount, currency).into()
    };
    Price { kind: Some(kind), ..Price::default() }
}

/// Adds occasional typing errors to a title: capitals, double spaces, or a letter of another
/// alphabet.
fn typed(dice: &mut Dice, language: Language, category: &str, title: String) -> String {
    match dice.between(0, 999) {
        0..50 if category != BOOKS => title.to_uppercase(),
        50..110 => title.replacen(' ', "  ", 2),
        110..112 => {
            let letters = if language == Language::Russian { &LOOK_ALIKE[..3] } else { &LOOK_ALIKE[3..] };
            let (right, wrong) = *dice.one_of(letters);
            title.replacen(right, &wrong.to_string(), 1)
        }
        _ => title,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use catalog::Catalogue;
    use offers::validation::violations;

    use super::*;

    #[test]
    fn every_offer_passes_the_built_in_catalogue_and_a_number_is_always_the_same_offer() {
        let catalogue = Catalogue::builtin().unwrap();
        let (mut sellers, mut categories, mut currencies) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (site, mut with_photos) = (Site::at("127.0.0.1:80".parse().unwrap()), 0);
        for number in 0..5_000 {
            let (seller, offer) = numbered(number, site);
            assert_eq!(violations(&catalogue, &offer), [], "{number}: {}", offer.title);
            assert_eq!(numbered(number, site).1, offer);
            with_photos += usize::from(!offer.photos.is_empty());
            let address = &offer.place.as_option().unwrap().address;
            let has_street = offer.category.starts_with(HOMES);
            assert!(address.contains(seller.city) && (address != seller.city) == has_street, "{address}");
            sellers.insert(seller.id);
            categories.insert(offer.category);
            currencies.insert(seller.currency);
        }
        assert_eq!(sellers.len(), super::super::sellers::SELLERS.len());
        assert!((600..1_000).contains(&with_photos), "{with_photos}: about one of six");
        assert!(categories.len() > 40 && currencies.len() == 3, "{categories:?}");
    }
}
