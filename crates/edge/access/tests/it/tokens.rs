//! Accepted and rejected tokens.

use crate::support;

use access::{Caller, Config, Proof, Refusal, Role, Roles, Time, TokenVerifier};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{
    NOW_S, RSA_PUBLIC_PEM, SECRET, Signer, b64, claims, claims_but, file, jwks, no_url, now, strict,
};

/// A verifier that has a key of each kind.
struct Bench {
    rsa: Signer,
    ec: Signer,
    ed: Signer,
    hmac: Signer,
    verifier: TokenVerifier,
}

impl Bench {
    fn new() -> Self {
        Self::with(strict())
    }

    fn with(config: Config) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (rsa, ec, ed, hmac) = (Signer::rsa(), Signer::ec(), Signer::ed(), Signer::hmac(SECRET));
        let set = jwks(&[rsa.jwk("r"), ec.jwk("e"), ed.jwk("d")]);
        let config = Config {
            jwks_file: file(folder.path(), "jwks.json", set),
            hs256_secret_file: file(folder.path(), "secret", SECRET),
            ..config
        };
        let verifier = TokenVerifier::load(&config, no_url()).unwrap();
        Self { rsa, ec, ed, hmac, verifier }
    }

    async fn judge(&self, token: &str) -> Result<Caller, Refusal> {
        self.verifier.verify(token, now()).await
    }

    async fn refusal(&self, token: &str) -> Refusal {
        self.judge(token).await.unwrap_err()
    }

    async fn refusal_of(&self, claims: &Value) -> Refusal {
        self.refusal(&self.ed.token("d", claims)).await
    }
}

#[tokio::test]
async fn a_token_in_order_names_its_caller_whatever_kind_of_key_signed_it() {
    let bench = Bench::new();
    let tokens = [
        bench.rsa.token("r", &claims()),
        bench.ec.token("e", &claims()),
        bench.ed.token("d", &claims()),
        bench.hmac.token("shared", &claims()),
        bench.hmac.sign(&json!({"alg": "HS256"}), &claims()),
        bench.ec.sign(&json!({"alg": "ES256", "typ": "at+JWT"}), &claims()),
    ];
    for token in tokens {
        let caller = bench.judge(&token).await.unwrap();
        assert_eq!(caller.subject, "user-1");
        assert_eq!(caller.seller.as_deref(), Some("s1"));
        assert_eq!(caller.roles, Roles::NONE.with(Role::Seller), "other systems' roles are passed over");
        assert_eq!(caller.proof, Proof::Token { issuer: "https://issuer.example".to_owned() });
    }
}

#[tokio::test]
async fn signatures_by_others_than_ourselves_hold() {
    let folder = tempfile::tempdir().unwrap();
    let pem = file(folder.path(), "k.pem", RSA_PUBLIC_PEM);
    let verifier = TokenVerifier::load(&Config { pem_file: pem, ..Config::default() }, no_url()).unwrap();
    let caller = verifier.verify(include_str!("keys/rs256_by_openssl.jwt"), now()).await.unwrap();
    assert_eq!((caller.subject.as_str(), caller.seller.as_deref()), ("by-hand", Some("s1")));
}

/// RFC 7515, A.1 and A.3; RFC 8037, A.4. Their claims have no subject, which is judged after the
/// signature.
#[tokio::test]
async fn the_examples_of_the_standards_hold() {
    let folder = tempfile::tempdir().unwrap();
    let secret = {
        use base64::Engine as _;
        let text = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
        base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).unwrap()
    };
    let set = jwks(&[
        json!({"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
               "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}),
        json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}),
    ]);
    let config = Config {
        jwks_file: file(folder.path(), "jwks.json", set),
        hs256_secret_file: file(folder.path(), "secret", secret),
        ..Config::default()
    };
    let verifier = TokenVerifier::load(&config, no_url()).unwrap();
    let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let hs256 = format!(
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.{payload}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    );
    let es256 = format!(
        "eyJhbGciOiJFUzI1NiJ9.{payload}.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    );
    let eddsa = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    let before = Time::from_seconds(1_300_819_379);
    for token in [hs256, es256] {
        let refusal = verifier.verify(&token, before).await.unwrap_err();
        assert_eq!(refusal, Refusal::BadClaim { claim: "sub".to_owned(), what: "absent" });
    }
    let refusal = verifier.verify(eddsa, before).await.unwrap_err();
    assert_eq!(refusal, Refusal::Malformed { what: "the claims are no JSON object" });
}

