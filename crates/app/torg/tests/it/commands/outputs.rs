//! The use of stdout, stderr and stdin, also when an output is closed.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::common::{Ended, Server, run, torg};

/// An output whose reader is gone.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// The exit code of a command, and what it printed on the open output.
fn ended(mut command: Command) -> (Option<i32>, String) {
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Runs a command with these bytes as its stdin.
fn over(input: &[u8], mut command: Command) -> Ended {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that has refused its input reads no further.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn an_error_that_nobody_reads_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tasks.yaml"), "tasks: {broken: {wehn: 1}}").unwrap();
    for arguments in [&["config", "--config", "absent.toml"][..], &["tasks", "graph", "tasks.yaml"]] {
        let mut command = torg(&folder, arguments);
        command.stdout(Stdio::piped()).stderr(unread());
        assert_eq!(ended(command), (Some(1), String::new()), "{arguments:?}");
    }
}

#[test]
fn a_new_key_is_shown_whoever_reads_the_remark_and_told_if_nobody_saw_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut add = torg(&folder, &["keys", "add", "operations", "--role", "admin"]);
    add.stdout(Stdio::piped()).stderr(unread());
    let (code, key) = ended(add);
    assert!(code == Some(0) && key.starts_with("torg_") && key.lines().count() == 1, "{code:?} {key}");

    for more in [&[][..], &["--json"]] {
        let mut add = torg(&folder, &[&["keys", "add", "unseen", "--role", "admin"], more].concat());
        add.stdout(unread()).stderr(Stdio::piped());
        let (code, told) = ended(add);
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("could not be shown: nobody reads stdout"), "{told}");
        let id = told.split("`torg keys revoke ").nth(1).unwrap().split('`').next().unwrap();
        assert_eq!(run(torg(&folder, &["keys", "revoke", id])).code, Some(0));
    }
}

#[test]
fn lines_that_are_no_text_are_messages_too_and_the_answer_stands_on_stdout() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let input = b"one\r\n\xff\xfe\n\nlast";
    let check = |more: &[&str]| {
        let of = |arguments: &[&str]| torg(&folder, &[arguments, more].concat());
        let Ended { code, stdout, stderr } = over(input, of(&["topic", "append", "greetings"]));
        assert_eq!((code, &*stdout, &*stderr), (Some(0), "appended 4 messages\n", ""));
        let tail = ["topic", "tail", "greetings", "--from-start", "--no-follow"];
        let there = run(of(&tail)).stdout;
        let payloads = there.lines().map(|line| {
            let message: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(message["key"], message["payload"]);
            message["payload"].as_str().unwrap().to_owned()
        });
        assert_eq!(payloads.collect::<Vec<_>>(), ["one", "0xfffe", "", "last"]);
        let count = over(b"x\n", of(&["topic", "append", "others", "--key", "k", "--json"])).stdout;
        assert_eq!(serde_json::from_str::<serde_json::Value>(&count).unwrap()["appended"], 1);
    };
    let create = |more: &[&str]| {
        for name in ["greetings", "others"] {
            let made = run(torg(&folder, &[&["topic", "create", name, "--partitions", "1"], more].concat()));
            assert_eq!(made.code, Some(0), "{}", made.stderr);
        }
    };
    create(&[]);
    check(&[]);
    // The same with a running process.
    let server = Server::start(&[]);
    let url = server.url();
    create(&["--server", &url]);
    check(&["--server", &url]);
}

#[test]
fn an_append_that_fails_in_the_middle_says_how_much_was_appended() {
    let folder = tempfile::tempdir().unwrap();
    let made = run(torg(&folder, &["topic", "create", "greetings", "--partitions", "1"]));
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let mut input = b"x\n".repeat(500);
    input.extend(std::iter::repeat_n(b'y', 2_000_000));
    let Ended { code, stdout, stderr } = over(&input, torg(&folder, &["topic", "append", "greetings"]));
    assert_eq!((code, &*stdout), (Some(1), ""));
    assert!(stderr.starts_with("error: after 500 messages that were appended: "), "{stderr}");
}
