//! Finds the process of this configuration and checks what it reports about itself.

use std::time::Duration;

use bytes::Bytes;
use clock::Clock;
use connectrpc::ErrorCode;
use connectrpc::client::full_body;
use http::Method;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use wire::torg::admin::v1::{
    AdminServiceClient, GetInfoRequest, ListProblemsRequest, ListProblemsResponse, ObserveServiceClient,
    Problem, problem,
};

use super::clocks::{self, Reading};
use super::closed::Closed;
use super::finding::{Area, Finding, Findings, Severity};
use super::keeper::Keeper;
use super::limits::{ANSWER_TIME_MAX, LOOKED_AGO_MAX};
use crate::remote::{Place, Remote, own_url, said};
use demo::{Traces, own_address};
use node::config::Config;
use node::server;

/// Resolution of the `Date` header.
const DATE_STEP_MS: i64 = 1000;
/// Areas that only a process can report on, and the text of an `ok` finding.
const TOLD_BY_PROCESS: [(Area, &str); 3] = [
    (Area::Stages, "the process finds nothing wrong with its stages"),
    (Area::Feeds, "the process knows of no load and no link that needs somebody"),
    (Area::Tasks, "the process finds nothing wrong with its tasks"),
];

/// A process that answers.
pub(super) struct Process {
    pub(super) url: String,
    /// Found through the configuration instead of `--server`, so it is on this machine.
    pub(super) is_own: bool,
    remote: Remote,
}

/// What was found at the address of the process.
pub(super) enum Holder {
    Torg(Box<Process>),
    /// The port is open, but there is no valid response.
    Silent(Silent),
    Nobody,
}

/// A program that has the configured port and gives no valid response.
pub(super) struct Silent {
    url: String,
    wants_certificate: bool,
}

impl Holder {
    pub(super) fn process(&self) -> Option<&Process> {
        match self {
            Holder::Torg(process) => Some(process),
            Holder::Silent(_) | Holder::Nobody => None,
        }
    }

    fn url(&self) -> Option<&str> {
        match self {
            Holder::Torg(process) => Some(&process.url),
            Holder::Silent(silent) => Some(&silent.url),
            Holder::Nobody => None,
        }
    }

    pub(super) fn silent(&self) -> Option<&Silent> {
        match self {
            Holder::Silent(silent) => Some(silent),
            Holder::Torg(_) | Holder::Nobody => None,
        }
    }
}

impl Silent {
    /// The finding for an unresponsive port, given whether the embedded store is locked and, if
    /// known, by which process.
    pub(super) fn judge(&self, is_locked: bool, keeper: Option<&Keeper>) -> Finding {
        let url = &self.url;
        if self.wants_certificate {
            let what = format!(
                "the process at {url} was not looked at: it wants a client's certificate (tls.client_ca_file), and this program has none"
            );
            let remedy = "look at its /readyz with a client that has one";
            return Finding::warning(Area::Process, what, remedy);
        }
        let who = match keeper
            .filter(|_| is_locked)
            .and_then(|keeper| Some((keeper.pid, keeper.serves(url)?)))
        {
            Some((pid, true)) => {
                let what = format!(
                    "process {pid} has the port of {url} and the store, and does not answer: it hangs"
                );
                let remedy = "see its log; if it stays so, end it (by `kill -9` if nothing else helps) and start it again: what it acknowledged is in the store";
                return Finding::error(Area::Process, what, remedy);
            }
            Some((pid, false)) => format!(
                "another program, or a Torg that hangs and has not this store: that has process {pid}"
            ),
            None if is_locked => {
                "a Torg that hangs, as somebody has the store open, or another program".to_owned()
            }
            None => "a Torg that hangs, or another program".to_owned(),
        };
        let what = format!("whoever has the port of {url} does not answer: {who}");
        let remedy = "if it is Torg, see its log, and start it again; else stop that program, or choose another port with --listen";
        Finding::error(Area::Process, what, remedy)
    }
}

