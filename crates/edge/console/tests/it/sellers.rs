//! The cabinets of sellers.

use crate::fake_market as fake;

use fake::{Fake, SCRIPT};
use http::StatusCode;
use wire::torg::feeds::v1::{Feed, Fetch, ListFeedsResponse, fetch};
use wire::torg::offers::v1::get_counts_response::Count;
use wire::torg::offers::v1::repair_counts_response::Drift;
use wire::torg::offers::v1::{
    GetCountersResponse, GetCountsRequest, GetCountsResponse, ListOffersRequest, ListOffersResponse, Money,
    Offer, Preset, RepairCountsRequest, RepairCountsResponse, Status,
};

const PAGE: &str = "/console/sellers/ann";

fn services() -> Fake {
    let offer = Offer {
        id: "4829175033168090".into(),
        seller: "ann".into(),
        title: SCRIPT.into(),
        status: Status::STATUS_EXPIRED.into(),
        ..Offer::default()
    };
    let broken =
        Fetch { outcome: fetch::Outcome::OUTCOME_FAILED.into(), text: SCRIPT.into(), ..Fetch::default() };
    let feed =
        Feed { namespace: "shop".into(), title: SCRIPT.into(), last_fetch: broken.into(), ..Feed::default() };
    let earned = Money { micros: 120_000_000, currency: "EUR".into(), ..Money::default() };
    Fake::default()
        .by("CabinetService/GetCounts", |request: GetCountsRequest| {
            if request.seller != "ann" {
                return Err(("not_found", "there is no such seller"));
            }
            let count =
                |(preset, offers): (Preset, i64)| Count { preset: preset.into(), offers, ..Count::default() };
            let counts = [(Preset::PRESET_ALL, 1234), (Preset::PRESET_EXPIRED, 56)].map(count).into();
            Ok(GetCountsResponse { counts, ..GetCountsResponse::default() })
        })
        .by("CabinetService/ListOffers", move |request: ListOffersRequest| {
            if request.seller != "ann" {
                return Err(("not_found", "there is no such seller"));
            }
            let (offers, next_page_token) = (vec![offer.clone()], "further".to_owned());
            Ok(ListOffersResponse { offers, next_page_token, ..ListOffersResponse::default() })
        })
        .with(
            "CabinetService/GetCounters",
            &GetCountersResponse { sold: 9, money_earned: vec![earned], ..GetCountersResponse::default() },
        )
        .with(
            "FeedService/ListFeeds",
            &ListFeedsResponse { feeds: vec![feed], ..ListFeedsResponse::default() },
        )
        .with(
            "CabinetService/RepairCounts",
            &RepairCountsResponse {
                drifts: vec![Drift { name: "all".into(), correction: -2, ..Drift::default() }],
                ..RepairCountsResponse::default()
            },
        )
}

#[tokio::test]
async fn a_cabinet_has_exact_counts_a_list_what_was_earned_and_the_feeds() {
    let open = services().open();
    let support = open.support().await;
    let page = support.get(&format!("{PAGE}?preset=expired&category=home&source=shop&title=So")).await;
    assert_eq!(page.status, StatusCode::OK);
    let shown = [
        "href=\"/console/sellers/ann?preset=expired\" aria-current=\"page\"",
        "1\u{a0}234",
        "56",
        "href=\"/console/offers/4829175033168090\"",
        "&lt;script&gt;",
        "120 EUR",
        "href=\"/console/feeds/ann/shop\"",
        "preset=expired&amp;category=home&amp;source=shop&amp;title=So&amp;page=further",
        "Recount",
    ];
    page.check(&shown, &[]);
    let asked: ListOffersRequest = open.asked("CabinetService/ListOffers").unwrap();
    let filter = asked.filter.as_option().unwrap();
    assert_eq!(asked.preset.as_known(), Some(Preset::PRESET_EXPIRED));
    assert_eq!((&*filter.category, &*filter.source, &*filter.title_prefix), ("home", "shop", "So"));
}

#[tokio::test]
async fn a_seller_is_sent_to_their_own_cabinet_and_finds_no_other() {
    let open = services().open();
    let ann = open.seller("ann").await;
    for path in ["/console/sellers", "/console/sellers?q=bob"] {
        assert_eq!(ann.get(path).await.place, PAGE, "{path}");
    }
    ann.get(PAGE).await.check(&["Your cabinet", "1\u{a0}234"], &["Recount"]);
    let page = ann.get("/console/sellers/bob").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    page.check(&["there is no such seller"], &["120 EUR"]);
}

#[tokio::test]
async fn who_looks_after_sellers_says_which_one() {
    let open = services().open();
    let support = open.support().await;
    support.get("/console/sellers").await.check(&["name=\"q\"", "Open the cabinet"], &[]);
    assert_eq!(support.get("/console/sellers?q=a%2Fb").await.place, "/console/sellers/a%2Fb");
}

#[tokio::test]
async fn counts_are_mended_by_a_form_of_the_page_only() {
    let open = services().open();
    let support = open.support().await;
    let refused = support.post_bare("/console/sellers/ann/repair", "").await;
    assert_eq!((refused.status, open.calls("CabinetService/RepairCounts")), (StatusCode::FORBIDDEN, 0));
    let done = support.post(PAGE, "/console/sellers/ann/repair", "").await;
    assert_eq!((done.status, &*done.place), (StatusCode::SEE_OTHER, PAGE));
    let asked: RepairCountsRequest = open.asked("CabinetService/RepairCounts").unwrap();
    assert_eq!(asked.seller, "ann");
}

#[tokio::test]
async fn a_part_that_fails_leaves_the_rest_of_the_cabinet() {
    let counts = GetCountsResponse::default();
    let open = Fake::default().with("CabinetService/GetCounts", &counts).open();
    let page = open.support().await.get(PAGE).await;
    assert_eq!(page.status, StatusCode::OK);
    page.check(&["ListOffers is away", "GetCounters is away", "ListFeeds is away", "Need attention"], &[]);
}
