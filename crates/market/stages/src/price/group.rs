//! Groups of similar offers: by category, place and key attributes.

use catalog::{Catalogue, Category, Kind, Use};
use wire::torg::offers::v1::__buffa::oneof::price::Kind as PriceKind;
use wire::torg::offers::v1::{Condition, Offer};
use xxhash_rust::xxh3::xxh3_128;

use crate::limits::PRICE_ATTRIBUTES_MAX;

/// The last words of ids of key attributes.
const NAMING: [&str; 3] = ["brand", "make", "model"];

/// A group of similar offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// For people.
    pub(super) text: String,
    /// The common fields: `category`, `place`, `attributes.brand`, `condition`.
    pub(super) basis: Vec<String>,
}

impl Group {
    /// The key in tables.
    pub(super) fn key(&self) -> String {
        format!("{:032x}", xxh3_128(self.text.as_bytes()))
    }
}

/// A common field with its value.
type Common = (String, String);

/// The groups of an offer, the most specific first.
pub(super) fn groups_of(catalogue: &Catalogue, offer: &Offer, currency: &str) -> Vec<Group> {
    let category = vec![("category".to_owned(), offer.category.clone())];
    let place_id = offer.place.as_option().map(|place| plain(&place.place_id)).unwrap_or_default();
    let place: Vec<Common> =
        if place_id.is_empty() { Vec::new() } else { vec![("place".to_owned(), place_id)] };
    let traits = traits_of(catalogue, offer);
    let mut groups = Vec::new();
    for (has_place, has_traits) in [(true, true), (false, true), (true, false), (false, false)] {
        let mut common = category.clone();
        common.extend(place.iter().filter(|_| has_place).cloned());
        common.extend(traits.iter().filter(|_| has_traits).cloned());
        let mut text = currency.to_owned();
        for (name, value) in &common {
            text.extend(["\t", name, "=", value]);
        }
        let group = Group { text, basis: common.into_iter().map(|(name, _)| name).collect() };
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

/// The key attributes and the condition of an offer.
fn traits_of(catalogue: &Catalogue, offer: &Offer) -> Vec<Common> {
    let mut traits = Vec::new();
    for attribute in catalogue.category(&offer.category).map(key_attributes).unwrap_or_default() {
        let value = offer.attributes.get(attribute).and_then(|values| values.values.first());
        if let Some(value) = value.map(|value| plain(value)).filter(|value| !value.is_empty()) {
            traits.push((format!("attributes.{attribute}"), value));
        }
    }
    let condition = offer.condition.as_known().unwrap_or_default();
    if condition != Condition::Unspecified {
        traits.push(("condition".to_owned(), format!("{condition:?}")));
    }
    traits
}

/// The attributes that determine the price: brand, make or model; in a category without them,
/// required single choices.
fn key_attributes(category: Category<'_>) -> Vec<&str> {
    let tells_what = |used: &Use<'_>| {
        let last = used.attribute().id().rsplit('-').next().unwrap_or_default();
        NAMING.contains(&last) && matches!(used.kind(), Kind::Text { .. } | Kind::One)
    };
    let chooses = |used: &Use<'_>| used.required() && matches!(used.kind(), Kind::One);
    let ids = |wanted: &dyn Fn(&Use<'_>) -> bool| {
        let mut ids: Vec<&str> =
            category.attributes().filter(|used| wanted(used)).map(|used| used.attribute().id()).collect();
        ids.sort_unstable();
        ids.truncate(PRICE_ATTRIBUTES_MAX);
        ids
    };
    let named = ids(&tells_what);
    if named.is_empty() { ids(&chooses) } else { named }
}

/// A normalised value.
fn plain(value: &str) -> String {
    value.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The fixed price of an offer, if it is above zero.
pub(super) fn fixed_price(offer: &Offer) -> Option<(i64, &str)> {
    match offer.price.as_option()?.kind.as_ref()? {
        PriceKind::Fixed(money) if money.micros > 0 && !money.currency.is_empty() => {
            Some((money.micros, &money.currency))
        }
        _ => None,
    }
}

/// The currency for the prediction: the offer's own or the catalogue's first. Free offers have no
/// price.
pub(super) fn currency_of<'a>(catalogue: &'a Catalogue, offer: &'a Offer) -> Option<&'a str> {
    let price = offer.price.as_option().and_then(|price| price.kind.as_ref());
    let money = match price {
        Some(PriceKind::Free(_)) => return None,
        Some(PriceKind::Fixed(money)) => Some(&**money),
        Some(PriceKind::Negotiable(start)) => start.from.as_option(),
        Some(PriceKind::Range(range)) => range.from.as_option().or(range.to.as_option()),
        None => None,
    };
    let named = money.map(|money| &*money.currency).filter(|currency| !currency.is_empty());
    named.or_else(|| catalogue.currencies().first().map(|currency| &**currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_attributes_name_a_thing_or_choose_what_it_is() {
        let catalogue = Catalogue::builtin().unwrap();
        let keys = |category: &str| key_attributes(catalogue.category(category).unwrap());
        assert_eq!(keys("transport/cars"), ["car-make", "vehicle-model"]);
        let homes = catalogue.categories().find(|category| {
            category.id().starts_with("real-estate/") && !key_attributes(*category).is_empty()
        });
        let homes = homes.unwrap();
        for id in key_attributes(homes) {
            let used = homes.attribute(id).unwrap();
            assert!(used.required() && *used.kind() == Kind::One, "{id} of {}", homes.id());
        }
    }
}
