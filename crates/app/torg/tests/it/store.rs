//! `torg store` and `torg topic`: their effects and their errors.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use crate::common::{Ended, Server, run, torg};
use store::conformance::{self, COUNTS, ENTRIES, LISTS, OFFERS, QUEUE};
use store::{Batch, Fjall, Schema, Store, StoreOptions};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn torg_run(folder: &tempfile::TempDir, arguments: &[&str]) -> Ended {
    run(torg(folder, arguments))
}

/// One line with the error, one with the remedy, exit code 1, and no panic.
fn assert_told(ended: &Ended, error: &str) {
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let lines: Vec<_> = ended.stderr.lines().filter(|line| !line.starts_with('{')).collect();
    assert!(lines[0].starts_with("error: ") && lines[0].contains(error), "{}", ended.stderr);
    assert!(lines.len() == 2 && lines[1].starts_with("hint: "), "{}", ended.stderr);
    assert!(!ended.stderr.contains("panic"), "{}", ended.stderr);
}

/// A store on fjall with this many rows of every kind.
async fn fill(path: &Path, rows: i64) {
    let options = StoreOptions { free_bytes_min: 1 << 20, ..StoreOptions::default() };
    let schema = conformance::schema().unwrap();
    let store = Store::over(Arc::new(Fjall::open(path, schema, &options).await.unwrap()), &options);
    let steps = (0..rows / 5).collect::<Vec<_>>();
    for step in steps.chunks(250) {
        let mut batch = Batch::new();
        for &n in step {
            let (shard, body) = ((n % 64) as u32, vec![n as u8; (n * 37 % 900) as usize]);
            batch.put(OFFERS.key((shard, format!("Велосипед {n}"))), n as u64 + 1, body.clone());
            batch.put(ENTRIES.key((shard, n.to_le_bytes().to_vec(), "stage")), 1, "");
            batch.set(LISTS.key((shard, -n, "list", &[0, 0xFF, n as u8][..])), body);
            batch.set(QUEUE.key((shard, n, &b"q"[..])), n.to_string());
            batch.add(COUNTS.key((shard, n.to_string())), n - 1000);
        }
        assert!(store.commit(batch).await.unwrap().is_applied());
    }
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_copied_to_postgresql_and_back_has_the_same_dump_to_the_byte() {
    const ROWS: i64 = 100_000;
    let Some(postgres) = testkit::postgres() else { return };
    let folder = folder();
    fill(&folder.path().join("first"), ROWS).await;
    let database = postgres.fresh_database();
    for (from, to) in [("fjall:first", &*database), (&*database, "fjall:second")] {
        let ended = torg_run(&folder, &["store", "copy", "--from", from, "--to", to]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.starts_with(&format!("copied {ROWS} rows")), "{}", ended.stdout);
    }
    let dumps = ["fjall:first", &*database, "fjall:second"].map(|url| {
        let ended = torg_run(&folder, &["store", "dump", "--store", url]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout
    });
    assert_eq!(dumps[0].lines().count() as i64, ROWS);
    assert!(dumps[0] == dumps[1] && dumps[1] == dumps[2], "the dumps differ");
    let check = torg_run(&folder, &["store", "check", "--store", "fjall:second"]);
    assert!(
        check.code == Some(0) && check.stdout.contains(&format!("sound: {ROWS} rows")),
        "{}",
        check.stdout
    );
    let again = torg_run(&folder, &["store", "copy", "--from", "fjall:first", "--to", "fjall:second"]);
    assert_eq!(again.code, Some(1), "a store with rows in it is not copied over");
    assert!(again.stderr.contains("already holds rows"), "{}", again.stderr);
}

#[test]
fn a_place_that_cannot_hold_a_store_is_told() {
    let folder = folder();
    std::fs::write(folder.path().join("file"), "").unwrap();
    assert_told(&torg_run(&folder, &["store", "check", "--store", "fjall:file/inside"]), "file/inside");
    assert_told(
        &torg_run(&folder, &["serve", "--listen", "127.0.0.1:0", "--store", "fjall:/proc/nothing"]),
        "/proc/nothing",
    );
    std::fs::create_dir(folder.path().join("letters")).unwrap();
    std::fs::write(folder.path().join("letters/letter"), "").unwrap();
    assert_told(&torg_run(&folder, &["topic", "create", "t", "--store", "fjall:letters"]), "no Torg store");
}

/// Every command that only reads reports a missing store.
fn assert_missing(folder: &tempfile::TempDir, address: &str) {
    for command in [
        &["store", "check", "--store"][..],
        &["store", "dump", "--store"],
        &["store", "copy", "--to", "fjall:target", "--from"],
        &["topic", "list", "--store"],
        &["topic", "tail", "offers", "--no-follow", "--store"],
    ] {
        assert_told(&torg_run(folder, &[command, &[address]].concat()), "there is no store at ");
    }
    assert!(!folder.path().join("target").exists());
}

#[test]
fn a_mistyped_path_is_told_and_nothing_is_made_there() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    assert_missing(&folder, "fjall:mistyped/store");
    assert_missing(&folder, "fjall:empty");
    assert!(std::fs::read_dir(folder.path().join("empty")).unwrap().next().is_none());
    let made: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(made, ["empty"]);
}

#[test]
fn a_database_without_a_store_is_told_and_nothing_is_made_there() {
    let Some(postgres) = testkit::postgres() else { return };
    let name = testkit::fresh_name("mistyped");
    assert_missing(&folder(), &postgres.create_database(&name));
    assert_eq!(postgres.psql_in(&name, "SELECT count(*) FROM pg_namespace WHERE nspname = 'torg'"), "0");
}

#[test]
fn a_folder_that_this_user_may_not_read_is_told() {
    let folder = folder();
    let locked = folder.path().join("locked");
    std::fs::create_dir(&locked).unwrap();
    let allow = |path: &Path, mode| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    allow(&locked, 0o000);
    let address = format!("fjall:{}", locked.display());
    let ended = if std::fs::read_dir(&locked).is_err() {
        torg_run(&folder, &["store", "check", "--store", &address])
    } else {
        // Root may read everything, so another user has to try.
        let as_nobody = |program: &Path| {
            let mut command = std::process::Command::new("runuser");
            command.args(["-u", "nobody", "--"]).arg(program).current_dir(folder.path());
            command
        };
        if !as_nobody(Path::new("true")).status().is_ok_and(|status| status.success()) {
            return testkit::skip("unreadable folder", "root cannot run a program as nobody");
        }
        let binary = folder.path().join("torg");
        std::fs::copy(env!("CARGO_BIN_EXE_torg"), &binary).unwrap();
        allow(folder.path(), 0o755);
        allow(&binary, 0o755);
        let mut command = as_nobody(&binary);
        command.args(["store", "check", "--store", &address]);
        run(command)
    };
    // So that the folder can be removed.
    allow(&locked, 0o700);
    assert_told(&ended, "Permission denied");
}

#[test]
fn a_store_in_use_is_told_and_its_topics_are_reached_through_the_process_that_uses_it() {
    let server = Server::start(&[]);
    let url = server.url();
    let path = server.folder.path().join("data/store");
    let store = format!("fjall:{}", path.display());
    let other = folder();
    assert_told(&torg_run(&other, &["store", "check", "--store", &store]), "in use by another process");
    assert_told(&torg_run(&other, &["topic", "list", "--store", &store]), "in use by another process");
    let asked = |arguments: &[&str]| torg_run(&other, &[arguments, &["--server", &url]].concat());
    assert_eq!(asked(&["topic", "create", "greetings", "--partitions", "3"]).code, Some(0));
    let mut append = torg(&other, &["topic", "append", "greetings", "--server", &url]);
    let mut append = append.stdin(Stdio::piped()).spawn().unwrap();
    append.stdin.take().unwrap().write_all("один\ntwo\n".as_bytes()).unwrap();
    assert!(append.wait().unwrap().success());
    let tail = asked(&["topic", "tail", "greetings", "--from-start", "--no-follow"]);
    assert_eq!((tail.code, tail.stdout.lines().count()), (Some(0), 2), "{}", tail.stderr);
    assert!(tail.stdout.contains("\"payload\":\"один\""), "{}", tail.stdout);
    let listed = asked(&["topic", "list"]).stdout;
    let greetings = listed.lines().find(|line| line.starts_with("greetings")).unwrap();
    assert_eq!(greetings.split_whitespace().take(3).collect::<Vec<_>>(), ["greetings", "3", "2"], "{listed}");
    assert_told(&asked(&["topic", "tail", "nothing"]), "there is no topic nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_in_the_data_files_is_told() {
    let folder = folder();
    let store = folder.path().join("store");
    fill(&store, 500).await;
    let journal = store.join("db/0.jnl");
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes[5000..5100].fill(0xAB);
    std::fs::write(&journal, bytes).unwrap();
    for arguments in [&["store", "check"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let ended = torg_run(&folder, &[arguments, &["--store", "fjall:store"]].concat());
        assert_told(&ended, "damaged data");
    }
    std::fs::write(store.join("mark"), "garbage").unwrap();
    assert_told(&torg_run(&folder, &["store", "check", "--store", "fjall:store"]), "damaged data");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_of_a_newer_program_is_told() {
    let folder = folder();
    let schema = Schema::new(1000, conformance::schema().unwrap().tables().iter().copied()).unwrap();
    let options = StoreOptions { free_bytes_min: 1 << 20, ..StoreOptions::default() };
    let newer = Fjall::open(folder.path().join("store"), schema.clone(), &options).await.unwrap();
    drop(newer);
    assert_told(&torg_run(&folder, &["store", "check", "--store", "fjall:store"]), "schema version 1000");
    let Some(postgres) = testkit::postgres() else { return };
    let database = postgres.fresh_database();
    store::Postgres::open(&database, schema, &options).await.unwrap();
    assert_told(&torg_run(&folder, &["store", "check", "--store", &database]), "schema version 1000");
}

#[test]
fn a_database_that_cannot_be_used_is_told_without_its_password() {
    let folder = folder();
    let quick = |url: &str| {
        let mut command = torg(&folder, &["store", "check", "--store", url]);
        run({
            command.env("TORG_STORE_POSTGRES_PATIENCE_MS", "200");
            command
        })
    };
    let nobody = quick(&format!("postgres://torg:s3cret@127.0.0.1:{}/torg", testkit::free_port()));
    assert_told(&nobody, "cannot be reached");
    let Some(postgres) = testkit::postgres() else { return };
    let right = postgres.url();
    let (user, place) = right.split_once("://").unwrap().1.split_once('@').unwrap();
    let user = user.split(':').next().unwrap();
    let wrong_password = quick(&format!("postgres://{user}:s3cret@{place}"));
    assert_told(&wrong_password, "refuses");
    let wrong_database = quick(&right.replace("/postgres", "/nothing_of_that_name"));
    assert_told(&wrong_database, "nothing_of_that_name");
    for ended in [nobody, wrong_password, wrong_database] {
        assert!(!ended.stderr.contains("s3cret") && !ended.stderr.contains("torg-test"), "{}", ended.stderr);
    }
    let ended = quick("postgres://");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
}

#[test]
fn a_full_disk_is_told() {
    let folder = folder();
    let mut create = torg(&folder, &["topic", "create", "offers", "--store", "fjall:store"]);
    create.env("TORG_STORE_FREE_MB_MIN", "1048576");
    assert_told(&run(create), "the disk is full");
}

/// A small disk in memory, unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(megabytes: u32) -> Option<SmallDisk> {
        let disk = folder();
        let size = format!("size={megabytes}m");
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(disk.path()).stderr(Stdio::null());
        if !mount.status().is_ok_and(|status| status.success()) {
            testkit::skip("full disk", "this user may not mount a tmpfs");
            return None;
        }
        Some(SmallDisk(disk))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_small_disk_is_told_with_its_figures() {
    let Some(disk) = SmallDisk::mount(40) else { return };
    let folder = folder();
    let store = format!("fjall:{}", disk.0.path().join("store").display());
    let ended = torg_run(&folder, &["topic", "create", "offers", "--store", &store]);
    assert_told(&ended, "the disk is full");
    let (_, figures) = ended.stderr.split_once("the disk is full: ").unwrap();
    let (free, rest) = figures.split_once(" MiB are free at ").unwrap_or_else(|| panic!("{figures}"));
    assert!(free.parse::<u32>().unwrap() <= 40, "{figures}");
    assert!(rest.contains("256 MiB are kept in reserve"), "{figures}");
}
