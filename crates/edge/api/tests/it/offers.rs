//! Calls about offers, by every kind of caller, over a store in memory.

use crate::common::{self, ann, caller, car};
use access::{Caller, Role};
use api::Refusal;
use api::limits::BATCH_GET_MAX;
use api::offers::OfferCalls;
use buffa_types::google::protobuf::FieldMask;
use wire::torg::offers::v1::{
    BatchGetOffersRequest, CreateOfferRequest, GetHistoryRequest, GetOfferRequest, Money, MoveOfferRequest,
    Offer, Source, Status, UpdateOfferRequest, source,
};

const UNKNOWN: &str = "4829-1750-3316-8090";

async fn open() -> OfferCalls {
    OfferCalls::new(common::open().await)
}

fn create(offer: Offer) -> CreateOfferRequest {
    CreateOfferRequest { offer: offer.into(), ..CreateOfferRequest::default() }
}

fn get(id: &str) -> GetOfferRequest {
    GetOfferRequest { id: id.into(), ..GetOfferRequest::default() }
}

fn update(offer: Offer, paths: &[&str]) -> UpdateOfferRequest {
    let mask = FieldMask::from_paths(paths.iter().copied());
    UpdateOfferRequest { offer: offer.into(), update_mask: mask.into(), ..UpdateOfferRequest::default() }
}

fn to(id: &str, status: Status) -> MoveOfferRequest {
    MoveOfferRequest { id: id.into(), to: status.into(), ..MoveOfferRequest::default() }
}

fn history(id: &str) -> GetHistoryRequest {
    GetHistoryRequest { id: id.into(), ..GetHistoryRequest::default() }
}

async fn published(calls: &OfferCalls) -> Offer {
    calls.create(&ann(), create(car())).await.unwrap().offer.into_option().unwrap()
}

fn reason<T: std::fmt::Debug>(answer: Result<T, Refusal>) -> &'static str {
    answer.unwrap_err().reason()
}

#[tokio::test]
async fn a_seller_publishes_reads_changes_and_sells() {
    let calls = open().await;
    let lies = Offer { id: UNKNOWN.into(), version: 77, status: Status::Sold.into(), ..car() };
    let made = calls.create(&ann(), create(lies)).await.unwrap().offer.into_option().unwrap();
    assert_eq!((&*made.seller, made.version, made.status.as_known()), ("ann", 1, Some(Status::Active)));
    assert!(matches!(
        made.source.kind,
        Some(wire::torg::offers::v1::__buffa::oneof::source::Kind::Manual(_))
    ));
    assert_ne!(made.id, UNKNOWN);
    assert_eq!(calls.get(&ann(), get(&made.id)).await.unwrap().offer.into_option(), Some(made.clone()));

    let wanted =
        Offer { id: made.id.clone(), title: "BMW 320i, sold soon".into(), version: 1, ..Offer::default() };
    let changed =
        calls.update(&ann(), update(wanted.clone(), &["title"])).await.unwrap().offer.into_option().unwrap();
    assert_eq!((&*changed.title, changed.version), ("BMW 320i, sold soon", 2));
    assert_eq!(changed.attributes, made.attributes);
    assert_eq!(reason(calls.update(&ann(), update(wanted, &["title"])).await), "VERSION_CONFLICT");

    let sold = calls.move_to(&ann(), to(&made.id, Status::Sold)).await.unwrap().offer.into_option().unwrap();
    assert_eq!(sold.status.as_known(), Some(Status::Sold));
    assert_eq!(reason(calls.move_to(&ann(), to(&made.id, Status::Sold)).await), "STATUS_UNCHANGED");
    assert_eq!(reason(calls.move_to(&ann(), to(&made.id, Status::Banned)).await), "MOVE_BY_OTHERS");
}

#[tokio::test]
async fn answers_have_the_fields_of_the_mask() {
    let calls = open().await;
    let made = published(&calls).await;
    let read_mask = FieldMask::from_paths(["title", "attributes.car_make"]);
    let request = GetOfferRequest { read_mask: read_mask.into(), ..get(&made.id) };
    let offer = calls.get(&ann(), request).await.unwrap().offer.into_option().unwrap();
    let keys: Vec<_> = offer.attributes.keys().map(String::as_str).collect();
    assert_eq!((&*offer.title, &*offer.id, keys), ("BMW 320i", "", vec!["car-make"]));
}

