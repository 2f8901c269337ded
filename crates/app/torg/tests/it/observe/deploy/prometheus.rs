//! The files for Prometheus, checked by Prometheus itself: its tool, and a server that scrapes a
//! Torg.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::Value;

use super::{all, folder, read, yaml};
use crate::common::{Answer, Server, run, torg};
use crate::observe::rig::eventually;

/// A program that `scripts/prometheus` has installed, if it has.
fn program(name: &str) -> Option<PathBuf> {
    let path = testkit::cache_folder().join("prometheus/usr/bin").join(name);
    if !path.exists() {
        testkit::skip(
            "the files for Prometheus, judged by itself",
            "Prometheus is not there (scripts/prometheus)",
        );
        return None;
    }
    Some(path)
}

/// The output of `promtool` about files of `deploy/prometheus`, and whether they are valid.
fn judged(promtool: &Path, arguments: &[&str], at: &Path) -> (bool, String) {
    let output = Command::new(promtool).args(arguments).current_dir(at).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[test]
fn every_alert_goes_off_for_what_it_is_about_and_for_nothing_that_is_well_or_passes() {
    let Some(promtool) = program("promtool") else { return };
    let at = folder().join("deploy/prometheus");
    let (content, said) = judged(&promtool, &["test", "rules", "alerts.test.yml"], &at);
    assert!(content, "{said}");

    // The first of its tests has a case for each alert.
    let (rules, tests) = (yaml("deploy/prometheus/alerts.yml"), yaml("deploy/prometheus/alerts.test.yml"));
    let mut labels = Vec::new();
    all(&tests["tests"][0], "labels", &mut labels);
    let mut alerts = Vec::new();
    all(&rules, "alert", &mut alerts);
    for alert in &alerts {
        assert!(labels.contains(&&*format!("{{alertname=\"{alert}\"}}")), "{alert} has no case");
    }
    assert_eq!(labels.len(), alerts.len());

    // The check itself finds a mistake.
    let other = tempfile::tempdir().unwrap();
    let changed =
        read("deploy/prometheus/alerts.yml").replace("torg_stage_down) == 1", "torg_stage_down) == 2");
    std::fs::write(other.path().join("alerts.yml"), changed).unwrap();
    std::fs::copy(at.join("alerts.test.yml"), other.path().join("alerts.test.yml")).unwrap();
    let (content, said) = judged(&promtool, &["test", "rules", "alerts.test.yml"], other.path());
    assert!(!content && said.contains("TorgStageDown"), "{said}");
}

/// A running Prometheus; killed when dropped.
struct Prometheus {
    child: Child,
    address: SocketAddr,
}

impl Prometheus {
    /// With our configuration except for the addresses of Torg and of the alerts, the key, and the
    /// scrape interval.
    fn start(program: &Path, folder: &Path, torg: &Server, key: &str) -> Prometheus {
        let changed = [
            ("\"torg:8080\"", format!("\"{}\"", torg.address)),
            ("/scrape/key", folder.join("key").display().to_string()),
            (
                "/etc/prometheus/alerts.yml",
                super::folder().join("deploy/prometheus/alerts.yml").display().to_string(),
            ),
            ("scrape_interval: 10s", "scrape_interval: 500ms\n  scrape_timeout: 500ms".to_owned()),
            ("evaluation_interval: 10s", "evaluation_interval: 500ms".to_owned()),
        ];
        let mut file = read("deploy/prometheus/scrape.yml");
        for (ours, here) in changed {
            assert_eq!(file.matches(ours).count(), 1, "{ours}");
            file = file.replace(ours, &here);
        }
        std::fs::write(folder.join("key"), key).unwrap();
        std::fs::write(folder.join("scrape.yml"), file).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], testkit::free_port()));
        let child = Command::new(program)
            .arg("--config.file=scrape.yml")
            .arg("--storage.tsdb.path=data")
            .arg(format!("--web.listen-address={address}"))
            .current_dir(folder)
            .stderr(Stdio::from(std::fs::File::create(folder.join("log")).unwrap()))
            .spawn()
            .unwrap();
        Prometheus { child, address }
    }

    /// The data of a response; nothing while the server is not ready or fails.
    fn asked(&self, path: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        write!(stream, "GET /api/v1/{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").ok()?;
        let answer = Answer::read(stream);
        (answer.status == 200).then(|| answer.json()["data"].clone())
    }

    /// The samples of an expression now.
    fn samples(&self, expression: &str) -> Option<Vec<Value>> {
        let written =
            expression.bytes().fold(String::new(), |written, byte| written + &format!("%{byte:02X}"));
        Some(self.asked(&format!("query?query={written}"))?["result"].as_array()?.clone())
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn prometheus_reads_torg_with_a_key_fills_every_panel_and_tells_of_its_end() {
    let Some(program) = program("prometheus") else { return };
    let (folder, beside) = (Arc::new(tempfile::tempdir().unwrap()), tempfile::tempdir().unwrap());
    let made = run(torg(&folder, &["keys", "add", "prometheus", "--role", "service"]));
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let mut server = Server::start_in(&folder, &[("TORG_ACCESS_MODE", "required")]);
    // Calls with several outcomes.
    let key = made.stdout.trim();
    for (path, token) in [("ListStages", Some(key)), ("GetStage", Some(key)), ("ListStages", None)] {
        server.call(&format!("/torg.stages.v1.StageAdminService/{path}"), token, "{}");
    }
    let prometheus = Prometheus::start(&program, beside.path(), &server, made.stdout.trim_end());

    eventually("Torg is seen", || {
        let up = prometheus.samples("up{job=\"torg\"}")?;
        up.iter().any(|sample| sample["value"][1] == "1").then_some(())
    });
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/torg.json")).unwrap();
    let mut expressions = Vec::new();
    all(&dashboard["panels"], "expr", &mut expressions);
    assert!(expressions.len() > 30, "{}", expressions.len());
    for expression in expressions {
        let here = expression.replace("$job", "torg").replace("$__rate_interval", "1m");
        eventually(&here, || prometheus.samples(&here).filter(|samples| !samples.is_empty()));
    }

    // Every rule has been evaluated, and none fires yet.
    let rules = || prometheus.asked("rules")?["groups"][0]["rules"].as_array().cloned();
    let counted = eventually("every rule is counted", || {
        rules().filter(|rules| rules.iter().all(|rule| rule["health"] != "unknown"))
    });
    for rule in &counted {
        assert_eq!(rule["health"], "ok", "{rule}");
        assert_ne!(rule["state"], "firing", "{rule}");
    }
    server.signal("KILL");
    server.wait();
    eventually("that it is gone is told", || {
        rules()?.into_iter().find(|rule| rule["name"] == "TorgGone" && rule["state"] != "inactive")
    });
}
