//! `torg serve --demo`, from its first start to a reset, seen from outside.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Answer, run, torg};

/// Longer than any working operation takes, also on a busy machine and with a stage that is away
/// for twenty seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// Includes the stages that use the network: the demo serves its photos and videos itself.
const ALL_STAGES: &[(&str, &str)] =
    &[("TORG_STAGES_BUILT_IN", "expiry,evolution,photos,photo_order,video,price")];

/// Polls until there is a result.
fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A running demo; killed when dropped.
struct Demo {
    child: Child,
    address: SocketAddr,
    /// The text that it printed when it was ready.
    guide: String,
    folder: PathBuf,
}

impl Demo {
    fn start(place: &tempfile::TempDir, flags: &[&str]) -> Demo {
        Demo::start_in(place, flags, &[])
    }

    fn start_in(place: &tempfile::TempDir, flags: &[&str], environment: &[(&str, &str)]) -> Demo {
        let usual = ["serve", "--demo", "--listen", "127.0.0.1:0"];
        let mut command = torg(place, &[&usual, flags].concat());
        command.envs(environment.iter().copied());
        command.env("TORG_LOG_FORMAT", "json").stderr(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, log) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        let mut output = child.stdout.take().unwrap();
        let unknown = SocketAddr::from(([127, 0, 0, 1], 0));
        let folder = place.path().join("torg-demo");
        let mut demo = Demo { child, address: unknown, guide: String::new(), folder };
        demo.address = line(&log, "listening")["listen"].as_str().unwrap().parse().unwrap();
        line(&log, "ready");
        let mut buffer = [0; 4096];
        while !demo.guide.contains("--demo-reset it starts over") {
            let count = output.read(&mut buffer).unwrap();
            assert!(count > 0, "the output ended: {}", demo.guide);
            demo.guide += std::str::from_utf8(&buffer[..count]).unwrap();
        }
        demo
    }

    fn signal(&self, name: &str) {
        assert!(kill(name, self.child.id()));
    }

