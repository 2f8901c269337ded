//! The pages about offers.

use crate::fake_market as fake;

use buffa_types::google::protobuf::Timestamp;
use fake::{Fake, SCRIPT};
use http::StatusCode;
use wire::torg::catalog::v1::attribute::Choice;
use wire::torg::catalog::v1::{Attribute, CategoryName, GetCategoryResponse};
use wire::torg::feeds::v1::{Feed, ListFeedsResponse};
use wire::torg::offers::v1::explain_offer_response::StageStanding;
use wire::torg::offers::v1::explain_offer_response::stage_standing::{LastVisit, Waits, Why};
use wire::torg::offers::v1::get_counts_response::Count;
use wire::torg::offers::v1::history_entry::{Excerpt, FieldChange};
use wire::torg::offers::v1::{
    Author, Billing, Contacts, ExplainOfferResponse, GetBillingResponse, GetCountsRequest, GetCountsResponse,
    GetHistoryRequest, GetHistoryResponse, GetModerationResponse, GetOfferRequest, GetOfferResponse,
    HistoryEntry, ListOffersRequest, ListOffersResponse, Moderation, Money, MoveOfferRequest,
    MoveOfferResponse, Offer, Opinion, Photo, Preset, Price, Source, Status, StatusReason, Values, author,
    opinion, source,
};
use wire::torg::stages::v1::{GetStageRequest, GetStageResponse};

const ID: &str = "4829175033168090";
const PAGE: &str = "/console/offers/4829175033168090";

fn offer(status: Status) -> Offer {
    let money = Money { micros: 1_250_500_000, currency: "EUR".into(), ..Money::default() };
    let feed =
        source::Feed { namespace: "shop".into(), external_id: SCRIPT.into(), ..source::Feed::default() };
    let photo = Photo {
        source_url: "https://shop.example/a.jpg".into(),
        sizes: [("320".to_owned(), "/photos/ab/x-320.jpg".to_owned())].into(),
        ..Photo::default()
    };
    let contacts =
        Contacts { name: "Ann".into(), phones: vec!["+49 30 123456".into()], ..Contacts::default() };
    Offer {
        id: ID.into(),
        seller: "ann".into(),
        title: format!("Sofa {SCRIPT}"),
        description: SCRIPT.into(),
        category: "home/sofas".into(),
        price: Price { kind: Some(money.into()), ..Price::default() }.into(),
        attributes: [
            ("colour".to_owned(), Values { values: vec!["red".into()], ..Values::default() }),
            ("odd".to_owned(), Values { values: vec![SCRIPT.into()], ..Values::default() }),
        ]
        .into(),
        photos: vec![photo],
        contacts: contacts.into(),
        source: Source { kind: Some(feed.into()), ..Source::default() }.into(),
        status: status.into(),
        status_reason: StatusReason { text: SCRIPT.into(), ..StatusReason::default() }.into(),
        version: 3,
        ..Offer::default()
    }
}

fn history() -> GetHistoryResponse {
    let price = FieldChange {
        field: "price".into(),
        before: Some("{\"fixed\":{\"micros\":\"9\"}}".into()),
        after: Some(format!("\"{SCRIPT}\"")),
        ..FieldChange::default()
    };
    let author = Author { kind: author::Kind::KIND_STAGE.into(), name: "prices".into(), ..Author::default() };
    let entry =
        HistoryEntry { version: 3, author: author.into(), changes: vec![price], ..HistoryEntry::default() };
    let excerpt =
        Excerpt {
            before: "…a green sofa…".into(), after: format!("…{SCRIPT}…"), ..Excerpt::default()
        };
    let long = FieldChange {
        field: "description".into(),
        long: true,
        excerpt: excerpt.into(),
        ..FieldChange::default()
    };
    let author = Author { kind: author::Kind::KIND_FEED.into(), name: "shop 12".into(), ..Author::default() };
    let loaded =
        HistoryEntry { version: 2, author: author.into(), changes: vec![long], ..HistoryEntry::default() };
    GetHistoryResponse {
        entries: vec![entry, loaded],
        next_page_token: "further".into(),
        ..GetHistoryResponse::default()
    }
}

