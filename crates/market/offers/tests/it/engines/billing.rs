//! Rows of different owners under one key.

use offers::Error;
use wire::torg::offers::v1::{Billing, Offer};

use crate::engines::market::{Market, bike, seller};

pub(crate) async fn writers_of_billing_conflict_with_each_other_and_not_with_the_offer(market: Market) {
    let id = market.publish(&bike("bike", 100)).await;
    let call = seller("billing");
    let seen = market.offers.billing(id).await.unwrap();
    let tariff = |tariff: &str, version| Billing { tariff: tariff.to_owned(), version, ..Billing::default() };
    let rename = |offer: &mut Offer| {
        offer.title += "!";
        Ok(())
    };
    // The offer changes between a read and a write of billing: no conflict either way.
    market.offers.update(&call, id, Some(1), rename).await.unwrap();
    let kept = market.offers.set_billing(&call, id, &tariff("gold", seen.version)).await.unwrap();
    market.offers.update(&call, id, Some(2), rename).await.unwrap();
    assert_eq!((&*kept.tariff, kept.version), ("gold", 1));
    let refused = market.offers.set_billing(&call, id, &tariff("iron", seen.version)).await.unwrap_err();
    assert!(matches!(refused, Error::OtherVersion { expected: 0, actual: 1, .. }), "{refused}");
    assert_eq!(market.offers.billing(id).await.unwrap(), kept);
}
