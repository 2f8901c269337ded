//! The pages of feeds.

use crate::fake_torg as torg;

use access::{Caller, Role};
use http::StatusCode;
use torg::{Fake, Site};
use wire::torg::admin::v1 as admin;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::feeds::v1::summarize_problems_response::CodeSummary;
use wire::torg::feeds::v1::{
    ConfirmLoadRequest, ConfirmLoadResponse, Counts, CreateFeedRequest, CreateFeedResponse, Defaults,
    DeleteFeedRequest, DeleteFeedResponse, Feed, Fetch, FetchNowRequest, FetchNowResponse, GetFeedResponse,
    GetLoadResponse, Link, ListFeedsRequest, ListFeedsResponse, ListLoadsResponse, ListMappingsResponse,
    ListProblemsRequest, ListProblemsResponse, Load, Mapping, Missing, OfferProblem, Problem,
    SetMappingRequest, SetMappingResponse, SummarizeProblemsRequest, SummarizeProblemsResponse,
    UpdateFeedRequest, UpdateFeedResponse, fetch,
};
use wire::torg::offers::v1::Contacts;

const EVIL: &str = "<script>alert(1)</script>";
const PAGE: &str = "/console/feeds/ann/shop";

fn feed(seller: &str) -> Feed {
    let link = Link { url: format!("https://a.example/{EVIL}"), user: "u".into(), ..Link::default() };
    let fetch = Fetch {
        outcome: fetch::Outcome::OUTCOME_FAILED.into(),
        text: "the address is private: use a public one".into(),
        ..Fetch::default()
    };
    Feed {
        seller: seller.into(),
        namespace: "shop".into(),
        title: format!("Sofas {EVIL}"),
        link: Some(link).into(),
        last_fetch: Some(fetch).into(),
        last_load: Some(load(State::STATE_READING)).into(),
        defaults: Some(Defaults {
            contacts: Some(contacts()).into(),
            currency: "RUB".into(),
            ..Defaults::default()
        })
        .into(),
        ..Feed::default()
    }
}

fn contacts() -> Contacts {
    Contacts { name: "Ann".into(), ..Contacts::default() }
}

fn load(state: State) -> Load {
    let counts = Counts { offers: 1234, created: 5, rejected: 7, errors: 9, ..Counts::default() };
    Load {
        seller: "ann".into(),
        namespace: "shop".into(),
        number: 3,
        state: state.into(),
        progress: 0.42,
        counts: Some(counts).into(),
        would_remove: 80,
        would_remove_of: 100,
        ..Load::default()
    }
}

fn market() -> Fake {
    let wrong = |code: &str, about: &str| admin::Problem {
        code: code.into(),
        about: about.into(),
        text: format!("{code} of {about}"),
        ..admin::Problem::default()
    };
    let wrongs = vec![wrong("feed_unreachable", "bob/main"), wrong("stage_down", "prices")];
    let wrongs = admin::ListProblemsResponse { problems: wrongs, ..admin::ListProblemsResponse::default() };
    let listed = |caller: &Caller, asked: ListFeedsRequest| {
        assert!(caller.roles.has(Role::Seller) == (asked.seller == "ann"), "{asked:?}");
        let seller = if asked.seller.is_empty() { "zed" } else { &*asked.seller };
        ListFeedsResponse { feeds: vec![feed(seller)], ..ListFeedsResponse::default() }
    };
    Fake::default()
        .hears("ListFeeds", listed)
        .says("ObserveService/ListProblems", &wrongs)
        .says("GetFeed", &GetFeedResponse { feed: Some(feed("ann")).into(), ..GetFeedResponse::default() })
        .says("ListLoads", &loads(State::STATE_READING))
}

fn loads(state: State) -> ListLoadsResponse {
    ListLoadsResponse { loads: vec![load(state)], ..ListLoadsResponse::default() }
}

