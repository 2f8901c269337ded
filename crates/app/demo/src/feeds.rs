//! Generates the feeds that the demo serves in the role of a seller's site: `good.xml`,
//! `mistakes.xml`, `changing.xml`.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;

use super::dice::Dice;
use super::limits::FEED_EVERY;
use super::pictures::{Color, Picture, Scene};
use super::site::Site;
use super::things::{Gender, color_in_russian};

/// Feed names, which are also the namespaces of the feeds.
pub(super) const GOOD: &str = "good";
pub(super) const MISTAKES: &str = "mistakes";
pub(super) const CHANGING: &str = "changing";

const DAY: Duration = Duration::from_secs(24 * 3600);
const GOOD_OFFERS: u64 = 120;
/// The offer of the good feed that also has a video.
const FILMED: u64 = 0;
const CHANGING_OFFERS: u64 = 40;
/// Offers that are missing from the changing feed in each turn.
const CHANGING_AWAY: u64 = 3;
/// Maximum photos of an offer in a feed.
const PHOTOS_MAX: i64 = 3;

/// A product of the furniture shop.
struct Piece {
    /// The category id in the file.
    category: u32,
    name: &'static str,
    gender: Gender,
    price: i64,
    widths: (i64, i64),
    scene: Scene,
}

const fn piece(
    category: u32,
    name: &'static str,
    gender: Gender,
    price: i64,
    widths: (i64, i64),
    scene: Scene,
) -> Piece {
    Piece { category, name, gender, price, widths, scene }
}

const FURNITURE: &[Piece] = &[
    piece(1, "Диван угловой", Gender::He, 54_900, (240, 300), Scene::Sofa),
    piece(1, "Диван-кровать", Gender::He, 38_500, (190, 230), Scene::Sofa),
    piece(2, "Стол обеденный раздвижной", Gender::He, 17_900, (120, 180), Scene::Table),
    piece(2, "Стол кухонный", Gender::He, 9_800, (70, 110), Scene::Table),
    piece(3, "Кровать двуспальная", Gender::She, 32_400, (150, 190), Scene::Bed),
    piece(4, "Шкаф-купе трёхдверный", Gender::He, 46_700, (180, 250), Scene::Wardrobe),
    piece(5, "Комод на пять ящиков", Gender::He, 12_300, (80, 120), Scene::Drawers),
];
const SERIES: &[&str] = &["«Верона»", "«Осло»", "«Нева»", "«Тайга»", "«Модерн»", "«Классика»"];
const COLORS: &[Color] = &[Color::Gray, Color::Beige, Color::White, Color::Brown, Color::Black, Color::Blue];

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<yml_catalog date="@DATE@">
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
/// A placeholder for the time of generation.
const DATE: &str = "@DATE@";
const TAIL: &str = "</offers>\n</shop>\n</yml_catalog>\n";

/// The current content of a file; `None` if the name is unknown.
pub(super) fn file(name: &str, site: Site) -> Option<String> {
    match name.strip_suffix(".xml")? {
        GOOD => Some(good(made_every(DAY), site)),
        MISTAKES => Some(mistaken(made_every(DAY), site)),
        CHANGING => Some(changing(turn(), site)),
        _ => None,
    }
}

/// The last time of generation of a file that is generated at this interval.
fn made_every(pause: Duration) -> Timestamp {
    let seconds = pause.as_secs() as i64;
    let made = Timestamp::now().as_second() / seconds * seconds;
    Timestamp::from_second(made).unwrap_or_default()
}

fn head(made: Timestamp) -> String {
    HEAD.replace(DATE, &date(made))
}

fn date(made: Timestamp) -> String {
    made.strftime("%Y-%m-%d %H:%M").to_string()
}

/// The offer of the good feed to show first: it has photos and a video.
pub(super) fn filmed() -> String {
    external_id("m", FILMED)
}

/// The current turn of the changing feed.
fn turn() -> u64 {
    made_every(FEED_EVERY).as_second().unsigned_abs() / FEED_EVERY.as_secs()
}

fn good(made: Timestamp, site: Site) -> String {
    let mut text = head(made);
    for number in 0..GOOD_OFFERS {
        add_offer(&mut text, "m", number, 0, site);
    }
    text + TAIL
}

/// Some prices change with each turn, and some offers are out of stock for one turn.
fn changing(turn: u64, site: Site) -> String {
    let made = Timestamp::from_second((turn * FEED_EVERY.as_secs()) as i64).unwrap_or_default();
    let mut text = head(made);
    let away = |number: u64| (number + turn) % CHANGING_OFFERS < CHANGING_AWAY;
    for number in (0..CHANGING_OFFERS).filter(|number| !away(*number)) {
        add_offer(&mut text, "c", number, turn, site);
    }
    text + TAIL
}

fn external_id(series: &str, number: u64) -> String {
    format!("{series}-{number}")
}

