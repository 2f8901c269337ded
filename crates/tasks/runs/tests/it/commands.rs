//! Commands: how they are started, what they are told, how they end.

use std::collections::BTreeMap;

use runs::{Action, Chunk, Command, Error, Reason, Spec, Status, Values};
use triggers::Value;

use crate::common::{Place, eventually, id, pid_of, processes_of, shell, with};

fn time(text: &str) -> jiff::Timestamp {
    text.parse().unwrap()
}

#[tokio::test]
async fn a_command_that_succeeds_has_its_log_its_times_and_the_values_that_it_sets() {
    let place = Place::new();
    let line =
        "echo to stdout; echo to stderr >&2; echo sales.loaded_to=2021-04-25T00:00:00Z > $TORG_OUTPUT_FILE";
    let end = place.execute("r1", &shell(line)).await;
    assert_eq!((end.reason, end.code, end.signal, end.detail.as_str()), (Reason::Done, Some(0), None, ""));
    assert!(end.ended >= end.began);
    let expected = [("sales.loaded_to".to_owned(), Value::Time(time("2021-04-25T00:00:00Z")))];
    assert_eq!(end.sets, expected.into());
    assert_eq!(place.log("r1").await, "to stdout\nto stderr\n");
    assert_eq!(place.runner.status(&id("r1")).await.unwrap(), Status::Ended(end));
    // What may be a secret is not kept.
    assert!(!place.folder_of("r1").join("spec.json").exists());
    assert!(!place.folder_of("r1").join("token").exists());
}

#[tokio::test]
async fn a_command_that_fails_is_told_by_its_code_or_signal_and_sets_nothing() {
    let place = Place::new();
    let end = place.execute("r1", &shell("echo a.b=1 > $TORG_OUTPUT_FILE; exit 3")).await;
    assert_eq!((end.reason, end.code, end.signal), (Reason::Failed, Some(3), None));
    assert_eq!((end.sets.len(), end.to_string().as_str()), (0, "failed with exit code 3"));
    let end = place.execute("r2", &shell("kill -SEGV $$")).await;
    assert_eq!((end.reason, end.code, end.signal), (Reason::Failed, None, Some(11)));
    assert_eq!(end.to_string(), "failed by signal 11");
}

#[tokio::test]
async fn values_that_cannot_be_read_make_a_run_fail_with_the_line() {
    let place = Place::new();
    let end = place.execute("r1", &shell("echo a.b=soon > $TORG_OUTPUT_FILE")).await;
    assert_eq!((end.reason, end.code), (Reason::Failed, Some(0)));
    assert!(end.detail.contains("line 1: \"soon\" is neither"), "{end}");
    let end = place.execute("r2", &shell("rm $TORG_OUTPUT_FILE; mkfifo $TORG_OUTPUT_FILE")).await;
    assert!(end.detail.contains("no plain file"), "{end}");
}

#[tokio::test]
async fn a_command_is_told_what_the_trigger_saw() {
    let place = Place::new();
    let line = r#"echo "$TORG_TASK|$TORG_RUN|$TORG_ATTEMPT|$TORG_VALUE_SALES_LOADED_TO|$TORG_VALUE_DWH_ROWS_PER_DAY"
        echo "$TORG_CHUNK_START|$TORG_CHUNK_END"; cat "$TORG_VALUES_FILE""#;
    let values: Values = [
        ("sales.loaded_to".to_owned(), Value::Time(time("2021-04-25T03:27:33Z"))),
        ("dwh.rows-per/day".to_owned(), Value::Number(-17)),
        ("same.a-b".to_owned(), Value::Number(1)),
        ("same.a_b".to_owned(), Value::Number(2)),
    ]
    .into();
    let chunk = Some(Chunk { start: time("2021-04-24T00:00:00Z"), end: time("2021-04-25T00:00:00Z") });
    let spec = Spec { attempt: 3, values, chunk, ..shell(line) };
    place.execute("r1", &spec).await;
    let log = place.log("r1").await;
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[0].starts_with("torg: TORG_VALUE_SAME_A_B is not set"), "{log}");
    assert_eq!(
        lines[1..],
        [
            "task|r1|3|2021-04-25T03:27:33Z|-17",
            "2021-04-24T00:00:00Z|2021-04-25T00:00:00Z",
            r#"{"dwh.rows-per/day":-17,"sales.loaded_to":"2021-04-25T03:27:33Z","same.a-b":1,"same.a_b":2}"#,
        ]
    );
}

