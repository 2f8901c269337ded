//! Prices of an offer.

use super::{Draft, Spot};
use crate::model::{Money, Price};
use crate::position::At;
use crate::{Code, Severity, money, words};

impl Draft<'_> {
    /// The code of a currency; an unknown one is an error.
    pub(crate) fn currency(&mut self, spot: Spot<'_>) -> Option<&'static str> {
        let known = money::currency(spot.value);
        if known.is_none() {
            self.problem_as(Severity::Error, Code::BadCurrency, spot, "this is not a currency");
        }
        known
    }

    /// An amount with its currency, which is in the text, beside it, or that of the file. A wrong
    /// amount is a problem of `code`.
    pub(crate) fn money(&mut self, spot: Spot<'_>, currency: Option<&str>, code: Code) -> Option<At<Money>> {
        let Some((micros, named)) = money::price(spot.value) else {
            self.warn(code, spot, "a number is expected");
            return None;
        };
        let of_file = self.context.header.main_currency().and_then(money::currency);
        let currency = named.or(currency).or(of_file).or_else(|| money::currency(self.context.currency));
        let currency = currency.unwrap_or_default().to_owned();
        if currency.is_empty() && code == Code::BadPrice {
            self.warn(Code::MissingCurrency, spot, "the price has no currency");
        }
        Some(At::new(Money { micros, currency }, self.position(spot.offset)))
    }

    /// An amount in the notation of programs.
    pub(crate) fn exact_money(&mut self, spot: Spot<'_>, currency: &str) -> Option<Money> {
        let micros = money::decimal(spot.value);
        if micros.is_none() {
            self.warn(Code::BadPrice, spot, "a number is expected");
        }
        micros.map(|micros| Money { micros, currency: currency.to_owned() })
    }

    pub(crate) fn fixed_price(&mut self, spot: Spot<'_>, currency: Option<&str>) {
        if spot.value.is_empty() || self.offer.price.is_some() {
            return;
        }
        if let Some(price) = words::price_in_words(spot.value) {
            self.offer.price = Some(At::new(price, self.position(spot.offset)));
        } else if let Some(money) = self.money(spot, currency, Code::BadPrice) {
            self.offer.price = Some(At::new(Price::Fixed(money.value), money.at));
        }
    }

    /// A range, of which one end may be missing. Replaces a fixed price.
    pub(crate) fn price_range(
        &mut self,
        from: Option<Spot<'_>>,
        to: Option<Spot<'_>>,
        currency: Option<&str>,
    ) {
        let mut end = |spot: Option<Spot<'_>>| {
            let spot = spot.filter(|spot| !spot.value.is_empty())?;
            self.money(spot, currency, Code::BadPrice)
        };
        let (from, to) = (end(from), end(to));
        if let Some(at) = from.as_ref().or(to.as_ref()).map(|money| money.at) {
            let range = Price::Range(from.map(|money| money.value), to.map(|money| money.value));
            self.offer.price = Some(At::new(range, at));
        }
    }

    /// Sets the old price if it is above the price, which must be set before.
    pub(crate) fn old_price(&mut self, spot: Spot<'_>, currency: Option<&str>) {
        if spot.value.is_empty() {
            return;
        }
        let Some(old) = self.money(spot, currency, Code::BadOldPrice) else { return };
        match &self.offer.price {
            Some(At { value: Price::Fixed(price), .. }) if old.value.micros <= price.micros => {
                self.warn(Code::BadOldPrice, spot, "the old price is not above the price");
            }
            _ => self.offer.old_price = Some(old),
        }
    }
}
