//! Measures the peer graphile-worker, a job queue on PostgreSQL, in a separate process of Node. Its
//! runner and its installer are in `bench/peers/graphile-worker`.

use std::time::Duration;

use serde::Deserialize;

use super::ad::BODY_BYTES;
use super::fresh::SAVES_PER_S;
use super::options::WatcherBench;
use super::report::Report;
use crate::figure::Figure;
use crate::measure::Measure;
use crate::process;

pub(super) struct Peer {
    peer: process::Peer,
    url: String,
}

#[derive(Deserialize)]
struct Burned {
    jobs: u64,
    seconds: f64,
}

#[derive(Deserialize)]
struct PickedUp {
    p50_ms: f64,
    p99_ms: f64,
    settings: String,
}

impl Peer {
    /// The peer, if it is requested and can run; prints why it cannot.
    pub(super) fn find(args: &WatcherBench) -> Option<Self> {
        if !args.peer {
            return None;
        }
        let skipped = |why: &str| {
            args.run.say(&format!("  SKIPPED: peer, {why}"));
            None
        };
        let Some(url) = args.run.postgres() else { return skipped("it needs --store postgres://...") };
        match process::Peer::node("graphile-worker") {
            Ok(peer) => Some(Self { peer, url: url.to_owned() }),
            Err(why) => skipped(&why),
        }
    }

    /// Jobs that do the work of a stateful visit, all queued before the first one runs.
    pub(super) async fn stateful(&self, jobs: u64) -> anyhow::Result<Measure> {
        let jobs = jobs.to_string();
        let Burned { jobs, seconds } = self.run(&["stateful", "--jobs", &jobs]).await?;
        Ok(Measure::of(jobs, Duration::from_secs_f64(seconds)))
    }

    /// From a new job to the call of its handler.
    pub(super) async fn pickup(&self, args: &WatcherBench, report: &mut Report) -> anyhow::Result<()> {
        let (rate, seconds) = (SAVES_PER_S.to_string(), args.seconds.to_string());
        let PickedUp { p50_ms, p99_ms, settings } =
            self.run(&["pickup", "--rate", &rate, "--seconds", &seconds]).await?;
        report.peer_pickup_p50_ms = Figure::of(p50_ms);
        report.peer_pickup_p99_ms = Figure::of(p99_ms);
        args.run.say(&format!("  its pick-up      {p50_ms:>9.2} ms p50, {p99_ms:.2} ms p99   ({settings})"));
        report.peer_settings = Some(settings);
        Ok(())
    }

    async fn run<T: serde::de::DeserializeOwned>(&self, what: &[&str]) -> anyhow::Result<T> {
        let bytes = BODY_BYTES.to_string();
        self.peer.run(&[what, &["--url", &self.url, "--bytes", &bytes]].concat()).await
    }
}