#[tokio::test]
async fn staff_see_all_feeds_and_those_that_need_attention() {
    let site = Site::new(market());
    let admin = site.admin().await.get("/console/feeds").await;
    assert!(admin.has("href=\"/console/feeds/zed/shop\""), "{}", admin.text);
    assert!(admin.has("href=\"/console/feeds/bob/main\"") && !admin.has("stage_down"), "{}", admin.text);
    assert!(admin.has("cannot be fetched") && admin.has("name=\"seller\""));
    assert!(admin.has("action=\"/console/feeds/create\""));
    assert!(admin.has("Sofas &lt;script&gt;alert(1)&lt;/script&gt;") && !admin.has(EVIL));
    let support = site.support().await.get("/console/feeds").await;
    assert!(support.has("href=\"/console/feeds/zed/shop\"") && !support.has("/console/feeds/create"));
    let russian = site.support().await.get_in_russian("/console/feeds").await;
    assert!(russian.has("Фиды, которым нужно внимание") && russian.has("не удаётся забрать"));
}

#[tokio::test]
async fn a_seller_sees_their_own_feeds_at_once() {
    let site = Site::new(market());
    let ann = site.person(Role::Seller, "ann").await;
    let page = ann.get("/console/feeds").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.has("href=\"/console/feeds/ann/shop\"") && page.has("/console/feeds/create"));
    assert!(!page.has("need attention") && !page.has("id=\"seller\""), "{}", page.text);
    let one = ann.get(PAGE).await;
    assert!(one.has("enctype=\"multipart/form-data\"") && one.has("/ann/shop/delete\""), "{}", one.text);
}

#[tokio::test]
async fn a_feed_shows_what_is_wrong_and_what_may_be_done_with_it_by_whom() {
    let site = Site::new(market());
    let admin = site.admin().await.get(PAGE).await;
    assert!(admin.has("the address is private: use a public one"), "{}", admin.text);
    assert!(admin.has("<progress max=\"100\" value=\"42\"") && admin.has("/ann/shop/fetch\""));
    assert!(admin.has("href=\"/console/sellers/ann?source=shop\""), "{}", admin.text);
    assert!(
        admin.has("href=\"/console/feeds/ann/shop/loads/3?severity=error#problems\">7</a>"),
        "{}",
        admin.text
    );
    assert!(!admin.has(EVIL));
    let support = site.support().await.get(PAGE).await;
    assert!(support.has("the address is private") && !support.has("/ann/shop/fetch\""));
    assert!(support.has("Only its seller, services and admins may change a feed."));
}

#[tokio::test]
async fn a_part_that_is_away_leaves_the_rest_of_the_page() {
    let site = Site::new(Fake::default().says("ListLoads", &loads(State::STATE_DONE)));
    let page = site.admin().await.get(PAGE).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.has("GetFeed is away") && page.has("/ann/shop/loads/3"), "{}", page.text);
    let nothing = Site::new(Fake::default());
    assert_eq!(nothing.admin().await.get(PAGE).await.status, StatusCode::SERVICE_UNAVAILABLE);
    let missing = Site::new(market().refuses("GetFeed", "not_found", "there is no such feed"));
    let page = missing.admin().await.get(PAGE).await;
    assert!(page.status == StatusCode::NOT_FOUND && page.has("there is no such feed"));
}

#[tokio::test]
async fn changes_of_others_since_a_form_was_shown_are_kept() {
    let site = Site::new(market().says("UpdateFeed", &UpdateFeedResponse::default()));
    let admin = site.admin().await;
    assert!(admin.get(PAGE).await.has("name=\"before-user\" value=\"u\""));
    let fields = "title=T&url=https%3A%2F%2Fb.example&minutes=30&user=u&password=&missing=manual&before-missing=manual&\
                  before-url=https%3A%2F%2Fb.example&before-minutes=30&before-user=u";
    let nothing = admin.post(&format!("{PAGE}/edit"), &format!("{fields}&before-title=T")).await;
    assert_eq!(admin.told(&nothing).await, "Nothing was changed.");
    admin.post(&format!("{PAGE}/edit"), fields).await;
    let asked: UpdateFeedRequest = site.services.asked("UpdateFeed");
    assert_eq!(asked.update_mask.as_option().unwrap().paths, ["title"]);
}

