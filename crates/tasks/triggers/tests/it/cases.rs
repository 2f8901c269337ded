//! Runs the table of cases, and keeps the page that is made of it.

use crate::table::{Joined, chapters, joined, page};
use triggers::{Trigger, check, earliest, fires};

#[test]
fn every_case_of_the_table_is_as_it_says() {
    let mut wrong = Vec::new();
    for chapter in chapters() {
        for section in &chapter.sections {
            for case in &section.cases {
                let (leaf, calendar) = (&section.leaf, case.calendar());
                let verdict = case.verdict(leaf);
                let said = &verdict.leaves[0];
                let difference = said.difference.map(|difference| difference.to_string()).unwrap_or_default();
                let next = verdict.next.map(|next| calendar.show(&next).to_string()).unwrap_or_default();
                let quick = fires(&Trigger::Leaf(leaf.clone()), &case.known(), case.time(), &calendar);
                let is = (verdict.fires, quick, difference.as_str(), said.reason.to_string(), next.as_str());
                let expected = (case.fires, case.fires, case.difference, case.reason.to_owned(), case.next);
                if is != expected {
                    wrong.push(format!(
                        "{leaf}: {} ({}): {is:?} instead of {expected:?}",
                        case.name, case.zone
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_case_of_several_conditions_is_as_it_says() {
    let (calendar, now) = (Joined::calendar(), Joined::now());
    for case in joined() {
        let verdict = check(&case.trigger, &case.known, now, &calendar);
        assert_eq!(calendar.show(&verdict).to_string(), case.verdict, "{}", case.name);
        let earliest = earliest(&case.trigger, &case.known, now, &calendar);
        assert_eq!(calendar.show(&earliest).to_string(), case.earliest, "{}", case.name);
        assert_eq!(fires(&case.trigger, &case.known, now, &calendar), verdict.fires, "{}", case.name);
    }
}

#[test]
fn the_table_has_cases_of_every_kind() {
    let chapters = chapters();
    let cases = || chapters.iter().flat_map(|chapter| &chapter.sections).flat_map(|section| &section.cases);
    assert!(cases().count() >= 120, "{}", cases().count());
    for zone in
        ["UTC", "Europe/Moscow", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia"]
    {
        assert!(cases().any(|case| case.zone == zone), "{zone}");
    }
    for chapter in &chapters {
        let cases = || chapter.sections.iter().flat_map(|section| &section.cases);
        assert!(cases().any(|case| case.fires) && cases().any(|case| !case.fires), "{}", chapter.title);
    }
}

#[test]
fn the_committed_page_is_the_one_that_the_table_makes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/triggers.md");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == page(),
        "regenerate it: cargo run -p triggers --example triggers_page > docs/triggers.md"
    );
}
