//! The feeds that the demo serves itself, as sellers serve theirs: `/demo/feeds/good.xml`, `mistakes.xml`, `changing.xml`.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use super::dice::Dice;
use super::limits::FEED_EVERY;

/// The path of the files.
pub(crate) const PATH: &str = "/demo/feeds/";
/// Their names, which are the namespaces of the feeds too.
pub(super) const GOOD: &str = "good";
pub(super) const MISTAKES: &str = "mistakes";
pub(super) const CHANGING: &str = "changing";

const GOOD_OFFERS: u64 = 120;
const CHANGING_OFFERS: u64 = 40;
/// Offers that are out of the changing feed for one of its minutes.
const CHANGING_AWAY: u64 = 3;

/// Category of the file, name, price in roubles.
const FURNITURE: &[(u32, &str, i64)] = &[
    (1, "Диван угловой", 54_900),
    (1, "Диван-кровать", 38_500),
    (2, "Стол обеденный раздвижной", 17_900),
    (2, "Стол кухонный", 9_800),
    (3, "Кровать двуспальная", 32_400),
    (4, "Шкаф-купе трёхдверный", 46_700),
    (5, "Комод на пять ящиков", 12_300),
];
const SERIES: &[&str] = &["«Верона»", "«Осло»", "«Нева»", "«Тайга»", "«Модерн»", "«Классика»"];
const COLORS: &[&str] = &["серый", "бежевый", "белый", "коричневый", "чёрный", "синий"];

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<yml_catalog date="2026-11-16 12:00">
<shop>
<name>Мебельный дом</name>
<currencies><currency id="RUB" rate="1"/></currencies>
<categories>
<category id="1">Диваны</category>
<category id="2">Столы для кухни и столовой</category>
<category id="3">Кровати</category>
<category id="4">Шкафы и гардеробы</category>
<category id="5">Комоды</category>
</categories>
<offers>
"#;
const TAIL: &str = "</offers>\n</shop>\n</yml_catalog>\n";

/// A file by its name at this moment; `None` if there is none.
pub(crate) fn file(name: &str) -> Option<String> {
    match name.strip_suffix(".xml")? {
        GOOD => Some(good()),
        MISTAKES => Some(MISTAKEN.to_owned()),
        CHANGING => Some(changing(turn())),
        _ => None,
    }
}

/// Which of its minutes the changing feed is in.
fn turn() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / FEED_EVERY.as_secs()
}

fn good() -> String {
    let mut text = HEAD.to_owned();
    for number in 0..GOOD_OFFERS {
        add_offer(&mut text, "m", number, 0);
    }
    text + TAIL
}

/// Prices move with the turns, and some offers are out of stock for one of them.
fn changing(turn: u64) -> String {
    let mut text = HEAD.to_owned();
    let away = |number: u64| (number + turn) % CHANGING_OFFERS < CHANGING_AWAY;
    for number in (0..CHANGING_OFFERS).filter(|number| !away(*number)) {
        add_offer(&mut text, "c", number, turn);
    }
    text + TAIL
}

fn add_offer(text: &mut String, series: &str, number: u64, turn: u64) {
    let mut dice = Dice::new(number);
    let (category, name, usual) = *dice.one_of(FURNITURE);
    let (line, color) = (*dice.one_of(SERIES), *dice.one_of(COLORS));
    let (width, price) = (dice.between(8, 26) * 10, dice.near(usual, 15) / 100 * 100);
    // A fifth of the offers has another price in every turn.
    let sale = if turn > 0 && (number + turn).is_multiple_of(5) { price / 1000 * 100 } else { 0 };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "<offer id=\"{series}-{number}\" available=\"true\"><name>{name} {line}, {color}</name><price>{}</price>\
         <currencyId>RUB</currencyId><categoryId>{category}</categoryId><vendor>Мебельный дом</vendor>\
         <description>{name} {line}. Ширина {width} см. Сборка и доставка по городу.</description>\
         <param name=\"Цвет\">{color}</param></offer>",
        price - sale,
    );
}

/// A file as it comes from a hasty shop: some offers are good, and each of the others has a mistake of its own.
const MISTAKEN: &str = include_str!("mistakes.xml");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_three_files_and_one_of_them_changes_with_every_turn() {
        assert!(file("good.xml").unwrap().matches("<offer ").count() == GOOD_OFFERS as usize);
        assert!(file("mistakes.xml").is_some() && file("changing.xml").is_some());
        assert!(file("good").is_none() && file("other.xml").is_none() && file("../good.xml").is_none());
        assert_ne!(changing(100), changing(101));
        assert_eq!(changing(100), changing(100));
        let kept = (CHANGING_OFFERS - CHANGING_AWAY) as usize;
        assert_eq!(changing(100).matches("<offer ").count(), kept);
    }
}