#[tokio::test]
async fn a_token_without_a_signature_is_refused() {
    let bench = Bench::new();
    for alg in ["none", "None", "NONE", "", "HS384", "RS512", "PS256"] {
        for kid in [None, Some("r"), Some("e")] {
            let header = json!({"alg": alg, "kid": kid});
            let unsigned = format!("{}.{}.", b64(header.to_string()), b64(claims().to_string()));
            let refusal = bench.refusal(&unsigned).await;
            assert!(matches!(refusal, Refusal::WrongAlgorithm { .. }), "{alg} {kid:?}: {refusal}");
        }
    }
    let header = json!({"alg": "EdDSA", "kid": "d"});
    let emptied = format!("{}.{}.", b64(header.to_string()), b64(claims().to_string()));
    assert!(matches!(bench.refusal(&emptied).await, Refusal::BadSignature { .. }));
}

#[tokio::test]
async fn a_public_key_is_never_taken_for_a_shared_secret() {
    let folder = tempfile::tempdir().unwrap();
    let pem = file(folder.path(), "k.pem", RSA_PUBLIC_PEM);
    let config = Config { pem_file: pem, ..strict() };
    let verifier = TokenVerifier::load(&config, no_url()).unwrap();
    let modulus = Signer::rsa().jwk("r")["n"].as_str().unwrap().to_owned();
    for secret in [RSA_PUBLIC_PEM, RSA_PUBLIC_PEM.trim_end(), &modulus] {
        let forged = Signer::hmac(secret.as_bytes()).token("r", &claims());
        let refusal = verifier.verify(&forged, now()).await.unwrap_err();
        assert_eq!(refusal, Refusal::WrongAlgorithm { token: "HS256".to_owned(), key: "RS256" });
    }
}

#[tokio::test]
async fn a_token_that_names_a_key_of_another_kind_is_refused() {
    let bench = Bench::new();
    // Signed by HMAC, with the id of the RSA key; the shared secret answers to every id, so this
    // one has none.
    let folder = tempfile::tempdir().unwrap();
    let set = jwks(&[bench.rsa.jwk("r"), bench.ec.jwk("e")]);
    let config = Config { jwks_file: file(folder.path(), "jwks.json", set), ..strict() };
    let verifier = TokenVerifier::load(&config, no_url()).unwrap();
    let swapped = bench.ec.token("r", &claims());
    let refusal = verifier.verify(&swapped, now()).await.unwrap_err();
    assert_eq!(refusal, Refusal::WrongAlgorithm { token: "ES256".to_owned(), key: "RS256" });
    let relabelled = bench.ec.sign(&json!({"alg": "RS256", "kid": "r"}), &claims());
    let refusal = verifier.verify(&relabelled, now()).await.unwrap_err();
    assert_eq!(refusal, Refusal::BadSignature { key: "RS256 key \"r\"".to_owned() });
}

#[tokio::test]
async fn times_are_judged_with_leeway_and_by_the_clock_that_is_passed_in() {
    let bench = Bench::with(Config { leeway_s: 60, ..strict() });
    let expiring = bench.ed.token("d", &claims_but("exp", json!(NOW_S)));
    let at = |seconds| Time::from_seconds(NOW_S + seconds);
    assert!(bench.verifier.verify(&expiring, at(59)).await.is_ok());
    let refusal = bench.verifier.verify(&expiring, at(60)).await.unwrap_err();
    assert_eq!(refusal, Refusal::Expired { at: now() });
    assert_eq!(refusal.to_string(), "the token expired at 2023-11-14T22:13:20Z");

    let beginning = bench.ed.token("d", &claims_but("nbf", json!(NOW_S)));
    assert!(bench.verifier.verify(&beginning, at(-60)).await.is_ok());
    let refusal = bench.verifier.verify(&beginning, at(-61)).await.unwrap_err();
    assert_eq!(refusal, Refusal::NotYetValid { at: now() });
}

#[tokio::test]
async fn times_that_are_no_times_are_refused() {
    let bench = Bench::new();
    assert_eq!(
        bench.refusal_of(&claims_but("exp", Value::Null)).await,
        Refusal::BadClaim { claim: "exp".to_owned(), what: "absent" }
    );
    for wrong in [json!("4102444800"), json!([NOW_S]), json!({}), json!(true)] {
        let refusal = bench.refusal_of(&claims_but("exp", wrong.clone())).await;
        assert_eq!(refusal, Refusal::BadClaim { claim: "exp".to_owned(), what: "no number" }, "{wrong}");
    }
    for past in [json!(-1), json!(0), json!(-1e300), json!(i64::MIN)] {
        let refusal = bench.refusal_of(&claims_but("exp", past.clone())).await;
        assert!(matches!(refusal, Refusal::Expired { .. }), "{past}: {refusal}");
    }
    for far in [json!(1e300), json!(u64::MAX), json!(i64::MAX), json!(NOW_S as f64 + 3600.5)] {
        assert!(bench.judge(&bench.ed.token("d", &claims_but("exp", far.clone()))).await.is_ok(), "{far}");
        let refusal = bench.refusal_of(&claims_but("nbf", far.clone())).await;
        assert!(matches!(refusal, Refusal::NotYetValid { .. }), "{far}: {refusal}");
    }
}

