//! Operations on a stage in Python, by the command line: each one, and its errors for invalid
//! input.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use crate::common::Server;
use crate::common::python_stage::{PHONE, Project, PythonStage, STAGE, has_python};
use serde_json::Value;

/// A server with the template's stage, which it calls.
fn begin(more: &[&str]) -> (Server, Project, PythonStage) {
    let server = Server::start(&[]);
    let project = Project::write_out(&server.folder, STAGE);
    let stage = project.start();
    let said = server.register(&project, more);
    assert_eq!(
        said,
        format!("stage {STAGE} (version 0.1.0) is registered; all processes call it within seconds\n")
    );
    (server, project, stage)
}

/// The line of the stage in the list.
fn listed(server: &Server, is_it: impl Fn(&str) -> bool) -> String {
    let of_stage = |list: &str| list.lines().find(|line| line.starts_with(STAGE)).map(str::to_owned);
    let list = server.done_once(&["stages", "list"], |list| of_stage(list).is_some_and(|line| is_it(&line)));
    of_stage(&list).unwrap()
}

#[test]
fn a_paused_stage_waits_a_dead_one_is_down_and_both_lose_nothing() {
    if !has_python("pausing a stage") {
        return;
    }
    let (server, project, mut stage) = begin(&[]);
    let reason = ["--reason", "it is too strict"];
    assert_eq!(
        server.done(&[&["stages", "pause", STAGE][..], &reason].concat()),
        "stage phone-numbers is paused\n"
    );
    let offer = server.offer(&format!("Red bicycle {PHONE}"));
    let shown = server.done_once(&["stages", "show", STAGE], |shown| shown.contains("waiting: 1 fresh"));
    assert!(shown.starts_with("stage phone-numbers (registered, version 0.1.0): paused since 20"), "{shown}");
    assert!(shown.contains("Z: it is too strict\nmay change: title\n"), "{shown}");
    let line = listed(&server, |line| line.contains("paused since"));
    assert_eq!(
        line.split_whitespace().take(6).collect::<Vec<_>>(),
        [STAGE, "registered", "1", "0", "0", "0"]
    );
    assert_eq!(server.title(&offer), format!("Red bicycle {PHONE}"));

    assert_eq!(server.done(&["stages", "resume", STAGE]), "stage phone-numbers goes on\n");
    server.title_becomes(&offer, "Red bicycle");
    listed(&server, |line| line.ends_with("well") && line.split_whitespace().nth(3) == Some("1"));
    let shown = server.done_once(&["stages", "show", STAGE], |shown| shown.contains("so far 1 visits"));
    assert!(shown.contains(", 1 changes, 0 failures"), "{shown}");
    assert!(shown.contains(&format!("endpoint {}: in use", project.url())), "{shown}");

    stage.kill();
    let waiting: Vec<String> = (0..3).map(|n| server.offer(&format!("Bicycle {n} {PHONE}"))).collect();
    listed(&server, |line| line.contains("down since"));
    let shown = server.done_once(&["stages", "show", STAGE], |shown| shown.contains(": taken out, "));
    assert!(shown.contains("last failure: "), "{shown}");
    let _stage = project.start();
    for (n, offer) in waiting.iter().enumerate() {
        server.title_becomes(offer, &format!("Bicycle {n}"));
    }
    listed(&server, |line| line.ends_with("well"));
}

#[test]
fn what_a_stage_failed_on_is_parked_with_the_reason_and_released_once_it_is_mended() {
    if !has_python("releasing offers") {
        return;
    }
    let (server, project, mut stage) = begin(&[]);
    let offers: Vec<String> = (0..3).map(|n| server.offer(&format!("030 123456{n}"))).collect();
    let why = "the title is nothing but a phone number";
    let shown = server.done_once(&["stages", "show", STAGE], |shown| shown.contains("3 parked"));
    for offer in &offers {
        assert!(shown.contains(&format!("parked: offer {offer} since 20")), "{shown}");
    }
    assert!(shown.contains(&format!(" after 1 attempts: {why}")), "{shown}");
    assert!(server.done(&["explain", "offer", &offers[0]]).contains(why));

    // The cause is still there, so the visit fails again.
    assert_eq!(server.done(&["stages", "release", STAGE, "--offer", &offers[0]]), "1 released\n");
    server.done_once(&["stages", "show", STAGE], |shown| {
        shown.contains("3 parked") && shown.contains("4 failures")
    });

    stage.kill();
    project.edit("raise Lasting(\"the title is nothing but a phone number\")", "title = \"Something\"");
    let _stage = project.start();
    assert_eq!(server.done(&["stages", "release", STAGE]), "3 released\n");
    for offer in &offers {
        server.title_becomes(offer, "Something");
    }
    assert_eq!(server.done(&["stages", "release", STAGE]), "0 released\n");
}

