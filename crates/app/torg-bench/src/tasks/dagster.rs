//! Measures the peer, Dagster's declarative automation, in a separate process. Its runner and its
//! installer are in `bench/peers/dagster`.

use serde::Deserialize;

use super::graph::TASKS_A_PARAMETER;
use super::options::TasksBench;
use super::report::Report;
use crate::figure::Figure;
use crate::process::Peer;

/// `eager` never starts a task that is running, as Torg never does. `any_deps_updated` is the
/// cheapest condition; it does start running tasks.
const CONDITIONS: [&str; 2] = ["eager", "any_deps_updated"];

#[derive(Deserialize)]
struct Evaluated {
    full_ms: f64,
    limited_ms: f64,
    version: String,
}

pub(super) async fn measure(args: &TasksBench, report: &mut Report) -> anyhow::Result<()> {
    if args.dagster_rounds == 0 {
        return Ok(());
    }
    let peer = match Peer::python("dagster") {
        Ok(peer) => peer,
        Err(why) => {
            args.run.say(&format!("  SKIPPED: Dagster, {why}"));
            return Ok(());
        }
    };
    let data = std::path::absolute(args.run.folder())?.join("dagster");
    std::fs::create_dir_all(&data)?;
    let parameters = (args.tasks / TASKS_A_PARAMETER).to_string();
    let (tasks, rounds) = (args.tasks.to_string(), args.dagster_rounds.to_string());
    for condition in CONDITIONS {
        let folder = data.to_string_lossy();
        let arguments = [
            "evaluate",
            "--tasks",
            &tasks,
            "--parameters",
            &parameters,
            "--rounds",
            &rounds,
            "--condition",
            condition,
            "--data",
            &folder,
        ];
        let Evaluated { full_ms, limited_ms, version } = peer.run(&arguments).await?;
        let (full, limited) = (Figure::of(full_ms), Figure::of(limited_ms));
        let (ratio_full, ratio_limited) =
            (full.over(report.change_to_decision_ms), limited.over(report.change_to_decision_ms));
        args.run.say(&format!(
            "  Dagster {version}, {condition}: all tasks {full_ms:.0} ms ({:.0} times ours), only those affected {limited_ms:.0} ms ({:.0} times ours)",
            ratio_full.or_zero(),
            ratio_limited.or_zero()
        ));
        if condition == CONDITIONS[0] {
            (report.dagster_full_ms, report.dagster_limited_ms) = (full, limited);
            (report.ratio_full, report.ratio_limited) = (ratio_full, ratio_limited);
        } else {
            (report.dagster_cheap_full_ms, report.dagster_cheap_limited_ms) = (full, limited);
        }
        report.dagster_version = Some(version);
    }
    std::fs::remove_dir_all(&data)?;
    Ok(())
}
