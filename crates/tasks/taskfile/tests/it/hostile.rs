//! Whatever a file has in it, it is read or refused in bounded time and memory, and never with a
//! panic.

use crate::common::{codes, read, sound};
use proptest::prelude::*;
use std::fmt::Write;
use taskfile::{Code, TaskSet, limits, load};

#[test]
fn a_hundred_thousand_tasks_are_read() {
    let mut text = "shorthands:\n  s: {parameters: [p], when: {all: [{new_day: $p}, {fresh: {of: $p, within: 3h}}]}}\ntasks:\n".to_owned();
    for number in 0..100_000 {
        let (a, b) = (number / 5, number / 7);
        let _ = writeln!(
            text,
            "  t{number}:\n    when: {{all: [{{s: p{a}.x}}, {{grew: {{of: q{b}.y, by: 10}}}}]}}\n    run: [python3, report.py]\n    max_silence: 1d"
        );
    }
    let set = sound(&text);
    assert_eq!((set.len(), set.warnings().len()), (100_000, 0));
    assert_eq!(set.readers_of(&"p7.x".parse().unwrap()).len(), 5);
}

#[test]
fn a_hundred_thousand_mistakes_are_counted_and_a_hundred_shown() {
    let mut text = "tasks:\n".to_owned();
    for number in 0..100_000 {
        let _ = writeln!(text, "  t{number}: {{when: {{newday: a.b}}, run: x}}");
    }
    let errors = read(&text).unwrap_err();
    assert_eq!((errors.errors.len(), errors.more), (limits::ERRORS_MAX, 100_000 - limits::ERRORS_MAX));
    assert!(errors.to_string().ends_with("100000 errors; 99900 of them not shown\n"));
}

#[test]
fn warnings_beyond_the_limit_are_counted() {
    let mut text = "tasks:\n".to_owned();
    for number in 0..limits::WARNINGS_MAX + 5 {
        let _ = writeln!(text, "  t{number}: {{when: {{today: a.b}}, run: x, max_silence: 1d}}");
    }
    let set = sound(&text);
    assert_eq!((set.warnings().len(), set.more_warnings()), (limits::WARNINGS_MAX, 5));
}

#[test]
fn more_tasks_than_the_limit_are_told_once() {
    let mut text = "tasks:\n".to_owned();
    for number in 0..limits::TASKS_MAX + 10 {
        let _ = writeln!(text, "  t{number}: {{when: {{new_day: a.b}}, run: x}}");
    }
    assert_eq!(codes(&read(&text).unwrap_err()), [Code::TooLarge]);
}

#[test]
fn laughs_are_refused_before_the_first_is_repeated() {
    let mut text = "a0: &a0 [x, x]\n".to_owned();
    for level in 1..60 {
        let _ = writeln!(text, "a{level}: &a{level} [*a{0}, *a{0}]", level - 1);
    }
    assert_eq!(codes(&read(&text).unwrap_err()), [Code::NotUsed]);
}

#[test]
fn shorthands_that_double_each_other_are_cut_off() {
    let mut text = "shorthands:\n  s0: {parameters: [p], when: {new_day: $p}}\n".to_owned();
    for level in 1..8 {
        let lower = vec![format!("{{s{}: $p}}", level - 1); 40].join(", ");
        let _ = writeln!(text, "  s{level}: {{parameters: [p], when: {{all: [{lower}]}}}}");
    }
    text.push_str("tasks:\n  t: {when: {s7: a.b}, run: x}\n");
    assert_eq!(codes(&read(&text).unwrap_err()), [Code::TooLarge]);
}

#[test]
fn shorthands_in_too_long_a_chain_are_refused() {
    let mut text = "shorthands:\n  s0: {parameters: [p], when: {new_day: $p}}\n".to_owned();
    for level in 1..500 {
        let _ = writeln!(text, "  s{level}: {{parameters: [p], when: {{s{}: $p}}}}", level - 1);
    }
    let errors = read(&text).unwrap_err();
    assert!(codes(&errors).iter().all(|code| *code == Code::Recursion), "{errors}");
}

