//! Every mistake that a person makes is told with its line, its column, and what to do.

use std::fmt::Write;
use taskfile::TaskSet;

const TABLE: &str = include_str!("mistakes.txt");

struct Case {
    title: String,
    files: Vec<(String, String)>,
    said: String,
}

fn cases() -> Vec<Case> {
    let sections = TABLE.split("=== ").skip(1);
    let case = |section: &str| {
        let (title, rest) = section.split_once('\n').unwrap();
        let (files, said) = rest.split_once("<<<\n").unwrap();
        let names = ('a'..).map(|name| format!("{name}.yaml"));
        let files = names.zip(files.split(">>>\n").map(str::to_owned)).collect();
        Case { title: title.to_owned(), files, said: said.trim_end().to_owned() }
    };
    sections.map(case).collect()
}

/// What is said about files, one problem a line, with its remedy and its other places below it.
fn said(files: &[(String, String)]) -> String {
    let mut out = String::new();
    let Err(errors) = TaskSet::read(files.to_vec()) else { return "nothing".to_owned() };
    for error in errors.errors {
        let _ = writeln!(out, "{}:{} {}: {}", error.file, error.at, error.code.name(), error.message);
        for related in &error.related {
            let _ = writeln!(out, "  {}:{} {}", related.file, related.at, related.message);
        }
        if !error.remedy.is_empty() {
            let _ = writeln!(out, "  = {}", error.remedy);
        }
    }
    out.trim_end().to_owned()
}

/// The table with what is said now, to be looked at and kept: `cargo test -p taskfile --test
/// mistakes -- --ignored --nocapture`.
#[test]
#[ignore = "prints the table"]
#[allow(clippy::print_stdout, reason = "this is what it is for")]
fn the_table_is_printed() {
    for section in TABLE.split("=== ").skip(1).zip(cases()) {
        let (head, _) = section.0.split_once("<<<\n").unwrap();
        println!("=== {head}<<<\n{}\n", said(&section.1.files));
    }
}

#[test]
fn every_mistake_is_told_with_its_line_and_column_and_what_to_do() {
    let cases = cases();
    assert!(cases.len() >= 40, "there are only {} mistakes", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .filter(|case| said(&case.files) != case.said)
        .map(|case| format!("=== {}\n{}\n", case.title, said(&case.files)))
        .collect();
    assert!(wrong.is_empty(), "{} of {} are told otherwise:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn every_mistake_shows_its_line_with_a_caret_under_the_place() {
    for case in cases() {
        let errors = TaskSet::read(case.files.clone()).unwrap_err();
        for error in errors.errors {
            let (_, text) = case.files.iter().find(|(name, _)| *name == error.file).unwrap();
            let line = text.lines().nth(error.at.line as usize - 1).unwrap_or_default();
            let expected = line.chars().nth(error.at.column as usize - 1);
            let shown = error.excerpt.text.chars().nth(error.excerpt.caret);
            let hidden = case.title == "a URL with a password";
            let expected = expected.map(|c| match c {
                '\t' => ' ',
                _ if hidden => '*',
                c => c,
            });
            assert_eq!(shown, expected, "{}: {error}", case.title);
        }
    }
}
