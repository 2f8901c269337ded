//! `torg catalog find | show | check | survey`: the output for valid and invalid input, and the
//! exit codes that scripts rely on.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod survey;

use crate::common::{Ended, run, torg};

const SHOP: &str = r#"[catalogue]
name = "shop"
version = 3
languages = ["en", "ru"]

[attribute.speeds]
name = { en = "Speeds", ru = "Скорости" }
type = "whole"
min = 1
max = 30

[attribute.frame]
name = { en = "Frame", ru = "Рама" }
type = "one"
[attribute.frame.values]
steel = "Steel"
carbon = "Carbon"

[category.sport]
name = { en = "Sport", ru = "Спорт" }

[category.bikes]
parent = "sport"
name = { en = "Bicycles", ru = "Велосипеды" }
synonyms = { en = ["push-bike"] }
required = ["frame"]
optional = ["speeds"]
"#;

/// A folder with these files in its subfolder `own`, and a configuration that names it.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("own")).unwrap();
    std::fs::write(folder.path().join("torg.toml"), "[offers]\ncatalogue_dir = \"own\"\n").unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join("own").join(name), text).unwrap();
    }
    folder
}

/// The output of a command that succeeds.
fn done(folder: &tempfile::TempDir, arguments: &[&str]) -> Vec<String> {
    let Ended { code, stdout, stderr } = run(torg(folder, arguments));
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{arguments:?}: {stdout}");
    stdout.lines().map(str::to_owned).collect()
}

