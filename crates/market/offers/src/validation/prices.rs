//! Checks of prices that the catalogue does not make.

use wire::torg::offers::v1::__buffa::oneof::price::Kind;
use wire::torg::offers::v1::{Money, Offer, Price};

use super::{Violations, codes};

pub(super) fn check(offer: &Offer, found: &mut Violations) {
    let Some(price) = offer.price.as_option() else { return };
    if price.kind.is_none() {
        found.add("price", codes::REQUIRED, "has to be fixed, free, negotiable or a range");
    }
    for (path, money) in amounts(price) {
        if money.micros < 0 {
            found.add(format!("{path}.micros"), codes::NEGATIVE, "an amount must not be negative");
        }
    }
    if let Some(Kind::Range(range)) = &price.kind
        && let (Some(from), Some(to)) = (range.from.as_option(), range.to.as_option())
        && from.currency != to.currency
    {
        found.add("price.range.to.currency", codes::TWO_CURRENCIES, "both ends must have the same currency");
    }
}

/// Every amount of a price, with its path.
fn amounts(price: &Price) -> Vec<(&'static str, &Money)> {
    let mut amounts = Vec::new();
    match &price.kind {
        Some(Kind::Fixed(money)) => amounts.push(("price.fixed", &**money)),
        Some(Kind::Negotiable(negotiable)) => {
            amounts.extend(negotiable.from.as_option().map(|money| ("price.negotiable.from", money)));
        }
        Some(Kind::Range(range)) => {
            amounts.extend(range.from.as_option().map(|money| ("price.range.from", money)));
            amounts.extend(range.to.as_option().map(|money| ("price.range.to", money)));
        }
        Some(Kind::Free(_)) | None => {}
    }
    amounts
}
