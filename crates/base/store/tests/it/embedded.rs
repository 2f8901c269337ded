//! The embedded engine passes the suite, keeps its data over restarts, and notices every damage.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use store::conformance::{self, COUNTS, ENTRIES, LISTS, OFFERS, QUEUE};
use store::{Batch, BatchId, Durability, Error, Fjall, Read, Row, Schema, Store, StoreOptions, Table};

const LONG: Duration = Duration::from_secs(3600);

fn options() -> StoreOptions {
    StoreOptions { cache_bytes: 8 << 20, free_bytes_min: 1 << 20, ..StoreOptions::default() }
}

async fn try_open(path: &Path, options: &StoreOptions) -> Result<Store, Error> {
    let schema = conformance::schema().expect("the suite's schema is valid");
    Ok(Store::over(Arc::new(Fjall::open(path, schema, options).await?), options))
}

async fn open(path: &Path) -> Store {
    try_open(path, &options()).await.expect("the store opens")
}

async fn fill(store: &Store, from: i64, to: i64) {
    for n in from..to {
        let mut batch = Batch::new();
        batch.put(OFFERS.key((1, n.to_string())), n as u64 + 1, vec![n as u8; 1500]);
        batch.put(ENTRIES.key((2, n.to_be_bytes().to_vec(), "stage")), 1, format!("entry {n}"));
        batch
            .set(QUEUE.key((3, n, &b"q"[..])), vec![n as u8; 300])
            .set(LISTS.key((4, n, "list", &b""[..])), "");
        batch.add(COUNTS.key((5, "rows")), 1).delete(QUEUE.key((3, n - 5, &b"q"[..])));
        assert!(store.commit(batch).await.expect("the batch is valid").is_applied());
    }
}