#[tokio::test]
async fn a_command_has_the_variables_that_it_was_given_and_no_others() {
    let place = Place::new();
    let odd = "it's \"odd\"\n$(date) `date` \\ \t ü 漢 = -n ";
    let environment: BTreeMap<_, _> = [
        ("ODD".to_owned(), odd.into()),
        ("with space".to_owned(), "".into()),
        ("TORG_RUN".to_owned(), "x".into()),
    ]
    .into();
    let spec = with(Spec::new("task", Action::Command(Command::program("env", ["-0"]))), |command| {
        command.environment = environment;
        command.inherit = vec!["PATH".to_owned(), "NO_SUCH_VARIABLE".to_owned()];
    });
    place.execute("r1", &spec).await;
    let log = place.log("r1").await;
    let seen: BTreeMap<&str, &str> =
        log.split('\0').filter(|line| !line.is_empty()).map(|line| line.split_once('=').unwrap()).collect();
    assert_eq!((seen["ODD"], seen["with space"], seen["TORG_RUN"]), (odd, "", "r1"));
    assert_eq!(seen["PATH"], std::env::var("PATH").unwrap());
    let own = |name: &&str| !name.starts_with("TORG_");
    assert_eq!(seen.keys().copied().filter(own).collect::<Vec<_>>(), ["ODD", "PATH", "with space"]);
}

#[tokio::test]
async fn arguments_are_passed_on_as_they_are() {
    let place = Place::new();
    let arguments = ["%s|", "a b", "", "*", "$HOME", "'\"\n;", "--x=ü"];
    let spec = Spec::new("task", Action::Command(Command::program("printf", arguments)));
    place.execute("r1", &spec).await;
    assert_eq!(place.log("r1").await, "a b||*|$HOME|'\"\n;|--x=ü|");
}

#[tokio::test]
async fn a_command_that_cannot_be_started_says_why() {
    let place = Place::new();
    let missing = Spec::new("task", Action::Command(Command::program("no-such-program", ["x"])));
    let end = place.execute("r1", &missing).await;
    assert_eq!((end.reason, end.code, end.signal), (Reason::NotStarted, None, None));
    assert!(
        end.detail.contains("\"no-such-program\" was not found") && end.detail.contains("PATH is /"),
        "{end}"
    );
    let forbidden = Spec::new("task", Action::Command(Command::program("/etc/passwd", ["x"])));
    let end = place.execute("r2", &forbidden).await;
    assert_eq!(end.reason, Reason::NotStarted);
    assert!(end.detail.contains("\"/etc/passwd\" could not be executed"), "{end}");
    let nowhere = with(shell("true"), |command| command.directory = Some(place.file("nowhere")));
    let end = place.execute("r3", &nowhere).await;
    assert_eq!(end.reason, Reason::NotStarted);
    assert!(end.detail.contains("nowhere cannot be entered: No such file"), "{end}");
}

#[tokio::test]
async fn a_command_works_in_its_directory_and_by_default_in_the_folder_of_its_run() {
    let place = Place::new();
    std::fs::create_dir(place.file("with space")).unwrap();
    let there = with(shell("pwd"), |command| command.directory = Some(place.file("with space")));
    place.execute("r1", &there).await;
    let real = |path: std::path::PathBuf| format!("{}\n", path.canonicalize().unwrap().display());
    assert_eq!(place.log("r1").await, real(place.file("with space")));
    place.execute("r2", &shell("pwd -P")).await;
    assert_eq!(place.log("r2").await, real(place.folder_of("r2")));
}

