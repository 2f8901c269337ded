//! Links of the documentation, and the order of its pages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::docs::blocks::root;

/// The pages whose links are checked, from the root of the repository.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for folder in ["docs", "docs/decisions"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let is_page = |name: &String| Path::new(name).extension().is_some_and(|kind| kind == "md");
        pages.extend(names.filter(is_page).map(|name| format!("{folder}/{name}")));
    }
    pages.sort();
    pages
}

fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// The lines of a page outside code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// The links of a line, each as its text and its target. A link inside code is no link.
fn links(line: &str) -> Vec<(String, String)> {
    let mut shown = String::new();
    for (place, part) in line.split('`').enumerate() {
        // Every second part is code; in the text of a link only its length counts.
        match place % 2 {
            0 => shown.push_str(part),
            _ => shown.extend(part.chars().map(|_| '_')),
        }
    }
    let ends: Vec<(usize, &str)> = shown.match_indices("](").collect();
    let text_and_target = |(end, _): &(usize, &str)| {
        let text = shown[..*end].rsplit('[').next()?;
        let target = shown[end + 2..].split(')').next()?;
        Some((text.to_owned(), target.to_owned()))
    };
    ends.iter().filter_map(text_and_target).collect()
}

fn title(text: &str) -> &str {
    prose(text).find_map(|line| line.strip_prefix("# ")).unwrap_or_default()
}

/// The anchors that GitHub gives to the headings of a page: lower case, spaces to dashes,
/// punctuation dropped, and a number after a repeated one.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut anchors, mut seen) = (BTreeSet::new(), BTreeMap::<String, u32>::new());
    for line in prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        // A link shows only its text.
        let mut shown = heading.trim().to_owned();
        for (text, target) in links(heading) {
            shown = shown.replace(&format!("[{text}]({target})"), &text);
        }
        let kept =
            shown.chars().filter(|letter| letter.is_alphanumeric() || ['_', '-', ' '].contains(letter));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let again = seen.entry(anchor.clone()).and_modify(|count| *count += 1).or_default();
        anchors.insert(if *again == 0 { anchor } else { format!("{anchor}-{again}") });
    }
    anchors
}

/// Why a link is broken, if it is.
fn broken(page: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let place = match path {
        "" => root().join(page),
        _ => root().join(page).parent().unwrap().join(path),
    };
    let Ok(place) = place.canonicalize() else { return Some(format!("there is no {path}")) };
    if !place.starts_with(root()) {
        return Some(format!("{path} is outside of the repository"));
    }
    if anchor.is_empty() || place.extension().is_none_or(|kind| kind != "md") {
        return None;
    }
    let there = anchors(&std::fs::read_to_string(&place).unwrap());
    (!there.contains(anchor)).then(|| format!("no heading makes #{anchor}"))
}

#[test]
fn anchors_are_made_as_github_makes_them() {
    let text = "# Torg, on *one* page\n## The `offers` table\n```sh\n# no heading\n```\n## G1\n## G1\n\
        ## See [the store](store.md)\n### bad_price: цена\n#hash\n";
    let expected = ["torg-on-one-page", "the-offers-table", "g1", "g1-1", "see-the-store", "bad_price-цена"];
    assert_eq!(anchors(text), expected.map(str::to_owned).into());
}

#[test]
fn every_link_of_the_documentation_leads_to_something() {
    let (mut wrong, mut followed) = (Vec::new(), 0);
    for page in pages() {
        let text = read(&page);
        for (_, target) in prose(&text).flat_map(links) {
            followed += 1;
            wrong.extend(broken(&page, &target).map(|why| format!("{page}: ({target}): {why}")));
        }
    }
    assert!(followed > 100, "only {followed} links were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The check itself finds broken links.
    for (target, why) in
        [("nothing.md", "there is no"), ("#nothing", "no heading"), ("store.md#nothing", "no heading")]
    {
        let told = broken("docs/offers.md", target).unwrap_or_default();
        assert!(told.contains(why), "{target}: {told}");
    }
}

#[test]
fn the_pages_follow_one_another_in_the_order_of_the_index() {
    let index = read("docs/README.md");
    let targets =
        prose(&index).filter(|line| line.starts_with('|')).flat_map(links).map(|(_, target)| target);
    // The first page is the README of the repository, the last explains how to change it; folders
    // are no pages.
    let order: Vec<String> =
        targets.filter(|target| Path::new(target).extension().is_some()).skip(1).collect();
    assert_eq!(order.last().map(String::as_str), Some("../CONTRIBUTING.md"));
    let here: BTreeSet<String> =
        pages().iter().filter_map(|page| page.strip_prefix("docs/")).map(str::to_owned).collect();
    let unlisted: Vec<&String> = here
        .iter()
        .filter(|page| !page.contains('/') && *page != "README.md" && !order.contains(page))
        .collect();
    assert!(unlisted.is_empty(), "not in docs/README.md: {unlisted:?}");
    let mut wrong = Vec::new();
    for pair in order.windows(2) {
        let (page, next) = (&pair[0], &pair[1]);
        let text = read(&format!("docs/{page}"));
        let next_title = read(&format!("docs/{next}"));
        let footer = format!("Next: [{}]({next}) · [All pages](README.md)", title(&next_title));
        let ends = text.lines().next_back().unwrap_or_default();
        // Generated pages have a test that compares them with their generator.
        let is_made = text.contains("\nThis page is made from the table ");
        if ends != footer && (!is_made || ends.starts_with("Next: ")) {
            wrong.push(format!("docs/{page} should end with: {footer}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