#[tokio::test]
async fn a_token_of_another_issuer_or_audience_is_refused() {
    let bench = Bench::new();
    for wrong in [Value::Null, json!("https://evil.example"), json!("https://issuer.example/")] {
        let refusal = bench.refusal_of(&claims_but("iss", wrong.clone())).await;
        assert!(matches!(refusal, Refusal::WrongIssuer { .. }), "{wrong}: {refusal}");
    }
    let refusal = bench.refusal_of(&claims_but("iss", json!(["https://issuer.example"]))).await;
    assert!(matches!(refusal, Refusal::BadClaim { .. }), "{refusal}");
    for wrong in
        [Value::Null, json!("shop"), json!([]), json!(["shop", 7]), json!({"torg": 1}), json!("torg2")]
    {
        assert_eq!(
            bench.refusal_of(&claims_but("aud", wrong.clone())).await,
            Refusal::WrongAudience,
            "{wrong}"
        );
    }
    assert!(bench.judge(&bench.ed.token("d", &claims_but("aud", json!(["shop", "torg"])))).await.is_ok());
}

#[tokio::test]
async fn roles_and_sellers_of_a_wrong_type_are_refused() {
    let bench = Bench::new();
    for wrong in [json!(7), json!({"admin": true}), json!(["seller", 7]), json!([["admin"]]), json!(true)] {
        let refusal = bench.refusal_of(&claims_but("roles", wrong.clone())).await;
        let expected =
            Refusal::BadClaim { claim: "roles".to_owned(), what: "neither a list of texts nor a text" };
        assert_eq!(refusal, expected, "{wrong}");
    }
    for wrong in
        [json!([]), json!({}), json!(-1), json!(1.5), json!(""), json!("a\0b"), json!("x".repeat(129))]
    {
        let refusal = bench.refusal_of(&claims_but("seller_id", wrong.clone())).await;
        assert!(matches!(refusal, Refusal::BadClaim { .. }), "{wrong}: {refusal}");
    }
    for wrong in [Value::Null, json!(""), json!(7), json!("a\nb"), json!("x".repeat(257))] {
        let refusal = bench.refusal_of(&claims_but("sub", wrong.clone())).await;
        assert!(matches!(refusal, Refusal::BadClaim { .. }), "{wrong}: {refusal}");
    }
}

#[tokio::test]
async fn roles_are_found_as_a_list_as_a_text_and_inside_other_claims() {
    let bench = Bench::new();
    let admin_and_seller = Roles::NONE.with(Role::Admin).with(Role::Seller);
    let text = bench.ed.token("d", &claims_but("roles", json!("admin  seller Admin")));
    assert_eq!(bench.judge(&text).await.unwrap().roles, admin_and_seller);
    let none = bench.ed.token("d", &claims_but("roles", Value::Null));
    assert_eq!(bench.judge(&none).await.unwrap().roles, Roles::NONE);

    let nested =
        Config { roles_claim: "realm_access.roles".to_owned(), seller_claim: "sub".to_owned(), ..strict() };
    let bench = Bench::with(nested);
    let token = bench.ed.token("d", &claims_but("realm_access", json!({"roles": ["support"]})));
    let caller = bench.judge(&token).await.unwrap();
    assert_eq!((caller.roles, caller.seller.as_deref()), (Roles::NONE.with(Role::Support), Some("user-1")));
    let literal = bench.ed.token("d", &claims_but("realm_access.roles", json!(["admin"])));
    assert_eq!(bench.judge(&literal).await.unwrap().roles, Roles::NONE.with(Role::Admin));
}

