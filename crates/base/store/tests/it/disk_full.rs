//! A disk that is really full: what was acknowledged stays, what was not says why, and nothing
//! panics.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use store::conformance::{self, COUNTS, OFFERS, QUEUE};
use store::{Batch, Error, Fjall, Read, Store, StoreOptions};

/// A small disk in memory, gone when dropped.
struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    fn mount(megabytes: u32) -> Option<Self> {
        let disk = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        let size = format!("size={megabytes}m");
        let mounted =
            run("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", &disk.path().display().to_string()]);
        if !mounted {
            testkit::skip("full disk", "this user may not mount a tmpfs");
            return None;
        }
        Some(disk)
    }

    fn grow(&self, megabytes: u32) {
        let options = format!("remount,size={megabytes}m");
        assert!(
            run("mount", &["-o", &options, &self.path().display().to_string()]),
            "the disk can be made larger"
        );
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["-l", &self.path().display().to_string()]);
    }
}

fn run(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).status().is_ok_and(|status| status.success())
}

async fn open(path: &Path, free_bytes_min: u64) -> Result<Store, Error> {
    let options = StoreOptions { cache_bytes: 8 << 20, free_bytes_min, ..StoreOptions::default() };
    let schema = conformance::schema().expect("the schema is valid");
    Ok(Store::over(Arc::new(Fjall::open(path, schema, &options).await?), &options))
}

/// Writes until an error comes; returns how many batches were acknowledged, and the error.
async fn fill(store: &Store) -> (i64, Error) {
    for n in 0.. {
        // Bytes that do not compress.
        let value: Vec<u8> = (0..60_000u64)
            .map(|i| ((i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ n as u64) >> 33) as u8)
            .collect();
        let mut batch = Batch::new();
        batch.put(OFFERS.key((1, n.to_string())), 1, value.clone()).set(QUEUE.key((1, n, &b"q"[..])), value);
        batch.add(COUNTS.key((1, "n")), 1);
        match store.commit(batch).await {
            Ok(outcome) => assert!(outcome.is_applied()),
            Err(error) => return (n, error),
        }
    }
    unreachable!("the disk is finite")
}

async fn verify(store: &Store, acknowledged: i64) {
    for n in 0..acknowledged {
        let rows = store.get(&[OFFERS.key((1, n.to_string())), QUEUE.key((1, n, &b"q"[..]))]).await;
        assert!(rows.expect("it can be read").iter().all(Option::is_some), "acknowledged batch {n} is lost");
    }
    let count = store.amount(&COUNTS.key((1, "n"))).await.expect("it can be read");
    assert!(
        (acknowledged..=acknowledged + 1).contains(&count),
        "{count} batches, {acknowledged} acknowledged"
    );
    let mut damages = Vec::new();
    store.verify(&mut |damage| damages.push(damage)).await.expect("verification runs");
    assert!(damages.is_empty(), "{damages:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reserve_lets_a_store_refuse_in_time_and_go_on_when_there_is_room_again() {
    let Some(disk) = SmallDisk::mount(300) else { return };
    let store = open(disk.path(), 150 << 20).await.expect("it opens");
    let (acknowledged, error) = fill(&store).await;
    assert!(matches!(error, Error::DiskFull { .. }), "{error:?}");
    verify(&store, acknowledged).await;
    disk.grow(600);
    let mut batch = Batch::new();
    batch.put(OFFERS.key((2, "more")), 1, "room again");
    assert!(store.commit(batch).await.expect("there is room").is_applied());
    store.close().await.expect("it closes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_without_any_room_loses_nothing_that_was_acknowledged() {
    let Some(disk) = SmallDisk::mount(120) else { return };
    let store = open(disk.path(), 0).await.expect("it opens");
    let (acknowledged, error) = fill(&store).await;
    let told = matches!(error, Error::DiskFull { .. } | Error::Unresolved { .. } | Error::Stopped { .. });
    assert!(told && !error.to_string().is_empty(), "{error:?}");
    // Reads go on, writes say why they do not.
    assert!(store.get_one(&OFFERS.key((1, "0"))).await.expect("it can be read").is_some());
    let mut batch = Batch::new();
    batch.put(OFFERS.key((2, "more")), 1, "");
    assert!(store.commit(batch).await.is_err());
    let _ = store.close().await;
    drop(store);
    disk.grow(600);
    let store = open(disk.path(), 0).await.expect("it opens again when there is room");
    verify(&store, acknowledged).await;
    assert!(acknowledged > 100, "hardly anything was written");
}