/// Finds the process that is named, or the one of this configuration: at the address that a demo
/// recorded, at the addresses of the process that has the store open, or at the configured address.
pub(super) async fn find(
    place: &Place,
    config: &Config,
    demo: Option<&Traces>,
    keeper: Option<&Keeper>,
    found: &mut Findings,
) -> Holder {
    if let Some(url) = &place.server {
        let reached = reach(url, false, place.connect(url)).await;
        return reached.unwrap_or_else(|wrong| tell(wrong, found));
    }
    if let Some(holder) = elsewhere(place, config, demo, keeper).await {
        found.extend(holder.url().and_then(|url| judge_place(config, url)));
        return holder;
    }
    if config.listen.port() == 0 {
        found.add(nobody(config));
        return Holder::Nobody;
    }
    match server::bind(config.listen).await {
        Ok(_) => {
            found.add(nobody(config));
            Holder::Nobody
        }
        Err(error) if is_taken(&error) => configured(place, config, found).await,
        // If binding the port is forbidden, the error does not show whether the port is in use.
        Err(error) if is_forbidden(&error) && answers(config).await => configured(place, config, found).await,
        Err(error) => {
            found.add(Finding::failed(Area::Process, &error, "choose another address with --listen"));
            Holder::Nobody
        }
    }
}

/// Reaches the process at the configured address, which is in use.
async fn configured(place: &Place, config: &Config, found: &mut Findings) -> Holder {
    let reached = reach(&own_url(config), true, place.connect_own(config)).await;
    let has_client_ca = !config.tls.client_ca_file.as_os_str().is_empty();
    reached.unwrap_or_else(|wrong| match wrong {
        Wrong::Silent(silent) => Holder::Silent(silent),
        // With TLS 1.3 the server closes the connection without naming the missing certificate as
        // the cause.
        Wrong::Told(_) if has_client_ca => {
            Holder::Silent(Silent { url: own_url(config), wants_certificate: true })
        }
        told @ Wrong::Told(_) => tell(told, found),
    })
}

/// The process of this data folder, if it is known to listen on another port than the configured
/// one.
async fn elsewhere(
    place: &Place,
    config: &Config,
    demo: Option<&Traces>,
    keeper: Option<&Keeper>,
) -> Option<Holder> {
    if let Some(url) = demo.and_then(|demo| demo.url.as_deref())
        && let Ok(holder) = reach(url, true, place.connect(url)).await
    {
        return Some(holder);
    }
    let others = keeper?.addresses.iter().filter(|address| address.port() != config.listen.port());
    for address in others {
        let there = Config { listen: *address, ..config.clone() };
        match reach(&own_url(&there), true, place.connect_own(&there)).await {
            Ok(holder) => return Some(holder),
            Err(Wrong::Silent(silent)) => return Some(Holder::Silent(silent)),
            // The process may listen on several ports; this one is not the API.
            Err(Wrong::Told(_)) => {}
        }
    }
    None
}

/// Warns if commands would use another address than that of the process.
fn judge_place(config: &Config, url: &str) -> Option<Finding> {
    let is_configured = url.parse::<http::Uri>().ok()?.port_u16() == Some(config.listen.port());
    if is_configured || config.listen.port() == 0 {
        return None;
    }
    let what = format!("the process of this data folder is at {url}, and not at {}", config.listen);
    Some(Finding::note(Area::Process, what, format!("commands find it by --server {url}")))
}

/// Whether anything listens at the configured address.
async fn answers(config: &Config) -> bool {
    let connected = timeout(ANSWER_TIME_MAX, TcpStream::connect(own_address(config.listen))).await;
    matches!(connected, Ok(Ok(_)))
}

fn nobody(config: &Config) -> Finding {
    if config.listen.port() == 0 {
        let what = "listen names no port: a process that runs cannot be found";
        return Finding::note(Area::Process, what, "give its address with --server");
    }
    let what = format!("no process runs here: {} is free", config.listen);
    Finding::note(Area::Process, what, "start `torg serve`; of others, ask by --server URL")
}

