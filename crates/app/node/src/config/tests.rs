//! Tests of how layers are merged and of the error messages.

use super::*;

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torg.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn load_text(text: &str) -> Result<Effective, Error> {
    let (_folder, path) = file(text);
    load(&Sources { file: Some(path), ..Sources::default() })
}

fn complaint(text: &str) -> (String, String) {
    let error = load_text(text).err().unwrap();
    let message = error.to_string();
    (message.rsplit_once("torg.toml:").map_or(message.clone(), |(_, rest)| rest.to_owned()), error.hint())
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn flags_win_over_environment_over_file_over_defaults() {
    let (_folder, path) = file("[store]\ncache_mb = 64\ngroup_max = 7\ngroup_wait_us = 1\n");
    let effective = load(&Sources {
        file: Some(path),
        environment: variables(&[
            ("TORG_STORE_CACHE_MB", "65"),
            ("TORG_STORE_GROUP_MAX", "8"),
            ("TORG_LISTEN", "[::1]:1"),
        ]),
        flags: vec![Flag { name: "--cache", key: "store.cache_mb", value: "66".to_owned() }],
    })
    .unwrap();
    let Config { store, listen, limits, .. } = effective.config;
    assert_eq!((store.cache_mb, store.group_max, store.group_wait_us), (66, 8, 1));
    assert_eq!(listen.to_string(), "[::1]:1");
    assert_eq!(limits, Limits::default());
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_a_suggestion() {
    assert_eq!(
        complaint("listen = \"127.0.0.1:1\"\n\n[store]\ncachemb = 5\n"),
        ("4: unknown key \"store.cachemb\"".to_owned(), "did you mean \"store.cache_mb\"?".to_owned())
    );
    assert_eq!(complaint("[strore]\nurl = \"memory:\"\n").1, "did you mean \"store\"?");
    assert_eq!(complaint("pool_max = 3\n").1, "did you mean \"store.postgres.pool_max\"?");
    assert_eq!(
        complaint("colour = 3\n"),
        ("1: unknown key \"colour\"".to_owned(), "`torg config` prints every key".to_owned())
    );
}

#[test]
fn a_wrong_value_is_named_with_its_place() {
    for (text, expected) in [
        ("listen = 5", "1: listen: found integer, expected string"),
        ("listen = \"nowhere\"", "1: listen: invalid socket address syntax"),
        ("[store]\ncache_mb = \"big\"", "2: store.cache_mb: found string, expected integer"),
        ("[store]\ncache_mb = -1", "2: store.cache_mb: -1 is not between 8 and 1048576"),
        (
            "[store]\ndurability = \"fsnc\"",
            "2: store.durability: unknown variant `fsnc`, expected `fsync` or `os`",
        ),
        ("store = 3", "1: store: found integer, expected table"),
        (
            "[log]\nlevel = \"loud=quiet\"",
            "2: log.level: \"loud=quiet\" is no level: error, warn, info, debug, trace, or info,torg=debug",
        ),
        (
            "[store]\nurl = \"mysql://u:hush@h/d\"",
            "2: store.url: \"mysql://u:***@h/d\" is none of fjall:DIR, postgres://..., memory:",
        ),
        ("roles = []", "1: roles: empty: a process without a role does nothing"),
        ("listen = ", "1: string values must be quoted, expected literal string"),
    ] {
        assert_eq!(complaint(text).0, expected, "{text}");
    }
    let error =
        load(&Sources { environment: variables(&[("TORG_STORE_CACHE_MB", "x")]), ..Sources::default() })
            .err()
            .unwrap();
    assert_eq!(
        error.to_string(),
        "environment variable TORG_STORE_CACHE_MB: store.cache_mb: \"x\" is no whole number"
    );
}

#[test]
fn a_named_file_has_to_exist() {
    let error = load(&Sources { file: Some(PathBuf::from("/nowhere/torg.toml")), ..Sources::default() })
        .err()
        .unwrap();
    assert!(error.to_string().starts_with("cannot read /nowhere/torg.toml: "), "{error}");
}

#[test]
fn the_embedded_store_and_files_follow_the_data_folder_unless_they_are_placed() {
    let config = load_text("data_dir = \"/srv/torg\"\n").unwrap().config;
    assert_eq!(config.store.url.expose(), "fjall:/srv/torg/store");
    assert_eq!(config.files.url.expose(), "file:/srv/torg/files");
    let config = load_text("data_dir = \"/srv/torg\"\n[store]\nurl = \"memory:\"\n").unwrap().config;
    assert_eq!(config.store.url.expose(), "memory:");
}

#[test]
fn a_slip_in_a_variable_is_a_warning_and_a_foreign_variable_is_not() {
    let environment = variables(&[
        ("TORG_STORE_CACHEMB", "1"),
        ("TORG_SERVICE_HOST", "10.0.0.1"),
        ("TORG_TOKEN", "x"),
        ("PATH", "/bin"),
    ]);
    let effective = load(&Sources { environment, ..Sources::default() }).unwrap();
    assert_eq!(
        effective.warnings,
        ["environment variable TORG_STORE_CACHEMB is not known: did you mean TORG_STORE_CACHE_MB?"]
    );
}

#[test]
fn the_printed_configuration_tells_origins_masks_passwords_and_can_be_read_again() {
    let (_folder, path) = file("data_dir = \"/srv\"\n[kafka]\nsasl_password = \"hush\"\n");
    let effective = load(&Sources {
        file: Some(path.clone()),
        environment: variables(&[
            ("TORG_STORE_URL", "postgres://torg:hush@db/torg"),
            ("TORG_ROLES", "api, console"),
        ]),
        flags: vec![Flag { name: "--listen", key: "listen", value: "127.0.0.1:0".to_owned() }],
    })
    .unwrap();
    let text = effective.to_toml();
    assert!(!text.contains("hush"), "{text}");
    for line in [
        "listen = \"127.0.0.1:0\"  # from --listen".to_owned(),
        format!("data_dir = \"/srv\"  # from {}:1", path.display()),
        "roles = [\"api\", \"console\"]  # from TORG_ROLES".to_owned(),
        "url = \"postgres://torg:***@db/torg\"  # from TORG_STORE_URL".to_owned(),
        "url = \"file:/srv/files\"  # follows data_dir".to_owned(),
        format!("sasl_password = \"***\"  # from {}:3", path.display()),
        "cache_mb = 256".to_owned(),
        "[store.postgres]".to_owned(),
    ] {
        assert!(text.lines().any(|printed| printed == line), "{line:?} is not in\n{text}");
    }
    let again = load_text(&text).unwrap();
    assert_eq!(again.config.roles, [Role::Api, Role::Console]);
}

#[test]
fn access_and_tls_are_configured_like_everything_else() {
    let (_folder, path) = file("[access.user]\nburst = 7\n[tls]\ncert_file = \"c.pem\"\n");
    let effective = load(&Sources {
        file: Some(path),
        environment: variables(&[("TORG_ACCESS_MODE", "required"), ("TORG_TLS_KEY_FILE", "k.pem")]),
        ..Sources::default()
    })
    .unwrap();
    let text = effective.to_toml();
    assert!(text.contains("\n[access]\nmode = \"required\"  # from TORG_ACCESS_MODE\n"), "{text}");
    let Config { access, tls, .. } = effective.config;
    assert_eq!((access.mode, access.user.burst, access.user.rate_per_s), (access::Mode::Required, 7, 50));
    assert_eq!(tls.is_on().ok(), Some(true));
    assert_eq!(complaint("[access]\nleeway_s = 601\n").0, "2: access.leeway_s: 601 is not between 0 and 600");
    assert_eq!(
        complaint("[access.user]\nburst = 0\n"),
        (
            "access.user.burst: 0, but rate_per_s is set: at least 1 call has to fit".to_owned(),
            "set access.user.burst in the file or as TORG_ACCESS_USER_BURST".to_owned()
        )
    );
}

#[test]
fn settings_that_need_each_other_are_checked_together() {
    assert_eq!(
        complaint("[topics]\nurl = \"kafka://h:9092\"\n[kafka]\nsecurity = \"sasl_tls\"\n"),
        (
            "kafka.sasl_user: SASL needs a user".to_owned(),
            "set kafka.sasl_user in the file or as TORG_KAFKA_SASL_USER".to_owned()
        )
    );
    assert!(
        complaint("[store.postgres]\ntls_cert_file = \"c.pem\"\n")
            .0
            .starts_with("store.postgres.tls_key_file: ")
    );
}
