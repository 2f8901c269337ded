//! The page of the language holds: its examples are sound, and it names everything.

use crate::common::{examples, read};
use taskfile::Code;

fn page() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/task-files.md")).unwrap()
}

#[test]
fn every_example_of_the_page_is_sound_and_without_warnings() {
    let examples = examples();
    assert!(examples.len() >= 6);
    for example in examples {
        let set = read(&example).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(set.warnings().is_empty(), "{}", taskfile::render(set.warnings(), 0, 0));
        assert!(!set.is_empty());
    }
}

#[test]
fn every_condition_of_the_tables_is_sound() {
    let page = page();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let conditions: Vec<String> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap().split("`, `").map(str::to_owned).collect::<Vec<_>>())
        .map(|condition| condition.trim().trim_matches('`').to_owned())
        .filter(|condition| condition.contains(": ") && condition.contains('P'))
        .collect();
    assert!(conditions.len() >= 12, "{conditions:?}");
    for condition in conditions {
        let condition =
            condition.replace("of: P", "of: a.p").replace("with: Q", "with: a.q").replace(": P", ": a.p");
        read(&format!("tasks:\n  t:\n    when: {{{condition}}}\n    run: x\n"))
            .unwrap_or_else(|errors| panic!("{condition}\n{errors}"));
    }
}

#[test]
fn the_page_names_every_word_of_the_language_and_every_warning() {
    let (page, schema) = (page(), taskfile::json_schema());
    let definitions = &schema["definitions"];
    let places = [
        &schema["properties"],
        &definitions["task"]["properties"],
        &definitions["condition"]["anyOf"][0]["properties"],
    ];
    for (word, _) in places.iter().flat_map(|place| place.as_object().unwrap()) {
        assert!(page.contains(word.as_str()), "the page does not name {word}");
    }
    let first_warning = Code::ALL.iter().position(|code| *code == Code::MayNeverFire).unwrap();
    for code in &Code::ALL[first_warning..] {
        assert!(
            page.contains(&format!("| `{}` |", code.name())),
            "the page does not explain {}",
            code.name()
        );
    }
}