fn explained() -> ExplainOfferResponse {
    let stage = |stage: &str, waits: Waits| StageStanding {
        stage: stage.into(),
        standing: "in words".into(),
        waits: waits.into(),
        error: SCRIPT.into(),
        ..StageStanding::default()
    };
    let time = |seconds| Some(Timestamp { seconds, ..Timestamp::default() }).into();
    let seen =
        LastVisit { time: time(1_794_832_000), version: 2, changed: Some(true), ..LastVisit::default() };
    let until = StageStanding {
        until: time(1_896_000_000),
        since: time(1_794_832_000),
        why: Why::WHY_TIMER.into(),
        last_visit: seen.into(),
        ..stage("expiry", Waits::WAITS_UNTIL)
    };
    let busy = StageStanding { visitor: "prices".into(), ..stage("video", Waits::WAITS_BUSY) };
    ExplainOfferResponse {
        shard: 5,
        served_by: "torg-1".into(),
        stages: vec![
            stage("photos", Waits::WAITS_PARKED),
            until,
            busy,
            stage("later", Waits::WAITS_UNSPECIFIED),
        ],
        ..ExplainOfferResponse::default()
    }
}

fn category() -> GetCategoryResponse {
    let choice = Choice { id: "red".into(), name: "Red as wine".into(), ..Choice::default() };
    let colour = Attribute {
        id: "colour".into(),
        name: "Colour".into(),
        choices: vec![choice],
        ..Attribute::default()
    };
    let name = CategoryName { path: "Home > Sofas".into(), ..CategoryName::default() };
    GetCategoryResponse { category: name.into(), attributes: vec![colour], ..GetCategoryResponse::default() }
}

fn services(status: Status) -> Fake {
    let opinion = Opinion {
        verdict: opinion::Verdict::VERDICT_ALLOW.into(),
        moderator: "mia".into(),
        ..Opinion::default()
    };
    let moderation = Moderation { opinion: opinion.into(), ..Moderation::default() };
    let billing = Billing { tariff: "gold".into(), version: 1, ..Billing::default() };
    Fake::default()
        .by("OfferService/GetOffer", move |request: GetOfferRequest| {
            let found = GetOfferResponse { offer: offer(status).into(), ..GetOfferResponse::default() };
            if request.id == ID { Ok(found) } else { Err(("not_found", "there is no such offer")) }
        })
        .with("OfferService/GetHistory", &history())
        .with("OfferService/ExplainOffer", &explained())
        .with(
            "OfferService/GetBilling",
            &GetBillingResponse { billing: billing.into(), ..GetBillingResponse::default() },
        )
        .with(
            "ModerationService/GetModeration",
            &GetModerationResponse { moderation: moderation.into(), ..GetModerationResponse::default() },
        )
        .with("CatalogueService/GetCategory", &category())
        .with(
            "OfferService/MoveOffer",
            &MoveOfferResponse { offer: offer(Status::STATUS_SOLD).into(), ..MoveOfferResponse::default() },
        )
}

#[tokio::test]
async fn support_sees_everything_about_an_offer_and_can_change_nothing() {
    let open = services(Status::STATUS_ACTIVE).open();
    let page = open.support().await.get(&format!("{PAGE}?page=behind")).await;
    assert_eq!(page.status, StatusCode::OK);
    let shown = [
        "4829-1750-3316-8090",
        "1\u{a0}250.50 EUR",
        "href=\"/console/sellers/ann\"",
        "href=\"/console/feeds/ann/shop\"",
        "Home &gt; Sofas",
        "Colour",
        "Red as wine",
        "+49 30 123456",
        "src=\"/photos/ab/x-320.jpg\"",
        "href=\"https://shop.example/a.jpg\" rel=\"noreferrer noopener nofollow\"",
        "mia",
        "gold",
        "<del class=\"old\">{&quot;fixed&quot;",
        "<ins class=\"new\">&lt;script&gt;",
        "href=\"/console/stages/photos\"",
        "href=\"/console/stages/prices\"",
        "page=further",
        "<del class=\"old\">…a green sofa…</del>",
        "<ins class=\"new\">…&lt;script&gt;",
        "href=\"/console/feeds/ann/shop/loads/12\"",
        "until it is released or changes",
        "scheduled: <time datetime=\"2030-01-30T",
        "because the stage asked for it",
        "changed it",
        "due, but visited now by <a href=\"/console/stages/prices\">",
        "never visited",
        "<span lang=\"en\">in words</span>",
    ];
    page.check(&shown, &["What you can do", "release-form", "/move\""]);
    let asked: GetHistoryRequest = open.asked("OfferService/GetHistory").unwrap();
    assert_eq!(asked.page_token, "behind");
}

