//! The settings in which blocks run.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::common::{Server, run, torg};
use crate::docs::blocks::{root, to_run};
use crate::docs::shell::{Shell, has, refusing, serving_behind};

const OFFER: &str = r#"{"offer": {"seller": "dora", "category": "sg-4-4-3-2", "title": "Red bicycle", "price": {"free": {}}}}"#;

/// A file of two sofas, one of which has an invalid price.
const SOFAS: &str = "<yml_catalog date=\"2026-01-31 12:00\"><shop><currencies><currency id=\"RUB\" rate=\"1\"/></currencies>\
    <categories><category id=\"1\">Мягкое</category><category id=\"2\" parentId=\"1\">Угловое</category></categories><offers>\
    <offer id=\"1\"><name>Диван угловой</name><price>9000</price><currencyId>RUB</currencyId><categoryId>2</categoryId></offer>\
    <offer id=\"2\"><name>Диван прямой</name><price>дорого</price><currencyId>RUB</currencyId><categoryId>2</categoryId></offer>\
    </offers></shop></yml_catalog>";

const TASKS: &str = "tasks: {sales_report: {when: {new_day: sales.loaded_to}, run: echo made}}";

fn beside<'a>(server: &'a Server, environment: &'a [(&'a str, &'a str)]) -> Shell<'a> {
    Shell { folder: server.folder.path(), port: server.address.port(), environment }
}

#[test]
fn ground() {
    if !has("curl") {
        return;
    }
    let server = Server::start(&[]);
    for _ in 0..3 {
        assert_eq!(server.post_json("/torg.offers.v1.OfferService/CreateOffer", OFFER).status, 200);
    }
    let said = beside(&server, &[]).run(&to_run("README.md", "ground"));
    assert!(said.contains("{\"ready\":true,\"problems\":[]}"), "{said}");
    assert_eq!(said.lines().filter(|line| line.contains("\"offset\"")).count(), 3, "{said}");
    assert!(said.contains("# TYPE torg_"), "{said}");
}

#[test]
fn postgres() {
    let (Some(postgres), Some(kafka)) = (testkit::postgres(), testkit::kafka()) else { return };
    if !has("curl") {
        return;
    }
    // A store of the embedded setting, with one offer.
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = Server::start_in(&folder, &[]);
    let made = server.post_json("/torg.offers.v1.OfferService/CreateOffer", OFFER);
    assert_eq!(made.status, 200, "{}", made.body);
    let id = made.json()["offer"]["id"].as_str().unwrap().to_owned();
    server.stop();
    // One database for all lines, in the order of the page: the copy is checked, and then served.
    let lines = to_run("README.md", "postgres")
        .replace("postgres://torg:secret@db:5432/torg?sslmode=verify-full", &postgres.fresh_database())
        .replace("kafka://broker1:9092,broker2:9092", &format!("kafka://{}", kafka.bootstrap()));
    assert!(!lines.contains("secret") && !lines.contains("broker"), "{lines}");
    let ask =
        "curl -sS localhost:8080/torg.offers.v1.OfferService/GetOffer -H 'content-type: application/json'";
    let lines = format!("{}{ask} -d '{{\"id\": \"{id}\"}}'\n", serving_behind(&lines));
    let shell = Shell { folder: folder.path(), port: testkit::free_port(), environment: &[] };
    let said = shell.run(&lines);
    let place = |what: &str| said.find(what).unwrap_or_else(|| panic!("no {what} in\n{said}"));
    let steps = ["copied ", "sound: ", "\"table\":", "{\"ready\":true", "Red bicycle"].map(place);
    assert!(steps.is_sorted(), "{said}");
}

