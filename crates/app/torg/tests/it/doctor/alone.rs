//! Faults that `torg doctor` finds without a running process.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::common::{run, torg};
use crate::doctor::rig::Patient;

#[test]
fn before_the_first_start_nothing_is_wrong_and_nothing_is_made() {
    let patient = Patient::new();
    let told = patient.examine(&[]);
    told.assert_well();
    told.assert_told("process", "note", "no process runs here", "torg serve");
    told.assert_told("store", "note", "there is no store at", "");
    assert_eq!(
        std::fs::read_dir(patient.folder.path()).unwrap().count(),
        0,
        "the doctor leaves nothing behind"
    );
}

#[test]
fn a_stopped_process_leaves_a_set_up_in_which_nothing_is_wrong() {
    let patient = Patient::new();
    patient.serve().stop();
    let told = patient.examine(&[]);
    told.assert_well();
    told.assert_told("store", "ok", "is sound", "");
    told.assert_told("topics", "ok", "are there, as configured", "");
    told.assert_told("files", "ok", "takes files", "");
    told.assert_told("catalogue", "ok", "categories", "");
}

#[test]
fn a_wrong_key_of_the_file_is_told_with_what_was_meant() {
    let patient = Patient::new();
    patient.write("torg.toml", "[store]\ncahce_mb = 5\n");
    let told = patient.examine(&[]);
    told.assert_told(
        "configuration",
        "error",
        "torg.toml:2: unknown key",
        "did you mean \"store.cache_mb\"?",
    );
}

#[test]
fn a_misspelt_variable_is_a_warning_which_is_an_error_only_for_who_is_strict() {
    let patient = Patient::new().with(&[("TORG_STORE_CAHCE_MB", "64")]);
    let told = patient.examine(&[]);
    told.assert_told("configuration", "warning", "did you mean TORG_STORE_CACHE_MB?", "correct its name");
    assert_eq!(told.code, Some(0));
    assert_eq!(patient.examine(&["--strict"]).code, Some(1));
}

#[test]
fn folders_that_cannot_be_written_to_are_told_each_with_its_key() {
    let patient = Patient::new();
    patient.write("file", "");
    let told = patient.examine(&["--data", "file"]);
    told.assert_told("folders", "error", "the data folder file cannot be used", "--data");

    let patient = Patient::new().with(&[
        ("TORG_FEEDS_SPOOL_DIR", "file"),
        ("TORG_TASKS_RUNS_DIR", "file/inside"),
        ("TORG_FILES_URL", "file:file"),
    ]);
    patient.write("file", "");
    let told = patient.examine(&[]);
    told.assert_told("feeds", "error", "the spool file cannot be used", "feeds.spool_dir");
    told.assert_told("tasks", "error", "the folder of runs file/inside cannot be used", "tasks.runs_dir");
    told.assert_told("files", "error", "file:file cannot be used", "files.url");
    told.assert_area_well("folders");
}

#[test]
fn a_store_on_a_disk_of_its_own_is_looked_at_where_it_is() {
    let patient = Patient::new().with(&[("TORG_STORE_URL", "fjall:elsewhere/store")]);
    let told = patient.examine(&[]);
    told.assert_mentioned("folders", &["the store's folder elsewhere/store is not there yet"]);
    told.assert_told("folders", "ok", "are free on the disk of elsewhere/store", "");
    patient.write("elsewhere", "");
    let told = patient.examine(&[]);
    told.assert_told("folders", "error", "the store's folder elsewhere/store cannot be used", "store.url");
    told.assert_told("folders", "error", "elsewhere/store", "the file that stands in its way");

    let reserve = ("TORG_STORE_FREE_MB_MIN", "1048576");
    let full = Patient::new().with(&[("TORG_STORE_URL", "fjall:elsewhere/store"), reserve]).examine(&[]);
    full.assert_told("folders", "error", "the disk of elsewhere/store; below 1048576 MB", "store.url");
    let full = Patient::new().with(&[reserve]).examine(&[]);
    full.assert_told("folders", "error", "data/store; below 1048576 MB", "--data");
}

#[test]
fn a_damaged_store_is_told() {
    let patient = Patient::new();
    patient.serve().stop();
    let journal = std::fs::read_dir(patient.path("data/store/db")).unwrap().flatten();
    let journal =
        journal.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "jnl"));
    let journal = journal.unwrap();
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes[5000..5100].fill(0xAB);
    std::fs::write(&journal, bytes).unwrap();
    patient.examine(&[]).assert_told("store", "error", "damaged data", "restore this store from a copy");
}

