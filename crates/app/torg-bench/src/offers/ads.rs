//! Generates the offers of a run: valid by the built-in catalogue, the same for every side, and
//! repeatable.

use std::sync::Arc;

use anyhow::Context as _;
use catalog::{Catalogue, Category, Kind};
use wire::torg::offers::v1::{
    Condition, Contacts, Coordinates, Money, Offer, Photo, Place, Price, Source, Values, source,
};

use super::texts::Texts;
use crate::data::{Numbers, mix};

/// The categories of all offers, each with attributes.
pub(super) const CATEGORIES: [&str; 4] = [
    "transport/cars",
    "real-estate/flats/sale",
    "transport/motorcycles/motorcycles",
    "transport/parts/tyres",
];
pub(super) const CURRENCY: &str = "EUR";
/// One of this many offers is large.
pub(super) const LARGE_EVERY: u64 = 200;
/// Offers of a seller, on average.
const OFFERS_OF_A_SELLER: u64 = 50;
/// Values of each attribute to choose from.
const VALUES_OF_AN_ATTRIBUTE: usize = 32;
const EURO: i64 = 1_000_000;
const CENTS: i64 = 100;

#[derive(Clone)]
pub(crate) struct Ads(Arc<Inner>);

struct Inner {
    texts: Texts,
    categories: Vec<Prepared>,
    sellers: u64,
}

/// A category with values that its attributes may have.
struct Prepared {
    id: &'static str,
    condition: Condition,
    attributes: Vec<Attribute>,
}

struct Attribute {
    name: String,
    is_required: bool,
    values: Vec<Values>,
}

impl Ads {
    /// Sellers are as many as this number of offers needs.
    pub(crate) fn new(catalogue: &Catalogue, offers: u64) -> anyhow::Result<Self> {
        let (texts, mut numbers) = (Texts::new(), Numbers::new(5));
        let categories = CATEGORIES
            .into_iter()
            .map(|id| {
                let category =
                    catalogue.category(id).with_context(|| format!("there is no category {id}"))?;
                Ok(prepare(id, category, &texts, &mut numbers))
            })
            .collect::<anyhow::Result<_>>()?;
        Ok(Self(Arc::new(Inner { texts, categories, sellers: offers.div_ceil(OFFERS_OF_A_SELLER) })))
    }

    /// Offer number `n` of many sellers. About 2 KB; one in 200 has about 100 KB.
    pub(crate) fn of_many(&self, n: u64) -> Offer {
        let seller = self.seller(n);
        if n % LARGE_EVERY == LARGE_EVERY / 2 { self.large(n, seller) } else { self.typical(n, seller) }
    }

    /// The seller of offer number `n` of many sellers.
    pub(super) fn seller(&self, n: u64) -> String {
        format!("seller-{}", mix(n ^ 0x5e11) % self.0.sellers)
    }

    /// An offer of about 2 KB.
    pub(crate) fn typical(&self, n: u64, seller: String) -> Offer {
        let Inner { texts, categories, .. } = &*self.0;
        let mut numbers = Numbers::new(mix(n));
        let numbers = &mut numbers;
        let category = &categories[numbers.below(categories.len() as u64) as usize];
        let wanted =
            category.attributes.iter().filter(|attribute| attribute.is_required || numbers.below(2) == 0);
        let attributes = wanted
            .map(|Attribute { name, values, .. }| {
                (name.clone(), values[(mix(n ^ name.len() as u64) % values.len() as u64) as usize].clone())
            })
            .collect();
        let photo = |_| Photo { source_url: Texts::address(numbers, 40), ..Photo::default() };
        let photos = (0..=mix(n) % 5).map(photo).collect();
        let words = 600 + numbers.below(700) as usize;
        Offer {
            seller,
            category: category.id.to_owned(),
            title: self.title(numbers),
            description: texts.prose(numbers, words),
            price: Some(price(asked(numbers))).into(),
            attributes,
            photos,
            place: Some(place(texts, numbers)).into(),
            contacts: Some(contacts(texts, numbers)).into(),
            condition: category.condition.into(),
            source: Some(Source { kind: Some(source::Manual::default().into()), ..Source::default() }).into(),
            ..Offer::default()
        }
    }

    /// An offer of about 100 KB: the longest text and the most photos that the catalogue allows;
    /// each photo has several sizes with signed addresses.
    fn large(&self, n: u64, seller: String) -> Offer {
        let mut numbers = Numbers::new(mix(n ^ 0x1a46));
        let photo = |_| {
            let sizes = ["thumb", "small", "medium", "large", "full"]
                .map(|size| (size.to_owned(), Texts::address(&mut numbers, 700)));
            let source_url = Texts::address(&mut numbers, 700);
            Photo { source_url, sizes: sizes.into(), width: 1600, height: 1200, ..Photo::default() }
        };
        let photos = (0..20).map(photo).collect();
        let description = self.0.texts.prose(&mut numbers, 7000);
        Offer { description, photos, ..self.typical(n, seller) }
    }

    /// A title; many begin with the same letters.
    pub(super) fn title(&self, numbers: &mut Numbers) -> String {
        let words: Vec<&str> = (0..3 + numbers.below(3)).map(|_| self.0.texts.word(numbers)).collect();
        format!("{} {}", words.join(" "), numbers.below(1000))
    }
}