    fn stop(mut self) {
        self.signal("TERM");
        let status = eventually("the demo ends", || self.child.try_wait().unwrap());
        assert_eq!(status.code(), Some(0));
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    /// The process of the outside stage, while there is one.
    fn stage_pid(&self) -> Option<u32> {
        self.file("stage.pid").trim().parse().ok()
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
    }

    /// The page behind a printed address, after redirects.
    fn open(&self, url: &str) -> Answer {
        let site = format!("http://localhost:{}", self.address.port());
        let mut path = url.strip_prefix(&site).unwrap_or_else(|| panic!("{url} is not of {site}")).to_owned();
        for _ in 0..5 {
            let answer = self.get(&path);
            match answer.head.lines().find_map(|line| line.strip_prefix("location: ")) {
                Some(further) if answer.status == 303 => further.clone_into(&mut path),
                _ => return answer,
            }
        }
        panic!("{url} leads nowhere");
    }

    fn call(&self, method: &str, request: &Value) -> Value {
        let answer = self.ask(&crate::common::post_json(&format!("/torg.{method}"), &request.to_string()));
        assert_eq!(answer.status, 200, "{method}: {answer:?}");
        answer.json()
    }

    fn ask(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        Answer::read(stream)
    }

    /// Waits until the feed has a finished load, and returns it.
    fn loaded(&self, seller: &str, namespace: &str) -> Value {
        eventually(&format!("{namespace} is loaded"), || {
            let feed =
                self.call("feeds.v1.FeedService/GetFeed", &json!({"seller": seller, "namespace": namespace}));
            let load = feed["feed"]["lastLoad"].clone();
            (load["state"] == "STATE_DONE").then_some(load)
        })
    }

    /// The number of offers of some sellers.
    fn offers(&self) -> u64 {
        let mut sum = 0;
        for seller in ["mebelny-dom", "avtograd", "anna-k", "lena-w", "old-threads", "metry"] {
            let counts = self.call("offers.v1.CabinetService/GetCounts", &json!({"seller": seller}));
            let kept = counts["counts"].as_array().unwrap().iter();
            let kept =
                kept.filter(|count| count["preset"] == "PRESET_ALL" || count["preset"] == "PRESET_ARCHIVED");
            sum += kept.filter_map(|count| count["offers"].as_str()?.parse::<u64>().ok()).sum::<u64>();
        }
        sum
    }

    /// Waits until the outside stage answers at its address and has visited more offers than this;
    /// returns the number.
    fn until_visited(&self, more_than: u64) -> u64 {
        eventually("the outside stage visits offers", || {
            let listed = self.call("stages.v1.StageAdminService/ListStages", &json!({}));
            let stage =
                listed["stages"].as_array()?.iter().find(|stage| stage["id"] == "title-polish")?.clone();
            let process = &stage["processes"][0];
            let visits = process["visits"].as_str()?.parse().ok()?;
            (visits > more_than && process.get("downSince").is_none()).then_some(visits)
        })
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The log line with this message.
fn line(log: &mpsc::Receiver<String>, message: &str) -> Value {
    let (until, mut seen) = (Instant::now() + PATIENCE, Vec::new());
    while let Ok(line) = log.recv_timeout(until.saturating_duration_since(Instant::now())) {
        let parsed: Value = serde_json::from_str(&line).unwrap_or_default();
        if parsed["message"] == message {
            return parsed;
        }
        seen.push(line);
    }
    panic!("no {message:?} in the log:\n{}", seen.join("\n"));
}

fn kill(signal: &str, pid: u32) -> bool {
    Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status().unwrap().success()
}

/// Whether a process is gone or a zombie.
fn is_gone(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_none_or(|rest| rest.trim().is_empty() || rest.trim().starts_with('Z'))
}

fn started_ms(folder: &Path) -> i64 {
    let marker: Value =
        serde_json::from_slice(&std::fs::read(folder.join("torg-demo.json")).unwrap()).unwrap();
    marker["started_ms"].as_i64().unwrap()
}

#[test]
fn a_demo_shows_the_whole_system_and_goes_on_after_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let demo = Demo::start_in(&place, &["--demo-offers", "330"], ALL_STAGES);
    assert!(!place.path().join("data").exists(), "a demo has a folder of its own");

    // Feeds: a good one, one that changes, and one with mistakes of many kinds.
    assert_eq!(demo.get("/demo/feeds/good.xml").status, 200);
    assert_eq!(demo.get("/demo/feeds/other.xml").status, 404);
    let good = demo.loaded("mebelny-dom", "good");
    assert_eq!(good["counts"]["created"], "120", "{good}");
    demo.loaded("mebelny-dom", "changing");
    let mistakes = demo.loaded("tehno-ryad", "mistakes");
    let request = json!({"seller": "tehno-ryad", "namespace": "mistakes"});
    let summary = demo.call("feeds.v1.FeedService/SummarizeProblems", &request);
    let codes: Vec<&str> =
        summary["codes"].as_array().unwrap().iter().map(|code| code["code"].as_str().unwrap()).collect();
    assert!(codes.len() >= 12 && codes.contains(&"bad_price"), "{codes:?}: {mistakes}");
    photos_and_videos_are_looked_at(&demo);

    // Tasks ran, and log what they did.
    let log = eventually("tasks ran", || {
        let log = demo.file("runs.log");
        ["sales_by_hour", "stock_on_site", "furniture_prices"]
            .iter()
            .all(|task| log.contains(task))
            .then_some(log)
    });
    assert!(log.lines().count() >= 3, "{log}");

    every_printed_command_works(&demo);

    // The outside stage comes back after it was killed.
    let visits = demo.until_visited(0);
    let pid = demo.stage_pid().unwrap();
    assert!(demo.guide.contains(&format!("kill {pid}\n")), "{}", demo.guide);
    assert!(kill("KILL", pid));
    let pid_file = demo.folder.join("stage.pid");
    eventually("the number of a process that is gone is, too", || (!pid_file.exists()).then_some(()));
    let again = eventually("the stage is back", || demo.stage_pid());
    assert_ne!(again, pid);
    demo.until_visited(visits);
    let before = eventually("all offers are made", || {
        demo.file("progress.json").contains("330").then(|| demo.offers())
    });
    demo.stop();
    eventually("the stage ends with the demo", || is_gone(again).then_some(()));
    assert!(!pid_file.exists());

    // A restart creates nothing twice.
    let started = started_ms(&place.path().join("torg-demo"));
    let demo = Demo::start_in(&place, &["--demo-offers", "330"], ALL_STAGES);
    assert_eq!(started_ms(&demo.folder), started);
    let after = demo.offers();
    assert!(before > 100 && after < before + 50, "{before} before, {after} after");
    for (seller, count) in [("mebelny-dom", 2), ("tehno-ryad", 1), ("anna-k", 1)] {
        let listed = demo.call("feeds.v1.FeedService/ListFeeds", &json!({"seller": seller}));
        assert_eq!(listed["feeds"].as_array().unwrap().len(), count, "{seller}");
    }
    demo.loaded("mebelny-dom", "good");

    // The stage of a killed demo ends with it.
    let pid = demo.stage_pid().unwrap();
    demo.signal("KILL");
    eventually("the stage notices", || is_gone(pid).then_some(()));
}

/// Offers of the demo have photos and a video that Torg has fetched from the demo itself; broken
/// links are in the report of their feed.
fn photos_and_videos_are_looked_at(demo: &Demo) {
    for (path, status) in
        [("/demo/photos/0.jpg", 200), ("/demo/photos/gone.jpg", 404), ("/demo/others/0.jpg", 404)]
    {
        assert_eq!(demo.get(path).status, status, "{path}");
    }
    let filter = json!({"source": "good", "externalId": "m-0"});
    let request = json!({"seller": "mebelny-dom", "filter": filter});
    let offer = eventually("photos and the video of an offer are known", || {
        let listed = demo.call("offers.v1.CabinetService/ListOffers", &request);
        let offer = listed["offers"][0].clone();
        let photos = offer["photos"].as_array()?;
        let is_taken = |photo: &Value| photo["sizes"]["320"].is_string();
        let is_seen = offer["video"]["availability"]["state"] == "STATE_AVAILABLE";
        (is_seen && !photos.is_empty() && photos.iter().all(is_taken)).then_some(offer)
    });
    let photo = demo.get(offer["photos"][0]["sizes"]["320"].as_str().unwrap());
    assert!(photo.status == 200 && photo.bytes.starts_with(&[0xff, 0xd8]), "{}", photo.head);

    let request = json!({"seller": "tehno-ryad", "namespace": "mistakes"});
    eventually("what leads nowhere is in the report", || {
        let summary = demo.call("feeds.v1.FeedService/SummarizeProblems", &request);
        let codes = summary["codes"].as_array()?;
        let has = |wanted: &str| codes.iter().any(|code| code["code"] == wanted);
        ["photo_not_fetched", "photo_not_picture", "video_unavailable"].into_iter().all(has).then_some(())
    });
}

/// Runs the commands of the guide as printed, except those that kill something.
fn every_printed_command_works(demo: &Demo) {
    let (mut run_count, mut pages) = (BTreeMap::new(), Vec::new());
    for command in demo.guide.lines().filter_map(|line| line.strip_prefix("     ")) {
        if command.starts_with("kill") {
            continue;
        }
        if command.starts_with("http") {
            let page = demo.open(command);
            assert_eq!(page.status, 200, "{command}: {}", page.body);
            pages.push(page.body);
            continue;
        }
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).current_dir(demo.folder.parent().unwrap());
        let ended = run(shell);
        assert_eq!(ended.code, Some(0), "{command}: {}{}", ended.stdout, ended.stderr);
        run_count.insert(command.to_owned(), ended.stdout);
    }
    assert_eq!(run_count.len(), 6, "{run_count:?}");
    // Each page shows the object of its experiment.
    let shown = ["Мебельный дом", "title-polish", "photo_not_fetched", "Your own", "orders_digest"];
    assert_eq!(pages.len(), shown.len());
    for (page, shown) in pages.iter().zip(shown) {
        assert!(page.contains(shown), "{shown:?} is not in {page}");
    }
}

#[test]
fn a_reset_starts_over_but_not_under_a_demo_that_runs() {
    let place = tempfile::tempdir().unwrap();
    let demo = Demo::start(&place, &["--demo-offers", "20", "--demo-speed", "60"]);
    let (folder, started) = (demo.folder.clone(), started_ms(&demo.folder));
    for flags in [&["--demo-reset"][..], &[]] {
        let second = run(torg(&place, &[&["serve", "--demo", "--listen", "127.0.0.1:0"], flags].concat()));
        assert_eq!(second.code, Some(1), "{}", second.stderr);
        let where_it_is = format!("runs already, at http://localhost:{}/console/", demo.address.port());
        assert!(second.stderr.contains(&where_it_is), "{}", second.stderr);
        assert!(second.stderr.contains(&format!("kill {}", demo.child.id())), "{}", second.stderr);
    }
    // The first demo has everything, and goes on writing.
    assert_eq!(started_ms(&folder), started);
    let value = json!({"changes": [{"parameter": "shop.rows", "value": {"number": "1"}}]});
    demo.call("tasks.v1.CtlService/SetValues", &value);
    demo.until_visited(0);
    demo.stop();
    a_reset_whose_port_is_taken_changes_nothing(&place, &folder);
    let demo = Demo::start(&place, &["--demo-offers", "20", "--demo-reset"]);
    assert!(started_ms(&folder) > started);
    demo.stop();
}

fn a_reset_whose_port_is_taken_changes_nothing(place: &tempfile::TempDir, folder: &Path) {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let before = [text("torg-demo.json"), text("progress.json"), text("clock.json")];
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = run(torg(place, &["serve", "--demo", "--demo-reset", "--listen", &address]));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("cannot listen on {address}")), "{}", ended.stderr);
    assert_eq!([text("torg-demo.json"), text("progress.json"), text("clock.json")], before);
    assert!(std::fs::read_dir(folder.join("store")).unwrap().next().is_some());
}

