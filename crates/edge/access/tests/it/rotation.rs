//! Keys that change while the process runs.

use crate::support;

use std::sync::Arc;

use access::{Config, Fetch, Refusal, Time, TokenVerifier};
use serde_json::json;
use support::{FakeUrl, NOW_S, Signer, claims, file, jwks, no_url, strict};

fn by_url(url: &Arc<FakeUrl>) -> TokenVerifier {
    let config = Config { jwks_url: "https://issuer.example/jwks".to_owned(), ..strict() };
    TokenVerifier::load(&config, Arc::clone(url) as Arc<dyn Fetch>).unwrap()
}

fn at(seconds: i64) -> Time {
    Time::from_seconds(NOW_S + seconds)
}

#[tokio::test]
async fn a_new_key_is_fetched_when_a_token_names_it() {
    let (old, new) = (Signer::ed(), Signer::ec());
    let url = FakeUrl::answering([Ok(jwks(&[old.jwk("old")])), Ok(jwks(&[old.jwk("old"), new.jwk("new")]))]);
    let verifier = by_url(&url);
    verifier.refresh(at(0)).await.unwrap();
    assert!(verifier.verify(&old.token("old", &claims()), at(1)).await.is_ok());
    assert_eq!(url.asked(), 1);
    assert!(verifier.verify(&new.token("new", &claims()), at(60)).await.is_ok());
    assert!(verifier.verify(&old.token("old", &claims()), at(61)).await.is_ok());
    assert_eq!(url.asked(), 2);
}

#[tokio::test]
async fn tokens_with_made_up_key_ids_lead_to_one_fetch_a_minute() {
    let signer = Signer::ed();
    let url = FakeUrl::answering([Ok(jwks(&[signer.jwk("k")]))]);
    let verifier = by_url(&url);
    verifier.refresh(at(0)).await.unwrap();
    for second in 0..180 {
        let made_up = signer.token(&format!("made-up-{second}"), &claims());
        let refusal = verifier.verify(&made_up, at(second)).await.unwrap_err();
        assert!(matches!(refusal, Refusal::UnknownKey { .. }), "{refusal}");
    }
    assert_eq!(url.asked(), 3, "at the start, after one minute, after two");
}

#[tokio::test]
async fn a_forged_signature_under_a_known_key_id_leads_to_no_fetch() {
    let (signer, forger) = (Signer::ed(), Signer::ed());
    let url = FakeUrl::answering([Ok(jwks(&[signer.jwk("k")]))]);
    let verifier = by_url(&url);
    verifier.refresh(at(0)).await.unwrap();
    assert!(verifier.verify(&forger.token("k", &claims()), at(1000)).await.is_err());
    assert_eq!(url.asked(), 1);
}

#[tokio::test]
async fn while_the_url_is_down_the_old_keys_are_used() {
    let signer = Signer::ed();
    let broken = [
        Err("connection refused".to_owned()),
        Ok(b"<html>sorry</html>".to_vec()),
        Ok(jwks(&[])),
        Ok(jwks(&[json!({"kty": "oct", "k": "AAAA"})])),
        Ok(vec![b' '; access::limits::JWKS_BYTES_MAX + 1]),
    ];
    let count = broken.len() as i64;
    let url = FakeUrl::answering([Ok(jwks(&[signer.jwk("k")]))].into_iter().chain(broken));
    let verifier = by_url(&url);
    verifier.refresh(at(0)).await.unwrap();
    for round in 1..=count {
        let error = verifier.refresh(at(round * 4000)).await.unwrap_err();
        assert!(error.to_string().contains("https://issuer.example/jwks"), "{error}");
        let long_lived = support::claims_but("exp", json!(NOW_S + 1_000_000));
        assert!(verifier.verify(&signer.token("k", &long_lived), at(round * 4000)).await.is_ok());
    }
    assert_eq!(i64::from(url.asked()), count + 1);
}

