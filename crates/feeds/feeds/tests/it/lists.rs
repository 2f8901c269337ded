//! Feeds are listed: those of a seller, and those of all.

use std::collections::BTreeSet;

use crate::common::Market;
use feeds::FeedName;
use wire::torg::feeds::v1::Feed;

#[tokio::test(flavor = "multi_thread")]
async fn feeds_of_all_sellers_are_listed_page_by_page_each_once_and_those_of_one_together() {
    let market = Market::start().await;
    let mut made = BTreeSet::new();
    for number in 0..7 {
        for namespace in ["default", "spring"] {
            let seller = format!("seller{number}");
            let feed = Feed { seller: seller.clone(), namespace: namespace.into(), ..Feed::default() };
            market.feeds.create(feed).await.unwrap();
            made.insert((seller, namespace.to_owned()));
        }
    }
    for limit in [1, 3, 14, 100] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = market.feeds.list_all(after.as_ref(), limit).await.unwrap();
            assert!(page.len() <= limit);
            let Some(last) = page.last() else { break };
            after = Some(FeedName { seller: last.seller.clone(), namespace: last.namespace.clone() });
            found.extend(page.into_iter().map(|feed| (feed.seller, feed.namespace)));
        }
        assert_eq!(found.len(), made.len(), "pages of {limit}");
        assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), made, "pages of {limit}");
        assert!(found.chunks(2).all(|pair| pair[0].0 == pair[1].0), "{found:?}");
    }
    let of_one = market.feeds.list("seller3", "", 100).await.unwrap();
    assert_eq!(of_one.iter().map(|feed| &*feed.namespace).collect::<Vec<_>>(), ["default", "spring"]);
    market.stop().await;
}
