//! API keys from their making to their end.

use crate::support;

use std::sync::Arc;
use std::time::Duration;

use access::{ApiKeys, Entropy, Error, NewKey, Proof, Refusal, Role, Roles, Time};
use store::{Memory, Read as _, Schema, Store, StoreOptions};
use support::away::Away;
use support::{Hands, NOW_S};

fn open_store() -> Store {
    let schema = Schema::new(1, access::tables()).unwrap();
    Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default())
}

fn keys_in(store: &Store, hands: &Hands) -> ApiKeys {
    ApiKeys::new(store.clone(), hands.clock(), Entropy::system())
}

fn sellers_key() -> NewKey {
    NewKey {
        name: "cash register".to_owned(),
        roles: Roles::NONE.with(Role::Seller),
        seller: Some("s1".to_owned()),
        lifetime: None,
    }
}

#[tokio::test]
async fn a_key_names_its_caller_and_only_the_whole_key_does() {
    let keys = keys_in(&open_store(), &Hands::new());
    let (info, text) = keys.create(sellers_key()).await.unwrap();
    let whole = text.expose();
    let caller = keys.verify(&whole).await.unwrap();
    assert_eq!(caller.proof, Proof::ApiKey { id: info.id.clone(), name: "cash register".to_owned() });
    assert_eq!(caller.display_name(), format!("cash register ({})", info.id));
    assert_eq!((caller.subject, caller.seller.as_deref()), (info.id.clone(), Some("s1")));
    assert_eq!(caller.roles, Roles::NONE.with(Role::Seller));

    let other = keys.create(sellers_key()).await.unwrap().1.expose();
    let crossed = format!("torg_{}{}", info.id, &other[13..]);
    assert_eq!(keys.verify(&crossed).await.unwrap_err(), Refusal::WrongSecret { id: info.id.clone() });
    assert!(matches!(keys.verify(&whole[..56]).await.unwrap_err(), Refusal::Malformed { .. }));
    let unknown = format!("torg_00000000{}", &whole[13..]);
    assert_eq!(
        keys.verify(&unknown).await.unwrap_err(),
        Refusal::UnknownApiKey { id: "00000000".to_owned() }
    );
}

#[tokio::test]
async fn the_store_holds_a_hash_and_nothing_to_log_in_with() {
    let store = open_store();
    let keys = keys_in(&store, &Hands::new());
    let (info, text) = keys.create(sellers_key()).await.unwrap();
    let whole = text.expose();
    let secret = &whole[14..];
    for table in access::tables() {
        for row in store.scan(&table.scan()).await.unwrap().rows {
            assert!(!String::from_utf8_lossy(&row.value).contains(secret));
        }
    }
    let shown = format!("{info:?} {text:?} {keys:?}");
    assert!(!shown.contains(secret), "{shown}");
}

#[tokio::test]
async fn a_revoked_key_ends_at_once_here_and_within_seconds_elsewhere() {
    let (store, hands) = (open_store(), Hands::new());
    let (here, elsewhere) = (keys_in(&store, &hands), keys_in(&store, &hands));
    let (info, text) = here.create(sellers_key()).await.unwrap();
    let whole = text.expose();
    assert!(here.verify(&whole).await.is_ok());
    assert!(elsewhere.verify(&whole).await.is_ok());

    let revoked = here.revoke(&info.id).await.unwrap();
    assert_eq!(revoked.revoked, Some(support::now()));
    let refusal = Refusal::Revoked { id: info.id.clone(), at: support::now() };
    assert_eq!(here.verify(&whole).await.unwrap_err(), refusal);
    hands.forward(4999);
    assert!(elsewhere.verify(&whole).await.is_ok(), "still remembered");
    hands.forward(1);
    assert_eq!(elsewhere.verify(&whole).await.unwrap_err(), refusal);
    assert_eq!(here.revoke(&info.id).await.unwrap().revoked, Some(support::now()), "the first time stays");
}

#[tokio::test]
async fn a_key_ends_when_its_lifetime_does() {
    let hands = Hands::new();
    let keys = keys_in(&open_store(), &hands);
    let new = NewKey { lifetime: Some(Duration::from_secs(2)), ..sellers_key() };
    let (info, text) = keys.create(new).await.unwrap();
    hands.forward(1999);
    assert!(keys.verify(&text.expose()).await.is_ok());
    hands.forward(1);
    let at = Time::from_seconds(NOW_S + 2);
    assert_eq!(keys.verify(&text.expose()).await.unwrap_err(), Refusal::ApiKeyExpired { id: info.id, at });
}