#[tokio::test]
async fn broken_tokens_are_refused() {
    let bench = Bench::new();
    let good = bench.ed.token("d", &claims());
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (header, payload) = signed.split_once('.').unwrap();
    for wrong in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        signed.to_owned(),
        format!("{header}.{signature}"),
        format!("{good}="),
        format!("{good}."),
        format!(".{good}"),
        format!("{header}=.{payload}.{signature}"),
        format!("{header}.{payload}.{signature}\u{e9}"),
        format!("{header}.{payload}+.{signature}"),
        format!("{}.{payload}.{signature}", b64("{}")),
        format!("{}.{payload}.{signature}", b64("[]")),
        format!("{}.{payload}.{signature}", b64("{\"alg\":7}")),
        format!("{}.{payload}.{signature}", b64("{\"alg\":\"EdDSA\",\"alg\":\"none\"}")),
        format!("{}.{payload}.{signature}", b64([0xFF, 0xFE])),
    ] {
        let refusal = bench.refusal(&wrong).await;
        assert!(matches!(refusal, Refusal::Malformed { .. }), "{wrong}: {refusal}");
    }
    let truncated = bench.refusal(&good[..good.len() - 6]).await;
    assert!(matches!(truncated, Refusal::BadSignature { .. }), "{truncated}");
    let huge = bench.ed.token("d", &claims_but("filler", json!("x".repeat(10_000))));
    assert_eq!(bench.refusal(&huge).await, Refusal::TooLong { bytes: huge.len() });
    let deep = bench.ed.sign(&json!({"alg": "EdDSA", "kid": "d"}), &json!("x"));
    assert!(matches!(bench.refusal(&deep).await, Refusal::Malformed { .. }), "claims must be an object");
}

#[tokio::test]
async fn headers_that_must_be_understood_and_are_not_are_refused() {
    let bench = Bench::new();
    for header in [
        json!({"alg": "EdDSA", "kid": "d", "crit": ["exp"]}),
        json!({"alg": "EdDSA", "kid": "d", "zip": "DEF"}),
        json!({"alg": "EdDSA", "kid": "d", "typ": "logout+jwt"}),
        json!({"alg": "EdDSA", "kid": "k".repeat(300)}),
    ] {
        let refusal = bench.refusal(&bench.ed.sign(&header, &claims())).await;
        assert!(matches!(refusal, Refusal::Unsupported { .. }), "{header}: {refusal}");
    }
}

#[tokio::test]
async fn a_key_that_a_token_brings_along_is_not_believed() {
    let bench = Bench::new();
    let own = Signer::ed();
    let header = json!({"alg": "EdDSA", "kid": "d", "jwk": own.jwk("d"), "jku": "https://evil.example/jwks"});
    assert!(matches!(bench.refusal(&own.sign(&header, &claims())).await, Refusal::BadSignature { .. }));
}

#[tokio::test]
async fn an_unknown_key_id_is_named_in_the_log_and_not_to_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    let signer = Signer::ed();
    let set = file(folder.path(), "jwks.json", jwks(&[signer.jwk("d")]));
    let verifier = TokenVerifier::load(&Config { jwks_file: set, ..strict() }, no_url()).unwrap();
    let refusal = verifier.verify(&signer.token("x", &claims()), now()).await.unwrap_err();
    assert_eq!(refusal, Refusal::UnknownKey { kid: "x".to_owned() });
    assert_eq!(refusal.message(), "the token is not valid");
}

#[tokio::test]
async fn a_forger_gets_one_answer_for_every_mistake() {
    let bench = Bench::new();
    let stranger = Signer::ed();
    for claims in [
        claims(),
        claims_but("exp", json!(1)),
        claims_but("aud", json!("shop")),
        claims_but("roles", json!(7)),
    ] {
        let refusal = bench.refusal(&stranger.token("d", &claims)).await;
        assert!(matches!(refusal, Refusal::BadSignature { .. }), "{refusal}");
        assert_eq!(refusal.message(), "the token is not valid");
    }
    assert_eq!(bench.refusal_of(&claims_but("exp", json!(1))).await.message(), "the token has expired");
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

proptest! {
    #[test]
    fn no_bytes_make_the_verifier_panic_or_believe(
        text in ".{0,200}",
        parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 0..5),
    ) {
        let bench = Bench::new();
        let dotted: Vec<String> = parts.iter().map(b64).collect();
        prop_assert!(block_on(bench.judge(&text)).is_err());
        prop_assert!(block_on(bench.judge(&dotted.join("."))).is_err());
    }

    #[test]
    fn a_token_that_was_changed_anywhere_is_refused(place in any::<prop::sample::Index>(), to in "[A-Za-z0-9_.-]") {
        let bench = Bench::new();
        let good = bench.ed.token("d", &claims());
        let place = place.index(good.len());
        prop_assume!(good[place..=place] != to);
        let changed = format!("{}{to}{}", &good[..place], &good[place + 1..]);
        prop_assert!(block_on(bench.judge(&changed)).is_err());
    }
}
