//! Validates the price.

use crate::catalogue::Catalogue;
use crate::decimal::Decimal;
use crate::rules::Limits;
use crate::text::echo;
use crate::value::{Price, PriceKind};
use crate::violation::{Fault, Field};

use super::Violations;

/// Digits after the point of an amount.
const AMOUNT_SCALE_MAX: u8 = 2;

pub(crate) fn check(
    catalogue: &Catalogue,
    price: Option<Price<'_>>,
    limits: &Limits,
    found: &mut Violations,
) {
    let Some(price) = price else {
        if limits.price_required {
            found.add(Field::Price, Fault::Required);
        }
        return;
    };
    if limits.price_kinds().next().is_none() {
        found.add(Field::Price, Fault::NotAllowed);
        return;
    }
    if !limits.allows_price(price.kind) {
        found.add(Field::PriceKind, Fault::price_kind(price.kind));
    }
    check_amounts(price, limits, found);
    check_currency(catalogue, price, found);
}

fn check_amounts(price: Price<'_>, limits: &Limits, found: &mut Violations) {
    match price.kind {
        PriceKind::Fixed if price.amount.is_none() => found.add(Field::PriceAmount, Fault::Required),
        PriceKind::Range if price.amount.is_none() && price.upper.is_none() => {
            found.add(Field::PriceAmount, Fault::Required);
        }
        PriceKind::Free => {
            if price.amount.is_some_and(|amount| !amount.is_zero()) {
                found.add(Field::PriceAmount, Fault::NotAllowed);
            }
            if price.upper.is_some() {
                found.add(Field::PriceUpper, Fault::NotAllowed);
            }
            return;
        }
        _ => {}
    }
    check_amount(Field::PriceAmount, price.amount, limits, found);
    if price.kind == PriceKind::Range {
        check_amount(Field::PriceUpper, price.upper, limits, found);
        if let (Some(amount), Some(upper)) = (price.amount, price.upper)
            && upper < amount
        {
            found.add(Field::PriceUpper, Fault::RangeReversed);
        }
    } else if price.upper.is_some() {
        found.add(Field::PriceUpper, Fault::NotAllowed);
    }
}

fn check_amount(field: Field, amount: Option<Decimal>, limits: &Limits, found: &mut Violations) {
    let Some(amount) = amount else { return };
    let least = Decimal::new(1, AMOUNT_SCALE_MAX).unwrap_or_default();
    if amount.scale() > AMOUNT_SCALE_MAX {
        found.add(field, Fault::TooPrecise { scale: AMOUNT_SCALE_MAX });
    } else if amount < least {
        found.add(field, Fault::below(least));
    } else if amount > limits.price_max {
        found.add(field, Fault::above(limits.price_max));
    }
}

fn check_currency(catalogue: &Catalogue, price: Price<'_>, found: &mut Violations) {
    let has_amount = price.amount.is_some_and(|amount| !amount.is_zero()) || price.upper.is_some();
    match price.currency {
        None if has_amount => found.add(Field::PriceCurrency, Fault::Required),
        None => {}
        Some(given) if catalogue.currencies.iter().any(|known| **known == *given) => {}
        Some(given) => found.add(Field::PriceCurrency, Fault::UnknownCurrency { given: echo(given) }),
    }
}
