//! The whole path: from a file to published offers, statistics and problems.

use std::time::Duration;

use buffa::Message as _;
use topics::{ReadLimit, Topics};
use wire::torg::feeds::v1::__buffa::oneof::result_message::Content;

use crate::common::{Market, PARTITIONS, yml};

use feeds::{Mapping, ProblemFilter};
use futures::TryStreamExt as _;
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{Feed, Missing, ResultMessage};

#[tokio::test(flavor = "multi_thread")]
async fn a_file_becomes_live_offers_and_a_second_one_changes_only_what_is_different() {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    let first = market.load(&feed, &yml(&[("1", "Диван серый", 100), ("2", "Диван синий", 200)])).await;
    let counts = first.counts.as_option().unwrap();
    let problems = market.feeds.problems(&feed, 1, &ProblemFilter::default(), None, 100).await.unwrap();
    assert_eq!(first.state.as_known(), Some(State::STATE_DONE), "{first:?} {problems:?}");
    assert_eq!((counts.offers, counts.created, counts.rejected), (2, 2, 0), "{problems:?}");
    assert_eq!(first.format, "yml");
    let live = market.live(&feed).await;
    assert_eq!(live.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["1", "2"]);

    let second = market
        .load(&feed, &yml(&[("1", "Диван серый", 100), ("2", "Диван синий", 150), ("3", "Диван", 70)]))
        .await;
    let counts = second.counts.as_option().unwrap();
    assert_eq!((counts.created, counts.changed, counts.unchanged, counts.removed), (1, 1, 1, 0));
    let after = market.live(&feed).await;
    assert_eq!(after[0].1, live[0].1, "what says the same has no new version");
    assert_eq!(after[1].1.version, live[1].1.version + 1);

    let third = market.load(&feed, &yml(&[("1", "Диван серый", 100), ("3", "Диван", 70)])).await;
    assert_eq!(third.counts.as_option().unwrap().removed, 1);
    assert_eq!(market.live(&feed).await.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["1", "3"]);
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_offer_costs_one_offer_and_what_there_is_of_it_stays() {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    market.load(&feed, &yml(&[("1", "Диван серый", 100), ("2", "Диван синий", 200)])).await;
    let wrong = yml(&[("1", "Диван серый", 100), ("2", "Диван синий", 200)])
        .replace("<price>200</price>", "<price>дорого</price>");
    let load = market.load(&feed, &wrong).await;
    let counts = load.counts.as_option().unwrap();
    assert_eq!((counts.unchanged, counts.rejected, counts.removed, counts.errors), (1, 1, 0, 1));
    assert_eq!(market.live(&feed).await.len(), 2, "the offer that is wrong now stays as it was");
    let page = market.feeds.problems(&feed, load.number, &ProblemFilter::default(), None, 10).await.unwrap();
    let problem = page.problems.iter().find(|found| found.external_id == "2").unwrap();
    assert_eq!(problem.title, "Диван синий");
    let problem = problem.problem.as_option().unwrap();
    assert_eq!((problem.code.as_str(), problem.value.as_str()), ("bad_price", "дорого"));
    assert!(problem.line > 1 && problem.column > 1, "{problem:?}");
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_file_and_one_that_nobody_can_read_remove_nothing() {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    let whole = yml(&[("1", "Диван серый", 100), ("2", "Диван синий", 200)]);
    market.load(&feed, &whole).await;
    let cut = &whole[..whole.find("<offer id=\"2\"").unwrap() + 30];
    let broken = market.load(&feed, cut).await;
    assert_eq!(broken.state.as_known(), Some(State::STATE_FAILED), "{broken:?}");
    assert_eq!(broken.failure.as_option().unwrap().code, "broken_file");
    let unreadable = market.load(&feed, "<html><body>404</body></html>").await;
    assert_eq!(unreadable.state.as_known(), Some(State::STATE_FAILED), "{unreadable:?}");
    assert_eq!(market.live(&feed).await.len(), 2);
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_would_remove_too_much_waits_until_somebody_confirms_it() {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    let ids: Vec<String> = (0..120).map(|n| format!("s{n:03}")).collect();
    let many: Vec<(&str, &str, u32)> = ids.iter().map(|id| (id.as_str(), "Диван серый", 100)).collect();
    assert_eq!(market.load(&feed, &yml(&many)).await.counts.as_option().unwrap().created, 120);
    let waits = market.load(&feed, &yml(&many[..30])).await;
    assert_eq!(waits.state.as_known(), Some(State::STATE_WAITING));
    assert_eq!((waits.would_remove, waits.would_remove_of), (90, 120));
    let surveyed = market.feeds.survey(None).await.unwrap();
    assert_eq!((surveyed.feeds.len(), &surveyed.next), (1, &None));
    let last = surveyed.feeds[0].last_load.unwrap();
    assert_eq!((last.number, last.state, last.would_remove), (waits.number, State::STATE_WAITING, 90));
    let gone = feeds::FeedName::new("bob", "none");
    assert_eq!(market.feeds.survey_of(&[gone, feed.clone()]).await.unwrap(), surveyed.feeds);
    assert_eq!(market.live(&feed).await.len(), 120);
    market.feeds.confirm(&feed, waits.number).await.unwrap();
    let done = market.ended(&feed, waits.number).await;
    assert_eq!(
        (done.state.as_known(), done.counts.as_option().unwrap().removed),
        (Some(State::STATE_DONE), 90)
    );
    assert_eq!(market.live(&feed).await.len(), 30);
    assert!(market.feeds.confirm(&feed, waits.number).await.is_err(), "it does not wait any more");
    let surveyed = market.feeds.survey(None).await.unwrap().feeds.remove(0);
    assert_eq!(surveyed.last_load.unwrap().state, State::STATE_DONE);
    assert_eq!((surveyed.queued, surveyed.unreachable), (0, None));
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_whose_file_is_gone_fails_and_the_next_one_is_read() {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    let paused = |paused: bool| {
        move |feed: &mut Feed| {
            feed.paused = paused;
            Ok(())
        }
    };
    market.feeds.update(&feed, None, paused(true)).await.unwrap();
    let number = market.upload(&feed, &yml(&[("1", "Диван серый", 100)])).await;
    let files: Vec<_> = market.storage.list(None).try_collect().await.unwrap();
    market.storage.delete(&files[0].location).await.unwrap();
    market.feeds.update(&feed, None, paused(false)).await.unwrap();
    let load = market.ended(&feed, number).await;
    assert_eq!(load.state.as_known(), Some(State::STATE_FAILED), "{load:?}");
    assert_eq!(load.failure.as_option().unwrap().code, "read_failed");
    assert_eq!(
        market.load(&feed, &yml(&[("1", "Диван серый", 100)])).await.state.as_known(),
        Some(State::STATE_DONE)
    );
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_last_loads_are_kept_with_their_files_and_problems() {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    let wrong = yml(&[("1", "Диван серый", 100)]).replace("<price>100</price>", "<price>дорого</price>");
    for _ in 0..5 {
        // The same file each time: what one load leaves behind is not what another needs.
        market.load(&feed, &wrong).await;
    }
    let files = async || {
        let all: Vec<_> = market.storage.list(None).try_collect().await.unwrap();
        all.len()
    };
    for _ in 0..600 {
        if files().await == 3 && market.feeds.loads(&feed, None, 10).await.unwrap().len() == 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let loads = market.feeds.loads(&feed, None, 10).await.unwrap();
    assert_eq!(loads.iter().map(|load| load.number).collect::<Vec<_>>(), [5, 4, 3]);
    assert_eq!(files().await, 3);
    let problems = async |load| {
        market.feeds.problems(&feed, load, &ProblemFilter::default(), None, 10).await.unwrap().problems.len()
    };
    assert_eq!((problems(2).await, problems(3).await), (0, 1));
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_of_one_seller_never_touch_each_other_and_a_deleted_one_takes_its_offers_along() {
    let market = Market::start().await;
    let (one, two) = (market.feed("ann", "one").await, market.feed("ann", "two").await);
    let file = yml(&[("1", "Диван серый", 100), ("2", "Диван синий", 200)]);
    let (first, second) = tokio::join!(market.load(&one, &file), market.load(&two, &file));
    assert_eq!(
        (first.counts.as_option().unwrap().created, second.counts.as_option().unwrap().created),
        (2, 2)
    );
    market.feeds.delete(&one, Missing::MISSING_REMOVE).await.unwrap();
    for _ in 0..600 {
        if market.feeds.get(&one).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(market.feeds.get(&one).await.is_err(), "the feed is gone");
    assert!(market.live(&one).await.is_empty());
    assert_eq!(market.live(&two).await.len(), 2);
    assert!(market.feeds.loads(&one, None, 10).await.unwrap().is_empty(), "its history is gone");

    let again = market.feed("ann", "one").await;
    let number = market.upload(&again, &file).await;
    assert!(number > 2, "numbers go on behind those of the feed that was there before: {number}");
    assert_eq!(market.ended(&again, number).await.counts.as_option().unwrap().created, 2);
    assert_eq!((market.live(&again).await.len(), market.live(&two).await.len()), (2, 2));
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_sellers_category_was_taken_for_is_remembered_and_what_somebody_decides_wins() {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    let file = yml(&[("1", "Диван серый", 100), ("2", "Диван синий", 200)]);
    market.load(&feed, &file).await;
    let known = async || market.feeds.list_mappings("ann", "", 10).await.unwrap().remove(0).1;
    let recognised = known().await;
    assert_eq!(
        (&*recognised.path, recognised.by_hand, recognised.score),
        (&["Диваны".to_owned()][..], false, 1.0)
    );
    let first = market.live(&feed).await;
    assert_eq!(first[0].1.category, recognised.category);

    let other = market.offers.catalogue().categories().find(|category| {
        category.accepts_offers()
            && category.id() != recognised.category
            && !category.attributes().any(catalog::Use::required)
    });
    let decided = Mapping { category: other.unwrap().id().to_owned(), by_hand: true, ..recognised.clone() };
    market.feeds.set_mapping("ann", &decided).await.unwrap();
    market.load(&feed, &file.replace("серый", "белый")).await;
    assert_eq!(market.live(&feed).await[0].1.category, decided.category);
    assert_eq!(known().await, decided, "a load does not overwrite what somebody decided");

    market.feeds.set_mapping("ann", &Mapping { category: String::new(), ..decided }).await.unwrap();
    market.load(&feed, &file.replace("серый", "чёрный")).await;
    assert_eq!(known().await, recognised, "it is recognised again");
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_too_large_for_one_commit_is_applied_in_portions_and_counted_once() {
    let market = Market::start_with_batches(1000).await;
    let feed = market.feed("ann", "default").await;
    let ids: Vec<String> = (0..1000).map(|n| format!("s{n:04}")).collect();
    let mut many: Vec<(&str, &str, u32)> = ids.iter().map(|id| (id.as_str(), "Диван", 100)).collect();
    let load = market.load(&feed, &yml(&many)).await;
    let counts = load.counts.as_option().unwrap();
    assert_eq!((counts.created, counts.changed, counts.unchanged, counts.rejected), (1000, 0, 0, 0));
    assert_eq!(market.live(&feed).await.len(), 1000);
    assert!(result_parts(&market).await > 1, "the only batch has several results");
    for (_, _, price) in many.iter_mut().step_by(2) {
        *price = 90;
    }
    let load = market.load(&feed, &yml(&many)).await;
    let counts = load.counts.as_option().unwrap();
    assert_eq!((counts.created, counts.changed, counts.unchanged, counts.rejected), (0, 500, 500, 0));
    market.stop().await;
}

/// How many results of batches the ad store has sent.
async fn result_parts(market: &Market) -> usize {
    let mut parts = 0;
    for partition in 0..PARTITIONS {
        let topics = Topics::in_store(market.offers.store());
        let page = topics.read("feed.results", partition, 0, ReadLimit::messages(1000)).await.unwrap();
        for delivered in page.messages {
            let result = ResultMessage::decode_from_slice(&delivered.message.payload).unwrap();
            parts += usize::from(matches!(result.content, Some(Content::Batch(_))));
        }
    }
    parts
}