#[test]
fn a_store_that_something_else_holds_is_told() {
    let patient = Patient::new();
    patient.serve().stop();
    let lock = std::fs::File::open(patient.path("data/store/lock")).unwrap();
    lock.lock().unwrap();
    let told = patient.examine(&[]);
    told.assert_told("store", "error", "is in use by another process", "--server");
    if Path::new("/proc/locks").exists() {
        told.assert_told("store", "error", "is in use", &format!("process {} has it", std::process::id()));
    }
}

#[test]
fn the_process_of_a_data_folder_is_found_wherever_it_listens() {
    let patient = Patient::new();
    let server = patient.serve();
    // The configured port belongs to a Torg with another folder.
    let other = Patient::new();
    let others = other.serve();
    let configured = others.address.to_string();
    if Path::new("/proc/locks").exists() {
        let flags = ["--listen", &configured];
        let told = patient.examine_until(&flags, |told| told.wrong().is_empty());
        told.assert_well();
        told.assert_told("process", "ok", &format!("the process at {} is ready", server.url()), "");
        told.assert_told(
            "process",
            "note",
            &format!("not at {configured}"),
            &format!("--server {}", server.url()),
        );
        told.assert_told("store", "ok", &format!("the process at {} has it open", server.url()), "");
    }
    let flags = ["--listen", &configured, "--server", &server.url()];
    let told = patient.examine_until(&flags, |told| told.wrong().is_empty());
    told.assert_well();
    // A process with another store, given by `--server`, is not reported as the one that holds this
    // store.
    let told = patient.examine(&["--server", &others.url()]);
    assert!(!told.mentions("store", &["the process at", "has it open"]), "that was not seen");
    if Path::new("/proc/locks").exists() {
        told.assert_told("store", "warning", &format!("not the one at {}", others.url()), "--data");
    }
}

#[test]
fn a_port_that_this_user_may_not_take_is_asked_before_the_right_to_it_is_missed() {
    let limited = Command::new("setpriv").args(["--bounding-set=-net_bind_service", "true"]).status();
    let bound = (600..1024).find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let (Ok(status), Some(bound)) = (limited, bound) else {
        return testkit::skip("a port that is forbidden", "only root can take one, and setpriv give it away");
    };
    assert!(status.success());
    let mut patient = Patient::new();
    patient.address = bound.local_addr().unwrap().to_string();
    let patient = patient.without(&["--bounding-set=-net_bind_service", "--inh-caps=-net_bind_service"]);
    drop(bound);
    let told = patient.examine(&[]);
    told.assert_told("process", "error", "Permission denied", "need a privilege");
    let server = patient.serve();
    // Another folder, so that the process is not found by its store.
    let told = patient.examine(&["--data", "elsewhere"]);
    told.assert_told("process", "ok", &format!("the process at {} is ready", server.url()), "");
    assert!(!told.mentions("process", &["Permission denied"]));
}

#[test]
fn a_store_of_another_user_is_left_as_it_is() {
    let patient = Patient::new();
    patient.serve().stop();
    let owned = Command::new("chown").args(["-R", "12345"]).arg(patient.path("data")).status();
    if !owned.is_ok_and(|status| status.success()) {
        return testkit::skip("a store of another user", "only root can make one");
    }
    let told = patient.examine(&[]);
    told.assert_told("store", "warning", "belongs to user 12345", "sudo -u '#12345' torg doctor");
    for arguments in [&["store", "check"][..], &["store", "dump"], &["keys", "list"], &["topic", "list"]] {
        let ended = run(torg(&patient.folder, arguments));
        assert_eq!((ended.code, &*ended.stdout), (Some(1), ""), "{arguments:?}");
        assert!(ended.stderr.contains("belongs to user 12345"), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("hint: run it as that user"), "{arguments:?}: {}", ended.stderr);
    }
    let ours =
        Command::new("find").arg(patient.path("data")).args(["-not", "-uid", "12345"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ours.stdout), "", "nothing is left in it by another user");
}