enum Wrong {
    Silent(Silent),
    Told(Finding),
}

fn tell(wrong: Wrong, found: &mut Findings) -> Holder {
    found.add(match wrong {
        Wrong::Silent(silent) => silent.judge(false, None),
        Wrong::Told(finding) => finding,
    });
    Holder::Nobody
}

fn is_taken(error: &anyhow::Error) -> bool {
    error.to_string().contains("Address already in use")
}

fn is_forbidden(error: &anyhow::Error) -> bool {
    error.to_string().contains("Permission denied")
}

async fn reach(
    url: &str,
    is_own: bool,
    connect: impl Future<Output = anyhow::Result<Remote>>,
) -> Result<Holder, Wrong> {
    let silent = || Wrong::Silent(Silent { url: url.to_owned(), wants_certificate: false });
    let remote = match timeout(ANSWER_TIME_MAX, connect).await {
        Ok(Ok(remote)) => remote,
        Ok(Err(error)) => {
            let finding = Finding::failed(Area::Process, &error, "give its address with --server");
            return Err(Wrong::Told(finding));
        }
        Err(_) => return Err(silent()),
    };
    let config = remote.config.with_default_timeout(ANSWER_TIME_MAX);
    let process = Process { url: url.to_owned(), is_own, remote: Remote { config, ..remote } };
    match process.get("/healthz").await {
        Ok((_, answer)) if answer["alive"] == Value::Bool(true) => Ok(Holder::Torg(Box::new(process))),
        Ok(_) => Err(Wrong::Told(stranger(url, "it answers with something else"))),
        Err(Unread::InTime) => Err(silent()),
        Err(Unread::Said(why)) => Err(Wrong::Told(stranger(url, &why))),
    }
}

#[derive(Debug, thiserror::Error)]
enum Unread {
    #[error("it does not answer")]
    InTime,
    #[error("{0}")]
    Said(String),
}

fn stranger(url: &str, why: &str) -> Finding {
    let what = format!("the program at {url} is no Torg: {why}");
    Finding::error(Area::Process, what, "stop that program, or choose another port with --listen")
}

impl Process {
    /// A connection for RPC calls.
    pub(super) fn calls(&self) -> Remote {
        Remote { connection: self.remote.connection.clone(), config: self.remote.config.clone() }
    }

    /// The open-files limit of the process; `None` if it does not report one.
    pub(super) async fn files_max(&self) -> Option<u64> {
        let (_, text) = self.read("/metrics").await.ok()?;
        files_max(std::str::from_utf8(&text).ok()?)
    }

    /// A JSON response and its `Date` header.
    async fn get(&self, path: &str) -> Result<(Option<String>, Value), Unread> {
        let (date, text) = self.read(path).await?;
        Ok((date, serde_json::from_slice(&text).unwrap_or_default()))
    }

    /// A response body and its `Date` header.
    async fn read(&self, path: &str) -> Result<(Option<String>, Bytes), Unread> {
        let asked = async {
            let answer = self.remote.send(Method::GET, path, full_body(Bytes::new())).await?;
            let date = answer.headers().get(http::header::DATE).and_then(|date| date.to_str().ok());
            let date = date.map(str::to_owned);
            anyhow::Ok((date, Remote::whole(answer).await?))
        };
        match timeout(ANSWER_TIME_MAX, asked).await {
            Ok(answer) => answer.map_err(|error| Unread::Said(error.to_string())),
            Err(_) => Err(Unread::InTime),
        }
    }

