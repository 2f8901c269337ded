use super::*;

fn required() -> Config {
    Config { mode: Mode::Required, ..Config::default() }
}

fn complaint(config: &Config) -> String {
    config.validate().unwrap_err().to_string()
}

#[test]
fn the_defaults_are_off_and_in_order() {
    let config = Config::default();
    assert_eq!(config.mode, Mode::Off);
    config.validate().unwrap();
    required().validate().unwrap();
}

#[test]
fn a_configuration_reads_as_people_write_it_and_unknown_keys_are_refused() {
    let text = "mode = \"required\"\njwks_url = \"https://a.example/keys\"\n[user]\nrate_per_s = 5\nburst = 10\nconcurrent_max = 2\nrequest_bytes_max = 100\n";
    let config: Config = toml::from_str(text).unwrap();
    assert_eq!((config.mode, config.user.rate_per_s, config.leeway_s), (Mode::Required, 5, 60));
    config.validate().unwrap();
    for wrong in ["mod = \"off\"", "mode = \"on\"", "[user]\nrate = 5", "leeway_s = -1", "jwks_file = 5"] {
        assert!(toml::from_str::<Config>(wrong).is_err(), "{wrong}");
    }
    assert!(toml::from_str::<TlsConfig>("cert = \"x\"").is_err());
    let written = toml::to_string(&Config::default()).unwrap();
    assert_eq!(toml::from_str::<Config>(&written).unwrap(), Config::default(), "every key is written out");
}

#[test]
fn every_number_has_a_range_and_values_outside_are_refused() {
    fn numbers(prefix: &str, value: &serde_json::Value, found: &mut Vec<String>) {
        for (name, value) in value.as_object().unwrap() {
            match value {
                serde_json::Value::Number(_) => found.push(format!("{prefix}{name}")),
                serde_json::Value::Object(_) => numbers(&format!("{prefix}{name}."), value, found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    numbers("", &serde_json::to_value(Config::default()).unwrap(), &mut found);
    let ranged: Vec<&str> = Config::RANGES.iter().map(|(key, _, _)| *key).collect();
    assert_eq!(found, ranged);
    assert!(
        complaint(&Config { leeway_s: 601, ..required() }).contains("leeway_s: 601 is not between 0 and 600")
    );
    assert!(complaint(&Config { jwks_refresh_s: 1, ..required() }).contains("jwks_refresh_s"));
}

#[test]
fn settings_that_cannot_work_are_named() {
    let nothing = Config { api_keys: false, ..required() };
    assert!(complaint(&nothing).contains("no credential can be verified"));
    let with_pem = Config { pem_file: "k.pem".into(), ..nothing };
    with_pem.validate().unwrap();
    assert!(complaint(&Config { roles_claim: String::new(), ..with_pem.clone() }).contains("roles_claim"));
    assert!(complaint(&Config { seller_claim: String::new(), ..with_pem }).contains("seller_claim"));
    let no_burst = Config { user: Allowance { burst: 0, ..Config::default().user }, ..required() };
    assert!(complaint(&no_burst).contains("access.user.burst"));
    assert!(complaint(&Config { concurrent_max: 0, ..required() }).contains("nothing could run"));
}

#[test]
fn keys_are_fetched_over_https_only_except_from_this_machine() {
    for fine in [
        "https://issuer.example/jwks",
        "https://issuer.example:8443/a?b=c",
        "http://localhost:9000/",
        "http://127.0.0.1/x",
        "http://[::1]:80/x",
    ] {
        Config { jwks_url: fine.to_owned(), ..required() }.validate().unwrap();
    }
    for (wrong, why) in [
        ("http://issuer.example/jwks", "use https"),
        ("http://localhost.evil.example/", "use https"),
        ("ftp://issuer.example/", "not an https URL"),
        ("issuer.example", "not an https URL"),
        ("/jwks", "not an https URL"),
        ("https://user:hush@issuer.example/", "is not sent"),
        ("https://", "no URL"),
    ] {
        let said = complaint(&Config { jwks_url: wrong.to_owned(), ..required() });
        assert!(said.contains(why) && !said.contains("hush"), "{wrong}: {said}");
    }
    let url = KeysUrl::parse("https://[2001:db8::1]:8443/keys?x=1").unwrap();
    assert_eq!((url.host(), url.port(), url.path()), ("2001:db8::1", 8443, "/keys?x=1"));
    assert_eq!(KeysUrl::parse("https://a.example").unwrap().path(), "/");
}

#[test]
fn without_access_only_this_machine_is_served() {
    let off = Config::default();
    for here in ["127.0.0.1:8080", "127.8.9.10:1", "[::1]:8080", "[::ffff:127.0.0.1]:8080"] {
        require_safe_listen(here.parse().unwrap(), &off).unwrap();
    }
    for open in ["0.0.0.0:8080", "[::]:8080", "192.168.1.5:8080", "8.8.8.8:80", "[::ffff:10.0.0.1]:80"] {
        let address = open.parse().unwrap();
        let error = require_safe_listen(address, &off).unwrap_err();
        assert!(error.to_string().contains("access is off"), "{error}");
        assert!(error.hint().unwrap().contains("access.mode = \"required\""));
        require_safe_listen(address, &required()).unwrap();
    }
}

#[test]
fn half_of_tls_is_an_error() {
    let tls = |cert: &str, key: &str, ca: &str| {
        TlsConfig { cert_file: cert.into(), key_file: key.into(), client_ca_file: ca.into() }.is_on()
    };
    assert!(!tls("", "", "").unwrap());
    assert!(tls("c", "k", "").unwrap() && tls("c", "k", "a").unwrap());
    for (cert, key, ca) in [("c", "", ""), ("", "k", ""), ("", "", "a"), ("c", "", "a"), ("", "k", "a")] {
        assert!(tls(cert, key, ca).is_err(), "{cert} {key} {ca}");
    }
}