#[tokio::test]
async fn what_no_field_of_the_form_is_about_stays_as_it_is() {
    let site = Site::new(market().says("UpdateFeed", &UpdateFeedResponse::default()));
    let admin = site.admin().await;
    let fields = "missing=remove&before-missing=remove&guard_percent=25&guard_least=10&before-currency=RUB&currency=eur&address=Omsk";
    admin.post(&format!("{PAGE}/edit"), fields).await;
    let asked: UpdateFeedRequest = site.services.asked("UpdateFeed");
    assert_eq!(asked.update_mask.as_option().unwrap().paths, ["guard", "defaults"]);
    let wanted = asked.feed.into_option().unwrap();
    let (guard, defaults) = (wanted.guard.into_option().unwrap(), wanted.defaults.into_option().unwrap());
    assert_eq!((guard.share, guard.least), (0.25, 10));
    assert_eq!((&*defaults.currency, &*defaults.place.address), ("EUR", "Omsk"));
    assert_eq!(defaults.contacts.into_option(), Some(contacts()));
}

#[tokio::test]
async fn what_is_done_with_a_feed_goes_to_the_service_and_only_with_the_token() {
    let site = Site::new(
        market()
            .says("FetchNow", &FetchNowResponse::default())
            .says("UpdateFeed", &UpdateFeedResponse::default())
            .says("DeleteFeed", &DeleteFeedResponse::default())
            .refuses("CreateFeed", "already_exists", "there is such a feed"),
    );
    let admin = site.admin().await;
    for act in ["fetch", "pause", "resume", "edit", "delete", "loads/3/confirm", "categories"] {
        let forged = admin.post_as_is(&format!("{PAGE}/{act}"), "missing=keep&form_token=x").await;
        assert_eq!(forged.status, StatusCode::FORBIDDEN, "{act}");
    }
    for method in ["FetchNow", "UpdateFeed", "DeleteFeed", "ConfirmLoad", "SetMapping"] {
        assert!(site.services.heard(method).is_empty(), "{method}");
    }
    assert_eq!(admin.post(&format!("{PAGE}/fetch"), "").await.sent_to(), PAGE);
    let asked: FetchNowRequest = site.services.asked("FetchNow");
    assert_eq!((&*asked.seller, &*asked.namespace), ("ann", "shop"));
    let fields = "title=T&url=https%3A%2F%2Fb.example%2Ff&minutes=30&user=u&password=&missing=manual";
    admin.post(&format!("{PAGE}/edit"), fields).await;
    let asked: UpdateFeedRequest = site.services.asked("UpdateFeed");
    assert_eq!(asked.update_mask.as_option().unwrap().paths, ["title", "link", "link.period", "missing"]);
    let wanted = asked.feed.into_option().unwrap();
    let link = wanted.link.into_option().unwrap();
    assert_eq!((&*wanted.title, wanted.missing.as_known()), ("T", Some(Missing::MISSING_MAKE_MANUAL)));
    assert_eq!((&*link.url, link.period.as_option().unwrap().seconds), ("https://b.example/f", 1800));
    let undecided = admin.post(&format!("{PAGE}/delete"), "offers=").await;
    assert_eq!(admin.told(&undecided).await, "Choose what happens to its offers.");
    let gone = admin.post(&format!("{PAGE}/delete"), "offers=remove").await;
    assert_eq!(gone.sent_to(), "/console/feeds?seller=ann");
    let asked: DeleteFeedRequest = site.services.asked("DeleteFeed");
    assert_eq!(asked.offers.as_known(), Some(Missing::MISSING_REMOVE));
    let again = admin.post("/console/feeds/create", "seller=ann&namespace=shop&missing=remove").await;
    assert_eq!(admin.told(&again).await, "there is such a feed");
    let asked: CreateFeedRequest = site.services.asked("CreateFeed");
    assert!(!asked.feed.as_option().unwrap().link.is_set(), "without an address there is no link");
}