/// The output of a command that refuses: its lines on stdout, its error, its hint.
fn refused(folder: &tempfile::TempDir, arguments: &[&str]) -> (Vec<String>, String, String) {
    let Ended { code, stdout, stderr } = run(torg(folder, arguments));
    assert_eq!(code, Some(1), "{arguments:?}: {stdout}{stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    let [error, hint] = lines[..] else { panic!("not two lines: {stderr}") };
    let error = error.strip_prefix("error: ").unwrap().to_owned();
    let hint = hint.strip_prefix("hint: ").unwrap().to_owned();
    (stdout.lines().map(str::to_owned).collect(), error, hint)
}

#[test]
fn find_tells_the_categories_of_the_built_in_catalogue_the_surest_first() {
    let empty = tempfile::tempdir().unwrap();
    let found = done(&empty, &["catalog", "find", "city bike"]);
    let (head, found) = found.split_first().unwrap();
    assert_eq!(head.split_whitespace().collect::<Vec<_>>(), ["POINTS", "CATEGORY", "NAME"]);
    let first: Vec<&str> = found[0].split_whitespace().collect();
    assert_eq!(first[1], "sg-4-4-3-2", "{found:?}");
    let points = |line: &String| line.split_whitespace().next().unwrap().parse::<u32>().unwrap();
    assert!(found.iter().map(points).is_sorted_by(|before, after| before >= after), "{found:?}");
}

#[test]
fn find_knows_synonyms_and_paths_of_the_configured_catalogue_in_its_languages() {
    let own = folder(&[("shop.toml", SHOP)]);
    for text in ["push-bike", "bicycles", "Sport > Bicycles", "bikes", "велосипеды"] {
        let found = done(&own, &["catalog", "find", text]);
        assert!(found[1].ends_with("  bikes     Sport > Bicycles"), "{text}: {found:?}");
    }
    let found = done(&own, &["catalog", "find", "велосипеды", "--language", "ru"]);
    assert!(found[1].ends_with("  bikes     Спорт > Велосипеды"), "{found:?}");
}

#[test]
fn find_without_a_match_is_refused_with_what_to_do() {
    let own = folder(&[("shop.toml", SHOP)]);
    let (printed, error, hint) = refused(&own, &["catalog", "find", "submarine"]);
    assert!(printed.is_empty(), "{printed:?}");
    assert_eq!(error, "nothing is called \"submarine\"");
    assert!(hint.contains("torg catalog show"), "{hint}");
}

#[test]
fn show_tells_roots_children_and_attributes() {
    let own = folder(&[("shop.toml", SHOP)]);
    assert_eq!(done(&own, &["catalog", "show"]), ["sport  Sport  (no offers of its own)"]);
    assert_eq!(
        done(&own, &["catalog", "show", "sport"]),
        ["sport  Sport  (no offers of its own)", "  bikes  Sport > Bicycles"]
    );
    assert_eq!(
        done(&own, &["catalog", "show", "bikes"]),
        [
            "bikes  Sport > Bicycles",
            "  frame (Frame): one: steel, carbon, required",
            "  speeds (Speeds): whole from 1 to 30",
        ]
    );
    let russian = done(&own, &["catalog", "show", "bikes", "--language", "ru"]);
    assert_eq!(russian[..2], ["bikes  Спорт > Велосипеды", "  frame (Рама): one: steel, carbon, required"]);
}

#[test]
fn show_suggests_the_category_that_was_meant() {
    let empty = tempfile::tempdir().unwrap();
    let (_, error, hint) = refused(&empty, &["catalog", "show", "transport/car"]);
    assert_eq!(error, "there is no category \"transport/car\"");
    assert_eq!(hint, "did you mean \"transport/cars\"?");
    let (_, _, hint) = refused(&empty, &["catalog", "show", "a-word-from-elsewhere"]);
    assert_eq!(hint, "find one by its name with `torg catalog find`");
}

#[test]
fn check_counts_what_a_sound_catalogue_has() {
    let own = folder(&[("shop.toml", SHOP)]);
    let sound = "shop, version 3: 2 categories, 2 attributes, nothing wrong";
    assert_eq!(done(&own, &["catalog", "check"]), [sound]);
    let elsewhere = tempfile::tempdir().unwrap();
    let path = own.path().join("own");
    assert_eq!(done(&elsewhere, &["catalog", "check", path.to_str().unwrap()]), [sound]);
    let built_in = done(&elsewhere, &["catalog", "check"]);
    assert!(built_in[0].starts_with("torg, version 1: 14857 categories, "), "{built_in:?}");
}

#[test]
fn check_tells_everything_that_is_wrong_with_file_line_and_suggestion() {
    let wrong = SHOP.replace("required = ", "requird = ");
    let own = folder(&[
        ("a.toml", &wrong),
        ("b.toml", "[category.skis]\nname = { en = \"Skis\", ru = \"Лыжи\" }\nparent = \"sprot\"\n"),
    ]);
    for arguments in [&["catalog", "check"][..], &["catalog", "check", "own"]] {
        let (printed, error, hint) = refused(&own, arguments);
        assert_eq!(
            printed,
            [
                "own/a.toml:26: unknown key `requird`; did you mean `required`?",
                "own/b.toml:3: there is no category `sprot`; did you mean `sport`?",
            ]
        );
        assert_eq!((error.as_str(), hint.as_str()), ("2 problems in own", "mend the files and check again"));
    }
    let (_, error, hint) = refused(&own, &["catalog", "find", "skis"]);
    assert!(error.contains("own/a.toml:26: ") && error.contains("own/b.toml:3: "), "{error}");
    assert!(hint.contains("offers.catalogue_dir"), "{hint}");
}

#[test]
fn check_of_a_folder_that_is_not_there_or_of_broken_files_is_refused() {
    let own = folder(&[("broken.toml", "[catalogue\n")]);
    let (printed, error, _) = refused(&own, &["catalog", "check", "absent"]);
    assert!(printed[0].starts_with("absent: cannot read the directory: "), "{printed:?}");
    assert_eq!(error, "1 problem in absent");
    let (printed, ..) = refused(&own, &["catalog", "check"]);
    assert!(printed[0].starts_with("own/broken.toml:1: "), "{printed:?}");
}

#[test]
fn wrong_usage_exits_with_2() {
    let empty = tempfile::tempdir().unwrap();
    for arguments in
        [&["catalog"][..], &["catalog", "find"], &["catalog", "chekc"], &["catalog", "check", "a", "b"]]
    {
        let Ended { code, stderr, .. } = run(torg(&empty, arguments));
        assert_eq!(code, Some(2), "{arguments:?}: {stderr}");
    }
}
