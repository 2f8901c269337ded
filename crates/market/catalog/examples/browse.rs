//! Shows the built-in catalogue: `cargo run --release -p catalog --example browse -- [category id
//! or name] [language]`. Without a category it shows the roots; of a category it shows what stands
//! below it and what an offer in it says.

#![allow(clippy::disallowed_methods, reason = "it measures how long loading takes")]

use std::process::ExitCode;
use std::time::Instant;

use catalog::{Catalogue, Category, Kind};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let language = arguments.get(1).map_or("en", String::as_str);
    let start = Instant::now();
    let catalogue = match Catalogue::builtin() {
        Ok(catalogue) => catalogue,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let loaded = start.elapsed();
    let start = Instant::now();
    catalogue.prepare_search();
    let indexed = start.elapsed();
    println!(
        "{} version {}: {} categories, {} attributes; loaded in {:.1} ms, index of names in {:.1} ms, {:.1} MiB\n",
        catalogue.name(),
        catalogue.version(),
        catalogue.len(),
        catalogue.attributes().count(),
        loaded.as_secs_f64() * 1000.0,
        indexed.as_secs_f64() * 1000.0,
        catalogue.memory_bytes() as f64 / 1_048_576.0,
    );
    let Some(wanted) = arguments.first() else {
        for root in catalogue.roots() {
            print_line(root, language);
        }
        return ExitCode::SUCCESS;
    };
    let candidates = catalogue.find_category(wanted, None);
    let Some(best) = candidates.first() else {
        eprintln!("nothing is called \"{wanted}\"");
        return ExitCode::FAILURE;
    };
    println!("{} [{}] by {:?}", best.category.path(language), best.category.id(), best.reason);
    for child in best.category.children() {
        print!("  ");
        print_line(child, language);
    }
    print_rules(best.category, language);
    for other in candidates.iter().skip(1).take(5) {
        println!(
            "or {} [{}] by {:?}, {} points",
            other.category.path(language),
            other.category.id(),
            other.reason,
            other.points
        );
    }
    ExitCode::SUCCESS
}

fn print_line(category: Category<'_>, language: &str) {
    let below = category.children().len();
    let note = if category.is_closed() { ", closed" } else { "" };
    println!("{} [{}] {below} below{note}", category.name(language), category.id());
}

fn print_rules(category: Category<'_>, language: &str) {
    let limits = category.limits();
    let kinds: Vec<&str> = limits.price_kinds().map(catalog::PriceKind::as_str).collect();
    let conditions: Vec<&str> = category.conditions().map(|condition| condition.name(language)).collect();
    println!(
        "title {}..{}, description {}..{}, photos {}..{}, price {} ({}), condition {}",
        limits.title.least,
        limits.title.most,
        limits.description.least,
        limits.description.most,
        limits.photos.least,
        limits.photos.most,
        kinds.join("/"),
        if limits.price_required { "required" } else { "optional" },
        conditions.join("/"),
    );
    for used in category.attributes() {
        let attribute = used.attribute();
        let unit = attribute.unit().map_or("", |unit| unit.name(language));
        let mark = if used.required() { "*" } else { " " };
        println!(
            "  {mark} {} [{}]: {} {unit}",
            attribute.name(language),
            attribute.id(),
            describe(used.kind(), used.choices().count())
        );
    }
}

fn describe(kind: &Kind, choices: usize) -> String {
    match kind {
        Kind::Text { min_length, max_length, .. } => format!("text of {min_length}..{max_length} characters"),
        Kind::Whole { min, max } => format!("whole number {min}..{max}"),
        Kind::Decimal { min, max, .. } => format!("number {min:?}..{max:?}"),
        Kind::YesNo => "yes or no".into(),
        Kind::Date { min, max } => format!("date {min}..{max}"),
        Kind::One => format!("one of {choices}"),
        Kind::Several { max_values } => format!("up to {max_values} of {choices}"),
    }
}