#[test]
fn access() {
    if !has("curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let lines = to_run("docs/access.md", "access");
    // The page shows an example id; real ids differ.
    let known = "3f9k2m7q";
    assert!(lines.contains(known));
    let lines = lines
        .replace(known, "$(torg keys list --json | grep -o '\"id\": *\"[^\"]*' | head -1 | cut -d'\"' -f4)");
    let shell = Shell { folder: folder.path(), port: testkit::free_port(), environment: &[] };
    let said = shell.run(&serving_behind(&lines));
    assert!(said.contains("\"version\"") && said.contains("Anna's shop"), "{said}");
}

#[test]
fn examples() {
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_torg")).parent().unwrap().join("examples");
    if !programs.join("browse").is_file() || !programs.join("recognise").is_file() {
        return testkit::skip(
            "examples in the documentation",
            "they are built with the whole workspace only",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let shell = Shell { folder: folder.path(), port: testkit::free_port(), environment: &[] };
    let run = |page| {
        let mut lines = to_run(page, "examples").replace(" -- ", " ");
        for package in ["catalog", "unify"] {
            let cargo = format!("cargo run --release -p {package} --example ");
            lines = lines.replace(&cargo, &format!("{}/", programs.display()));
        }
        shell.run(&lines)
    };
    let said = run("docs/catalog.md");
    assert!(said.contains("transport/cars") && said.contains("вартир"), "{said}");
    let said = run("docs/unify.md");
    assert!(said.contains("Казан") || said.contains("Kazan"), "{said}");
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink(root().join("examples"), place("examples")).unwrap();
    for (version, file) in [("old", TASKS.to_owned()), ("new", TASKS.replace("made", "made anew"))] {
        std::fs::create_dir(place(version)).unwrap();
        std::fs::write(place(version).join("all.yaml"), file).unwrap();
    }
    std::fs::write(place("values.csv"), "sales.loaded_to,2026-03-25T08:05:00Z\n").unwrap();
    let shell = Shell { folder: folder.path(), port: testkit::free_port(), environment: &[] };
    // Graphviz draws the picture that `tasks_offline.rs` compares with the one in `docs/images`.
    let lines = to_run("docs/tasks.md", "files").replace("| dot -Tsvg", "");
    let said = shell.run(&lines);
    assert!(said.contains("flowchart") && said.contains("sales_report"), "{said}");
    let sdk = root().join("crates/edge/stagekit");
    let lines = to_run("docs/stages-sdk.md", "files")
        .replace("../torg/crates/edge/stagekit", &sdk.display().to_string());
    shell.run(&lines);
    assert!(place("price-watch/stage.py").is_file() && place("DIR/src/stage.rs").is_file());
    if has("openssl") {
        shell.run(&to_run("docs/access.md", "files"));
        assert!(place("cert.pem").is_file());
    }
}

#[test]
fn seller() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let key = run(torg(&folder, &["keys", "add", "Anna's shop", "--role", "seller", "--seller", "ann"]));
    let server = Server::start_in(&folder, &[("TORG_ACCESS_MODE", "required")]);
    std::fs::write(folder.path().join("sofas.xml"), SOFAS).unwrap();
    let environment = [("TORG_TOKEN", key.stdout.trim())];
    // No load waits.
    let lines = refusing(&to_run("docs/feeds.md", "seller"), "torg feed confirm 7");
    let said = beside(&server, &environment).run(&lines);
    assert!(said.contains("bad_price") && said.contains("Угловое"), "{said}");
    assert!(folder.path().join("report.xlsx").is_file());
}

#[test]
fn uploads() {
    if !has("curl") {
        return;
    }
    let server = Server::start(&[]);
    std::fs::write(server.folder.path().join("sofas.xml"), SOFAS).unwrap();
    let said = beside(&server, &[]).run(&to_run("docs/feeds.md", "uploads"));
    assert!(said.contains("\"namespace\":\"sofas\"") && said.contains("\"number\":"), "{said}");
    let reports = std::fs::read_dir(server.folder.path()).unwrap();
    let names = reports.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.contains("xlsx")).count(), 1);
}

#[test]
fn values() {
    if !has("curl") {
        return;
    }
    let server = Server::start(&[]);
    let said = beside(&server, &[]).run(&to_run("docs/tasks.md", "values"));
    assert!(said.contains("sales.loaded_to") && said.contains("\"1300\""), "{said}");
}

#[test]
fn explain() {
    if !has("curl") {
        return;
    }
    let server = Server::start(&[]);
    std::fs::write(server.folder.path().join("tasks.yaml"), TASKS).unwrap();
    let shell = beside(&server, &[]);
    shell.run("torg tasks apply tasks.yaml --reason test");
    let said = shell.run(&to_run("docs/tasks.md", "explain"));
    assert!(said.contains("sales.loaded_to"), "{said}");
}

/// The settings that a demo overrides are in the code twice: those that it ignores with a warning,
/// and their replacements.
#[test]
fn the_page_of_the_demo_names_every_setting_that_does_not_count_in_it() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let (code, page) = (read("crates/app/demo/src/lib.rs"), read("docs/demo.md"));
    let taken_out = code.split("does_not_count(\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let settled = code.split("\nfn settle(").nth(1).unwrap().split("\n}\n").next().unwrap();
    let is_of_key = |letter: char| letter.is_ascii_lowercase() || matches!(letter, '_' | '.');
    let put_in = settled.split("config.").skip(1).map(|rest| {
        let key = rest.split(|letter| !is_of_key(letter)).next().unwrap();
        key.trim_end_matches(".clear")
    });
    let refused = ["access", "tls"];
    let decided: BTreeSet<&str> = taken_out.chain(put_in).chain(refused).collect();
    assert!(decided.contains("store.url") && decided.contains("stages.file"), "{decided:?}");
    let rows = page.split("| Setting | In a demo |\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let cells = rows.lines().skip(1).map(|row| row.split('|').nth(1).unwrap());
    let told: BTreeSet<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert_eq!(told, decided);
}