    /// Checks readiness, version and clock of the process.
    pub(super) async fn check(&self, clock: &Clock) -> Vec<Finding> {
        let mut found = Vec::new();
        let before = clock.now().as_ms();
        match self.get("/readyz").await {
            Ok((date, answer)) => {
                let after = clock.now().as_ms();
                found.extend(readiness(&self.url, &answer));
                let theirs = date.and_then(|date| jiff::fmt::rfc2822::parse(&date).ok());
                found.extend(theirs.map(|theirs| {
                    let theirs = theirs.timestamp().as_millisecond();
                    let reading = Reading { theirs, step: DATE_STEP_MS, before, after };
                    clocks::judge(&format!("the process at {}", self.url), reading)
                }));
            }
            Err(why) => found.push(Finding::error(
                Area::Process,
                format!("the process at {} does not say whether it is ready: {why}", self.url),
                "look at its log",
            )),
        }
        found.push(self.version().await);
        found
    }

    async fn version(&self) -> Finding {
        let Remote { connection, config } = self.calls();
        let client = AdminServiceClient::new(connection, config);
        match client.get_info(GetInfoRequest::default()).await {
            Ok(answer) => judge_version(&answer.version),
            Err(error) => {
                let error = said(&error);
                Finding {
                    severity: Severity::Warning,
                    ..Finding::failed(Area::Process, &error, "look at its log")
                }
            }
        }
    }

    /// The problems that the process reports, plus `ok` findings if its figures are recent. Returns
    /// `None` for an older version without this call.
    pub(super) async fn problems(&self, closed: &mut Closed) -> Option<Vec<Finding>> {
        let Remote { connection, config } = self.calls();
        let client = ObserveServiceClient::new(connection, config);
        match client.list_problems(ListProblemsRequest::default()).await {
            Ok(answer) => Some(judge_problems(&answer)),
            Err(error) if is_not_served(error.code) => None,
            Err(error) if closed.keeps(&error, &TOLD_BY_PROCESS.map(|(area, _)| area)) => Some(Vec::new()),
            Err(error) => Some(vec![Finding::failed(Area::Process, &said(&error), "look at its log")]),
        }
    }
}

/// Reads the open-files limit from the metrics. Older versions do not expose it, and it is hidden
/// from unauthorized callers.
fn files_max(metrics: &str) -> Option<u64> {
    let value = metrics.lines().find_map(|line| line.strip_prefix("process_max_fds "))?;
    value.trim().split('.').next()?.parse().ok()
}

/// Whether the error means that this version of the process does not have the call.
pub(super) fn is_not_served(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::Unimplemented | ErrorCode::NotFound)
}

fn readiness(url: &str, answer: &Value) -> Vec<Finding> {
    let problems = answer["problems"].as_array().map(Vec::as_slice).unwrap_or_default();
    if answer["ready"] == Value::Bool(true) {
        return vec![Finding::ok(Area::Process, format!("the process at {url} is ready"))];
    }
    let told = problems.iter().map(|problem| {
        let (check, why) = (problem["check"].as_str().unwrap_or("?"), problem["why"].as_str().unwrap_or("?"));
        let what = format!("the process at {url} is not ready: {check}: {why}");
        Finding::error(Area::Process, what, "mend what is named; if it stays so, look at its log")
    });
    let told: Vec<Finding> = told.collect();
    if told.is_empty() {
        let what = format!("the process at {url} does not say that it is ready");
        return vec![Finding::error(Area::Process, what, "look at its log")];
    }
    told
}

fn judge_version(theirs: &str) -> Finding {
    let ours = env!("CARGO_PKG_VERSION");
    if theirs == ours {
        return Finding::ok(Area::Process, format!("it is of version {theirs}, as this program"));
    }
    let what = format!("it is of version {theirs}, this program of version {ours}");
    Finding::warning(Area::Process, what, "restart the process with this binary, or ask with that one")
}

