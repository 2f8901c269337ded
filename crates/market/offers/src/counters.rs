//! The counters of a seller: offers by preset, offers sold, money earned.
//!
//! A change of an offer and its counts are one commit. Each counter has ten rows that are summed on
//! read, so that writers rarely conflict.

use std::collections::BTreeMap;

use store::limits::ADD_MAX;
use store::{Batch, Read};
use watcher::{ChangeContext, shard_of};
use wire::torg::offers::v1::{Money, Offer, Status};

use crate::entity::StoredOffer;
use crate::limits::COUNTER_PARTS;
use crate::presets::{name, presets_of};
use crate::tables::COUNTERS;

/// Offers that were ever sold.
pub(crate) const SOLD: &str = "sold";
/// Money earned; the currency follows.
pub(crate) const EARNED: &str = "earned:";
/// The part that corrections are added to.
pub(crate) const COUNT_REPAIR_PART: u32 = 0;

pub(crate) fn follow(change: &ChangeContext<'_, StoredOffer>, batch: &mut Batch) {
    if change.before.map(counted) == change.after.map(counted) {
        return;
    }
    let mut deltas: BTreeMap<(String, String), i64> = BTreeMap::new();
    for (offer, delta) in [(change.before, -1), (change.after, 1)] {
        let Some(stored) = offer else { continue };
        for preset in presets_of(stored.status()) {
            *deltas.entry((stored.offer.seller.clone(), name(*preset).to_owned())).or_default() += delta;
        }
    }
    let was_sold = change.before.is_some_and(|before| before.internal.sold_counted);
    if let Some(StoredOffer { offer: Offer { seller, .. }, internal, .. }) = change.after
        && internal.sold_counted
        && !was_sold
    {
        *deltas.entry((seller.clone(), SOLD.to_owned())).or_default() += 1;
        if let Some(Money { micros, currency, .. }) = internal.paid.as_option() {
            *deltas.entry((seller.clone(), format!("{EARNED}{currency}"))).or_default() += micros;
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

fn counted(stored: &StoredOffer) -> (Status, &str, bool) {
    (stored.status(), &stored.offer.seller, stored.internal.sold_counted)
}

/// An amount in steps of at most [`ADD_MAX`], which prices in some currencies exceed.
fn steps(amount: i64) -> impl Iterator<Item = i64> {
    let (whole, rest) = (amount / ADD_MAX, amount % ADD_MAX);
    let step = ADD_MAX * whole.signum();
    (0..whole.unsigned_abs()).map(move |_| step).chain((rest != 0).then_some(rest))
}

/// The counters of a seller, by name.
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
    fn steps_are_within_the_limit_and_sum_up_to_the_amount() {
        for amount in [0, 1, -1, ADD_MAX, ADD_MAX + 1, -ADD_MAX - 1, 3 * ADD_MAX, i64::MAX, i64::MIN] {
            let all: Vec<i64> = steps(amount).collect();
            assert!(all.iter().all(|step| step.abs() <= ADD_MAX), "{amount}");
            assert_eq!(all.iter().sum::<i64>(), amount);
        }
    }
}
