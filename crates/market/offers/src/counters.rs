//! A seller's counters: offers by preset, offers sold, money earned. Each stands in ten rows, summed on read, so that writers rarely meet; every change of an
//! offer counts in the commit that makes it.

use std::collections::BTreeMap;

use store::limits::ADD_MAX;
use store::{Batch, Read};
use watcher::{ChangeContext, shard_of};
use wire::torg::offers::v1::Money;

use crate::entity::StoredOffer;
use crate::limits::COUNTER_PARTS;
use crate::presets::{name, presets_of};
use crate::tables::COUNTERS;

/// The counter of offers that were ever sold.
pub(crate) const SOLD: &str = "sold";
/// The beginning of the counters of money that was earned, before the currency.
pub(crate) const EARNED: &str = "earned:";
/// The part that takes corrections.
pub(crate) const COUNT_REPAIR_PART: u32 = 0;

/// Counts a change.
pub(crate) fn follow(change: &ChangeContext<'_, StoredOffer>, batch: &mut Batch) {
    if let (Some(before), Some(after)) = (change.before, change.after)
        && (before.status(), &before.offer.seller, is_sold_counted(before))
            == (after.status(), &after.offer.seller, is_sold_counted(after))
    {
        return;
    }
    let mut deltas: BTreeMap<(String, String), i64> = BTreeMap::new();
    for (offer, delta) in [(change.before, -1), (change.after, 1)] {
        for preset in offer.map_or(&[][..], |offer| presets_of(offer.status())) {
            let seller = offer.map(|offer| offer.offer.seller.clone()).unwrap_or_default();
            *deltas.entry((seller, name(*preset).to_owned())).or_default() += delta;
        }
    }
    if let Some(after) = change.after {
        let was_counted = change.before.is_some_and(is_sold_counted);
        // An offer is sold once, however often it is offered again.
        if is_sold_counted(after) && !was_counted {
            *deltas.entry((after.offer.seller.clone(), SOLD.to_owned())).or_default() += 1;
            if let Some(Money { micros, currency, .. }) =
                after.offer.keeping.as_option().and_then(|k| k.paid.as_option())
            {
                *deltas.entry((after.offer.seller.clone(), format!("{EARNED}{currency}"))).or_default() +=
                    micros;
            }
        }
    }
    let Some(offer) = change.after.or(change.before) else { return };
    let part = offer.id.part_of(COUNTER_PARTS);
    for ((seller, counter), delta) in deltas.into_iter().filter(|(_, delta)| *delta != 0) {
        let shard = shard_of(&seller, change.shards);
        for step in steps(delta) {
            batch.add(COUNTERS.key((shard, &*seller, &*counter, part)), step);
        }
    }
}

/// An amount in steps that the store takes: there are currencies in which a house is dearer than one step.
fn steps(amount: i64) -> impl Iterator<Item = i64> {
    let (whole, rest) = (amount / ADD_MAX, amount % ADD_MAX);
    let step = ADD_MAX * whole.signum();
    (0..whole.unsigned_abs()).map(move |_| step).chain((rest != 0).then_some(rest))
}

fn is_sold_counted(offer: &StoredOffer) -> bool {
    offer.offer.keeping.as_option().is_some_and(|keeping| keeping.sold_counted)
}

/// All counters of a seller, by name.
pub(crate) async fn of_seller(
    store: &impl Read,
    shard: u32,
    seller: &str,
) -> store::Result<BTreeMap<String, i64>> {
    let mut counters: BTreeMap<String, i64> = BTreeMap::new();
    let mut scan = COUNTERS.prefix((shard, seller));
    loop {
        let page = store.scan(&scan).await?;
        for row in page.rows {
            let (_, _, counter, _) = COUNTERS.parts(&row.key)?;
            let sum = counters.entry(counter).or_default();
            *sum = sum.saturating_add(row.amount());
        }
        let Some(next) = page.next else { return Ok(counters) };
        scan = scan.after(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_not_too_large_and_come_to_the_amount() {
        for amount in [0, 1, -1, ADD_MAX, ADD_MAX + 1, -ADD_MAX - 1, 3 * ADD_MAX, i64::MAX, i64::MIN] {
            let all: Vec<i64> = steps(amount).collect();
            assert!(all.iter().all(|step| step.abs() <= ADD_MAX), "{amount}");
            assert_eq!(all.iter().sum::<i64>(), amount);
        }
    }
}