#[test]
fn what_is_too_deep_or_too_large_is_refused() {
    let depth = 100_000;
    let deep = [
        format!("tasks:\n  t:\n    when: {}", "{all: [".repeat(depth)),
        format!("tasks: {}", "[".repeat(depth)),
        "- ".repeat(depth),
        format!("tasks:\n  t:\n    when: {}{}", "{a: ".repeat(40), "}".repeat(40)),
        format!("shorthands:\n  t:\n    when: {}{}", "[".repeat(40), "]".repeat(40)),
    ];
    for text in deep {
        assert!(!codes(&read(&text).unwrap_err()).is_empty());
    }
    let wide =
        format!("tasks:\n  t:\n    run: x\n    labels: [{}]\n", "a, ".repeat(limits::ENTRY_NODES_MAX + 1));
    assert_eq!(codes(&read(&wide).unwrap_err()), [Code::TooLarge]);
    let conditions = "{new_day: a.b}, ".repeat(limits::CONDITIONS_MAX + 1);
    let many = format!("tasks:\n  t: {{when: {{all: [{conditions}]}}, run: x}}\n");
    assert_eq!(codes(&read(&many).unwrap_err()), [Code::TooLarge]);
    assert_eq!(codes(&read(&" ".repeat(limits::FILE_BYTES_MAX + 1)).unwrap_err()), [Code::TooLarge]);
    let long = format!(
        "tasks:\n  t: {{when: {{new_day: a.b}}, run: x, about: {}}}\n",
        "x".repeat(limits::ABOUT_CHARS_MAX + 1)
    );
    assert_eq!(codes(&read(&long).unwrap_err()), [Code::TooLarge]);
    let name =
        format!("tasks:\n  {}: {{when: {{new_day: a.b}}, run: x}}\n", "x".repeat(limits::NAME_CHARS_MAX + 1));
    assert_eq!(codes(&read(&name).unwrap_err()), [Code::TooLarge]);
}

#[test]
fn a_message_shows_little_of_what_is_long_and_nothing_that_a_terminal_would_obey() {
    let text = format!("tasks:\n  t: {{when: {{\"\\e[31m{}\": a.b}}, run: x}}\n", "y".repeat(10_000));
    let errors = read(&text).unwrap_err().to_string();
    assert!(errors.len() < 2_000 && !errors.contains('\u{1b}'), "{errors}");
}

#[test]
fn files_are_found_in_a_folder_and_sorted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, text) in
        [("b.yml", "tasks:\n"), ("a.yaml", "timezone: UTC\n"), (".hidden.yaml", "x"), ("note.txt", "x")]
    {
        std::fs::write(path(name), text).unwrap();
    }
    std::fs::create_dir(path("c.yaml")).unwrap();
    let names: Vec<String> = load(folder.path()).unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [path("a.yaml"), path("b.yml")].map(|path| path.display().to_string()));
    assert_eq!(load(&path("b.yml")).unwrap()[0].1, "tasks:\n");
    std::fs::write(path("b.yml"), b"tasks:\n  t: \xff\n").unwrap();
    assert!(
        load(folder.path())
            .unwrap_err()
            .to_string()
            .ends_with("b.yml: line 2 is not UTF-8: save the file as UTF-8")
    );
    assert!(load(&path("none.yaml")).is_err());
    let empty = tempfile::tempdir().unwrap();
    assert!(load(empty.path()).unwrap_err().to_string().contains("no task file in this folder"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}") {
        let _ = read(&text);
    }

    #[test]
    fn no_damage_to_a_sound_file_makes_it_panic(at in 0..2_000_usize, length in 0..5_usize, put in "[-{}\\[\\]:,&*!|>'\"%@`\\t\\n $a-z0-9.]{0,4}") {
        let page = crate::common::examples().swap_remove(1);
        let characters: Vec<char> = page.chars().collect();
        let at = at % characters.len();
        let end = (at + length).min(characters.len());
        let text: String = characters[..at].iter().copied().chain(put.chars()).chain(characters[end..].iter().copied()).collect();
        match TaskSet::read(vec![("a".to_owned(), text.clone())]) {
            // No task is lost without a word.
            Ok(set) => {
                let tasks = crate::common::to_json(&text)["tasks"].as_object().map_or(0, serde_json::Map::len);
                prop_assert_eq!(set.len(), tasks);
            }
            Err(errors) => {
            for error in &errors.errors {
                let lines = text.lines().count() as u32 + 1;
                prop_assert!(error.at.line >= 1 && error.at.line <= lines && error.at.column >= 1, "{error}");
                prop_assert!(!error.message.is_empty());
            }
            prop_assert!(!errors.to_string().is_empty());
            }
        }
    }
}