fn add_offer(text: &mut String, series: &str, number: u64, turn: u64, site: Site) {
    let mut dice = Dice::new(number);
    let piece = dice.one_of(FURNITURE);
    let Piece { category, name, gender, .. } = *piece;
    let (line, color) = (*dice.one_of(SERIES), *dice.one_of(COLORS));
    let (narrow, wide) = piece.widths;
    let (width, price) = (dice.between(narrow / 10, wide / 10) * 10, dice.near(piece.price, 15) / 100 * 100);
    // A fifth of the offers changes price in every turn.
    let sale = if turn > 0 && (number + turn).is_multiple_of(5) { price / 1000 * 100 } else { 0 };
    let picture = Picture { scene: piece.scene, color };
    let mut links = String::new();
    for view in 0..dice.between(1, PHOTOS_MAX) {
        // Writing to a String cannot fail.
        let _ = write!(links, "<picture>{}</picture>", site.photo(picture, view as u32));
    }
    if (series, number) == ("m", FILMED) {
        let _ = write!(links, "<video>{}</video>", site.video(picture));
    }
    let _ = writeln!(
        text,
        "<offer id=\"{}\" available=\"true\"><name>{name} {line}, {}</name><price>{}</price>\
         <currencyId>RUB</currencyId><categoryId>{category}</categoryId>{links}<vendor>Мебельный дом</vendor>\
         <description>{name} {line}. Ширина {width} см. Сборка и доставка по городу.</description>\
         <param name=\"Цвет\">{}</param></offer>",
        external_id(series, number),
        color_in_russian(color, gender),
        price - sale,
        color_in_russian(color, Gender::He),
    );
}

/// A file with errors: some offers are good, and each of the others has a mistake of its own. Dead
/// links are detected only after the load.
fn mistaken(made: Timestamp, site: Site) -> String {
    let good = |scene| site.photo(Picture { scene, color: Color::Black }, 0);
    let date = date(made);
    let marks = [
        (DATE, date),
        ("@PHOTO_OF_PHONE@", good(Scene::Phone)),
        ("@PHOTO_OF_SPEAKER@", good(Scene::Speaker)),
        ("@PHOTO_GONE@", site.photo_gone()),
        ("@NO_PHOTO@", site.feed(GOOD)),
        ("@VIDEO_GONE@", site.video_gone()),
    ];
    marks.iter().fold(MISTAKEN.to_owned(), |text, (mark, url)| text.replace(mark, url))
}

const MISTAKEN: &str = include_str!("mistakes.xml");

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site::at("127.0.0.1:80".parse().unwrap())
    }

    #[test]
    fn there_are_three_files_and_one_of_them_changes_with_every_turn() {
        let (site, file) = (site(), |name| file(name, site()));
        assert!(file("good.xml").unwrap().matches("<offer ").count() == GOOD_OFFERS as usize);
        assert!(file("mistakes.xml").is_some() && file("changing.xml").is_some());
        assert!(file("good").is_none() && file("other.xml").is_none() && file("../good.xml").is_none());
        assert_ne!(changing(100, site), changing(101, site));
        assert_eq!(changing(100, site), changing(100, site));
        let kept = (CHANGING_OFFERS - CHANGING_AWAY) as usize;
        assert_eq!(changing(100, site).matches("<offer ").count(), kept);
    }

    #[test]
    fn a_file_was_made_a_moment_ago_and_a_nightly_one_in_the_night() {
        let now = Timestamp::now();
        let made = [made_every(FEED_EVERY), made_every(DAY)];
        assert!(made.iter().all(|made| *made <= Timestamp::now()));
        assert!(now.duration_since(made[0]).as_secs() < 60 && now.duration_since(made[1]).as_hours() < 24);
        let site = site();
        assert!(good(Timestamp::UNIX_EPOCH, site).contains(r#"date="1970-01-01 00:00""#));
        assert!(mistaken(Timestamp::UNIX_EPOCH, site).contains(r#"date="1970-01-01 00:00""#));
        assert!(changing(2, site).contains(r#"date="1970-01-01 00:02""#));
    }

    #[test]
    fn every_good_offer_has_photos_one_has_a_video_and_those_of_mistakes_lead_astray() {
        let made = Timestamp::UNIX_EPOCH;
        let (good, mistaken) = (good(made, site()), mistaken(made, site()));
        assert!(
            good.lines().filter(|line| line.starts_with("<offer ")).all(|line| line.contains("<picture>"))
        );
        assert_eq!(good.matches("<video>").count(), 1);
        let line = good.lines().find(|line| line.contains("<video>")).unwrap();
        assert!(line.contains(&format!("id=\"{}\"", filmed())), "{line}");
        assert!(mistaken.contains("/demo/photos/gone.jpg") && !mistaken.contains('@'), "{mistaken}");
    }
}
