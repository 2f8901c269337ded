//! What filters mean, written down once more: by a look at whole offers.

use offers::cabinet::{Filter, PriceFilter};
use wire::torg::offers::v1::__buffa::oneof::{price, source};
use wire::torg::offers::v1::{Money, Offer};

use crate::model::dice::Dice;

/// Categories that offers are in.
pub(crate) const CATEGORIES: [&str; 3] = ["bikes", "toys", "homes"];
/// A category above some of them, and those.
const ABOVE: (&str, [&str; 2]) = ("goods", ["bikes", "toys"]);
/// Feeds of every seller.
pub(crate) const FEEDS: [&str; 2] = ["shop", "depot"];
/// The highest token that filters ask for.
const TOKEN_MAX: u64 = 900;

/// The feed of an offer and its id there.
pub(crate) type Feed = (String, String);

/// The feed of an offer; `None` if it was added by hand.
pub(crate) fn feed_of(offer: &Offer) -> Option<Feed> {
    match offer.source.as_option()?.kind.as_ref()? {
        source::Kind::Feed(feed) => Some((feed.namespace.clone(), feed.external_id.clone())),
        source::Kind::Manual(_) => None,
    }
}

/// A filter of one or several parts.
pub(crate) fn some(dice: &mut Dice) -> Filter {
    let mut filter = Filter::default();
    while filter == Filter::default() {
        if dice.percent(40) {
            let wanted = [ABOVE.0, "bikes", "toys", "homes", "nothing"];
            filter.category = dice.one_of(&wanted).map(|category| (*category).to_owned());
        }
        if dice.percent(35) {
            let wanted = ["manual", "feed:shop", "feed:depot", "feed:none"];
            filter.source = dice.one_of(&wanted).map(|source| (*source).to_owned());
        }
        if dice.percent(35) {
            let token = dice.within(1..TOKEN_MAX).to_string();
            let wanted =
                ["t", "thing ", "THING 1", " Thing 2", "other", &format!("thing {token}")].map(str::to_owned);
            filter.title_prefix = dice.one_of(&wanted).cloned();
        }
        if dice.percent(35) {
            let currency = if dice.percent(70) { "EUR" } else { "USD" }.to_owned();
            let (from, to) = (dice.within(0..TOKEN_MAX), dice.within(0..2 * TOKEN_MAX));
            let micros = |units: u64| units.cast_signed() * 1_000_000;
            filter.price = Some(PriceFilter { currency, from: micros(from), to: micros(to) });
        }
    }
    filter
}

/// Whether an offer fits all of a filter.
pub(crate) fn fits(filter: &Filter, offer: &Offer) -> bool {
    let Filter { title_prefix, price, .. } = filter;
    let begins = |prefix: &String| offer.title.to_lowercase().starts_with(prefix.to_lowercase().trim_start());
    let costs = |wanted: &PriceFilter| {
        amount(offer).is_some_and(|money| {
            money.currency == wanted.currency && wanted.from <= money.micros && money.micros <= wanted.to
        })
    };
    fits_for_good(filter, offer)
        && title_prefix.as_ref().is_none_or(begins)
        && price.as_ref().is_none_or(costs)
}

/// Whether an offer fits, by the fields that no one changes after its creation.
pub(crate) fn fits_for_good(filter: &Filter, offer: &Offer) -> bool {
    let is_in = |category: &String| {
        offer.category == *category || *category == ABOVE.0 && ABOVE.1.contains(&&*offer.category)
    };
    let from =
        feed_of(offer).map_or_else(|| "manual".to_owned(), |(namespace, _)| format!("feed:{namespace}"));
    filter.category.as_ref().is_none_or(is_in) && filter.source.as_ref().is_none_or(|source| *source == from)
}

fn amount(offer: &Offer) -> Option<&Money> {
    match offer.price.as_option()?.kind.as_ref()? {
        price::Kind::Fixed(money) => Some(money),
        price::Kind::Negotiable(negotiable) => negotiable.from.as_option(),
        price::Kind::Free(_) => None,
        price::Kind::Range(range) => panic!("no offer of this run has {range:?}"),
    }
}