/// Every row of every table; an error if any of them cannot be read.
async fn everything(store: &Store) -> Result<BTreeMap<String, Row>, Error> {
    let mut all = BTreeMap::new();
    for table in store.schema().tables() {
        let mut scan = Some(table.scan().limit(100));
        while let Some(current) = scan.take() {
            let page = store.scan(&current).await?;
            scan = page.next.map(|key| current.after(key));
            for row in page.rows {
                // Point reads take another way through the files than scans.
                let again = store.get_one(&row.key).await?;
                assert_eq!(again.as_ref(), Some(&row), "a scan and a read disagree");
                all.insert(row.key.to_string(), row);
            }
        }
    }
    Ok(all)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_engine_passes_the_suite() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    conformance::run(async |name| open(&folder.path().join(name)).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_there_after_closing_and_opening_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut before = BTreeMap::new();
    for round in 0..3 {
        let store = open(folder.path()).await;
        assert_eq!(everything(&store).await.expect("sound data"), before);
        fill(&store, round * 50, round * 50 + 50).await;
        before = everything(&store).await.expect("sound data");
        store.close().await.expect("the store closes");
    }
    assert_eq!(before.len(), 150 * 3 + 5 + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_closing_everything_acknowledged_is_there_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let killed = folder.path().join("killed");
    let store = open(&folder.path().join("running")).await;
    fill(&store, 0, 60).await;
    let before = everything(&store).await.expect("sound data");
    copy_folder(&folder.path().join("running"), &killed);
    let revived = open(&killed).await;
    assert_eq!(everything(&revived).await.expect("sound data"), before);
    let mut damages = Vec::new();
    let counts = revived.verify(&mut |damage| damages.push(damage)).await.expect("verification runs");
    assert_eq!((counts["offers"], counts["counts"], damages.len()), (60, 1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_known_by_its_id_after_a_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path()).await;
    let mut batch = Batch::with_id(BatchId(77));
    batch.put(OFFERS.key((1, "a")), 1, "");
    assert!(store.commit(batch).await.expect("the batch is valid").is_applied());
    store.close().await.expect("the store closes");
    let store = open(folder.path()).await;
    assert!(store.applied(BatchId(77)).await.expect("the question is answered"));
    assert!(!store.applied(BatchId(78)).await.expect("the question is answered"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_in_use_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = open(folder.path()).await;
    assert!(matches!(try_open(folder.path(), &options()).await.err(), Some(Error::Locked { .. })));
    first.close().await.expect("the store closes");
    open(folder.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_with_other_files_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("letter.txt"), "dear reader").expect("the file can be written");
    assert!(matches!(try_open(folder.path(), &options()).await.err(), Some(Error::Io { .. })));
    assert!(folder.path().join("letter.txt").exists() && !folder.path().join("db").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_first_start_is_made_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir_all(folder.path().join("db.new/keyspaces/1")).expect("the folder can be made");
    fs::write(folder.path().join("db.new/0.jnl"), "half a journal").expect("the file can be written");
    let store = open(folder.path()).await;
    fill(&store, 0, 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_store_is_refused_and_a_changed_table_too() {
    static CHANGED: Table<(u32, Vec<u8>)> = Table::versioned("offers", &["shard", "id"]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    open(folder.path()).await.close().await.expect("the store closes");
    let open_with = |schema: Schema| {
        let path = folder.path().to_owned();
        async move { Fjall::open(path, schema, &options()).await.err() }
    };
    let newer = Schema::new(9, [OFFERS.def()]).expect("the schema is valid");
    assert!(open_with(newer).await.is_none());
    let refused = try_open(folder.path(), &options()).await.err();
    assert!(matches!(refused, Some(Error::NewerSchema { store: 9, program: 1 })), "{refused:?}");
    let changed = Schema::new(9, [CHANGED.def()]).expect("the schema is valid");
    let refused = open_with(changed).await;
    assert!(matches!(&refused, Some(Error::BadTable { table, .. }) if table == "offers"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_only_the_store_knows_are_still_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path()).await;
    fill(&store, 0, 10).await;
    store.close().await.expect("the store closes");
    let schema = Schema::new(1, [OFFERS.def()]).expect("the schema is valid");
    let store = Store::over(
        Arc::new(Fjall::open(folder.path(), schema, &options()).await.expect("it opens")),
        &options(),
    );
    let table = store.schema().table("queue").expect("the catalogue has it");
    assert_eq!(store.scan(&table.scan()).await.expect("it can be read").rows.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nearly_full_disk_is_refused_and_reads_go_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path()).await;
    fill(&store, 0, 3).await;
    store.close().await.expect("the store closes");
    let demanding = StoreOptions { free_bytes_min: u64::MAX, ..options() };
    let store = try_open(folder.path(), &demanding).await.expect("it opens");
    let mut batch = Batch::new();
    batch.put(OFFERS.key((1, "more")), 1, "");
    assert!(store.failing(LONG).is_none());
    assert!(matches!(store.commit(batch).await, Err(Error::DiskFull { .. })));
    assert!(store.get_one(&OFFERS.key((1, "0"))).await.expect("reads go on").is_some());
    // Whoever asks is told, before a commit fails and after it.
    assert!(matches!(store.health(), Err(Error::DiskFull { .. })));
    assert!(matches!(store.takes_writes().await, Err(Error::DiskFull { .. })));
    assert!(matches!(store.failing(LONG), Some(Error::DiskFull { .. })));
    let gauges: BTreeMap<&str, f64> = store.gauges().into_iter().collect();
    assert!(gauges["store_writable"] < 0.5 && gauges["store_free_bytes"] > 0.0, "{gauges:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_fsync_a_closed_store_is_complete_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let relaxed = StoreOptions { durability: Durability::Os, ..options() };
    let store = try_open(folder.path(), &relaxed).await.expect("it opens");
    fill(&store, 0, 20).await;
    store.close().await.expect("the store closes");
    let store = open(folder.path()).await;
    assert_eq!(store.amount(&COUNTS.key((5, "rows"))).await.expect("it can be read"), 20);
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read").path();
        let target = to.join(entry.file_name().expect("entries have names"));
        if entry.is_dir() {
            copy_folder(&entry, &target);
        } else {
            fs::copy(&entry, &target).expect("copied");
        }
    }
}

fn data_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() { data_files(&path, found) } else { found.push(path) }
    }
    found.sort();
}

/// What a store with one flipped byte does: it must refuse to open, report an error, or answer
/// everything rightly.
async fn judge(folder: &Path, expected: &BTreeMap<String, Row>) -> Result<&'static str, String> {
    let store = match try_open(folder, &options()).await {
        Ok(store) => store,
        Err(error) => {
            return if error.to_string().is_empty() { Err("no message".into()) } else { Ok("refused") };
        }
    };
    let answer = everything(&store).await;
    let _ = store.close().await;
    match answer {
        Err(_) => Ok("error"),
        Ok(all) if all == *expected => Ok("unharmed"),
        Ok(all) => {
            let lost = expected.keys().filter(|key| !all.contains_key(*key)).count();
            Err(format!(
                "{lost} rows lost, {} rows wrong",
                all.iter().filter(|(k, r)| expected.get(*k) != Some(r)).count()
            ))
        }
    }
}

/// Flips one bit at random places of every file of a store, and never gets a wrong answer.
async fn flip_bytes(original: &Path, expected: &BTreeMap<String, Row>, seed: u64, by_file: usize) {
    // A longer campaign: TORG_FLIPS=100 cargo test -p store --test embedded no_flipped
    let by_file = std::env::var("TORG_FLIPS").ok().and_then(|n| n.parse().ok()).unwrap_or(by_file);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut files = Vec::new();
    data_files(original, &mut files);
    let (mut wrong, mut outcomes) = (Vec::new(), BTreeMap::<_, u32>::new());
    for file in files {
        let bytes = fs::read(&file).expect("the file can be read");
        // Journals are allocated ahead; damage is done to the part that is used.
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        for _ in 0..by_file.min(used) {
            let copy = tempfile::tempdir().expect("a temporary folder");
            copy_folder(original, copy.path());
            let (at, bit) = (rng.random_range(0..used), rng.random_range(0..8));
            let name = file.strip_prefix(original).expect("inside");
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            fs::write(copy.path().join(name), bytes).expect("the file can be written");
            match judge(copy.path(), expected).await {
                Ok(outcome) => *outcomes.entry(outcome).or_default() += 1,
                Err(how) => wrong.push(format!("{} byte {at} bit {bit}: {how}", name.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "wrong answers after damage ({outcomes:?} otherwise):\n{}", wrong.join("\n"));
    println!("{outcomes:?}");
    assert!(outcomes.get("refused").is_some_and(|n| *n > 10), "damage was hardly noticed: {outcomes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_flipped_bit_in_a_journal_gives_a_wrong_answer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (running, killed) = (folder.path().join("running"), folder.path().join("killed"));
    let store = open(&running).await;
    fill(&store, 0, 25).await;
    let expected = everything(&store).await.expect("sound data");
    copy_folder(&running, &killed);
    store.close().await.expect("the store closes");
    flip_bytes(&killed, &expected, 1, 60).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_flipped_bit_in_the_tables_gives_a_wrong_answer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path()).await;
    // Enough to be written out of memory into table and blob files.
    let value = |n: i64| (0..100_000).map(|i| (i * (n + 7) % 251) as u8).collect::<Vec<_>>();
    for n in 0..900 {
        let mut batch = Batch::new();
        batch.put(OFFERS.key((1, n.to_string())), 1, value(n % 5));
        batch.set(QUEUE.key((1, n, &b"q"[..])), value(n % 3)).add(COUNTS.key((1, "n")), 1);
        batch.put(ENTRIES.key((2, n.to_be_bytes().to_vec(), "stage")), 1, value(1)[..30_000].to_vec());
        assert!(store.commit(batch).await.expect("the batch is valid").is_applied());
    }
    let mut clean = Batch::new();
    (20..900).for_each(|n| {
        clean.delete(OFFERS.key((1, n.to_string()))).delete(QUEUE.key((1, n, &b"q"[..])));
        clean.delete(ENTRIES.key((2, n.to_be_bytes().to_vec(), "stage")));
    });
    assert!(store.commit(clean).await.expect("the batch is valid").is_applied());
    let expected = everything(&store).await.expect("sound data");
    store.close().await.expect("the store closes");
    flip_bytes(folder.path(), &expected, 2, 2).await;
}

/// Bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut rng = StdRng::seed_from_u64(5);
    (0..length).map(|_| rng.random()).collect()
}

/// A store as a power loss leaves it: its last group was on its way and not acknowledged. Returns
/// what was acknowledged, and the bytes of the journal that hold the last group.
async fn with_a_group_in_flight(
    folder: &Path,
    options: &StoreOptions,
) -> (BTreeMap<String, Row>, std::ops::Range<usize>) {
    let running = folder.join("running");
    let used = || {
        let journal = fs::read(running.join("db/0.jnl")).expect("the journal can be read");
        journal.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
    };
    let store = try_open(&running, options).await.expect("the store opens");
    fill(&store, 0, 10).await;
    let acknowledged = everything(&store).await.expect("sound data");
    let (mark, from) = (fs::read(running.join("mark")).expect("the mark can be read"), used());
    let mut batch = Batch::new();
    batch.put(OFFERS.key((9, "last")), 1, noise(40_000)).set(QUEUE.key((9, 9, &b"last"[..])), noise(3000));
    assert!(store.commit(batch).await.expect("the batch is valid").is_applied());
    copy_folder(&running, &folder.join("crashed"));
    fs::write(folder.join("crashed/mark"), mark).expect("the mark can be written");
    (acknowledged, from..used())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_last_group_that_a_power_loss_tore_is_dropped_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (acknowledged, last) = with_a_group_in_flight(folder.path(), &options()).await;
    let crashed = folder.path().join("crashed");
    let journal = fs::read(crashed.join("db/0.jnl")).expect("the journal can be read");
    let mut torn = Vec::new();
    for at in last.clone().step_by(1777) {
        // Written up to here, then nothing: as zeros, and as the end of the file.
        let mut zeros = journal.clone();
        zeros[at..].fill(0);
        torn.push(zeros);
        torn.push(journal[..at].to_vec());
    }
    for page in (last.start / 4096..=last.end / 4096).map(|page| page * 4096) {
        // One page did not reach the disk, those behind it did.
        let mut holed = journal.clone();
        holed[page.max(last.start)..(page + 4096).min(last.end)].fill(0);
        torn.push(holed);
    }
    for (number, bytes) in torn.into_iter().enumerate() {
        fs::write(crashed.join("db/0.jnl"), bytes).expect("the journal can be written");
        let copy = tempfile::tempdir().expect("a temporary folder");
        copy_folder(&crashed, copy.path());
        let store = open(copy.path()).await;
        assert!(everything(&store).await.expect("sound data") == acknowledged, "torn end {number}");
        fill(&store, 100, 103).await;
        store.close().await.expect("the store closes");
        let store = open(copy.path()).await;
        assert_eq!(store.amount(&COUNTS.key((5, "rows"))).await.expect("it can be read"), 13);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_end_that_was_acknowledged_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_, last) = with_a_group_in_flight(folder.path(), &options()).await;
    let crashed = folder.path().join("crashed");
    fs::copy(folder.path().join("running/mark"), crashed.join("mark")).expect("the mark can be copied");
    let mut journal = fs::read(crashed.join("db/0.jnl")).expect("the journal can be read");
    journal[last.start + 100..].fill(0);
    fs::write(crashed.join("db/0.jnl"), journal).expect("the journal can be written");
    assert!(matches!(try_open(&crashed, &options()).await.err(), Some(Error::Corrupt { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_fsync_a_power_loss_costs_the_latest_groups_and_the_store_opens() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let relaxed = StoreOptions { durability: Durability::Os, ..options() };
    let (acknowledged, last) = with_a_group_in_flight(folder.path(), &relaxed).await;
    let crashed = folder.path().join("crashed");
    let mut journal = fs::read(crashed.join("db/0.jnl")).expect("the journal can be read");
    // A page in the middle is lost, whole groups stand behind it.
    let hole = last.start / 2;
    journal[hole..hole + 512].fill(0);
    fs::write(crashed.join("db/0.jnl"), journal).expect("the journal can be written");
    let store = open(&crashed).await;
    let left = everything(&store).await.expect("sound data");
    assert!(
        !left.is_empty() && left.len() < acknowledged.len(),
        "{} of {} rows",
        left.len(),
        acknowledged.len()
    );
    let count = store.amount(&COUNTS.key((5, "rows"))).await.expect("it can be read");
    let offers = left.keys().filter(|key| key.starts_with("offers")).count() as i64;
    assert_eq!(count, offers, "what is left is whole");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_whose_database_is_gone_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path()).await;
    fill(&store, 0, 3).await;
    store.close().await.expect("the store closes");
    fs::remove_dir_all(folder.path().join("db")).expect("the database can be removed");
    assert!(matches!(try_open(folder.path(), &options()).await.err(), Some(Error::Corrupt { .. })));
    assert!(!folder.path().join("db").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn opening_without_making_anything_makes_nothing() {
    static MORE: Table<(u32,)> = Table::plain("more", &["shard"]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, careful) = (folder.path().join("store"), StoreOptions { create: false, ..options() });
    assert!(matches!(try_open(&path, &careful).await.err(), Some(Error::Missing { .. })));
    assert!(!path.exists());
    let store = open(&path).await;
    fill(&store, 0, 3).await;
    store.close().await.expect("the store closes");
    let newer = Schema::new(7, [OFFERS.def(), MORE.def()]).expect("the schema is valid");
    let looked_at = Fjall::open(&path, newer, &careful).await.expect("it opens");
    let looked_at = Store::over(Arc::new(looked_at), &careful);
    assert!(looked_at.schema().table("more").is_none() && looked_at.schema().table("queue").is_some());
    looked_at.close().await.expect("the store closes");
    open(&path).await;
}
