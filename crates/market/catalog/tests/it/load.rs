//! What is wrong in a catalogue's files is told with its line, and all of it at once.

use crate::common::SMALL;
use catalog::{Error, Sources};

const HEAD: &str = "[catalogue]\nversion = 1\nlanguages = [\"en\"]\n";

/// Problems of a text after [`HEAD`]; its first line is line 4.
fn problems(text: &str) -> Vec<String> {
    let error = load(&format!("{HEAD}{text}")).unwrap_err();
    error.problems.iter().map(ToString::to_string).collect()
}

fn load(text: &str) -> Result<catalog::Catalogue, Error> {
    Sources::new().text("own.toml", text).load()
}

/// The only problem.
fn problem(text: &str) -> String {
    let mut all = problems(text);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

const THING: &str = "[category.things]\nname = { en = \"Things\" }\n";

#[test]
fn a_sound_catalogue_is_loaded() {
    let catalogue = load(SMALL).unwrap();
    assert_eq!((catalogue.name(), catalogue.version(), catalogue.len()), ("small", 1, 6));
    assert_eq!(catalogue.category("vehicles/cars").unwrap().path("ru"), "Транспорт > Легковые автомобили");
}

#[test]
fn broken_toml_is_told_with_its_line() {
    let told = problem("[category.things\nname = { en = \"Things\" }\n");
    assert!(told.starts_with("own.toml:4: unclosed table"), "{told}");
}

#[test]
fn a_misspelt_key_gets_a_suggestion() {
    let told = problem("[category.things]\nname = { en = \"Things\" }\nsynonims = { en = [\"a\"] }\n");
    assert_eq!(told, "own.toml:6: unknown key `synonims`; did you mean `synonyms`?");
    let told = problem(&format!("{THING}[atribute.a]\ntype = \"text\"\n"));
    assert_eq!(told, "own.toml:6: unknown key `atribute`; did you mean `attribute`?");
}

#[test]
fn an_unknown_parent_attribute_unit_value_or_condition_is_told_at_the_place_that_names_it() {
    let told = problems(
        r#"[category.things]
name = { en = "Things" }
required = ["colour"]
condition = { allowed = ["nwe"] }
[category.cars]
parent = "thing"
name = { en = "Cars" }
required = ["color"]
narrow = { color = { values = ["redd"] } }
[condition.new]
name = { en = "New" }
[attribute.color]
name = { en = "Color" }
type = "one"
[attribute.color.values]
red = "Red"
[attribute.length]
name = { en = "Length" }
type = "whole"
unit = "metre"
"#,
    );
    assert_eq!(
        told,
        [
            "own.toml:6: there is no attribute `colour`; did you mean `color`?",
            "own.toml:7: there is no condition `nwe`; did you mean `new`?",
            "own.toml:9: there is no category `thing`; did you mean `things`?",
            "own.toml:23: there is no unit `metre`; add it: `[unit.metre]`",
        ]
    );
}

#[test]
fn a_duplicate_id_names_both_places() {
    let first = Sources::new().text("a.toml", &format!("{HEAD}{THING}"));
    let error = first.text("b.toml", THING).load().unwrap_err();
    assert_eq!(
        error.to_string(),
        "b.toml:1: duplicate category `things`, first at a.toml:4; keep one of the two, or change one id"
    );
    let error =
        Sources::new().text("a.toml", &format!("{HEAD}{THING}")).text("b.toml", HEAD).load().unwrap_err();
    assert_eq!(
        error.to_string(),
        "b.toml:1: a second `[catalogue]`, the first is at a.toml:1; keep one of the two"
    );
}

#[test]
fn a_cycle_of_parents_is_found() {
    let told =
        problems("[category.a]\nname = \"A\"\nparent = \"b\"\n[category.b]\nname = \"B\"\nparent = \"a\"\n");
    assert_eq!(told[0], "own.toml:4: `a` is its own ancestor; give one category of the cycle another parent");
    assert_eq!(told.len(), 2);
}

#[test]
fn a_name_that_is_missing_in_a_language_is_told() {
    let text = SMALL.replace("ru = \"Легковые автомобили\"", "de = \"Autos\"");
    let error = load(&text).unwrap_err();
    let told: Vec<String> = error.problems.iter().map(|problem| problem.what.clone()).collect();
    assert_eq!(
        told,
        ["there are names in `de`, which `languages` does not list", "`vehicles/cars` has no name in `ru`"]
    );
}

#[test]
fn a_child_that_widens_is_refused() {
    let base = r#"[attribute.age]
name = "Age"
type = "whole"
min = 1
max = 10
[attribute.kind]
name = "Kind"
type = "one"
values = { a = "A", b = "B", c = "C" }
[category.top]
name = "Top"
required = ["age"]
optional = ["kind"]
narrow = { age = { max = 8 }, kind = { values = ["a", "b"] } }
[category."top/below"]
name = "Below"
"#;
    let told = problem(&format!("{base}narrow = {{ age = {{ max = 9 }} }}\n"));
    assert!(told.starts_with("own.toml:20: `max` allows more than before (8)"), "{told}");
    let told = problem(&format!("{base}optional = [\"age\"]\n"));
    assert!(told.starts_with("own.toml:20: `age` is required by an ancestor and optional here"), "{told}");
    let told = problems(&format!("{base}narrow = {{ kind = {{ values = [\"a\", \"c\"] }} }}\n"));
    assert!(
        told[0].starts_with("own.toml:20: the value `c` of `kind` is not allowed by an ancestor"),
        "{told:?}"
    );
    let told = problem(&format!("{base}narrow = {{ age = {{ min = 9 }} }}\n"));
    assert!(told.starts_with("own.toml:20: `min` is above `max`"), "{told}");
}

#[test]
fn bounds_that_do_not_fit_their_type_are_refused() {
    let attribute = |rest: &str| format!("{THING}[attribute.a]\nname = \"A\"\n{rest}\n");
    for (rest, line, what) in [
        ("type = \"wohle\"", 8, "unknown type `wohle`; did you mean `whole`?"),
        ("type = \"text\"\nmin = 1", 9, "`min` does not fit an attribute of the type text"),
        ("type = \"whole\"\nmin = 1.5", 9, "`min` is not a whole number"),
        ("type = \"whole\"\nlength = [1, 2]", 9, "`length` does not fit an attribute of the type whole"),
        ("type = \"date\"\nmax = 5", 9, "`max` does not fit an attribute of the type date"),
        ("type = \"text\"\nlength = [5, 2]", 9, "`length` is no pair of a least and a most"),
        ("type = \"one\"", 6, "`a` has no values, or too many"),
        ("type = \"text\"\nvalues = { a = \"A\" }", 6, "`a` has values, but the type text"),
        ("min = 1", 6, "`a` has no usable `type`"),
        ("type = \"whole\"\nmax = true", 9, "`max` is a value of type boolean"),
    ] {
        let told = problems(&attribute(rest));
        assert!(told[0].starts_with(&format!("own.toml:{line}: {what}")), "{rest}: {told:?}");
    }
}

#[test]
fn ids_languages_and_headers_are_checked() {
    let told = problem("[category.\"Big Things\"]\nname = \"A\"\n[category.a]\nname = \"A\"\n");
    assert!(told.starts_with("own.toml:4: `Big Things` is no valid id"), "{told}");
    let told = problems("[category.a]\nname = { english = \"A\" }\n");
    assert!(
        told.iter().any(|problem| problem.starts_with("own.toml:5: `english` is no language")),
        "{told:?}"
    );
    let error = load("[category.a]\nname = \"A\"\n").unwrap_err();
    let told: Vec<&str> = error.problems.iter().map(|problem| problem.what.as_str()).collect();
    assert_eq!(told, ["the catalogue has no `languages`", "the catalogue has no `version`"]);
    let error = load(HEAD).unwrap_err();
    assert_eq!(error.problems[0].what, "there is no category");
}

#[test]
fn a_taxonomy_in_plain_lines_is_read_and_checked() {
    let tree = "# a comment\nid\ten\nap\tAnimals\nap-1\tCats\n";
    let catalogue = Sources::new().text("own.toml", HEAD).taxonomy("tree.tsv", tree).load().unwrap();
    assert_eq!(catalogue.category("ap-1").unwrap().path("en"), "Animals > Cats");
    let wrong = format!("{tree}ap-2\nap-3\tDogs\tHunde\nAP 4\tx\nbp-1\tBirds\n");
    let error = Sources::new().text("own.toml", HEAD).taxonomy("tree.tsv", &wrong).load().unwrap_err();
    let told: Vec<(u32, &str)> =
        error.problems.iter().map(|problem| (problem.line, problem.what.as_str())).collect();
    assert_eq!(
        told,
        [
            (5, "`ap-2` has a missing or too long name"),
            (6, "`ap-3` has more names than there are languages"),
            (7, "`AP 4` is no valid id"),
            (8, "there is no category `bp`"),
        ]
    );
    let error =
        Sources::new().text("own.toml", HEAD).taxonomy("tree.tsv", "ap\tAnimals\n").load().unwrap_err();
    assert_eq!(error.problems[0].line, 1);
}

#[test]
fn problems_are_bounded_and_the_rest_is_counted() {
    let categories: Vec<String> =
        (0..250).map(|number| format!("[category.c{number}]\nname = \"N\"\nbad = 1\n")).collect();
    let many = categories.concat();
    let error = load(&format!("{HEAD}{many}")).unwrap_err();
    assert_eq!((error.problems.len(), error.more), (catalog::limits::LOAD_PROBLEMS_MAX, 150));
    assert!(error.to_string().ends_with("and 150 more"));
}

#[test]
fn files_and_directories_are_read_by_how_their_names_end() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.toml"), HEAD).unwrap();
    std::fs::write(directory.path().join("b.tsv"), "id\ten\nap\tAnimals\n").unwrap();
    std::fs::write(directory.path().join("notes.txt"), "not read").unwrap();
    assert_eq!(Sources::new().directory(directory.path()).load().unwrap().len(), 1);

    let missing = directory.path().join("missing.toml");
    let error = Sources::new().file(&missing).load().unwrap_err();
    assert_eq!(error.problems[0].line, 0);
    assert!(error.problems[0].what.starts_with("cannot read the file"));
    std::fs::write(directory.path().join("c.tsv.gz"), "not packed").unwrap();
    let error = Sources::new().directory(directory.path()).load().unwrap_err();
    assert!(error.problems[0].what.starts_with("cannot unpack the file"), "{error}");
}

#[test]
fn own_files_extend_the_built_in_catalogue() {
    let own = r#"
[catalogue]
name = "ours"
version = 7
[attribute.strings]
name = { en = "Strings", ru = "Струны" }
type = "whole"
min = 1
[category."services/lessons/balalaika"]
name = { en = "Balalaika", ru = "Балалайка" }
required = ["strings"]
[extend.bu]
synonyms = { en = ["packs"] }
"#;
    let catalogue = Sources::new().builtin().text("ours.toml", own).load().unwrap();
    assert_eq!((catalogue.name(), catalogue.version()), ("ours", 7));
    let balalaika = catalogue.category("services/lessons/balalaika").unwrap();
    assert_eq!(balalaika.path("ru"), "Предложение услуг > Обучение и курсы > Балалайка");
    assert!(balalaika.attribute("lesson-minutes").is_some(), "inherited from the built-in part");
}