#[tokio::test]
async fn every_wrong_key_sounds_the_same_to_its_holder() {
    let hands = Hands::new();
    let keys = keys_in(&open_store(), &hands);
    let (revoked, revoked_text) = keys.create(sellers_key()).await.unwrap();
    keys.revoke(&revoked.id).await.unwrap();
    let short = NewKey { lifetime: Some(Duration::from_millis(1)), ..sellers_key() };
    let expired_text = keys.create(short).await.unwrap().1;
    hands.forward(1);
    let (revoked_text, expired_text) = (revoked_text.expose(), expired_text.expose());
    let wrong = format!("{}{}", &revoked_text[..14], &expired_text[14..]);
    let unknown = format!("torg_zzzzzzzz{}", &revoked_text[13..]);
    for text in [revoked_text.as_str(), &expired_text, &wrong, &unknown, "torg_x"] {
        assert_eq!(keys.verify(text).await.unwrap_err().message(), "the token is not valid");
    }
}

#[tokio::test]
async fn a_key_made_after_it_was_asked_for_in_vain_is_believed() {
    let (store, hands) = (open_store(), Hands::new());
    // Every id that is drawn is the same, so that it can be asked for before it is made.
    let entropy = Entropy::new(|bytes| {
        bytes.fill(7);
        Ok(())
    });
    let keys = ApiKeys::new(store, hands.clock(), entropy);
    let (info, text) = {
        let elsewhere = ApiKeys::new(
            open_store(),
            hands.clock(),
            Entropy::new(|bytes| {
                bytes.fill(7);
                Ok(())
            }),
        );
        elsewhere.create(sellers_key()).await.unwrap()
    };
    assert_eq!(keys.verify(&text.expose()).await.unwrap_err(), Refusal::UnknownApiKey { id: info.id });
    keys.create(sellers_key()).await.unwrap();
    assert!(keys.verify(&text.expose()).await.is_ok());
    let taken = keys.create(sellers_key()).await.unwrap_err();
    assert!(taken.to_string().contains("taken"), "{taken}");
}

#[tokio::test]
async fn keys_are_listed_with_the_hour_of_their_last_use() {
    let (store, hands) = (open_store(), Hands::new());
    let keys = keys_in(&store, &hands);
    let (used, text) = keys.create(sellers_key()).await.unwrap();
    let (unused, _) = keys.create(NewKey { name: "spare".to_owned(), ..sellers_key() }).await.unwrap();
    for _ in 0..3 {
        keys.verify(&text.expose()).await.unwrap();
    }
    assert_eq!(keys.write_uses().await.unwrap(), 1);
    hands.forward(3_599_000);
    keys.verify(&text.expose()).await.unwrap();
    assert_eq!(keys.write_uses().await.unwrap(), 0, "not again within the hour");

    let listed = keys.list().await.unwrap();
    let last_used = |id: &str| listed.iter().find(|key| key.id == id).unwrap().last_used;
    assert_eq!((listed.len(), last_used(&used.id), last_used(&unused.id)), (2, Some(support::now()), None));
    hands.forward(1000);
    keys.verify(&text.expose()).await.unwrap();
    assert_eq!(keys.write_uses().await.unwrap(), 1);
    let revoked = keys.revoke(&used.id).await.unwrap();
    assert_eq!(revoked.last_used, Some(Time::from_seconds(NOW_S + 3600)));
}