#[tokio::test]
async fn a_new_feed_is_shown_at_once() {
    let made = Feed { seller: "ann b".into(), namespace: "spring".into(), ..Feed::default() };
    let made = CreateFeedResponse { feed: Some(made).into(), ..CreateFeedResponse::default() };
    let site = Site::new(market().says("CreateFeed", &made));
    let admin = site.admin().await;
    let done = admin.post("/console/feeds/create", "seller=ann+b&namespace=spring&missing=remove").await;
    assert_eq!(done.sent_to(), "/console/feeds/ann%20b/spring");
    assert_eq!(admin.told(&done).await, "The feed was created.");
}

#[tokio::test]
async fn a_load_that_waits_says_how_many_would_go_and_is_confirmed_by_who_may() {
    let waiting =
        GetLoadResponse { load: Some(load(State::STATE_WAITING)).into(), ..GetLoadResponse::default() };
    let site = Site::new(
        market()
            .says("GetLoad", &waiting)
            .says("SummarizeProblems", &SummarizeProblemsResponse::default())
            .says("ConfirmLoad", &ConfirmLoadResponse::default()),
    );
    let (admin, page) = (site.admin().await, format!("{PAGE}/loads/3"));
    let shown = admin.get(&page).await;
    assert!(shown.has("it would remove 80 of 100 offers"), "{}", shown.text);
    assert!(shown.has("data-confirm=\"Remove 80 of 100 offers?\""), "{}", shown.text);
    let support = site.support().await.get(&page).await;
    assert!(support.has("it would remove 80 of 100 offers") && !support.has("loads/3/confirm"));
    assert_eq!(admin.post(&format!("{page}/confirm"), "").await.sent_to(), page);
    let asked: ConfirmLoadRequest = site.services.asked("ConfirmLoad");
    assert_eq!((&*asked.seller, &*asked.namespace, asked.number), ("ann", "shop", 3));
}

fn found(offer: &str) -> OfferProblem {
    let problem = Problem {
        code: "missing_field".into(),
        severity: Severity::SEVERITY_ERROR.into(),
        field: "price".into(),
        value: EVIL.into(),
        line: 12,
        column: 4,
        message: "there is no price".into(),
        ..Problem::default()
    };
    OfferProblem {
        external_id: "ext 1".into(),
        title: "Sofa".into(),
        offer: offer.into(),
        problem: Some(problem).into(),
        ..OfferProblem::default()
    }
}

fn reported() -> Fake {
    let code = |code: &str, link: &str| CodeSummary {
        code: code.into(),
        severity: Severity::SEVERITY_ERROR.into(),
        count: 9,
        meaning: "a field is missing".into(),
        remedy: "fill it in".into(),
        link: link.into(),
        examples: vec![found("4829175033168090")],
        ..CodeSummary::default()
    };
    let codes = vec![
        code("missing_field", "/feeds/errors#missing_field"),
        code("unknown_category", "javascript:alert(1)"),
    ];
    let summary = SummarizeProblemsResponse { codes, ..SummarizeProblemsResponse::default() };
    let listed = ListProblemsResponse {
        problems: vec![found("")],
        next_page_token: "more".into(),
        ..ListProblemsResponse::default()
    };
    let done = GetLoadResponse { load: Some(load(State::STATE_DONE)).into(), ..GetLoadResponse::default() };
    market()
        .says("GetLoad", &done)
        .says("SummarizeProblems", &summary)
        .says("FeedService/ListProblems", &listed)
        .serves("feeds/ann/shop/loads/3/problems.csv?language=en", StatusCode::OK, "text/csv", "a;b\n1;2\n")
        .serves(
            "feeds/ann/shop/loads/9/problems.xlsx?language=en",
            StatusCode::NOT_FOUND,
            "application/json",
            r#"{"code":"not_found","message":"there is no load 9"}"#,
        )
}

