//! Measures the peer Restate, with a virtual object for each offer, in a separate process. Its
//! runner and its installer are in `bench/peers/restate`.

use serde::Deserialize;

use super::options::StagesBench;
use super::report::Report;
use crate::figure::Figure;
use crate::process::Peer;

/// Bytes of the object that stands for the offer.
const OFFER_BYTES: u64 = 2000;

#[derive(Deserialize)]
struct Visited {
    per_s: f64,
    #[serde(default)]
    settings: serde_json::Value,
}

/// Each visit reads and changes an offer and its own state, and calls itself a day later.
pub(super) async fn measure(args: &StagesBench, report: &mut Report) -> anyhow::Result<()> {
    if args.restate_visits == 0 {
        return Ok(());
    }
    let peer = match Peer::node("restate") {
        Ok(peer) => peer,
        Err(why) => {
            args.run.say(&format!("  SKIPPED: Restate, {why}"));
            return Ok(());
        }
    };
    let (visits, bytes) = (args.restate_visits.to_string(), OFFER_BYTES.to_string());
    let data = std::path::absolute(args.run.folder())?;
    let data = data.to_string_lossy();
    let Visited { per_s, settings } =
        peer.run(&["stateful", "--visits", &visits, "--bytes", &bytes, "--data", &data]).await?;
    report.restate_per_s = Figure::of(per_s);
    report.ratio_restate = report.stateful_grpc_per_s.over(report.restate_per_s);
    args.run.say(&format!(
        "  Restate          {per_s:>9.0} visits/s   ours behind gRPC over theirs {:.2}   ({settings})",
        report.ratio_restate.or_zero()
    ));
    report.restate_settings = Some(settings.to_string());
    Ok(())
}