fn judge_problems(answer: &ListProblemsResponse) -> Vec<Finding> {
    let told: Vec<Finding> = answer.problems.iter().map(told).collect();
    let age = answer.age.as_option().map(|age| Duration::from_secs(age.seconds.try_into().unwrap_or(0)));
    let what = match age.filter(|_| answer.time.is_set()) {
        Some(age) if age <= LOOKED_AGO_MAX => return with_what_is_well(told),
        Some(age) => {
            format!(
                "the process has not looked at how it fares for {} s: what it says may not hold",
                age.as_secs()
            )
        }
        None => "the process has not looked yet at how it fares".to_owned(),
    };
    let remedy = "ask again in some seconds; if it stays so, look at the log of the process";
    [told, vec![Finding::warning(Area::Process, what, remedy)]].concat()
}

/// Adds an `ok` finding for every area without problems, to show that it was checked.
fn with_what_is_well(mut found: Vec<Finding>) -> Vec<Finding> {
    for (area, well) in TOLD_BY_PROCESS {
        if found.iter().all(|finding| finding.area != area) {
            found.push(Finding::ok(area, well));
        }
    }
    found
}

/// Converts a problem that the process reports.
fn told(problem: &Problem) -> Finding {
    use problem::Severity as Told;
    let Problem { code, about, text, remedy, .. } = problem;
    let what =
        if about.is_empty() || text.contains(&**about) { text.clone() } else { format!("{about}: {text}") };
    let area = area_of(code, about);
    match problem.severity.as_known().unwrap_or_default() {
        Told::SEVERITY_ERROR => Finding::error(area, what, remedy),
        Told::SEVERITY_NOTE => Finding::note(area, what, remedy),
        Told::SEVERITY_WARNING | Told::SEVERITY_UNSPECIFIED => Finding::warning(area, what, remedy),
    }
}

