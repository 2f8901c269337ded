//! Formats categories and attributes as text and as JSON.

use catalog::{Candidate, Category, Kind, Use};
use serde_json::{Value, json};

use terminal::table;

/// The category, its children and its attributes, as text.
pub(super) fn shown(category: Category<'_>, language: &str) -> Vec<String> {
    let mut lines = vec![named(category, language)];
    lines.extend(category.children().map(|child| format!("  {}", named(child, language))));
    lines.extend(category.attributes().map(|used| format!("  {}", attribute(used, language))));
    lines
}

/// The category, its children and its attributes, as JSON.
pub(super) fn whole(category: Category<'_>, language: &str) -> Value {
    let attribute = |used: Use<'_>| {
        let about = used.attribute();
        let choices: Vec<&str> = used.choices().map(catalog::Choice::id).collect();
        json!({
            "id": about.id(),
            "name": about.name(language),
            "type": used.kind().type_name(),
            "unit": about.unit().map(|unit| unit.name(language)),
            "choices": choices,
            "required": used.required(),
        })
    };
    let mut object = described(category, language);
    object["children"] = category.children().map(|child| described(child, language)).collect();
    object["attributes"] = category.attributes().map(attribute).collect();
    object
}

pub(super) fn described(category: Category<'_>, language: &str) -> Value {
    json!({ "id": category.id(), "path": category.path(language), "accepts_offers": category.accepts_offers() })
}

/// A table of the categories that match a text.
pub(super) fn found(candidates: &[Candidate<'_>], language: &str) -> Vec<String> {
    let head = ["POINTS", "CATEGORY", "NAME", ""].map(str::to_owned);
    let rows = candidates.iter().map(|Candidate { points, category, .. }| {
        let (id, path) = (category.id().to_owned(), category.path(language));
        [points.to_string(), id, path, closed(*category).to_owned()]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

pub(super) fn named(category: Category<'_>, language: &str) -> String {
    format!("{}  {}  {}", category.id(), category.path(language), closed(category)).trim_end().to_owned()
}

/// Marks a category that only groups others and accepts no offers.
fn closed(category: Category<'_>) -> &'static str {
    if category.accepts_offers() { "" } else { "(no offers of its own)" }
}

fn attribute(used: Use<'_>, language: &str) -> String {
    let about = used.attribute();
    let required = if used.required() { ", required" } else { "" };
    let unit = about.unit().map(|unit| format!(" in {}", unit.name(language))).unwrap_or_default();
    let values = match used.kind() {
        Kind::One | Kind::Several { .. } => {
            format!(": {}", used.choices().map(catalog::Choice::id).collect::<Vec<_>>().join(", "))
        }
        Kind::Whole { min, max } => format!(" from {min} to {max}"),
        _ => String::new(),
    };
    format!("{} ({}): {}{unit}{values}{required}", about.id(), about.name(language), used.kind().type_name())
}
