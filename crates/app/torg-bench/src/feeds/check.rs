//! Measures checks of feed files (splitting, validation against the schema, parsing; then
//! unification too) in turns with `xmllint`, which validates the same file against the same schema.
//!
//! Every check is a separate process. Those of Torg and of `xmllint` are timed from start to end.
//! With unification the time begins when the catalogue is loaded, which a server does once.

use std::fs::File;
use std::io::{BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use catalog::Catalogue;
use clap::ValueEnum as _;
use feedfile::generate::{Kind, Plan, Size};
use feedfile::{Options, Report as FileReport, XSD};
use feeds::Offline;
use serde::{Deserialize, Serialize};
use unify::Unifier;
use wire::torg::feeds::v1::Defaults;

use super::options::{Child, FeedsBench};
use super::report::{OfSize, Report};
use crate::figure::Figure;
use crate::machine::usage;
use crate::process::{answer, last_line};
use crate::processor::peak_mb;

const XMLLINT: &str = "xmllint";
const MB: f64 = 1e6;

/// The output of the process that checks a file.
#[derive(Serialize, Deserialize)]
struct Checked {
    offers: u64,
    accepted: u64,
    seconds: f64,
    cpu_s: f64,
    rss_mb: f64,
}

pub(super) fn measure(args: &FeedsBench, report: &mut Report) -> anyhow::Result<()> {
    let folder = args.folder().join("check");
    std::fs::create_dir_all(&folder).context("cannot make the folder of the files")?;
    let schema = folder.join("torg.xsd");
    std::fs::write(&schema, XSD)?;
    let has_xmllint = has_xmllint(args)?;
    for mb in &args.sizes {
        let file = folder.join(format!("{mb}.xml"));
        let plan = Plan::new(Kind::OwnXml, *mb, Size::Bytes(mb * 1_000_000));
        let offers = plan.write(BufWriter::new(File::create(&file)?))?;
        let of_size = of_size(args, &file, *mb, offers, has_xmllint.then_some(schema.as_path()))?;
        std::fs::remove_file(&file)?;
        say(args, &of_size);
        report.sizes.push(of_size);
    }
    std::fs::remove_dir_all(&folder).context("cannot remove the folder of the files")?;
    if let Some(first) = report.sizes.first() {
        report.check_mb_s = first.check_mb_s;
        report.xmllint_mb_s = first.xmllint_mb_s;
        report.ratio_xmllint = first.ratio_xmllint;
        report.unify_mb_s = first.unify_mb_s;
        report.ratio_unify = first.ratio_unify;
    }
    report.rss_mb = Figure::of(report.sizes.iter().map(|size| size.rss_mb.or_zero()).fold(0.0, f64::max));
    Ok(())
}

fn has_xmllint(args: &FeedsBench) -> anyhow::Result<bool> {
    match Command::new(XMLLINT).arg("--version").stderr(Stdio::null()).status() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            args.run.say("  SKIPPED: xmllint, it is not there (Debian: scripts/install libxml2-utils)");
            Ok(false)
        }
        status => Ok(status?.success()),
    }
}

/// Rounds in which each side has one turn with the file.
fn of_size(
    args: &FeedsBench,
    file: &Path,
    mb: u64,
    offers: u64,
    schema: Option<&Path>,
) -> anyhow::Result<OfSize> {
    let megabytes = file.metadata()?.len() as f64 / MB;
    let (mut check, mut unify, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_size = OfSize { mb, offers, ..OfSize::default() };
    let (mut rss_mb, mut unify_rss_mb) = (0.0_f64, 0.0_f64);
    for _ in 0..args.rounds {
        if let Some(schema) = schema {
            theirs.push(megabytes / by_xmllint(file, schema)?);
        }
        let start = Instant::now();
        let checked = by_torg(Child::Check, file, offers)?;
        check.push(megabytes / start.elapsed().as_secs_f64());
        rss_mb = rss_mb.max(checked.rss_mb);
        of_size.check_cpu_s = Figure::of(checked.cpu_s);
        let unified = by_torg(Child::Unify, file, offers)?;
        unify.push(megabytes / unified.seconds);
        unify_rss_mb = unify_rss_mb.max(unified.rss_mb);
        of_size.unify_cpu_s = Figure::of(unified.cpu_s);
    }
    let figure = |figures: Vec<f64>| median(figures).map(Figure::of).unwrap_or_default();
    of_size.check_mb_s = figure(check);
    of_size.unify_mb_s = figure(unify);
    of_size.xmllint_mb_s = figure(theirs);
    of_size.ratio_xmllint = of_size.check_mb_s.over(of_size.xmllint_mb_s);
    of_size.ratio_unify = of_size.unify_mb_s.over(of_size.xmllint_mb_s);
    of_size.rss_mb = Figure::of(rss_mb);
    of_size.unify_rss_mb = Figure::of(unify_rss_mb);
    Ok(of_size)
}

/// The seconds that `xmllint` takes.
fn by_xmllint(file: &Path, schema: &Path) -> anyhow::Result<f64> {
    let mut command = Command::new(XMLLINT);
    command.args(["--stream", "--noout", "--schema"]).arg(schema).arg(file);
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    let seconds = start.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "xmllint does not accept the file: {said}");
    Ok(seconds)
}

