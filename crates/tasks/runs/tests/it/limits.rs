//! Limits of time and of logs, and many runs at once.

use std::time::Duration;

use runs::{Reason, Spec};

use crate::common::{Place, id, processes_of, shell};

#[tokio::test]
async fn a_run_that_takes_too_long_is_stopped_with_everything_that_it_started() {
    let place = Place::new();
    let line = "trap '' TERM; (trap '' TERM; sleep 1000) & setsid sleep 1000 & while :; do sleep 1000; done";
    let spec = Spec { timeout: Duration::from_secs(2), ..shell(line) };
    let end = place.execute("r1", &spec).await;
    assert_eq!((end.reason, end.signal), (Reason::TimedOut, Some(9)));
    assert_eq!(end.detail, "it took longer than 2s");
    assert_eq!(processes_of(&place.folder_of("r1")), Vec::<String>::new());
}

#[tokio::test]
async fn of_a_hundred_megabytes_the_beginning_and_the_end_are_kept() {
    let place = Place::new();
    let line = "echo the beginning; head -c 104857600 /dev/zero | tr '\\0' x; echo; echo the end";
    let spec = Spec { log_bytes_max: 64 << 10, ..shell(line) };
    let end = place.execute("r1", &spec).await;
    assert_eq!((end.reason, end.detail.as_str()), (Reason::Done, ""));
    let log = place.log("r1").await;
    assert!(log.starts_with("the beginning\nxxx") && log.ends_with("xxx\nthe end\n"));
    let gap = log.lines().find(|line| line.starts_with("[torg: ")).unwrap();
    let left_out: u64 = gap.strip_prefix("[torg: ").unwrap().split(' ').next().unwrap().parse().unwrap();
    let said = 104_857_600 + "the beginning\n\nthe end\n".len() as u64;
    let kept = (log.len() - gap.len() - 2) as u64;
    assert_eq!(kept + left_out, said);
    assert!(kept <= 64 << 10 && kept > 48 << 10, "{kept}");
    let on_disk: u64 = std::fs::read_dir(place.folder_of("r1"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("log"))
        .map(|entry| entry.metadata().unwrap().len())
        .sum();
    assert_eq!(on_disk, kept);
    let piece = place.runner.log(&id("r1"), said - 8, 100).await.unwrap();
    assert_eq!((piece.bytes.as_slice(), piece.total), (&b"the end\n"[..], said));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_short_runs_at_once_all_end_with_their_own_output() {
    let place = Place::new();
    let ended = (0..300).map(|number| {
        let place = &place;
        async move {
            let run = format!("r{number}");
            let end = place
                .execute(&run, &shell(format!("echo {number}; echo a.b={number} > $TORG_OUTPUT_FILE")))
                .await;
            let log = place.log(&run).await;
            (number, end, log)
        }
    });
    for (number, end, log) in futures::future::join_all(ended).await {
        assert_eq!((end.reason, log), (Reason::Done, format!("{number}\n")));
        assert_eq!(end.sets["a.b"], triggers::Value::Number(number));
    }
    assert_eq!(place.runner.list().await.unwrap().len(), 300);
}
