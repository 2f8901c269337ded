//! Tests that hold for every command of the tree.

use clap::{ArgAction, Command};

use super::*;

/// Commands without `--json`, and the reason.
const WITHOUT_JSON: [(&str, &str); 9] = [
    ("serve", "runs until it is stopped, and logs"),
    ("completions", "prints a script for a shell"),
    ("man", "prints a page for people"),
    ("store dump", "always prints a line of JSON for every row"),
    ("topic tail", "always prints a line of JSON for every message"),
    ("stages new", "writes files"),
    ("feed schema", "prints a schema (XSD)"),
    ("tasks schema", "always prints JSON"),
    ("tasks graph", "--format has json among others"),
];

/// Placeholders that a flag must use in every command.
const VALUES: [(&str, &str); 4] =
    [("server", "URL"), ("token", "TOKEN"), ("ca-file", "FILE"), ("limit", "N")];

/// Every command that can be run, by its words.
fn verbs() -> Vec<(String, Command)> {
    fn walk(path: &str, command: &Command, verbs: &mut Vec<(String, Command)>) {
        if !command.has_subcommands() {
            verbs.push((path.trim().to_owned(), command.clone()));
        }
        let shown = |inner: &&Command| inner.get_name() != "help" && !inner.is_hide_set();
        for inner in command.get_subcommands().filter(shown) {
            walk(&format!("{path} {}", inner.get_name()), inner, verbs);
        }
    }
    let mut command = Cli::command();
    command.build();
    let mut verbs = Vec::new();
    walk("", &command, &mut verbs);
    verbs
}

fn is_under(verb: &str, path: &str) -> bool {
    verb == path || verb.starts_with(&format!("{path} "))
}

#[test]
fn every_command_that_shows_something_has_json() {
    let verbs = verbs();
    assert!(verbs.len() > 70, "{}", verbs.len());
    let has = |command: &Command| command.get_arguments().any(|argument| argument.get_long() == Some("json"));
    let without: Vec<&str> = verbs
        .iter()
        .filter(|(verb, command)| !has(command) && !WITHOUT_JSON.iter().any(|(path, _)| is_under(verb, path)))
        .map(|(verb, _)| &**verb)
        .collect();
    assert!(without.is_empty(), "without --json and without a reason: {without:#?}");
    for (path, _) in WITHOUT_JSON {
        assert!(verbs.iter().any(|(verb, _)| is_under(verb, path)), "there is no {path} any more");
    }
}

#[test]
fn every_command_and_every_argument_has_a_help_text() {
    let mut silent = Vec::new();
    for (verb, command) in verbs() {
        if command.get_about().is_none() {
            silent.push(verb.clone());
        }
        let unexplained = command.get_arguments().filter(|argument| {
            !matches!(
                argument.get_action(),
                ArgAction::Help | ArgAction::HelpLong | ArgAction::HelpShort | ArgAction::Version
            ) && argument.get_help().is_none()
        });
        silent.extend(unexplained.map(|argument| format!("{verb}: {}", argument.get_id())));
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn flags_of_one_name_take_the_same_everywhere() {
    for (verb, command) in verbs() {
        for (flag, value) in VALUES {
            let named = command.get_arguments().find(|argument| argument.get_long() == Some(flag));
            let Some(named) = named else { continue };
            let taken: Vec<String> =
                named.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
            assert_eq!(taken, [value], "{verb} --{flag}");
        }
        let has = |flag: &str| command.get_arguments().any(|argument| argument.get_long() == Some(flag));
        if has("server") && !verb.starts_with("bench") {
            assert!(has("token") && has("ca-file"), "{verb} has --server alone");
        }
    }
}

#[test]
fn the_tree_is_sound() {
    Cli::command().debug_assert();
    shown().debug_assert();
}

fn is_open(command: &Command) -> bool {
    !command.is_hide_set() && command.get_subcommands().all(is_open)
}

#[test]
fn people_are_shown_every_command_but_those_that_are_hidden() {
    let names = |command: &Command| -> Vec<String> {
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect()
    };
    let (whole, shown) = (Cli::command(), shown());
    let open = whole.get_subcommands().filter(|inner| !inner.is_hide_set());
    assert_eq!(names(&shown), open.map(|inner| inner.get_name().to_owned()).collect::<Vec<_>>());
    assert_eq!(names(&whole).len(), names(&shown).len() + 2, "{:?}", names(&whole));
    assert_eq!(whole.get_arguments().count(), 0, "the tree that is shown would have to have them");
    // No subcommand below the first level is hidden.
    assert!(is_open(&shown));
}

/// Splits a shell line into words, up to the next command. Returns no words if the line needs a
/// shell to expand it.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '|' | ';' | '&' | '>' | '#' | '<') => break,
            (None, _) if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// The `torg` commands in the shell blocks of a page.
fn commands_of(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let joined: Vec<String> = blocks.map(|block| block.replace("\\\n", " ")).collect();
    let lines = joined.iter().flat_map(|block| block.lines());
    let commands = lines.flat_map(|line| line.split("&& ")).map(|line| line.trim().trim_start_matches('$'));
    // The result of a command substitution is unknown here.
    commands.filter(|line| line.starts_with("torg ") && !line.contains("$(")).map(str::to_owned).collect()
}

#[test]
fn every_command_in_the_documentation_is_one_that_torg_understands() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut pages = vec![root.join("README.md")];
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    pages.extend(docs.filter(|path| path.extension().is_some_and(|kind| kind == "md")));
    let mut count = 0;
    for page in pages {
        for command in commands_of(&std::fs::read_to_string(&page).unwrap()) {
            let words = words(&command);
            if let Err(error) = Cli::command().try_get_matches_from(&words) {
                use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
                let shown = matches!(error.kind(), DisplayHelp | DisplayVersion);
                assert!(shown, "{}: {command}\n{error}", page.display());
            }
            count += 1;
        }
    }
    assert!(count > 100, "only {count} commands were found");
}
