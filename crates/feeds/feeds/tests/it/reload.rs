//! A feed that is loaded again: unchanged offers are neither converted nor sent with their
//! contents.

use crate::common::{Market, PARTITIONS, yml};
use buffa::Message as _;
use feeds::FeedName;
use feeds::{Mapping, ProblemFilter};
use offers::status::Mover;
use offers::{Call, Move};
use topics::{Message, ReadLimit, Topics};
use wire::torg::feeds::v1::__buffa::oneof::load_message::Content;
use wire::torg::feeds::v1::load_message::{Batch, End};
use wire::torg::feeds::v1::loaded_offer::Verdict;
use wire::torg::feeds::v1::{Defaults, Feed, LoadMessage, LoadedOffer, load_progress};
use wire::torg::offers::v1::{Author, Contacts, Status, author};

const SOFAS: [(&str, &str, u32); 3] =
    [("1", "Диван серый", 100), ("2", "Диван синий", 200), ("3", "Диван красный", 300)];

/// The offers of a load as they were sent, by their ids.
async fn sent(market: &Market, load: u64) -> Vec<LoadedOffer> {
    let mut sent = Vec::new();
    for partition in 0..PARTITIONS {
        let all = ReadLimit::messages(1000);
        let page =
            Topics::in_store(market.offers.store()).read("feed.offers", partition, 0, all).await.unwrap();
        for delivered in page.messages {
            let message = LoadMessage::decode_from_slice(&delivered.message.payload).unwrap();
            if let (Some(Content::Batch(batch)), true) = (message.content, message.load == load) {
                sent.extend(batch.offers);
            }
        }
    }
    sent.sort_by(|a, b| a.external_id.cmp(&b.external_id));
    sent
}

/// Which offers of a load were sent whole.
async fn whole(market: &Market, load: u64) -> Vec<String> {
    let sent = sent(market, load).await.into_iter();
    let whole = sent.filter(|offer| offer.verdict.as_known() != Some(Verdict::VERDICT_UNCHANGED));
    whole.map(|offer| offer.external_id).collect()
}