#[tokio::test]
async fn keys_that_make_no_sense_are_not_made() {
    let keys = keys_in(&open_store(), &Hands::new());
    for (wrong, why) in [
        (NewKey { name: " ".to_owned(), ..sellers_key() }, "name"),
        (NewKey { name: "a\nb".to_owned(), ..sellers_key() }, "name"),
        (NewKey { name: "x".repeat(201), ..sellers_key() }, "name"),
        (NewKey { roles: Roles::NONE, ..sellers_key() }, "role"),
        (NewKey { seller: None, ..sellers_key() }, "seller"),
        (NewKey { seller: Some(String::new()), ..sellers_key() }, "seller"),
        (NewKey { lifetime: Some(Duration::ZERO), ..sellers_key() }, "lifetime"),
        (NewKey { lifetime: Some(Duration::MAX), ..sellers_key() }, "a hundred years"),
    ] {
        let error = keys.create(wrong).await.unwrap_err();
        assert!(matches!(error, Error::NewKey { .. }) && error.to_string().contains(why), "{error}");
    }
    for id in ["", "00000000", "a/b", "\0"] {
        assert!(matches!(keys.revoke(id).await.unwrap_err(), Error::NoSuchKey { .. }), "{id:?}");
    }
    assert!(keys.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn when_the_store_does_not_answer_it_is_our_fault_and_not_the_keys() {
    let (store, hands) = (open_store(), Hands::new());
    let keys = keys_in(&store, &hands);
    let text = keys.create(sellers_key()).await.unwrap().1;
    assert!(keys.verify(&text.expose()).await.is_ok());
    store.close().await.unwrap();
    assert!(keys.verify(&text.expose()).await.is_ok(), "remembered");
    hands.forward(5000);
    let refusal = keys.verify(&text.expose()).await.unwrap_err();
    assert!(refusal.is_internal(), "{refusal}");
}

#[tokio::test(start_paused = true)]
async fn a_recently_valid_key_is_accepted_while_the_store_is_away() {
    let (engine, hands) = (Away::new(), Hands::new());
    let keys = keys_in(&engine.store(), &hands);
    let [good, unseen] = [keys.create(sellers_key()).await, keys.create(sellers_key()).await]
        .map(|made| made.unwrap().1.expose());
    assert!(keys.verify_without_store(&good).await.is_ok(), "the store says so");
    engine.refuses();
    for (at_ms, is_believed) in [(5_000, true), (3_599_999, true), (3_600_000, false)] {
        let hands_were = hands.clock().now();
        hands.forward(at_ms);
        if is_believed {
            assert!(keys.verify_without_store(&good).await.is_ok(), "{at_ms}");
            assert!(keys.verify(&good).await.unwrap_err().is_internal(), "but not for anything else");
        } else {
            assert!(keys.verify_without_store(&good).await.unwrap_err().is_internal(), "{at_ms}");
        }
        hands.forward(hands_were.as_ms() - hands.clock().now().as_ms());
    }
    hands.forward(5_000);
    assert!(keys.verify_without_store(&unseen).await.unwrap_err().is_internal(), "nobody has judged it yet");
    let other = format!("{}{}", &good[..14], &unseen[14..]);
    assert!(matches!(keys.verify_without_store(&other).await.unwrap_err(), Refusal::WrongSecret { .. }));
    engine.is_silent();
    assert!(keys.verify_without_store(&good).await.is_ok(), "it does not wait for what does not come");
    engine.answers();
    assert!(keys.verify(&good).await.is_ok() && keys.verify(&unseen).await.is_ok());
}

#[tokio::test]
async fn a_key_that_was_revoked_or_has_ended_is_not_believed_while_the_store_is_away() {
    let (engine, hands) = (Away::new(), Hands::new());
    let store = engine.store();
    let keys = keys_in(&store, &hands);
    let (revoked, text) = keys.create(sellers_key()).await.unwrap();
    let short = NewKey { lifetime: Some(Duration::from_secs(60)), ..sellers_key() };
    let ending = keys.create(short).await.unwrap().1.expose();
    for key in [&text.expose(), &ending] {
        assert!(keys.verify_without_store(key).await.is_ok());
    }
    keys.revoke(&revoked.id).await.unwrap();
    engine.refuses();
    hands.forward(60_000);
    assert!(keys.verify_without_store(&text.expose()).await.is_err());
    assert!(matches!(keys.verify_without_store(&ending).await.unwrap_err(), Refusal::ApiKeyExpired { .. }));
    // What another process revoked before this one asked again is known, too.
    engine.answers();
    let there = keys_in(&store, &hands);
    assert!(there.verify_without_store(&text.expose()).await.is_err());
    engine.refuses();
    hands.forward(10_000);
    assert!(there.verify_without_store(&text.expose()).await.is_err());
}