#[tokio::test]
async fn anothers_offer_is_answered_as_one_that_is_not_there() {
    let calls = open().await;
    let id = published(&calls).await.id;
    let missing = |id: &str| Refusal::no_offer(id.parse().unwrap());
    for stranger in [caller(Role::Seller, Some("bob")), Caller::anonymous(None)] {
        for id in [&*id, UNKNOWN] {
            let wanted = Offer { id: id.into(), title: "mine now".into(), ..Offer::default() };
            assert_eq!(calls.get(&stranger, get(id)).await.unwrap_err(), missing(id));
            assert_eq!(calls.update(&stranger, update(wanted, &["title"])).await.unwrap_err(), missing(id));
            assert_eq!(calls.move_to(&stranger, to(id, Status::Removed)).await.unwrap_err(), missing(id));
            let request = BatchGetOffersRequest { ids: vec![id.into()], ..BatchGetOffersRequest::default() };
            assert_eq!(calls.batch_get(&stranger, request).await.unwrap().missing, [id]);
        }
    }
    assert_eq!(calls.get(&ann(), get(&id)).await.unwrap().offer.title, "BMW 320i");
}

#[tokio::test]
async fn every_role_may_what_it_is_there_for() {
    for (role, create_as, update_as, ban_as) in [
        (Role::Support, "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"),
        (Role::Moderator, "FORBIDDEN", "FORBIDDEN", ""),
        (Role::Service, "", "", "MOVE_BY_OTHERS"),
        (Role::Admin, "", "", ""),
    ] {
        let calls = open().await;
        let id = published(&calls).await.id;
        let staff = caller(role, None);
        let told = |answer: Result<(), Refusal>| answer.err().map_or("", |refusal| refusal.reason());
        assert!(calls.get(&staff, get(&id)).await.is_ok(), "{role}");
        let offer = Offer { seller: "ann".into(), ..car() };
        assert_eq!(told(calls.create(&staff, create(offer)).await.map(drop)), create_as, "{role}");
        let wanted = Offer { id: id.clone(), title: "better".into(), ..Offer::default() };
        assert_eq!(
            told(calls.update(&staff, update(wanted, &["title"])).await.map(drop)),
            update_as,
            "{role}"
        );
        assert_eq!(told(calls.move_to(&staff, to(&id, Status::Banned)).await.map(drop)), ban_as, "{role}");
    }
}

#[tokio::test]
async fn only_who_writes_for_sellers_names_a_feed() {
    let calls = open().await;
    let feed = source::Feed { namespace: "main".into(), external_id: "42".into(), ..source::Feed::default() };
    let source = Source { kind: Some(feed.into()), ..Source::default() };
    let offer = Offer { seller: "ann".into(), source: source.clone().into(), ..car() };
    let by = async |caller: &Caller| {
        calls.create(caller, create(offer.clone())).await.unwrap().offer.source.clone()
    };
    assert_eq!(by(&caller(Role::Service, None)).await.into_option(), Some(source.clone()));
    assert_ne!(by(&ann()).await.into_option(), Some(source));
    assert_eq!(
        reason(calls.create(&ann(), create(Offer { seller: "bob".into(), ..car() })).await),
        "SELLER_NOT_FOUND"
    );
    assert_eq!(reason(calls.create(&Caller::local(), create(car())).await), "REQUIRED");
}

#[tokio::test]
async fn an_unsound_offer_is_refused_with_every_field_and_changes_nothing() {
    let calls = open().await;
    let bad = Offer { title: "x".into(), price: None.into(), ..car() };
    let refusal = calls.create(&ann(), create(bad)).await.unwrap_err();
    let fields: Vec<_> = refusal.fields().iter().map(|fault| (&*fault.field, &*fault.reason)).collect();
    assert_eq!(fields, [("offer.title", "TOO_SHORT"), ("offer.price", "REQUIRED")]);
    let id = published(&calls).await.id;
    let wanted = Offer { id: id.clone(), ..Offer::default() };
    let refusal = calls.update(&ann(), update(wanted, &["title", "attributes.year"])).await.unwrap_err();
    let fields: Vec<_> = refusal.fields().iter().map(|fault| &*fault.field).collect();
    assert_eq!((refusal.reason(), fields), ("INVALID_OFFER", vec!["offer.title", "offer.attributes.year"]));
    assert_eq!(calls.get(&ann(), get(&id)).await.unwrap().offer.version, 1);
}

#[tokio::test]
async fn a_batch_is_answered_in_order_and_names_what_is_missing() {
    let calls = open().await;
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(published(&calls).await.id);
    }
    ids.reverse();
    let mut asked = ids.clone();
    asked.insert(7, UNKNOWN.into());
    let batch = |ids: Vec<String>| BatchGetOffersRequest { ids, ..BatchGetOffersRequest::default() };
    let answer = calls.batch_get(&ann(), batch(asked)).await.unwrap();
    assert_eq!(answer.offers.iter().map(|offer| offer.id.clone()).collect::<Vec<_>>(), ids);
    assert_eq!(answer.missing, [UNKNOWN]);
    let refusal =
        calls.batch_get(&ann(), batch(vec!["x".into(), ids[0].clone(), String::new()])).await.unwrap_err();
    let fields: Vec<_> = refusal.fields().iter().map(|fault| (&*fault.field, &*fault.reason)).collect();
    assert_eq!(fields, [("ids[0]", "WRONG_ID_FORM"), ("ids[2]", "REQUIRED")]);
    let many = vec![UNKNOWN.to_owned(); BATCH_GET_MAX + 1];
    assert_eq!(reason(calls.batch_get(&ann(), batch(many)).await), "LIMIT_EXCEEDED");
}