fn by_torg(child: Child, file: &Path, offers: u64) -> anyhow::Result<Checked> {
    let name = child.to_possible_value().context("every part has a name")?.get_name().to_owned();
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.args(["feeds", "--child", &name, "--file"]).arg(file).stderr(Stdio::inherit());
    let output = command.stdin(Stdio::null()).output()?;
    anyhow::ensure!(output.status.success(), "the process for {name} failed: {}", output.status);
    let checked: Checked = last_line(&output.stdout).context("the process for a check gave no answer")?;
    anyhow::ensure!(
        checked.offers == offers && checked.accepted == offers,
        "{name}: of {offers} offers {} were found and {} accepted",
        checked.offers,
        checked.accepted
    );
    Ok(checked)
}

/// One check, in a process that does nothing else.
pub(super) fn in_child(child: Child, file: Option<&PathBuf>) -> anyhow::Result<()> {
    let file = File::open(file.context("no file")?)?;
    let offline = match child {
        Child::Check => None,
        Child::Unify => Some(offline()?),
    };
    let mut session = offline.as_ref().map(Offline::session);
    let (start, (cpu, _)) = (Instant::now(), usage());
    let FileReport { summary, .. } = match &mut session {
        None => feedfile::check(file, Options::default(), &mut ()),
        Some(session) => feedfile::check_with(file, Options::default(), &mut (), session, 1),
    };
    answer(&Checked {
        offers: summary.offers,
        accepted: summary.accepted,
        seconds: start.elapsed().as_secs_f64(),
        cpu_s: usage().0 - cpu,
        rss_mb: peak_mb(std::process::id()).unwrap_or_default(),
    })
}

fn offline() -> anyhow::Result<Offline> {
    let catalogue = Arc::new(Catalogue::builtin()?);
    let unifier = Unifier::new(Arc::clone(&catalogue), Arc::new(geo::Places::builtin()?))?;
    Ok(Offline::new(Arc::new(unifier), catalogue, Defaults::default()))
}

fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

fn say(args: &FeedsBench, size: &OfSize) {
    args.run.say(&format!("  {} MB, {} offers; medians of {} rounds:", size.mb, size.offers, args.rounds));
    args.run.say(&format!("    xmllint        {:>9.0} MB/s", size.xmllint_mb_s.or_zero()));
    args.run.say(&format!(
        "    check          {:>9.0} MB/s   ratio {:.2} (goal 1.3)   {:.1} s of processor, at most {:.0} MiB (goal below 100)",
        size.check_mb_s.or_zero(),
        size.ratio_xmllint.or_zero(),
        size.check_cpu_s.or_zero(),
        size.rss_mb.or_zero()
    ));
    args.run.say(&format!(
        "    and unify      {:>9.0} MB/s   ratio {:.2} (goal 0.7)   {:.1} s of processor, at most {:.0} MiB with catalogue and places",
        size.unify_mb_s.or_zero(),
        size.ratio_unify.or_zero(),
        size.unify_cpu_s.or_zero(),
        size.unify_rss_mb.or_zero()
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_of_a_generated_file_are_accepted_by_the_catalogue_too() {
        let mut file = Vec::new();
        let offers = Plan::new(Kind::OwnXml, 3, Size::Offers(500)).write(&mut file).unwrap();
        let offline = offline().unwrap();
        let report = feedfile::check_with(&*file, Options::default(), &mut (), &mut offline.session(), 3);
        let text = report.render("generated", feedfile::Language::English);
        assert_eq!(report.summary.accepted, offers, "{text}");
    }

    #[test]
    fn a_median_is_in_the_middle_and_none_if_there_is_nothing() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
    }
}