#[test]
fn a_dry_run_shows_what_would_change_and_a_recrawl_changes_it() {
    if !has_python("a dry run") {
        return;
    }
    let server = Server::start(&[]);
    let project = Project::write_out(&server.folder, STAGE);
    let old: Vec<String> = (0..4).map(|n| server.offer(&format!("Old bicycle {n} {PHONE}"))).collect();
    let quiet = server.offer("A bicycle without a number");
    let hopeless = server.offer("030 1234567");
    let _stage = project.start();
    server.register(&project, &[]);

    let shown = server.done(&["stages", "dry-run", STAGE]);
    assert!(
        shown.starts_with(
            "6 offers seen: 4 would change, 1 would not, 1 failed; nothing was saved\n  title: 4\n"
        ),
        "{shown}"
    );
    for (n, offer) in old.iter().enumerate() {
        let difference = format!(
            "offer {offer} (version 1)\n  title: \"Old bicycle {n} {PHONE}\" -> \"Old bicycle {n}\"\n  keeps another state\n  visits again at 20"
        );
        assert!(shown.contains(&difference), "{difference} in\n{shown}");
    }
    let failed = format!("offer {hopeless} (version 1)\n  failed: the title is nothing but a phone number\n");
    assert!(shown.contains(&failed), "{shown}");
    let one = server.done(&["stages", "dry-run", STAGE, "--offer", &quiet]);
    assert_eq!(one, "1 offers seen: 0 would change, 1 would not, 0 failed; nothing was saved\n");
    let json: Value =
        serde_json::from_str(&server.done(&["stages", "dry-run", STAGE, "--sample", "2", "--json"])).unwrap();
    assert_eq!(json["seen"], "2");
    for (n, offer) in old.iter().enumerate() {
        assert_eq!(server.title(offer), format!("Old bicycle {n} {PHONE}"));
        assert_eq!(server.state(offer).get("state"), None);
    }

    assert_eq!(server.done(&["stages", "recrawl", "status"]), "there was no re-crawl yet\n");
    let begun = server.done(&["stages", "recrawl", "start", "--per-second", "1"]);
    assert!(begun.contains(", at most 1 a second"), "{begun}");
    assert!(server.refused(&["stages", "recrawl", "start"]).contains("re-crawl"));
    assert!(server.done(&["stages", "recrawl", "pause"]).starts_with("paused since"));
    assert!(server.done(&["stages", "recrawl", "cancel"]).starts_with("cancelled since"));
    server.done(&["stages", "recrawl", "start"]);
    for (n, offer) in old.iter().enumerate() {
        server.title_becomes(offer, &format!("Old bicycle {n}"));
    }
    let done = server.done_once(&["stages", "recrawl", "status"], |status| status.starts_with("done since"));
    assert!(done.contains(", 6 offers seen, "), "{done}");
    assert!(server.refused(&["stages", "recrawl", "resume"]).contains("re-crawl"));
}

#[test]
fn a_shadow_is_compared_promoted_and_removed() {
    if !has_python("a shadow") {
        return;
    }
    let server = Server::start(&[]);
    let (first, second) =
        (Project::write_out(&server.folder, "first"), Project::write_out(&server.folder, "second"));
    second.edit("version = \"0.1.0\"", "version = \"0.2.0\"");
    second.edit("PHONE.sub(\" \", subject.offer.title)", "PHONE.sub(\"(number)\", subject.offer.title)");
    let mut old = first.start();
    let _new = second.start();
    let shadow = second.url();
    server.register(&first, &["--shadow", &shadow]);

    let with_number = server.offer(&format!("Red bicycle {PHONE}"));
    server.title_becomes(&with_number, "Red bicycle");
    let shown = server.done_once(&["stages", "show", STAGE], |shown| {
        shown.contains(&format!("shadow at {shadow}: 0 same, 1 different, 0 failed, 0 not compared\n"))
    });
    let difference = "\n  title: \"Red bicycle\" -> \"Red bicycle (number)\"\n";
    assert!(shown.contains(difference), "{shown}");
    // Without a phone number, both versions answer the same.
    let again = server.done(&["stages", "release", STAGE, "--offer", &with_number]);
    assert_eq!(again, "1 released\n");
    server.done_once(&["stages", "show", STAGE], |shown| shown.contains(": 1 same, 1 different"));

    let tried = server.done(&["stages", "dry-run", STAGE, "--endpoint", &shadow, "--offer", &with_number]);
    assert!(tried.starts_with("1 offers seen: 0 would change"), "{tried}");
    let promoted = server.done(&["stages", "promote", STAGE]);
    assert_eq!(promoted, "the shadow of stage phone-numbers is the stage now\n");
    let shown = server.done_once(&["stages", "show", STAGE], |shown| shown.contains("version 0.2.0"));
    assert!(shown.contains(&format!("endpoint {shadow}: in use")) && !shown.contains("shadow"), "{shown}");
    old.kill();
    server.retitle(&with_number, &format!("Blue bicycle {PHONE}"));
    server.title_becomes(&with_number, "Blue bicycle (number)");
    assert_eq!(server.state(&with_number)["state"]["value"]["times"], 2.0);
    assert_eq!(
        server.refused(&["stages", "promote", STAGE]),
        "error: stage \"phone-numbers\" has no shadow\n"
    );

    let removed = server.done(&["stages", "remove", STAGE]);
    assert_eq!(removed, "stage phone-numbers is removed; what waits for it stays\n");
    server.done_once(&["stages", "list"], |list| !list.contains(STAGE));
    assert!(server.refused(&["stages", "show", STAGE]).contains("there is no stage \"phone-numbers\""));
    // Its state is still there when it comes back.
    server.register(&second, &[]);
    assert_eq!(server.state(&with_number)["state"]["value"]["times"], 2.0);
}

