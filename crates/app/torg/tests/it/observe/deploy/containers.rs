//! The containers: the image, the services beside it, the demo in a container.

use std::collections::BTreeMap;

use serde_json::Map;

use super::{folder, read, yaml};
use crate::common::{run, torg};

/// The settings that the image brings along.
fn variables_of_the_image() -> Vec<(String, String)> {
    let image = read("Dockerfile");
    let lines = image.lines().map(|line| line.trim().trim_start_matches("ENV ").trim_end_matches(" \\"));
    let set = lines.filter(|line| line.starts_with("TORG_")).filter_map(|line| line.split_once('='));
    set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn the_variables_of_the_image_are_told_with_what_they_win_over() {
    let guide = read("docs/operations.md");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("torg.toml"), "data_dir = \"/srv/torg\"\n").unwrap();
    let mut command = torg(&folder, &["config"]);
    for (name, value) in variables_of_the_image() {
        assert!(guide.contains(&format!("`{name}`")), "{name}");
        command.env(name, value);
    }
    let shown = run(command);
    let line = "data_dir = \"/var/lib/torg\"  # from TORG_DATA_DIR";
    assert!(shown.stdout.lines().any(|shown| shown == line), "{}{}", shown.stdout, shown.stderr);
}

#[test]
fn the_containers_have_settings_that_torg_knows_and_files_that_are_there() {
    let compose = yaml("deploy/compose.yaml");
    let services = compose["services"].as_object().unwrap();
    let settings = services["torg"]["environment"].as_object().unwrap();
    let mut command = torg(&tempfile::tempdir().unwrap(), &["config"]);
    // That folder is gone already: the command writes nothing.
    command.current_dir(std::env::temp_dir());
    for (name, value) in settings {
        command.env(name, value.as_str().unwrap().replace("${TORG_PASSWORD}", "s3cret"));
    }
    let shown = run(command);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    for line in [
        "url = \"postgres://torg:***@postgres:5432/torg\"  # from TORG_STORE_URL",
        "url = \"kafka://kafka:9092\"  # from TORG_TOPICS_URL",
        "url = \"s3://torg/files\"  # from TORG_FILES_URL",
        "mode = \"required\"  # from TORG_ACCESS_MODE",
    ] {
        assert!(shown.stdout.contains(line), "{line} is not in\n{}", shown.stdout);
    }
    // The hosts that the settings name exist.
    for host in ["postgres", "kafka", "minio"] {
        assert!(services.contains_key(host), "{host}");
    }
    for (name, service) in services {
        assert!(service["image"].is_string(), "{name}");
        for needed in service["depends_on"].as_object().into_iter().flat_map(Map::keys) {
            assert!(services.contains_key(needed), "{name} needs {needed}");
        }
        for port in service["ports"].as_array().into_iter().flatten() {
            assert!(port.as_str().unwrap().starts_with("127.0.0.1:"), "{name}: {port} is open to the world");
        }
        for volume in service["volumes"].as_array().into_iter().flatten() {
            let from = volume.as_str().unwrap().split(':').next().unwrap();
            let is_there =
                compose["volumes"].get(from).is_some() || folder().join("deploy").join(from).exists();
            assert!(is_there, "{name}: {from}");
        }
    }
    let scrape = yaml("deploy/prometheus/scrape.yml");
    let job = &scrape["scrape_configs"][0];
    assert_eq!(job["static_configs"][0]["targets"][0], "torg:8080");
    let key = job["authorization"]["credentials_file"].as_str().unwrap();
    let keys = services["keys"]["command"][0].as_str().unwrap();
    assert!(keys.contains(&format!("torg keys add prometheus --role service > {key}")), "{keys}");
}

#[test]
fn no_two_services_build_an_image_of_the_same_name_and_each_image_that_is_built_is_asked_of_no_registry() {
    let compose = yaml("deploy/compose.yaml");
    let services = compose["services"].as_object().unwrap();
    let mut built = BTreeMap::new();
    for (name, service) in services.iter().filter(|(_, service)| service.get("build").is_some()) {
        let other = built.insert(service["image"].as_str().unwrap(), name.as_str());
        assert_eq!(other, None, "{name} builds the same image");
    }
    assert_eq!(built, BTreeMap::from([("torg", "torg")]));
    for (name, service) in services {
        let is_ours = built.contains_key(service["image"].as_str().unwrap());
        assert_eq!(is_ours, service.get("pull_policy").is_some_and(|policy| policy == "never"), "{name}");
    }
    assert_eq!(services["keys"]["image"], "torg");
}

/// In the guide, commands for the demo's container name the container that the guide starts, and
/// are known to `torg`.
#[test]
fn the_commands_for_a_demo_in_a_container_name_it_and_are_commands_of_torg() {
    let guide = read("docs/operations.md");
    let block = guide.split("```sh\n").find(|block| block.starts_with("docker build")).unwrap();
    let block = block.split("```").next().unwrap();
    let lines = block.lines().map(|line| line.split(" #").next().unwrap().trim());
    let (mut started, mut asked) = (None, 0);
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["docker", "run", "--rm", "--name", name, .., "torg", "serve", "--demo", "--listen", _] => {
                started = Some(name);
            }
            ["docker", "exec", name, "torg", ref command @ ..] => {
                assert_eq!(started, Some(name), "{line}");
                let arguments: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
                let told = run(torg(&tempfile::tempdir().unwrap(), &arguments));
                assert_eq!(told.code, Some(0), "{line}: {}", told.stderr);
                let flags = command.iter().filter(|word| word.starts_with("--"));
                let unknown: Vec<_> = flags.filter(|flag| !told.stdout.contains(**flag)).collect();
                assert!(unknown.is_empty(), "{line}: no {unknown:?}");
                asked += 1;
            }
            ["docker", "exec" | "stop", name, ..] => assert_eq!(started, Some(name), "{line}"),
            ["docker", "build", "-t", "torg", "."] => {}
            _ => panic!("what is that: {line}"),
        }
    }
    assert!(asked >= 3, "{asked}");
}

#[test]
fn the_image_has_the_binary_its_port_a_user_of_its_own_and_asks_for_health() {
    let image = read("Dockerfile");
    for line in [
        "RUN cargo build --profile dist --locked --package torg",
        "COPY --from=build /torg/target/dist/torg /usr/local/bin/torg",
        "USER torg",
        "EXPOSE 8080",
        "    CMD curl --silent --fail http://127.0.0.1:8080/readyz || curl --silent --fail --insecure https://127.0.0.1:8080/readyz",
        "CMD [\"serve\"]",
    ] {
        assert!(image.lines().any(|shown| shown == line), "{line}");
    }
    let version = format!("FROM rust:{}-slim", minimum_rust());
    assert!(image.contains(&version), "{version}");
    let mut command = torg(&tempfile::tempdir().unwrap(), &["config"]);
    command.current_dir(std::env::temp_dir());
    let set = variables_of_the_image();
    assert_eq!(set.len(), 3, "{set:?}");
    let shown = run(std::mem::replace(command.envs(set), std::process::Command::new("true")));
    assert!(shown.stdout.contains("listen = \"0.0.0.0:8080\""), "{}{}", shown.stdout, shown.stderr);
}

/// The minimum supported Rust version.
fn minimum_rust() -> String {
    let workspace = read("Cargo.toml");
    let line = workspace.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap();
    line.trim_matches('"').to_owned()
}