async fn with_sofas() -> (Market, FeedName) {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    let load = market.load(&feed, &yml(&SOFAS)).await;
    let problems = market.feeds.problems(&feed, 1, &ProblemFilter::default(), None, 100).await.unwrap();
    assert_eq!(load.counts.as_option().unwrap().created, 3, "{problems:?}");
    assert!(problems.problems.is_empty(), "{problems:?}");
    assert_eq!(whole(&market, 1).await, ["1", "2", "3"]);
    (market, feed)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_says_the_same_comes_without_its_contents_wherever_it_stands_in_the_file() {
    let (market, feed) = with_sofas().await;
    let moved = [SOFAS[2], ("0", "Диван белый", 90), SOFAS[0], ("2", "Диван синий", 199)];
    let load = market.load(&feed, &yml(&moved)).await;
    let counts = load.counts.as_option().unwrap();
    assert_eq!((counts.created, counts.changed, counts.unchanged, counts.removed), (1, 1, 2, 0));
    assert_eq!(whole(&market, 2).await, ["0", "2"]);
    let unchanged = sent(&market, 2).await.into_iter().find(|offer| offer.external_id == "1").unwrap();
    assert!(!unchanged.offer.is_set() && !unchanged.fingerprint.is_empty());
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_understood_differently_is_looked_at_again_though_it_says_the_same() {
    let (market, feed) = with_sofas().await;
    let phone = Contacts { phones: vec!["+79161234567".to_owned()], ..Contacts::default() };
    let defaults = Defaults { contacts: Some(phone).into(), ..Defaults::default() };
    let with_phone = |feed: &mut Feed| {
        feed.defaults = Some(defaults.clone()).into();
        Ok(())
    };
    market.feeds.update(&feed, None, with_phone).await.unwrap();
    let load = market.load(&feed, &format!("{}<!-- 2 -->", yml(&SOFAS))).await;
    assert_eq!(load.counts.as_option().unwrap().changed, 3, "the feed has other contacts now");

    let taken_for = market.live(&feed).await[0].1.category.clone();
    let other = market.offers.catalogue().categories().find(|category| {
        category.accepts_offers()
            && category.id() != taken_for
            && !category.attributes().any(catalog::Use::required)
    });
    let mapping = Mapping {
        path: vec!["Диваны".to_owned()],
        category: other.unwrap().id().to_owned(),
        author: "support".to_owned(),
        by_hand: true,
        score: 1.0,
    };
    market.feeds.set_mapping("ann", &mapping).await.unwrap();
    let load = market.load(&feed, &format!("{}<!-- 3 -->", yml(&SOFAS))).await;
    assert_eq!(load.counts.as_option().unwrap().changed, 3, "support has mapped the category");

    let renamed = yml(&SOFAS).replace("Диваны", "Шкафы");
    let load = market.load(&feed, &renamed).await;
    assert_eq!(whole(&market, load.number).await, ["1", "2", "3"], "the seller's category has another name");
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_was_removed_meanwhile_is_published_again() {
    let (market, feed) = with_sofas().await;
    let gone: offers::OfferId = market.live(&feed).await[1].1.id.parse().unwrap();
    let author =
        Author { kind: author::Kind::KIND_SELLER.into(), name: "ann".to_owned(), ..Author::default() };
    let call = Call::by(author, Mover::Seller);
    market.offers.move_to(&call, gone, None, &Move::to(Status::Removed)).await.unwrap();
    let load = market.load(&feed, &format!("{}<!-- 2 -->", yml(&SOFAS))).await;
    let counts = load.counts.as_option().unwrap();
    assert_eq!((counts.created, counts.unchanged, counts.postponed), (1, 2, 0));
    assert_eq!(market.live(&feed).await.len(), 3);
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn offers_with_warnings_are_reported_again_at_the_lines_where_they_stand_now() {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    let warned = |prefix: &str| {
        let file = yml(&SOFAS).replace("<offers>", &format!("<offers>{prefix}"));
        file.replacen("<price>200</price>", "<price>200</price><param name=\"Запах\">роза</param>", 1)
    };
    let first = market.load(&feed, &warned("")).await;
    let second = market.load(&feed, &warned("\n\n\n")).await;
    assert!(whole(&market, second.number).await.is_empty());
    let line = async |load: u64| {
        let page = market.feeds.problems(&feed, load, &ProblemFilter::default(), None, 10).await.unwrap();
        assert_eq!(page.problems.len(), 1, "{page:?}");
        page.problems[0].problem.line
    };
    assert_eq!(line(second.number).await, line(first.number).await + 3);
    assert_eq!(second.counts.as_option().unwrap().unchanged, 3);
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_changes_between_the_question_and_its_batch_waits_for_the_next_load() {
    let (market, feed) = with_sofas().await;
    let mut offers = sent(&market, 1).await;
    for offer in &mut offers {
        offer.verdict = Verdict::VERDICT_UNCHANGED.into();
        offer.offer = None.into();
    }
    offers[0].fingerprint = b"another".to_vec();
    market.feeds.begin_load(&feed, 2).await.unwrap();
    let batch = Batch { offers, ..Batch::default() };
    let end = End { batches: 1, complete: true, ..End::default() };
    for content in [Content::Batch(Box::new(batch)), Content::End(Box::new(end))] {
        let message = LoadMessage {
            seller: feed.seller.clone(),
            namespace: feed.namespace.clone(),
            load: 2,
            content: Some(content),
            ..LoadMessage::default()
        };
        let message = Message::new(feed.topic_key(), message.encode_to_vec(), 1);
        Topics::in_store(market.offers.store()).append("feed.offers", vec![message]).await.unwrap();
    }
    let is_done = async || {
        let progress = market.feeds.load_progress(&feed).await.unwrap().unwrap();
        progress.load == 2 && progress.state.as_known() == Some(load_progress::State::STATE_DONE)
    };
    while !is_done().await {
        tokio::task::yield_now().await;
    }
    assert_eq!(market.live(&feed).await.len(), 3, "what is put off is not removed");
    let asked = sent(&market, 1).await;
    let asked: Vec<(&str, &[u8])> =
        asked.iter().map(|offer| (&*offer.external_id, &*offer.fingerprint)).collect();
    let unchanged = market.feeds.unchanged_since(&feed, &asked).await.unwrap();
    assert_eq!(unchanged, [true; 3], "what is known of it is what was published");
    market.stop().await;
}
