//! How well categories are recognised may grow, not shrink.

use std::sync::Arc;

use catalog::Catalogue;
use geo::Places;
use unify::{Accuracy, LABELLED, Labelled, Part, Unifier};

/// In hundred; `docs/unify.md` has the figures themselves.
const TRAIN_LEAST: f64 = 97.0;
const TEST_LEAST: f64 = 73.0;

fn set() -> Vec<Labelled<'static>> {
    Labelled::read(LABELLED).unwrap()
}

#[test]
fn the_labelled_set_is_large_enough_and_two_fifths_of_it_are_held_out() {
    let set = set();
    let held_out = set.iter().filter(|labelled| labelled.part == Part::Test).count();
    assert!(set.len() >= 500 && held_out * 100 >= set.len() * 40, "{held_out} of {}", set.len());
    let mut titles: Vec<&str> = set.iter().map(|labelled| labelled.title).collect();
    titles.sort_unstable();
    titles.dedup();
    assert_eq!(titles.len(), set.len(), "a title stands there twice");
}

#[test]
fn categories_are_recognised_as_well_as_before() {
    let catalogue = Arc::new(Catalogue::builtin().unwrap());
    let unifier = Unifier::new(catalogue.clone(), Arc::new(Places::builtin().unwrap())).unwrap();
    let accuracy = Accuracy::measure(&unifier, &set()).unwrap();
    assert!(accuracy.train.top1() >= TRAIN_LEAST, "{:?}", accuracy.train);
    assert!(accuracy.test.top1() >= TEST_LEAST, "{:?}", accuracy.test);
    assert!(accuracy.test.top2() >= accuracy.test.top1());
    let whole = accuracy.whole();
    assert_eq!(accuracy.misses.len(), whole.lines - whole.first);
}

#[test]
fn a_damaged_set_is_refused_with_its_line() {
    for text in ["train\tSofa", "other\tSofa\t\tfr-22", "train\t\t\tfr-22"] {
        assert!(
            Labelled::read(&format!("# head\n{text}")).unwrap_err().to_string().contains("line 2"),
            "{text}"
        );
    }
}
