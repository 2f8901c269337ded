//! Generates flats, for sale and for rent.

use super::{Color, Dice, Language, Picture, Scene, Seller, Thing, Words};

/// The catalogue's value for rooms, its name, the minimum and maximum area.
const ROOMS: &[(&str, Words, i64, i64)] = &[
    ("studio", ("Студия", "Studio"), 19, 34),
    ("one", ("1-комнатная квартира", "1-room flat"), 30, 46),
    ("two", ("2-комнатная квартира", "2-room flat"), 42, 68),
    ("three", ("3-комнатная квартира", "3-room flat"), 58, 96),
    ("four", ("4-комнатная квартира", "4-room flat"), 80, 140),
];
/// The catalogue's value for the material, its name, the colour of the walls.
const BUILDINGS: &[(&str, Words, Color)] = &[
    ("brick", ("кирпичный дом", "brick building"), Color::Red),
    ("panel", ("панельный дом", "prefabricated building"), Color::Gray),
    ("monolith", ("монолитный дом", "concrete building"), Color::Beige),
];
const NEAR: &[Words] = &[
    ("До остановки пять минут пешком.", "Five minutes' walk to the bus."),
    ("Рядом парк и школа.", "A park and a school are near."),
    ("Тихий двор, окна на солнечную сторону.", "A quiet yard, and windows to the sunny side."),
    ("Свежий ремонт, кухня остаётся.", "Freshly renovated, the kitchen stays."),
    ("Показываем по вечерам и в выходные.", "Can be seen in the evenings and at weekends."),
];
/// The price of a square metre in euros, by town. Other towns have a default by country.
const METRES: &[(&str, i64)] = &[
    ("Москва", 3_400),
    ("Санкт-Петербург", 2_400),
    ("Сочи", 2_900),
    ("Казань", 1_900),
    ("Berlin", 5_200),
    ("Munich", 8_400),
    ("Hamburg", 5_600),
    ("Leipzig", 2_700),
    ("London", 8_600),
    ("Oxford", 5_900),
    ("Edinburgh", 4_600),
];
const METRE_RUB: i64 = 1_300;
const METRE_EUR: i64 = 4_200;
const METRE_GBP: i64 = 3_900;
/// The price of a flat in monthly rents.
const RENTS: i64 = 230;
/// Minimum and maximum floors of a house, in Russia and elsewhere.
const FLOORS_RUSSIAN: (i64, i64) = (5, 25);
const FLOORS: (i64, i64) = (3, 8);

pub(super) fn flat(dice: &mut Dice, seller: &Seller) -> Thing {
    let language = seller.language;
    let (rooms, rooms_words, least, most) = *dice.one_of(ROOMS);
    let (building, building_words, color) = *dice.one_of(BUILDINGS);
    let (low, high) = if language == Language::Russian { FLOORS_RUSSIAN } else { FLOORS };
    let (area, floors, rent) = (dice.between(least, most), dice.between(low, high), dice.chance(40));
    let (floor, rooms_words) = (dice.between(1, floors), language.of(rooms_words));
    let title = match (language, rent) {
        (Language::Russian, true) => format!("{rooms_words}, {area} м², в аренду"),
        (Language::Russian, false) => format!("{rooms_words}, {area} м², {floor}/{floors} эт."),
        (Language::English, true) => format!("{rooms_words} for rent, {area} m²"),
        (Language::English, false) => format!("{rooms_words}, {area} m², floor {floor} of {floors}"),
    };
    let text = format!("{rooms_words}, {}.\n{}", language.of(building_words), dice.words(language, NEAR));
    let mut attributes = vec![
        ("rooms", rooms.to_owned()),
        ("area", area.to_string()),
        ("floor", floor.to_string()),
        ("floors", floors.to_string()),
        ("building-type", building.to_owned()),
    ];
    let price = dice.near(area * metre(seller), 20);
    let (category, euros) = if rent {
        ("real-estate/flats/rent", (price / RENTS).max(100))
    } else {
        attributes.push(("housing", if dice.chance(30) { "new" } else { "resale" }.to_owned()));
        ("real-estate/flats/sale", price)
    };
    let picture = Some(Picture { scene: Scene::House, color });
    Thing { category, title, text, attributes, euros, condition: None, picture }
}

/// The price of a square metre in the seller's town.
fn metre(seller: &Seller) -> i64 {
    let known = METRES.iter().find(|(city, _)| *city == seller.city);
    known.map_or(
        match seller.currency {
            "RUB" => METRE_RUB,
            "GBP" => METRE_GBP,
            _ => METRE_EUR,
        },
        |(_, euros)| *euros,
    )
}