#[tokio::test]
async fn a_load_tells_what_was_wrong_by_code_and_one_by_one() {
    let site = Site::new(reported());
    let (admin, page) = (site.support().await, format!("{PAGE}/loads/3"));
    let shown = admin.get(&page).await;
    assert!(shown.has("9 × missing_field") && shown.has("fill it in"), "{}", shown.text);
    assert!(shown.has("href=\"/console/feeds/ann/shop/loads/3?code=missing_field#problems\""));
    assert!(shown.has("href=\"/console/offers/4829175033168090\"") && shown.has("<td class=\"n\">12</td>"));
    assert!(shown.has("href=\"/feeds/errors#missing_field\"") && !shown.has("javascript:"), "{}", shown.text);
    assert!(shown.has("href=\"/console/feeds/ann/shop/categories\""));
    assert!(!shown.has(EVIL) && shown.has("&lt;script&gt;"));
    assert!(site.services.heard("FeedService/ListProblems").is_empty());
    let asked: SummarizeProblemsRequest = site.services.asked("SummarizeProblems");
    assert_eq!(asked.language, "en");
    let listed = admin.get_in_russian(&format!("{page}?code=missing_field&severity=error")).await;
    assert!(listed.has("page=more") && listed.has("loads/3?offer=ext%201#problems"), "{}", listed.text);
    let asked: ListProblemsRequest = site.services.asked("FeedService/ListProblems");
    assert_eq!((asked.codes, &*asked.language), (vec!["missing_field".to_owned()], "ru"));
    assert_eq!(asked.severity.as_known(), Some(Severity::SEVERITY_ERROR));
}

#[tokio::test]
async fn a_report_comes_as_a_file_or_says_why_not() {
    let site = Site::new(reported());
    let support = site.support().await;
    let csv = support.get(&format!("{PAGE}/loads/3/problems.csv")).await;
    assert_eq!((csv.status, &*csv.text), (StatusCode::OK, "a;b\n1;2\n"));
    assert_eq!(csv.headers[http::header::CONTENT_TYPE], "text/csv");
    let missing = support.get(&format!("{PAGE}/loads/9/problems.xlsx")).await;
    assert!(missing.status == StatusCode::NOT_FOUND && missing.has("there is no load 9"));
    let odd = support.get(&format!("{PAGE}/loads/none")).await;
    assert!(odd.status == StatusCode::NOT_FOUND && odd.has("There is no load with this number."));
}

#[tokio::test]
async fn support_says_which_category_of_the_catalogue_a_sellers_own_is() {
    let mapping = Mapping {
        path: vec!["Мебель".into(), EVIL.into()],
        category: "home/sofas".into(),
        score: 0.9,
        ..Mapping::default()
    };
    let mappings = ListMappingsResponse { mappings: vec![mapping], ..ListMappingsResponse::default() };
    let site = Site::new(
        market().says("ListMappings", &mappings).says("SetMapping", &SetMappingResponse::default()),
    );
    let (support, page) = (site.support().await, format!("{PAGE}/categories"));
    let shown = support.get(&page).await;
    assert!(shown.has("recognised, 90 % of the offers") && !shown.has(EVIL), "{}", shown.text);
    let done = support.post(&page, "path=%5B%22A%22%2C%22B%22%5D&category=home%2Fbeds").await;
    assert_eq!(support.told(&done).await, "This applies from the next load on.");
    let asked: SetMappingRequest = site.services.asked("SetMapping");
    assert_eq!((asked.path, &*asked.category), (vec!["A".to_owned(), "B".to_owned()], "home/beds"));
}
