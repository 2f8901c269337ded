//! `torg-bench feeds`: how fast files are checked, how fast they become live offers, and whether
//! small sellers wait for big ones.
//!
//! - *Check*: generated files of Torg's own XML are split, validated against the schema and parsed,
//!   and then also unified. The reference is `xmllint` with the same schema.
//! - *Load*: a file becomes live offers in a whole marketplace, with its results stored; then a
//!   second file, in which one offer of a hundred is different. The reference is the writes of
//!   `bench offers`.
//! - *Fairness*: many small sellers load at once, alone and beside a big one.

mod check;
mod fairness;
mod load;
mod market;
mod options;
mod report;

use anyhow::Context as _;

pub(crate) use self::options::FeedsBench;
use self::options::Part;
use self::report::Report;

use crate::process;

pub(super) async fn run(args: FeedsBench) -> anyhow::Result<()> {
    if let Some(child) = args.child {
        return check::in_child(child, args.file.as_ref());
    }
    let outcome = measure(&args).await;
    let report = outcome.with_context(|| format!("what is left of it is in {}", args.folder().display()))?;
    clear(&args).await?;
    process::answer(&report)
}

/// Not called after a failed run, whose stores and files stay.
async fn clear(args: &FeedsBench) -> anyhow::Result<()> {
    for side in [load::SIDE, fairness::SIDE] {
        market::clear(args, side).await?;
    }
    let _ = std::fs::remove_dir_all(args.folder());
    // The folder stays if it holds something else.
    let _ = std::fs::remove_dir(args.run.folder());
    Ok(())
}

async fn measure(args: &FeedsBench) -> anyhow::Result<Report> {
    let mut report =
        Report { bench: "feeds", engine: args.run.engine(), offers: args.offers, ..Report::default() };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    args.run.say(&format!("feeds on {}, {cores} cores", args.run.engine()));
    std::fs::create_dir_all(args.folder()).context("cannot make the folder of the run")?;
    if args.wants(Part::Check) {
        check::measure(args, &mut report)?;
    }
    if args.wants(Part::Load) {
        load::measure(args, &mut report).await?;
    }
    if args.wants(Part::Fairness) {
        fairness::measure(args, &mut report).await?;
    }
    Ok(report)
}