#[tokio::test]
async fn an_admin_releases_what_is_parked_and_only_that() {
    let open = services(Status::STATUS_ACTIVE).open();
    let page = open.admin().await.get(PAGE).await;
    page.check(
        &["formaction=\"/console/stages/photos/release\"", "id=\"release-form\""],
        &["formaction=\"/console/stages/expiry/release\""],
    );
}

#[tokio::test]
async fn a_seller_sees_their_own_offer_without_internals_and_can_end_it() {
    let open = services(Status::STATUS_ACTIVE).open();
    let page = open.seller("ann").await.get(PAGE).await;
    assert_eq!(page.status, StatusCode::OK);
    let moves = ["id=\"move-sold\"", "id=\"move-removed\"", "value=\"1250.50\""];
    let inside = ["State in every stage", "torg-1", "id=\"move-banned\"", "Catalogue", "name=\"reason\""];
    page.check(&moves, &inside);
    assert_eq!(open.calls("OfferService/ExplainOffer"), 0);
    let banned = services(Status::STATUS_BANNED).open();
    let page = banned.seller("ann").await.get(PAGE).await;
    page.check(&["id=\"move-removed\""], &["id=\"move-active\"", "id=\"move-sold\""]);
}

#[tokio::test]
async fn a_moderator_bans_and_lifts_bans_and_says_why() {
    let open = services(Status::STATUS_ACTIVE).open();
    let mia = open.moderator().await;
    mia.get(PAGE).await.check(&["id=\"move-banned\"", "id=\"reason-banned\""], &["id=\"move-sold\""]);
    let refused = mia.post_bare(&format!("{PAGE}/move"), "to=banned&reason=fraud").await;
    assert_eq!((refused.status, open.calls("OfferService/MoveOffer")), (StatusCode::FORBIDDEN, 0));
    let done = mia.post(PAGE, &format!("{PAGE}/move"), "to=banned&reason=It+is+a+lie&code=fraud").await;
    assert_eq!((done.status, &*done.place), (StatusCode::SEE_OTHER, PAGE));
    let asked: MoveOfferRequest = open.asked("OfferService/MoveOffer").unwrap();
    assert_eq!((&*asked.id, asked.to.as_known()), (ID, Some(Status::STATUS_BANNED)));
    assert_eq!((&*asked.reason_text, &*asked.reason_code), ("It is a lie", "fraud"));
    let lifted = services(Status::STATUS_BANNED).open();
    lifted
        .moderator()
        .await
        .get(PAGE)
        .await
        .check(&["Lift the ban", "id=\"move-active\""], &["id=\"move-banned\""]);
}

#[tokio::test]
async fn what_was_paid_goes_with_a_sale_and_a_wrong_amount_is_not_sent() {
    let open = services(Status::STATUS_ACTIVE).open();
    let (ann, place) = (open.seller("ann").await, format!("{PAGE}/move"));
    ann.post(PAGE, &place, "to=sold&paid=1+200%2C50&currency=eur").await;
    let asked: MoveOfferRequest = open.asked("OfferService/MoveOffer").unwrap();
    let paid = asked.paid.as_option().unwrap();
    assert_eq!((paid.micros, &*paid.currency), (1_200_500_000, "EUR"));
    ann.post(PAGE, &place, "to=sold&paid=much&currency=EUR").await;
    ann.post(PAGE, &place, "to=anything").await;
    assert_eq!(open.calls("OfferService/MoveOffer"), 1);
}