#[test]
fn wrong_inputs_are_refused_with_what_to_do() {
    let server = Server::start(&[]);
    let unknown = "error: there is no stage \"nobody\": list stages with `torg stages list`\n".to_owned();
    for arguments in [
        &["stages", "show", "nobody"][..],
        &["stages", "pause", "nobody", "--reason", "x"],
        &["stages", "resume", "nobody"],
        &["stages", "release", "nobody"],
        &["stages", "dry-run", "nobody"],
        &["stages", "promote", "nobody"],
    ] {
        assert_eq!(server.refused(arguments), unknown, "{arguments:?}");
    }
    assert_eq!(
        server.refused(&["stages", "remove", "nobody"]),
        "error: no stage \"nobody\" is registered\n\
         hint: see whether it is spelt right, and whether --server names the process that has it\n"
    );
    for (arguments, why) in [
        (&["--endpoint", "127.0.0.1:7070"][..], "endpoints[0]: \"127.0.0.1:7070\" is no address: give http"),
        (&["--endpoint", "http://127.0.0.1:1"], "stage \"spam\": it does not answer: "),
        (&["--endpoint", "http://h:1", "--may-change", "seller"], "may_change: only Torg sets `seller`"),
        (&["--endpoint", "http://h:1", "--may-change", "titel"], "may_change: a stage cannot set `titel`"),
        (&["--endpoint", "http://h:1", "--interest", "titel"], "interest: `titel` is no field of offers"),
        (&["--endpoint", "http://h:1", "--rate=-3"], "limits: "),
        (&["--endpoint", "http://h:1", "--timeout-ms", "0"], "timeout: more than nothing"),
        (&["--endpoint", "http://h:1", "--shadow", "x"], "shadow.endpoints[0]: \"x\" is no address"),
        (&["--endpoint", "http://h:1", "--stage-ca-file", "none.pem"], "cannot read none.pem: "),
    ] {
        let said = server.refused(&[&["stages", "register", "spam"], arguments].concat());
        assert!(said.contains(why), "{why} in {said}");
    }
    let two = ["stages", "register", "a stage", "--endpoint", "ftp://x"];
    let said = server.refused(&two);
    assert!(said.contains("id: 1 to 64 letters") && said.contains("endpoints[0]: "), "{said}");
    let built_in = server.refused(&["stages", "register", "expiry", "--endpoint", "http://h:1"]);
    assert_eq!(built_in, "error: \"expiry\" is the id of a built-in stage: choose another\n");
    let no_addresses = server.refused(&["stages", "dry-run", "expiry", "--endpoint", "http://h:1"]);
    assert!(no_addresses.contains("is a built-in stage"), "{no_addresses}");
    assert!(server.refused(&["stages", "dry-run", "expiry", "--sample", "999999"]).contains("sample"));
    assert!(server.refused(&["stages", "dry-run", "expiry", "--category", "nothing"]).contains("category"));
    for id in ["123", "1234567890123456"] {
        assert!(server.refused(&["stages", "dry-run", "expiry", "--offer", id]).contains("offer"), "{id}");
        assert!(server.refused(&["stages", "release", "expiry", "--offer", id]).contains("offer"), "{id}");
    }
    // Refused by the command line itself.
    for arguments in [&["stages", "register", "spam"][..], &["stages", "pause", "expiry"]] {
        assert_eq!(server.torg(arguments).code, Some(2), "{arguments:?}");
    }
}