/// Files that this process was given open and passes on, as every process does.
fn passed_on() -> Vec<String> {
    let open = std::fs::read_dir("/proc/self/fdinfo").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let about = std::fs::read_to_string(entry.path()).ok()?;
        let flags = about.lines().find_map(|line| line.strip_prefix("flags:"))?.trim().to_owned();
        let closes = u32::from_str_radix(&flags, 8).unwrap() & rustix::fs::OFlags::CLOEXEC.bits() != 0;
        (!closes).then(|| entry.file_name().into_string().unwrap())
    });
    open.collect()
}

/// The signals that this process ignores, but for the one that every Rust program does.
fn ignored_before_us() -> u64 {
    const PIPE: u64 = 1 << 12;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & !PIPE
}

#[tokio::test]
async fn a_command_begins_with_no_signal_ignored_by_us_nothing_to_read_and_no_file_of_ours() {
    let place = Place::new();
    let line = "cat; grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f2; exec ls /proc/self/fd";
    place.execute("r1", &shell(line)).await;
    let log = place.log("r1").await;
    let mut lines = log.lines();
    for mask in lines.by_ref().take(2) {
        // 32 and 33 belong to the C library; what whoever started us has ignored (`nohup` does) is
        // passed on.
        let by_us = u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff & !ignored_before_us();
        assert_eq!(by_us, 0, "{log}");
    }
    // Its own three, and the one by which `ls` lists them.
    let strange: Vec<_> = lines.filter(|file| !["0", "1", "2", "3"].contains(file)).collect();
    let passed_on = passed_on();
    assert!(strange.iter().all(|file| passed_on.iter().any(|passed| passed == file)), "{strange:?}");
}

#[tokio::test]
async fn a_run_that_is_started_twice_is_found_and_not_started_again() {
    let place = Place::new();
    let spec = shell(format!("echo x >> {}", place.file("count").display()));
    let run = id("r1");
    let starts = (0..10).map(|_| place.runner.start(&run, &spec));
    let handles: Vec<_> = futures::future::join_all(starts).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(handles.iter().filter(|handle| handle.is_first).count(), 1);
    for handle in &handles {
        assert_eq!(handle.wait().await.unwrap().reason, Reason::Done);
    }
    let again = place.runner.start(&id("r1"), &shell("exit 1")).await.unwrap();
    assert!(!again.is_first);
    assert_eq!(again.wait().await.unwrap().reason, Reason::Done);
    assert_eq!(std::fs::read_to_string(place.file("count")).unwrap(), "x\n");
}

#[tokio::test]
async fn a_run_that_is_killed_ends_by_term_if_it_can() {
    let place = Place::new();
    let handle = place.runner.start(&id("r1"), &shell("echo ready; exec sleep 1000")).await.unwrap();
    place.until_said("r1", "ready").await;
    assert!(handle.kill().await.unwrap());
    let end = handle.wait().await.unwrap();
    assert_eq!((end.reason, end.signal), (Reason::Killed, Some(15)));
    assert!(!handle.kill().await.unwrap());
    assert!(matches!(place.runner.kill(&id("r2")).await, Err(Error::NotStarted(_))));
}

#[tokio::test]
async fn a_run_that_is_killed_at_once_ends_whether_or_not_its_command_was_started() {
    let place = Place::new();
    let handle = place.runner.start(&id("r1"), &shell("exec sleep 1000")).await.unwrap();
    assert!(handle.kill().await.unwrap());
    assert_eq!(handle.wait().await.unwrap().reason, Reason::Killed);
    assert_eq!(processes_of(&place.folder_of("r1")), Vec::<String>::new());
}

