//! The page that explains every code.

use super::table::ROWS;
use super::{Area, Row};
use crate::Severity;
use std::fmt::Write;

const AREAS: [(Area, &str); 7] = [
    (Area::File, "The file as a whole"),
    (Area::Markup, "How the file is written"),
    (Area::Validation, "Fields of an offer"),
    (Area::Catalogue, "Categories and attributes"),
    (Area::Place, "Places"),
    (Area::Media, "Photos and videos"),
    (Area::Rules, "Rules of the marketplace"),
];

const HEAD: &str = "# Feed problems and how to fix them

Every problem in a report has a code from this page. An *error* rejects its offer. With a *warning* the offer is accepted, without
the wrong field or with the guess that the message names. A problem of the file as a whole ends the
load at its place: no offer is removed because of it.

Каждая проблема в отчёте имеет код с этой страницы. С *ошибкой* (error) объявление не принимается; с *предупреждением* (warning) принимается без неверного поля или с догадкой,
которая названа в сообщении. Ошибка файла целиком останавливает загрузку: из-за неё ничего не удаляется.

This page is made from the table in `crates/feeds/feedfile/src/codes/table.rs`.
";

#[must_use]
pub fn page() -> String {
    let mut out = String::from(HEAD);
    for (area, title) in AREAS {
        let _ = writeln!(out, "\n## {title}");
        for row in ROWS.iter().filter(|row| row.area == area) {
            write_row(&mut out, row);
        }
    }
    out
}

fn write_row(out: &mut String, row: &Row) {
    let severity = match row.severity {
        Severity::Error if row.area == Area::File => "ends the load",
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let _ = writeln!(out, "\n### {}\n{severity}\n", row.name);
    let _ = writeln!(out, "- {} **{}**", row.english.meaning, row.english.remedy);
    let _ = writeln!(out, "- {} **{}**", row.russian.meaning, row.russian.remedy);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_page_is_the_one_that_the_table_makes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/feed-errors.md");
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == page(),
            "make it again: cargo run -p feedfile --example errors_page > docs/feed-errors.md"
        );
    }
}