#[test]
fn the_doctor_finds_a_demo_behind_a_configured_port_that_somebody_else_has() {
    let place = tempfile::tempdir().unwrap();
    let demo = Demo::start(&place, &["--demo-offers", "20"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let configured = taken.local_addr().unwrap().to_string();
    let told =
        run(torg(&place, &["doctor", "--json", "--data", "torg-demo", "--listen", &configured])).stdout;
    let answer: Value = serde_json::from_str(&told).unwrap();
    let says = |area: &str, severity: &str, what: &str| {
        answer["findings"].as_array().unwrap().iter().any(|each| {
            each["area"] == area
                && each["severity"] == severity
                && each["what"].as_str().unwrap().contains(what)
        })
    };
    let url = format!("http://localhost:{}", demo.address.port());
    assert!(says("process", "ok", &format!("the process at {url} is ready")), "{told}");
    assert!(says("process", "note", &format!("at {url}, and not at {configured}")), "{told}");
    if Path::new("/proc/locks").exists() {
        assert!(says("store", "ok", &format!("the process at {url} has it open")), "{told}");
    }
    demo.stop();
}

#[test]
fn the_tasks_of_a_demo_that_was_moved_run_where_it_is_now() {
    let place = tempfile::tempdir().unwrap();
    let demo = Demo::start(&place, &["--demo-offers", "20"]);
    let (old, new) = (demo.folder.clone(), place.path().join("moved"));
    demo.stop();
    std::fs::rename(&old, &new).unwrap();
    let demo = Demo::start(&place, &["--demo-offers", "20", "--data", "moved"]);
    let text = || std::fs::read_to_string(new.join("tasks.yaml")).unwrap();
    assert!(!text().contains(&*old.to_string_lossy()), "{}", text());
    eventually("a task runs in the new folder", || {
        let before = std::fs::read_to_string(new.join("runs.log")).unwrap_or_default().len();
        demo.call(
            "tasks.v1.CtlService/SetValues",
            &json!({"changes": [{"parameter": "orders.loaded_to", "value": {"time": "2030-01-01T00:00:00Z"}}]}),
        );
        (before > 0 && std::fs::read_to_string(new.join("runs.log")).ok()?.contains("2030")).then_some(())
    });
    assert!(!old.exists(), "nothing is left where it was");
    demo.stop();

    // A file that a user has changed stays, and the demo says so.
    std::fs::write(new.join("tasks.yaml"), text().replace("priority: 50", "priority: 49")).unwrap();
    std::fs::rename(&new, place.path().join("again")).unwrap();
    let mut command = torg(
        &place,
        &["serve", "--demo", "--data", "again", "--listen", "127.0.0.1:0", "--demo-offers", "20"],
    );
    command.env("TORG_LOG_FORMAT", "json").stderr(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let told = lines.find(|line| line.contains("the tasks of the demo were changed"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(told.is_some_and(|told| told.contains(&*new.to_string_lossy())));
    let kept = std::fs::read_to_string(place.path().join("again/tasks.yaml")).unwrap();
    assert!(kept.contains("priority: 49") && kept.contains(&*new.to_string_lossy()), "{kept}");
}

#[test]
fn a_folder_that_is_no_demos_is_neither_filled_nor_deleted() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("mine");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("thesis.txt"), "years of work").unwrap();
    for flags in [&["--demo-reset"][..], &[]] {
        let arguments = [&["serve", "--demo", "--listen", "127.0.0.1:0", "--data", "mine"], flags].concat();
        let ended = run(torg(&place, &arguments));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains("mine is no folder of a demo"), "{}", ended.stderr);
    }
    assert_eq!(std::fs::read_to_string(folder.join("thesis.txt")).unwrap(), "years of work");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_demo_serves_this_machine_as_its_guide_says_whatever_the_environment_says_of_access_and_tls() {
    let place = tempfile::tempdir().unwrap();
    let environment = [
        ("TORG_ACCESS_MODE", "required"),
        ("TORG_TLS_CERT_FILE", "no-such-cert.pem"),
        ("TORG_TLS_KEY_FILE", "no-such-key.pem"),
    ];
    let demo = Demo::start_in(&place, &["--demo-offers", "20"], &environment);
    let sign_in = format!("http://localhost:{}/console/sign-in?as=admin", demo.address.port());
    assert!(demo.guide.contains(&sign_in), "{}", demo.guide);
    assert_eq!(demo.get("/console/sign-in?as=admin").status, 303);
    demo.call("stages.v1.StageAdminService/ListStages", &json!({}));
    demo.stop();

    let others = torg(&place, &["serve", "--demo", "--demo-reset", "--listen", "0.0.0.0:0"]);
    let ended = run(others);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("a demo serves this machine only"), "{}", ended.stderr);
    assert!(place.path().join("torg-demo/store").exists(), "what is refused deletes nothing");
}

#[test]
fn every_line_of_the_guide_starts_a_demo_in_one_folder_after_the_other() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/demo.md")).unwrap();
    let block = page.split("<!-- run by: demo.rs -->\n```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let (place, mut started) = (tempfile::tempdir().unwrap(), Vec::new());
    for line in block.lines() {
        let flags = line.split('#').next().unwrap().trim_end().strip_prefix("torg serve --demo").unwrap();
        let flags: Vec<&str> = ["--demo-offers", "20"].into_iter().chain(flags.split_whitespace()).collect();
        let demo = Demo::start(&place, &flags);
        started.push((flags.contains(&"--demo-reset"), started_ms(&demo.folder)));
        demo.stop();
    }
    let [(false, first), (true, over), (false, fast)] = started[..] else { panic!("{started:?}") };
    assert!(over > first && fast == over, "{started:?}");
}