#[tokio::test]
async fn what_ignores_term_is_killed_with_its_children() {
    let place = Place::new();
    let line = "trap '' TERM; (trap '' TERM; sleep 1000) & setsid sleep 1000 & echo ready; while :; do sleep 1000; done";
    let handle = place.runner.start(&id("r1"), &shell(line)).await.unwrap();
    place.until_said("r1", "ready").await;
    assert!(handle.kill().await.unwrap());
    let end = handle.wait().await.unwrap();
    assert_eq!((end.reason, end.signal, end.detail.as_str()), (Reason::Killed, Some(9), ""));
    assert_eq!(processes_of(&place.folder_of("r1")), Vec::<String>::new());
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it_wherever_it_went() {
    let place = Place::new();
    let wiped = "setsid env -i /bin/sleep 1000.5 >/dev/null 2>&1 &";
    let line = format!(
        "sleep 1000 & setsid sleep 1000 & {wiped} (setsid sh -c 'sleep 1000 & sleep 1000' &) ; echo $!"
    );
    let end = place.execute("r1", &shell(line)).await;
    assert_eq!((end.reason, end.detail.as_str()), (Reason::Done, ""));
    assert_eq!(processes_of(&place.folder_of("r1")), Vec::<String>::new());
    // The last one of those that wiped its environment: its number is in the log, and it is a child
    // of nobody else.
    let pid = place.log("r1").await.trim().to_owned();
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    assert!(!String::from_utf8_lossy(&line).contains("1000.5"));
}

#[tokio::test]
async fn a_run_under_way_is_not_removed_and_one_that_is_over_is() {
    let place = Place::new();
    let handle = place.runner.start(&id("b"), &shell("exec sleep 1000")).await.unwrap();
    assert!(matches!(place.runner.remove(&id("b")).await, Err(Error::UnderWay(_))));
    pid_of(&place.runner, "b").await;
    assert!(matches!(place.runner.remove(&id("b")).await, Err(Error::UnderWay(_))));
    place.execute("a", &shell("true")).await;
    assert_eq!(place.runner.list().await.unwrap(), [id("a"), id("b")]);
    handle.kill().await.unwrap();
    handle.wait().await.unwrap();
    for run in ["a", "b", "b", "c"] {
        eventually("removed", async || place.runner.remove(&id(run)).await.ok()).await;
    }
    assert_eq!(place.runner.list().await.unwrap(), []);
    assert_eq!(place.runner.status(&id("a")).await.unwrap(), Status::NotStarted);
    assert_eq!(std::fs::read_dir(place.runs()).unwrap().count(), 0);
}

#[tokio::test]
async fn what_cannot_be_run_is_refused_before_it_is_claimed() {
    let place = Place::new();
    let zero = |spec: Spec| Spec { timeout: std::time::Duration::ZERO, ..spec };
    for (spec, said) in [
        (shell(" "), "shell: "),
        (shell("a\0b"), "shell: zero bytes"),
        (zero(shell("true")), "timeout: from"),
        (Spec { log_bytes_max: 1, ..shell("true") }, "log_bytes_max: from 1024"),
        (Spec { task: String::new(), ..shell("true") }, "task: "),
        (Spec::new("t", Action::Command(Command::program("", ["x"]))), "program: "),
        (with(shell("true"), |c| _ = c.environment.insert("A=B".to_owned(), "".into())), "environment.A=B: "),
        (
            with(shell("true"), |c| _ = c.environment.insert("A".to_owned(), "\0".into())),
            "environment.A: zero bytes",
        ),
        (Spec { values: [("sales".to_owned(), Value::Number(1))].into(), ..shell("true") }, "values.sales: "),
    ] {
        let refused = place.runner.start(&id("r1"), &spec).await.err().map(|error| error.to_string());
        assert!(refused.as_deref().is_some_and(|refused| refused.starts_with(said)), "{said}: {refused:?}");
    }
    assert_eq!(place.runner.list().await.unwrap(), []);
}