fn area_of(code: &str, about: &str) -> Area {
    // A check that cannot run is not ok.
    let what = if code == "looks_fail" { about } else { code };
    match what.split('_').next().unwrap_or_default() {
        "store" => Area::Store,
        "stage" | "queue" | "queues" => Area::Stages,
        "consumer" | "export" | "topics" => Area::Topics,
        "photos" => Area::Files,
        "feed" | "feeds" | "load" => Area::Feeds,
        "task" | "tasks" => Area::Tasks,
        _ => Area::Process,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use buffa_types::google::protobuf::Timestamp;

    use super::*;

    #[test]
    fn the_limit_of_open_files_is_read_from_the_figures() {
        assert_eq!(files_max("process_open_fds 7.0\nprocess_max_fds 65536.0\n# EOF\n"), Some(65_536));
        assert_eq!(files_max("process_max_fds 1024\n"), Some(1024));
        assert_eq!(files_max("{\"code\":\"unauthenticated\"}"), None);
    }

    #[test]
    fn what_keeps_a_process_from_being_ready_is_told() {
        let ready = serde_json::json!({ "ready": true, "problems": [] });
        assert_eq!(readiness("http://x", &ready)[0].severity, Severity::Ok);
        let not = serde_json::json!({ "ready": false, "problems": [{ "check": "store", "why": "away" }] });
        let told = readiness("http://x", &not);
        assert_eq!(told.len(), 1);
        assert!(told[0].severity == Severity::Error && told[0].what.ends_with("store: away"), "{told:?}");
        assert_eq!(readiness("http://x", &Value::Null)[0].severity, Severity::Error);
    }

    #[test]
    fn another_version_is_a_warning() {
        assert_eq!(judge_version(env!("CARGO_PKG_VERSION")).severity, Severity::Ok);
        assert_eq!(judge_version("0.0.0-other").severity, Severity::Warning);
    }

    #[test]
    fn problems_of_a_process_are_told_in_its_words_under_their_area() {
        let problem = Problem {
            severity: problem::Severity::SEVERITY_ERROR.into(),
            code: "stage_down".to_owned(),
            about: "spam".to_owned(),
            text: "it does not answer".to_owned(),
            remedy: "start it".to_owned(),
            ..Problem::default()
        };
        assert_eq!(told(&problem), Finding::error(Area::Stages, "spam: it does not answer", "start it"));
    }

    /// Every problem code of a process, and its area.
    const CODES: [(&str, Area); 28] = [
        ("consumer_stuck", Area::Topics),
        ("export_late", Area::Topics),
        ("feed_unreachable", Area::Feeds),
        ("feeds_unserved", Area::Feeds),
        ("figures_full", Area::Process),
        ("load_stuck", Area::Feeds),
        ("load_waits", Area::Feeds),
        ("looks_fail", Area::Process),
        ("not_ready", Area::Process),
        ("photos_missing", Area::Files),
        ("process_gone", Area::Process),
        ("queue_late", Area::Stages),
        ("shard_unserved", Area::Process),
        ("stage_down", Area::Stages),
        ("stage_parked", Area::Stages),
        ("stage_paused", Area::Stages),
        ("stopping", Area::Process),
        ("store_away", Area::Store),
        ("store_damaged", Area::Store),
        ("store_failed", Area::Store),
        ("store_full", Area::Store),
        ("store_read_only", Area::Store),
        ("task_failing", Area::Tasks),
        ("task_regressed", Area::Tasks),
        ("task_silent", Area::Tasks),
        ("tasks_undecided", Area::Tasks),
        ("time_moves", Area::Process),
        ("topics_away", Area::Topics),
    ];

    #[test]
    fn every_code_of_a_process_has_its_area() {
        for (code, area) in CODES {
            assert_eq!(area_of(code, ""), area, "{code}");
        }
        for (about, area) in [
            ("processes", Area::Process),
            ("queues", Area::Stages),
            ("export", Area::Topics),
            ("feeds", Area::Feeds),
            ("photos", Area::Files),
            ("tasks", Area::Tasks),
        ] {
            assert_eq!(area_of("looks_fail", about), area, "{about}");
        }
        // Every string in that file that looks like a code is one.
        let made = include_str!("../../../node/src/figures/problems.rs");
        let is_code = |text: &&str| {
            text.contains('_') && text.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
        };
        let codes: BTreeSet<&str> = made.split('"').filter(is_code).collect();
        let known: BTreeSet<&str> =
            CODES.iter().map(|(code, _)| *code).filter(|code| is_code(code)).collect();
        assert_eq!(codes, known);
    }

    #[test]
    fn of_a_process_that_has_not_looked_lately_nothing_is_told_as_well() {
        let severities = |answer: &ListProblemsResponse| -> Vec<Severity> {
            judge_problems(answer).iter().map(|finding| finding.severity).collect()
        };
        let looked = |seconds| ListProblemsResponse {
            time: Some(Timestamp::default()).into(),
            age: Some(buffa_types::google::protobuf::Duration { seconds, ..Default::default() }).into(),
            ..Default::default()
        };
        assert_eq!(severities(&looked(15)), [Severity::Ok; 3]);
        assert_eq!(severities(&looked(16)), [Severity::Warning]);
        assert!(
            judge_problems(&looked(16))[0].what.contains("for 16 s"),
            "{:?}",
            judge_problems(&looked(16))
        );
        assert_eq!(severities(&ListProblemsResponse::default()), [Severity::Warning], "it has just begun");
        let problems = vec![Problem { code: "stage_down".to_owned(), ..Problem::default() }];
        let old = ListProblemsResponse { problems, ..looked(100) };
        assert_eq!(severities(&old), [Severity::Warning, Severity::Warning]);
    }

    #[test]
    fn of_areas_without_problems_it_is_told_that_they_are_well() {
        let found = with_what_is_well(vec![Finding::note(Area::Stages, "expiry is paused", "resume it")]);
        let told: Vec<(Area, Severity)> =
            found.iter().map(|finding| (finding.area, finding.severity)).collect();
        let (note, ok) = (Severity::Note, Severity::Ok);
        assert_eq!(told, [(Area::Stages, note), (Area::Feeds, ok), (Area::Tasks, ok)]);
    }
}