#[test]
fn a_port_that_a_foreign_program_holds_is_told() {
    let foreign = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = foreign.local_addr().unwrap().to_string();
    // Does not speak HTTP, and answers every connection.
    std::thread::spawn(move || {
        for stream in foreign.incoming().flatten() {
            use std::io::Write as _;
            let _ = (&stream).write_all(b"220 mail.example ESMTP\r\n");
        }
    });
    let told = Patient::new().examine(&["--listen", &address]);
    told.assert_told("process", "error", "is no Torg", "--listen");
    let told = Patient::new().examine(&["--listen", "192.0.2.1:80"]);
    told.assert_told("process", "error", "cannot listen on 192.0.2.1:80", "127.0.0.1");
}

#[test]
fn a_port_that_is_open_to_everybody_is_told() {
    let port = testkit::free_port();
    let told = Patient::new().examine(&["--listen", &format!("0.0.0.0:{port}")]);
    told.assert_told("access", "error", &format!("0.0.0.0:{port}"), "access.mode = \"required\"");
}

#[test]
fn a_store_in_which_nobody_is_admin_is_told_until_there_is_a_key() {
    let patient = Patient::new().with(&[("TORG_ACCESS_MODE", "required")]);
    patient.serve().stop();
    patient.examine(&[]).assert_told("access", "error", "nobody can be admin", "torg keys add");
    patient.done(&["keys", "add", "operations", "--role", "admin"]);
    patient.examine(&[]).assert_well();
}

#[test]
fn an_issuer_of_tokens_that_does_not_answer_is_told() {
    let url = format!("http://127.0.0.1:{}/keys", testkit::free_port());
    let patient = Patient::new().with(&[("TORG_ACCESS_MODE", "required"), ("TORG_ACCESS_JWKS_URL", &url)]);
    patient.examine(&[]).assert_told("access", "error", &url, "access.jwks_url");
}

#[test]
fn a_broken_catalogue_is_told() {
    let patient = Patient::new().with(&[("TORG_OFFERS_CATALOGUE_DIR", "catalogue")]);
    patient.write("catalogue/categories.toml", "this is no catalogue");
    patient.examine(&[]).assert_told("catalogue", "error", "", "offers.catalogue_dir");
}

#[test]
fn a_stage_of_the_file_that_does_not_answer_is_told() {
    let patient = Patient::new().with(&[("TORG_STAGES_FILE", "stages.toml")]);
    let url = format!("http://127.0.0.1:{}", testkit::free_port());
    patient.write("stages.toml", &format!("[spam]\nendpoints = [\"{url}\"]\nmay_change = [\"title\"]\n"));
    patient.examine(&[]).assert_told("stages", "error", &format!("stage spam at {url}"), "start it");
    patient.write("stages.toml", "[spam]\nendpiont = []\n");
    patient.examine(&[]).assert_told("stages", "error", "stages.toml", "docs/stages.md");
}

#[test]
fn task_files_with_errors_are_told_with_the_line() {
    let patient = Patient::new().with(&[("TORG_TASKS_PATH", "tasks.yaml")]);
    patient.write("tasks.yaml", "tasks:\n  report: {wehn: {new_day: a.b}, run: echo}\n");
    patient.examine(&[]).assert_told("tasks", "error", "tasks.yaml:2", "torg tasks validate tasks.yaml");
}

#[test]
fn a_topic_with_other_partitions_than_configured_is_told() {
    let patient = Patient::new();
    patient.done(&["topic", "create", "offers", "--partitions", "3"]);
    let told = patient.examine(&[]);
    told.assert_told("topics", "warning", "topic offers has 3 partitions", "offers.topic_partitions = 3");
}

#[test]
fn for_people_each_finding_is_a_line_and_the_last_line_counts_them() {
    let patient = Patient::new();
    patient.write("torg.toml", "[store]\ncahce_mb = 5\n");
    let ended = run(torg(&patient.folder, &["doctor"]));
    assert_eq!(ended.code, Some(1));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("error    configuration  torg.toml:2: unknown key"), "{}", ended.stdout);
    assert!(lines[1].trim().starts_with("-> did you mean"), "{}", ended.stdout);
    assert_eq!(lines[2..], ["1 error"]);
    assert!(!ended.stdout.contains('\u{1b}'), "colours are for terminals");
    assert!(ended.stderr.starts_with("error: 1 error\nhint: "), "{}", ended.stderr);
}
