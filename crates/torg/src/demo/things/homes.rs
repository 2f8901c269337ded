//! Flats, for sale and for rent.

use super::{Dice, Language, Thing, Words};

/// Rooms as the catalogue has them, words, the smallest and the largest area.
const ROOMS: &[(&str, Words, i64, i64)] = &[
    ("studio", ("Студия", "Studio"), 19, 34),
    ("one", ("1-комнатная квартира", "1-room flat"), 30, 46),
    ("two", ("2-комнатная квартира", "2-room flat"), 42, 68),
    ("three", ("3-комнатная квартира", "3-room flat"), 58, 96),
    ("four", ("4-комнатная квартира", "4-room flat"), 80, 140),
];
const BUILDINGS: &[(&str, Words)] = &[
    ("brick", ("кирпичный дом", "brick house")),
    ("panel", ("панельный дом", "panel house")),
    ("monolith", ("монолитный дом", "concrete house")),
];
const NEAR: &[Words] = &[
    ("До метро семь минут пешком.", "Seven minutes on foot to the underground."),
    ("Рядом парк и школа.", "A park and a school are near."),
    ("Тихий двор, окна на солнечную сторону.", "A quiet yard, and windows to the sunny side."),
    ("Свежий ремонт, мебель остаётся.", "Freshly renovated, the furniture stays."),
    ("Собственник, один взрослый.", "From the owner."),
];
/// What a square metre costs in euros, in a city where it costs most and elsewhere.
const METRE_DEAR: i64 = 3_400;
const METRE: i64 = 1_300;
const DEAR: &[&str] =
    &["Москва", "Санкт-Петербург", "Сочи", "Berlin", "Munich", "London", "Cologne", "Bristol"];

pub(super) fn flat(dice: &mut Dice, language: Language, city: &str) -> Thing {
    let (rooms, rooms_words, least, most) = *dice.one_of(ROOMS);
    let (building, building_words) = *dice.one_of(BUILDINGS);
    let (area, floors, rent) = (dice.between(least, most), dice.between(3, 25), dice.chance(40));
    let floor = dice.between(1, floors);
    let metre = language.of(("м²", "m²"));
    let title = match (language, rent) {
        (Language::Russian, true) => format!("{}, {area} {metre}, в аренду", rooms_words.0),
        (Language::Russian, false) => format!("{}, {area} {metre}, {floor}/{floors} эт.", rooms_words.0),
        (Language::English, true) => format!("{} for rent, {area} {metre}", rooms_words.1),
        (Language::English, false) => format!("{}, {area} {metre}, floor {floor} of {floors}", rooms_words.1),
    };
    let text = format!("{}, {}.\n{}", title, language.of(building_words), dice.words(language, NEAR));
    let mut attributes = vec![
        ("rooms", rooms.to_owned()),
        ("area", area.to_string()),
        ("floor", floor.to_string()),
        ("floors", floors.to_string()),
        ("building-type", building.to_owned()),
    ];
    let price = dice.near(area * if DEAR.contains(&city) { METRE_DEAR } else { METRE }, 20);
    if rent {
        let (category, euros) = ("real-estate/flats/rent", (price / 220).max(100));
        return Thing { category, title, text, attributes, euros, condition: None };
    }
    attributes.push(("housing", if dice.chance(30) { "new" } else { "resale" }.to_owned()));
    Thing { category: "real-estate/flats/sale", title, text, attributes, euros: price, condition: None }
}
