//! Files as sellers bring them, beside what is in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::dice::Dice;

/// Offers that a seller has at most: some batches.
const OFFERS_MAX: u64 = 160;

/// What is in a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// It can be read to its end.
    pub(crate) whole: bool,
    /// Offers that are right, with their prices.
    pub(crate) right: BTreeMap<String, u64>,
    /// Offers that are wrong. What there was of them before stays.
    pub(crate) wrong: BTreeSet<String>,
    /// How many there are, those with the id of another one included.
    pub(crate) offers: u64,
}

impl Contents {
    /// Whether the file speaks of an offer: then its load must not remove it.
    pub(crate) fn names(&self, id: &str) -> bool {
        self.right.contains_key(id) || self.wrong.contains(id)
    }
}

/// A file like those that come; `number` makes it different from all others.
pub(crate) fn any_file(dice: &Dice, number: u64) -> (String, Contents) {
    match dice.within(0..100) {
        0..5 => (format!("<html><body>{number}: come back later</body></html>"), Contents::default()),
        5..10 => whole(dice, number, 0, 0),
        10..20 => {
            let count = dice.within(0..OFFERS_MAX / 4);
            whole(dice, number, count, 5)
        }
        20..35 => cut(dice, number),
        _ => good_file(dice, number),
    }
}

/// A file with most of what the seller has.
pub(crate) fn good_file(dice: &Dice, number: u64) -> (String, Contents) {
    let count = dice.within(OFFERS_MAX / 2..OFFERS_MAX);
    whole(dice, number, count, 5)
}

/// A file of which the end is missing.
fn cut(dice: &Dice, number: u64) -> (String, Contents) {
    let (mut text, contents) = good_file(dice, number);
    let starts: Vec<usize> = text.match_indices("<offer ").map(|(at, _)| at).collect();
    let at = dice.within(0..starts.len() as u64) as usize;
    text.truncate(starts[at] + 20);
    // Which offers precede the cut does not matter: the results say what became of them.
    (text, Contents { whole: false, ..contents })
}

fn whole(dice: &Dice, number: u64, count: u64, wrong_percent: u64) -> (String, Contents) {
    let mut contents = Contents { whole: true, ..Contents::default() };
    let mut offers = String::new();
    for _ in 0..count {
        let id = format!("s{:03}", dice.within(0..OFFERS_MAX));
        let is_known = contents.names(&id);
        let price = dice.within(1..4) * 100;
        let is_wrong = dice.percent(wrong_percent);
        let shown = if is_wrong { "дорого".to_owned() } else { price.to_string() };
        writeln!(
            offers,
            "<offer id=\"{id}\"><name>Диван серый {id}</name><price>{shown}</price><currencyId>RUB</currencyId>\
             <categoryId>1</categoryId><picture>https://example.com/{id}.jpg</picture>\
             <description>Хороший диван, в отличном состоянии, почти новый.</description></offer>"
        )
        .unwrap();
        contents.offers += 1;
        match (is_known, is_wrong) {
            // The first one counts.
            (true, _) => {}
            (false, true) => {
                contents.wrong.insert(id);
            }
            (false, false) => {
                contents.right.insert(id, price);
            }
        }
    }
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- {number} -->\n<yml_catalog date=\"2026-11-15 12:00\"><shop>\
         <name>Мебель</name><currencies><currency id=\"RUB\" rate=\"1\"/></currencies>\
         <categories><category id=\"1\">Диваны</category></categories>\n<offers>\n{offers}</offers></shop></yml_catalog>"
    );
    (text, contents)
}