#[tokio::test]
async fn wrong_requests_are_told_what_is_wrong() {
    let calls = open().await;
    let id = published(&calls).await.id;
    let ann = ann();
    assert_eq!(reason(calls.get(&ann, get("")).await), "REQUIRED");
    assert_eq!(reason(calls.get(&ann, get("4829-1750-3316-8091")).await), "WRONG_ID");
    let mask = GetOfferRequest { read_mask: FieldMask::from_paths(["keeping"]).into(), ..get(&id) };
    assert_eq!(reason(calls.get(&ann, mask).await), "WRONG_FIELD_MASK");
    assert_eq!(reason(calls.create(&ann, CreateOfferRequest::default()).await), "REQUIRED");
    let key = CreateOfferRequest { idempotency_key: "a b".into(), ..create(car()) };
    assert_eq!(reason(calls.create(&ann, key).await), "BAD_CHARACTER");
    let wanted = Offer { id: id.clone(), ..Offer::default() };
    assert_eq!(reason(calls.update(&ann, update(wanted, &["seller"])).await), "WRONG_FIELD_MASK");
    assert_eq!(reason(calls.move_to(&ann, to(&id, Status::Unspecified)).await), "REQUIRED");
    let strange = MoveOfferRequest { to: 99.into(), ..to(&id, Status::Sold) };
    assert_eq!(reason(calls.move_to(&ann, strange).await), "UNKNOWN_VALUE");
    let paid = |micros, currency: &str, status| MoveOfferRequest {
        paid: Money { micros, currency: currency.into(), ..Money::default() }.into(),
        ..to(&id, status)
    };
    assert_eq!(reason(calls.move_to(&ann, paid(-1, "EUR", Status::Sold)).await), "NEGATIVE");
    assert_eq!(reason(calls.move_to(&ann, paid(1, "euro", Status::Sold)).await), "UNKNOWN_CURRENCY");
    assert_eq!(reason(calls.move_to(&ann, paid(1, "EUR", Status::Removed)).await), "NOT_ALLOWED");
    assert!(calls.move_to(&ann, paid(1, "EUR", Status::Sold)).await.is_ok());
}

#[tokio::test]
async fn a_call_with_a_key_made_again_has_no_further_effect() {
    let calls = open().await;
    let keyed = |key: &str| CreateOfferRequest { idempotency_key: key.into(), ..create(car()) };
    let made =
        async |caller: &Caller, key: &str| calls.create(caller, keyed(key)).await.unwrap().offer.id.clone();
    let first = made(&ann(), "k1").await;
    assert_eq!(made(&ann(), "k1").await, first);
    assert_ne!(made(&ann(), "k2").await, first);
    let other =
        CreateOfferRequest { offer: Offer { title: "another".into(), ..car() }.into(), ..keyed("k1") };
    assert_eq!(reason(calls.create(&ann(), other).await), "IDEMPOTENCY_KEY_REUSED");
    let elsewhere = Caller { subject: "somebody else".into(), ..ann() };
    assert_ne!(made(&elsewhere, "k1").await, first, "keys of one caller say nothing to another");
    let sold = MoveOfferRequest { idempotency_key: "k3".into(), ..to(&first, Status::Sold) };
    for _ in 0..2 {
        assert_eq!(calls.move_to(&ann(), sold.clone()).await.unwrap().offer.version, 2);
    }
}

#[tokio::test]
async fn the_history_comes_in_pages_and_a_token_leads_on_in_its_own_list_only() {
    let calls = open().await;
    let (id, other) = (published(&calls).await.id, published(&calls).await.id);
    for status in [Status::Sold, Status::Active, Status::Removed] {
        calls.move_to(&ann(), to(&id, status)).await.unwrap();
    }
    let (mut versions, mut token) = (Vec::new(), String::new());
    loop {
        let request = GetHistoryRequest { page_size: 2, page_token: token.clone(), ..history(&id) };
        let page = calls.history(&ann(), request).await.unwrap();
        versions.extend(page.entries.iter().map(|entry| entry.version));
        if page.next_page_token.is_empty() {
            break;
        }
        token = page.next_page_token;
    }
    assert_eq!(versions, [4, 3, 2, 1]);
    let foreign = GetHistoryRequest { page_token: token, ..history(&other) };
    assert_eq!(reason(calls.history(&ann(), foreign).await), "WRONG_TOKEN");
    assert_eq!(reason(calls.history(&caller(Role::Service, None), history(&id)).await), "FORBIDDEN");
    assert!(calls.history(&caller(Role::Support, None), history(&id)).await.is_ok());
}
