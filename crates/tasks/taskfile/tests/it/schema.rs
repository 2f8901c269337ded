//! The schema for editors says what the reader says, as far as a schema can.

use crate::common::{examples, to_json};

fn validator() -> jsonschema::Validator {
    jsonschema::draft7::new(&taskfile::json_schema()).unwrap()
}

#[test]
fn the_schema_is_a_schema() {
    assert!(jsonschema::meta::is_valid(&taskfile::json_schema()));
}

#[test]
fn every_example_of_the_page_passes() {
    let validator = validator();
    for example in examples() {
        let errors: Vec<String> =
            validator.iter_errors(&to_json(&example)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{example}\n{errors:?}");
    }
}

#[test]
fn what_the_reader_writes_passes() {
    for example in examples() {
        for task in crate::common::sound(&example).tasks() {
            let file = serde_json::json!({ "tasks": { task.name.as_str(): task.definition() } });
            assert!(validator().is_valid(&file), "{file:#}");
        }
    }
}

/// What a schema cannot know: names of other places, and values that only a reader understands.
const BEYOND: &[&str] = &[
    "a condition that is a text",
    "an unknown condition",
    "a condition by the clock",
    "no space behind a colon",
    "a chunk of seven minutes",
    "a chunk of two days",
    "nesting that is too deep",
    "a parameter that is compared with itself",
    "an unknown time zone",
    "a time zone that is a city",
    "a time zone that is an offset",
    "a day that begins after its end",
    "an unknown pool",
    "a pool where none are known",
    "a task in two files",
    "a time zone in two files",
    "a shorthand without its parameter",
    "a shorthand with a parameter that it does not have",
    "a shorthand with a wrong value",
    "a shorthand that is misspelt",
    "a shorthand that makes a trigger too deep",
    "a shorthand with an unknown parameter inside",
    "shorthands that use each other",
    "a shorthand with the name of a condition",
    "a URL with a password",
    "a body of a GET",
    "an address with a path",
    "certificates without TLS",
    "an environment for a call",
    "a variable without braces",
    "a set of itself",
    "a set to what is not seen",
    "pauses that shrink",
    "a key twice",
];

#[test]
fn mistakes_that_a_schema_can_know_fail() {
    let validator = validator();
    let mut judged = 0;
    for section in include_str!("mistakes.txt").split("=== ").skip(1) {
        let (title, rest) = section.split_once('\n').unwrap();
        let (files, said) = rest.split_once("<<<\n").unwrap();
        let no_yaml = ["syntax:", "tab:", "not_used:"].iter().any(|code| said.contains(code));
        if no_yaml {
            continue;
        }
        judged += 1;
        let valid = files.split(">>>\n").all(|file| validator.is_valid(&to_json(file)));
        assert_eq!(valid, BEYOND.contains(&title), "{title}: whether the schema takes it");
    }
    assert!(judged >= 60, "only {judged} mistakes were judged");
}
