//! Loads the offers of a run into the store, in this process; the server is measured with them
//! later.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use offers::{OfferId, Offers};
use wire::torg::offers::v1::Offer;

use super::ads::Ads;
use super::base::Base;
use super::book::Book;
use super::door::by_seller;
use super::options::OffersBench;
use super::report::{Report, figure};
use crate::machine::usage;

/// The seller with very many offers.
pub(super) const BIG_SELLER: &str = "seller-with-many";
/// The seller that it is compared with.
pub(super) const SMALL_SELLER: &str = "seller-with-100";
const SMALL_SELLER_OFFERS: u64 = 100;
/// The numbers of the offers of both begin here.
const CABINET_FIRST: u64 = 1 << 40;
/// Offers that are published at the same time.
const CREATORS: u64 = 256;

/// Publishes all offers and waits until the topic has them.
pub(super) async fn fill(args: &OffersBench, report: &mut Report) -> anyhow::Result<Book> {
    let base = Base::open(args).await?;
    let ads = Ads::new(base.offers.catalogue(), args.offers)?;
    let (start, (cpu, _)) = (Instant::now(), usage());
    let of = |seller: &'static str| {
        let ads = ads.clone();
        move |n| ads.typical(CABINET_FIRST + n, seller.to_owned())
    };
    let ids = {
        let ads = ads.clone();
        publish(&base.offers, args.offers, move |n| ads.of_many(n)).await?
    };
    let mut published = args.offers;
    if args.big_seller > 0 {
        publish(&base.offers, args.big_seller, of(BIG_SELLER)).await?;
        publish(&base.offers, SMALL_SELLER_OFFERS, of(SMALL_SELLER)).await?;
        published += args.big_seller + SMALL_SELLER_OFFERS;
    }
    let took = start.elapsed();
    let behind = base.send_off().await?;
    let (per_s, cpu_us) = (published as f64 / took.as_secs_f64(), (usage().0 - cpu) * 1e6 / published as f64);
    report.load_per_s = figure(per_s);
    report.load_cpu_us = figure(cpu_us);
    args.run.say(&format!(
        "  load             {per_s:>9.0} offers/s in this process, {CREATORS} at a time; {cpu_us:.0} us of processor each; the topic {:.1} s behind",
        behind.as_secs_f64()
    ));
    base.settle().await?;
    base.close().await?;
    Ok(Book::new(ads, ids))
}

/// Publishes offers with the numbers from 0 and returns their ids in this order.
pub(crate) async fn publish(
    offers: &Offers,
    count: u64,
    ad: impl Fn(u64) -> Offer + Clone + Send + 'static,
) -> anyhow::Result<Vec<OfferId>> {
    let next = Arc::new(AtomicU64::new(0));
    let creators = (0..CREATORS.min(count)).map(|_| {
        let (offers, next, ad) = (offers.clone(), Arc::clone(&next), ad.clone());
        tokio::spawn(async move {
            let mut made: Vec<(u64, OfferId)> = Vec::new();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= count {
                    return anyhow::Ok(made);
                }
                made.push((n, offers.create(&by_seller(), &ad(n)).await?.id.parse()?));
            }
        })
    });
    let mut all = Vec::with_capacity(count as usize);
    for made in futures::future::join_all(creators).await {
        all.extend(made??);
    }
    all.sort_unstable();
    Ok(all.into_iter().map(|(_, id)| id).collect())
}