#[tokio::test]
async fn what_fails_leaves_the_rest_of_the_offer() {
    let found =
        GetOfferResponse { offer: offer(Status::STATUS_ACTIVE).into(), ..GetOfferResponse::default() };
    let open = Fake::default().with("OfferService/GetOffer", &found).open();
    let page = open.support().await.get(PAGE).await;
    assert_eq!(page.status, StatusCode::OK);
    let away = ["GetHistory is away", "ExplainOffer is away", "GetModeration is away", "GetBilling is away"];
    page.check(&away, &[]);
    page.check(&["1\u{a0}250.50 EUR", "home/sofas", "colour"], &[]);
}

fn searched() -> Fake {
    services(Status::STATUS_ACTIVE)
        .by("CabinetService/GetCounts", |request: GetCountsRequest| {
            let count = |preset: Preset, offers| Count { preset: preset.into(), offers, ..Count::default() };
            let known = if request.seller == "ann" { 7 } else { 0 };
            let counts = vec![count(Preset::PRESET_ALL, known), count(Preset::PRESET_ARCHIVED, 0)];
            Ok(GetCountsResponse { counts, ..GetCountsResponse::default() })
        })
        .by("CabinetService/ListOffers", |request: ListOffersRequest| {
            let filter = request.filter.as_option().unwrap();
            let fits = (&*request.seller, &*filter.source, &*filter.external_id) == ("ann", "shop", "A-1");
            let offers = fits.then(|| offer(Status::STATUS_ACTIVE)).into_iter().collect();
            Ok(ListOffersResponse { offers, ..ListOffersResponse::default() })
        })
        .with(
            "FeedService/ListFeeds",
            &ListFeedsResponse {
                feeds: ["depot", "shop"]
                    .map(|name| Feed { namespace: name.into(), ..Feed::default() })
                    .into(),
                ..ListFeedsResponse::default()
            },
        )
        .by("StageAdminService/GetStage", |request: GetStageRequest| match &*request.id {
            "expiry" | "ann" => Ok(GetStageResponse::default()),
            _ => Err(("not_found", "there is no such stage")),
        })
}

#[tokio::test]
async fn an_offer_is_found_at_once_by_its_id_and_by_its_id_in_a_feed() {
    let open = searched().open();
    let support = open.support().await;
    for text in ["4829-1750-3316-8090", "%E2%84%96%204829175033168090", "ann%2FA-1", "ann%2Fshop%2FA-1"] {
        let page = support.get(&format!("/console/offers?q={text}")).await;
        assert_eq!((page.status, &*page.place), (StatusCode::SEE_OTHER, PAGE), "{text}: {}", page.text);
    }
    let page = support.get("/console/offers?q=A-1&seller=ann").await;
    assert_eq!(page.place, PAGE);
    let page = open.seller("ann").await.get("/console/offers?q=A-1").await;
    assert_eq!(page.place, PAGE, "a seller need not say who they are");
}

#[tokio::test]
async fn what_a_text_may_be_is_offered_and_nothing_is_told_as_nothing() {
    let open = searched().open();
    let support = open.support().await;
    let page = support.get("/console/offers?q=ann").await;
    page.check(&["href=\"/console/sellers/ann\"", "offers: 7", "href=\"/console/stages/ann\""], &[]);
    let page = support.get("/console/offers?q=expiry").await;
    page.check(&["href=\"/console/stages/expiry\""], &["/console/sellers/expiry"]);
    let page = support.get("/console/offers?q=%3Cscript%3Ealert(1)%3C/script%3E").await;
    page.check(&["Nothing found for", "&lt;script&gt;"], &[]);
    assert_eq!(support.get("/console/find?q=ann").await.place, "/console/offers?q=ann");
}

#[tokio::test]
async fn a_seller_begins_in_their_cabinet_and_is_asked_about_no_stage() {
    let open = searched().open();
    let ann = open.seller("ann").await;
    assert_eq!(ann.get("/console/offers").await.place, "/console/sellers/ann");
    ann.get("/console/offers?q=expiry").await.check(&["Nothing found for"], &["/console/stages/expiry"]);
    assert_eq!(open.calls("StageAdminService/GetStage"), 0);
}