/// An amount from 10 to 100,000 euros; small ones are more frequent.
pub(super) fn asked(numbers: &mut Numbers) -> i64 {
    let magnitude = CENTS * 10_i64.pow(1 + numbers.below(4) as u32);
    (magnitude + numbers.below(9 * magnitude.cast_unsigned()).cast_signed()) * EURO / CENTS
}

pub(super) fn money(micros: i64) -> Money {
    Money { micros, currency: CURRENCY.to_owned(), ..Money::default() }
}

pub(super) fn price(micros: i64) -> Price {
    Price { kind: Some(money(micros).into()), ..Price::default() }
}

fn place(texts: &Texts, numbers: &mut Numbers) -> Place {
    let coordinates = Coordinates {
        latitude: numbers.below(180_000_000) as f64 / 1e6 - 90.0,
        longitude: numbers.below(360_000_000) as f64 / 1e6 - 180.0,
        ..Coordinates::default()
    };
    Place {
        address: format!("{} {}, {}", texts.word(numbers), numbers.below(200), texts.word(numbers)),
        place_id: format!("city-{}", numbers.below(5000)),
        coordinates: Some(coordinates).into(),
        ..Place::default()
    }
}

fn contacts(texts: &Texts, numbers: &mut Numbers) -> Contacts {
    Contacts {
        name: texts.word(numbers).to_owned(),
        phones: vec![format!("+49 30 {}", 1_000_000 + numbers.below(9_000_000))],
        email: format!("{}{}@example.com", texts.word(numbers), numbers.below(10_000)),
        chat: true,
        ..Contacts::default()
    }
}

fn prepare(id: &'static str, category: Category<'_>, texts: &Texts, numbers: &mut Numbers) -> Prepared {
    let attributes = category.attributes().filter_map(|used| {
        let choices: Vec<&str> = used.choices().map(catalog::Choice::id).collect();
        let values = (0..VALUES_OF_AN_ATTRIBUTE)
            .map(|_| value(used.kind(), &choices, texts, numbers))
            .collect::<Option<Vec<_>>>()?;
        Some(Attribute { name: used.attribute().id().to_owned(), is_required: used.required(), values })
    });
    let attributes = attributes.collect();
    let can_be_used = category.conditions().any(|condition| condition.id() == "used");
    let condition = if can_be_used { Condition::Used } else { Condition::default() };
    Prepared { id, condition, attributes }
}

/// A value of this kind; none for kinds that no offer of a run has.
fn value(kind: &Kind, choices: &[&str], texts: &Texts, numbers: &mut Numbers) -> Option<Values> {
    let mut choice =
        || choices.get(numbers.below(choices.len().max(1) as u64) as usize).map(|id| (*id).to_owned());
    let value = match kind {
        Kind::One | Kind::Several { .. } => choice()?,
        Kind::Whole { min, max } => {
            let (min, max) = ((*min).max(0), (*max).min(1_000_000));
            (min + numbers.below((max - min + 1).max(1).cast_unsigned()).cast_signed()).to_string()
        }
        Kind::Decimal { max, .. } => (*max)?.to_string(),
        Kind::YesNo => (numbers.below(2) == 0).to_string(),
        Kind::Text { min_length, max_length, characters } => {
            text(*min_length, *max_length, characters.as_deref(), texts, numbers)
        }
        Kind::Date { .. } => return None,
    };
    Some(Values { values: vec![value], ..Values::default() })
}

fn text(least: u32, most: u32, characters: Option<&str>, texts: &Texts, numbers: &mut Numbers) -> String {
    if let Some(characters) = characters {
        let letters: Vec<char> = characters.chars().collect();
        return (0..least.max(1)).map(|_| letters[numbers.below(letters.len() as u64) as usize]).collect();
    }
    let mut text = texts.word(numbers).to_owned();
    while text.chars().count() < least as usize {
        text.push_str(texts.word(numbers));
    }
    text.chars().take(most as usize).collect()
}

#[cfg(test)]
mod tests {
    use buffa::Message as _;
    use offers::validation::violations;

    use super::*;

    #[test]
    fn all_offers_are_sound_and_as_large_as_they_are_said_to_be() {
        let catalogue = Catalogue::builtin().unwrap();
        let ads = Ads::new(&catalogue, 10_000).unwrap();
        let mut typical_bytes = 0;
        for n in 0..2000 {
            let offer = ads.of_many(n);
            assert_eq!(violations(&catalogue, &offer), [], "{offer:?}");
            let bytes = u64::from(offer.encoded_len());
            if n % LARGE_EVERY == LARGE_EVERY / 2 {
                assert!((90_000..120_000).contains(&bytes), "{bytes}");
            } else {
                typical_bytes += bytes;
            }
        }
        assert!((1700..2300).contains(&(typical_bytes / 1990)), "{}", typical_bytes / 1990);
    }

    #[test]
    fn an_offer_has_the_same_fields_every_time() {
        let ads = Ads::new(&Catalogue::builtin().unwrap(), 1000).unwrap();
        assert_eq!(ads.of_many(7), ads.of_many(7));
        assert_ne!(ads.of_many(7), ads.of_many(8));
    }
}