#[tokio::test]
async fn a_key_that_the_issuer_withdrew_is_not_believed_once_the_set_is_fetched_again() {
    let (old, new) = (Signer::ed(), Signer::ed());
    let url = FakeUrl::answering([Ok(jwks(&[old.jwk("old")])), Ok(jwks(&[new.jwk("new")]))]);
    let verifier = by_url(&url);
    let token = old.token("old", &support::claims_but("exp", json!(NOW_S + 1_000_000)));
    verifier.refresh(at(0)).await.unwrap();
    verifier.refresh(at(3599)).await.unwrap();
    assert!(verifier.verify(&token, at(3599)).await.is_ok(), "not old yet");
    verifier.refresh(at(3600)).await.unwrap();
    let refusal = verifier.verify(&token, at(3600)).await.unwrap_err();
    assert_eq!(refusal, Refusal::UnknownKey { kid: "old".to_owned() });
}

#[tokio::test]
async fn before_the_first_set_came_a_caller_is_asked_to_try_again() {
    let signer = Signer::ed();
    let url = FakeUrl::answering([Err("down".to_owned()), Ok(jwks(&[signer.jwk("k")]))]);
    let verifier = by_url(&url);
    let token = signer.token("k", &claims());
    let refusal = verifier.verify(&token, at(0)).await.unwrap_err();
    assert_eq!(refusal, Refusal::NoKeysYet);
    assert!(refusal.is_internal());
    assert!(verifier.verify(&token, at(60)).await.is_ok());
}

#[tokio::test]
async fn a_clock_that_went_back_does_not_stop_fetches() {
    let (old, new) = (Signer::ed(), Signer::ed());
    let url = FakeUrl::answering([Ok(jwks(&[old.jwk("old")])), Ok(jwks(&[new.jwk("new")]))]);
    let verifier = by_url(&url);
    verifier.refresh(at(0)).await.unwrap();
    let claims = support::claims_but("nbf", serde_json::Value::Null);
    assert!(verifier.verify(&new.token("new", &claims), at(-1000)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn those_who_need_the_same_new_key_wait_for_one_fetch() {
    struct Slow(Signer, std::sync::atomic::AtomicU32);
    #[async_trait::async_trait]
    impl Fetch for Slow {
        async fn fetch(&self, _: &str, _: usize) -> Result<Vec<u8>, String> {
            self.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
            Ok(jwks(&[self.0.jwk("k")]))
        }
    }
    let slow = Arc::new(Slow(Signer::ed(), 0.into()));
    let config = Config { jwks_url: "https://issuer.example/jwks".to_owned(), ..strict() };
    let verifier = TokenVerifier::load(&config, Arc::clone(&slow) as Arc<dyn Fetch>).unwrap();
    let token = slow.0.token("k", &claims());
    let (a, b, c) = tokio::join!(
        verifier.verify(&token, at(0)),
        verifier.verify(&token, at(0)),
        verifier.verify(&token, at(0))
    );
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    assert_eq!(slow.1.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_url_that_never_answers_is_given_up() {
    struct Silent;
    #[async_trait::async_trait]
    impl Fetch for Silent {
        async fn fetch(&self, _: &str, _: usize) -> Result<Vec<u8>, String> {
            std::future::pending().await
        }
    }
    let config = Config { jwks_url: "https://issuer.example/jwks".to_owned(), ..strict() };
    let verifier = TokenVerifier::load(&config, Arc::new(Silent)).unwrap();
    let error = verifier.refresh(at(0)).await.unwrap_err();
    assert!(error.to_string().contains("no answer within 5s"), "{error}");
}

#[tokio::test]
async fn a_changed_file_is_read_again_and_a_broken_one_leaves_the_old_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (Signer::ed(), Signer::ed());
    let path = file(folder.path(), "jwks.json", jwks(&[old.jwk("old")]));
    let verifier = TokenVerifier::load(&Config { jwks_file: path, ..strict() }, no_url()).unwrap();
    assert!(!verifier.reread_files().unwrap());
    file(folder.path(), "jwks.json", "{");
    assert!(verifier.reread_files().is_err());
    assert!(verifier.verify(&old.token("old", &claims()), at(0)).await.is_ok());
    file(folder.path(), "jwks.json", jwks(&[new.jwk("new")]));
    assert!(verifier.reread_files().unwrap());
    assert!(verifier.verify(&new.token("new", &claims()), at(0)).await.is_ok());
    assert!(verifier.verify(&old.token("old", &claims()), at(0)).await.is_err());
}
