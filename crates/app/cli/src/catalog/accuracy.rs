//! `torg catalog accuracy`: measures category recognition on titles labelled by people.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use catalog::Catalogue;
use clap::Args;
use serde_json::{Value, json};
use unify::{Accuracy, LABELLED, Labelled, Miss, Part, Score, Unifier};

use node::catalogue::load_catalogue;
use terminal::errors::advised;
use terminal::say;

/// What to measure by, and how to say it.
#[derive(Debug, Args)]
pub(crate) struct Measure {
    /// Lines of part (`train` or `test`), title, path, category, others that are right too, with
    /// tabs between them; by default the set that comes with Torg.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// One object of JSON instead of lines.
    #[arg(long)]
    json: bool,
    /// Also every title whose first answer was wrong.
    #[arg(long)]
    errors: bool,
}

pub(super) fn run(measure: &Measure, catalogue_dir: &Path) -> anyhow::Result<()> {
    let text = match &measure.file {
        Some(file) => {
            let unreadable = |error| advised(format!("{}: {error}", file.display()), "give a labelled set");
            std::fs::read_to_string(file).map_err(unreadable)?
        }
        None => LABELLED.to_owned(),
    };
    let catalogue = Arc::new(load_catalogue(catalogue_dir)?);
    let places = Arc::new(geo::Places::builtin().context("the built-in places")?);
    let unifier = Unifier::new(Arc::clone(&catalogue), places).context("the catalogue")?;
    let hint = "each line has a part, a title, a path, a category of the catalogue, with tabs between them";
    let wrong = |error: unify::Error| advised(error, hint);
    let set = Labelled::read(&text).map_err(wrong)?;
    let accuracy = Accuracy::measure(&unifier, &set).map_err(wrong)?;
    let answer = as_object(&accuracy, measure.errors);
    say(measure.json, &answer, || as_lines(&accuracy, &catalogue, measure.errors))
}

fn part(part: Part) -> &'static str {
    match part {
        Part::Train => "train",
        Part::Test => "held-out",
    }
}

fn parts(accuracy: &Accuracy<'_>) -> [(&'static str, Score); 3] {
    [(part(Part::Test), accuracy.test), (part(Part::Train), accuracy.train), ("whole", accuracy.whole())]
}

fn as_lines(accuracy: &Accuracy<'_>, catalogue: &Catalogue, with_errors: bool) -> Vec<String> {
    let scored = |(part, score): (&str, Score)| {
        let Score { lines, first, .. } = score;
        let (top1, top2) = (score.top1(), score.top2());
        format!("{part:<8}  {first:>4} of {lines:>4} right ({top1:.1} %), in the first two {top2:.1} %")
    };
    let mut lines: Vec<String> = parts(accuracy).into_iter().map(scored).collect();
    if with_errors {
        lines.extend(accuracy.misses.iter().flat_map(|miss| as_words(miss, catalogue)));
    } else if !accuracy.misses.is_empty() {
        lines.push(format!("--errors lists the {} that are wrong", accuracy.misses.len()));
    }
    lines
}

fn as_words(miss: &Miss<'_>, catalogue: &Catalogue) -> Vec<String> {
    let named = |id: &str| {
        let path = catalogue.category(id).map(|category| category.path("en")).unwrap_or_default();
        format!("{id}  {path}")
    };
    let Labelled { title, path, right, .. } = &miss.labelled;
    let mut lines =
        vec![String::new(), format!("{}: {title} [{}]", part(miss.labelled.part), path.join(" > "))];
    lines.extend(right.first().map(|id| format!("  right   {}", named(id))));
    lines.push(match &miss.answer {
        Some((id, points, by)) => format!("  answer  {} ({points} points by {})", named(id), by.as_str()),
        None => "  answer  none".to_owned(),
    });
    lines.extend(miss.second.iter().map(|id| format!("  second  {}", named(id))));
    lines
}

fn as_object(accuracy: &Accuracy<'_>, with_errors: bool) -> Value {
    let scored = |score: Score| {
        json!({
            "lines": score.lines,
            "first": score.first,
            "first_two": score.first_two,
            "top1": score.top1() / 100.0,
            "top2": score.top2() / 100.0,
        })
    };
    let [test, train, whole] = parts(accuracy).map(|(_, score)| scored(score));
    let mut object = json!({ "held_out": test, "train": train, "whole": whole });
    if with_errors {
        object["errors"] = accuracy.misses.iter().map(miss_as_object).collect();
    }
    object
}

fn miss_as_object(miss: &Miss<'_>) -> Value {
    let answer = miss.answer.as_ref();
    json!({
        "part": part(miss.labelled.part),
        "title": miss.labelled.title,
        "path": miss.labelled.path,
        "right": miss.labelled.right,
        "answer": answer.map(|(id, ..)| id),
        "points": answer.map(|(_, points, _)| points),
        "by": answer.map(|(.., by)| by.as_str()),
        "second": miss.second,
    })
}
