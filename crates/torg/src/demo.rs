//! `serve --demo`: an empty marketplace gets a few sellers and their offers, so that there is something to look at.

use anyhow::Context as _;
use contract::torg::offers::v1::{
    Author, Condition, Money, Offer, Place, Price, Source, Status, Values, author, source,
};
use offers::status::Mover;
use offers::{Call, Move, Offers};

/// What the demo's first seller is called. If they have offers, the demo was here.
const FIRST: &str = "anna";

/// An offer of the demo: seller, category, title, price in euros, city, attributes, and what became of it.
type Sample = (
    &'static str,
    &'static str,
    &'static str,
    i64,
    &'static str,
    &'static [(&'static str, &'static str)],
    Status,
);

const CAR: &[(&str, &str)] = &[
    ("car-make", "bmw"),
    ("vehicle-model", "320i"),
    ("year", "2019"),
    ("mileage", "64000"),
    ("body", "sedan"),
    ("fuel", "petrol"),
    ("gearbox", "automatic"),
];
const OLD_CAR: &[(&str, &str)] = &[
    ("car-make", "volkswagen"),
    ("vehicle-model", "Golf"),
    ("year", "2008"),
    ("mileage", "187000"),
    ("body", "hatchback"),
    ("fuel", "diesel"),
    ("gearbox", "manual"),
];

/// All of them pass the built-in catalogue; a test looks after that.
const SAMPLES: &[Sample] = &[
    (FIRST, "transport/cars", "BMW 320i, one owner, full history", 18_500, "Berlin", CAR, Status::Active),
    (FIRST, "transport/cars", "Volkswagen Golf, runs and runs", 3_200, "Berlin", OLD_CAR, Status::Sold),
    (FIRST, "sg-4-4-3-2", "City bicycle with a basket", 150, "Berlin", &[], Status::Active),
    (FIRST, "sg-4-4-3-2", "Children's bicycle, 16 inches", 60, "Potsdam", &[], Status::Expired),
    ("boris", "sg-4-4-3-2", "Racing bicycle, carbon", 1_900, "Hamburg", &[], Status::Active),
    (
        "boris",
        "sg-4-4-3-2",
        "Bicycle, brand new, cheap, write to me on another site",
        40,
        "Hamburg",
        &[],
        Status::Banned,
    ),
    ("clara", "sg-4-4-3-2", "Folding bicycle", 320, "Munich", &[], Status::Active),
    ("clara", "sg-4-4-3-2", "Bicycle for parts", 20, "Munich", &[], Status::Removed),
];

/// Fills an empty marketplace; leaves one alone that has the demo's offers.
pub(crate) async fn fill(offers: &Offers) -> anyhow::Result<usize> {
    if offers.counts(FIRST).await?.values().any(|count| *count > 0) {
        return Ok(0);
    }
    for sample in SAMPLES {
        let (seller, .., status) = *sample;
        let offer = offers.create(&call(seller, Mover::Seller), &made(sample)).await;
        let id: offers::OfferId = offer.with_context(|| format!("the demo's {:?}", sample.2))?.id.parse()?;
        if status != Status::Active {
            let moved = Move::to(status).because("demo", "part of the demo");
            offers.move_to(&call(seller, Mover::Admin), id, None, &moved).await?;
        }
    }
    Ok(SAMPLES.len())
}

fn call(seller: &str, by: Mover) -> Call {
    let kind = if by == Mover::Seller { author::Kind::KIND_SELLER } else { author::Kind::KIND_ADMIN };
    Call::by(Author { kind: kind.into(), name: seller.to_owned(), ..Author::default() }, by)
}

fn made((seller, category, title, euros, city, attributes, _): &Sample) -> Offer {
    let money = Money { micros: euros * 1_000_000, currency: "EUR".to_owned(), ..Money::default() };
    let values = |value: &str| Values { values: vec![value.to_owned()], ..Values::default() };
    let manual = source::Manual::default();
    Offer {
        seller: (*seller).to_owned(),
        category: (*category).to_owned(),
        title: (*title).to_owned(),
        description: format!("{title}. To be seen in {city}."),
        price: Some(Price { kind: Some(money.into()), ..Price::default() }).into(),
        attributes: attributes.iter().map(|(name, value)| ((*name).to_owned(), values(value))).collect(),
        place: Some(Place { address: (*city).to_owned(), ..Place::default() }).into(),
        condition: Condition::CONDITION_USED.into(),
        source: Some(Source { kind: Some(manual.into()), ..Source::default() }).into(),
        ..Offer::default()
    }
}

#[cfg(test)]
mod tests {
    use catalog::Catalogue;
    use offers::validation::violations;

    use super::*;

    #[test]
    fn every_sample_passes_the_built_in_catalogue() {
        let catalogue = Catalogue::builtin().unwrap();
        for sample in SAMPLES {
            assert_eq!(violations(&catalogue, &made(sample)), [], "{}", sample.2);
        }
    }
}
