//! Generates clothes and shoes.

use wire::torg::offers::v1::Condition;

use super::words::{Gender, Noun, color_id, noun};
use super::{Color, Dice, Language, Picture, Scene, Seller, States, Thing, Weight, handing_over, state};
use Color::{Beige, Black, Blue, Brown, Gray, Green, Red, White};

struct Piece {
    category: &'static str,
    noun: Noun,
    /// The value in the catalogue.
    gender: &'static str,
    /// The price of a new one, in euros.
    euros: i64,
    brands: &'static [&'static str],
    colors: &'static [Color],
    scene: Scene,
}

const fn piece(
    category: &'static str,
    noun: Noun,
    gender: &'static str,
    euros: i64,
    brands: &'static [&'static str],
    colors: &'static [Color],
    scene: Scene,
) -> Piece {
    Piece { category, noun, gender, euros, brands, colors, scene }
}

const FASHION: &[&str] = &["Zara", "Mango", "Uniqlo", "Reserved", "Marks & Spencer"];
const SPORT: &[&str] = &["Adidas", "Nike", "Puma", "Reebok"];
const DENIM: &[&str] = &["Levi's", "Wrangler", "Lee", "Zara"];
const LEATHER: &[&str] = &["ECCO", "Geox", "Clarks", "Timberland"];
const EVENING: &[&str] = &["Zara", "Mango", "Geox", "Clarks"];
const CLOTHES: &[Piece] = &[
    piece(
        "aa-1-10-2",
        noun(Gender::He, "Пуховик женский", "Women's down jacket"),
        "women",
        140,
        FASHION,
        &Color::ALL,
        Scene::Coat,
    ),
    piece(
        "aa-1-10-2",
        noun(Gender::It, "Пальто мужское", "Men's coat"),
        "men",
        180,
        FASHION,
        &[Black, Gray, Blue, Brown, Beige],
        Scene::Coat,
    ),
    piece(
        "aa-1-12-4",
        noun(Gender::They, "Джинсы", "Jeans"),
        "unisex",
        60,
        DENIM,
        &[Blue, Black, Gray, White],
        Scene::Jeans,
    ),
    piece(
        "aa-1-4",
        noun(Gender::It, "Платье летнее", "Summer dress"),
        "women",
        55,
        FASHION,
        &[White, Blue, Red, Green, Beige],
        Scene::Dress,
    ),
    piece(
        "aa-1-4",
        noun(Gender::It, "Платье вечернее", "Evening dress"),
        "women",
        130,
        FASHION,
        &[Black, Red, Blue, Green],
        Scene::Dress,
    ),
    piece(
        "aa-1-13-7",
        noun(Gender::She, "Рубашка мужская", "Men's shirt"),
        "men",
        40,
        FASHION,
        &[White, Blue, Gray, Black, Red],
        Scene::Shirt,
    ),
    piece(
        "aa-1-13-12",
        noun(Gender::He, "Свитер шерстяной", "Woollen jumper"),
        "unisex",
        65,
        FASHION,
        &Color::ALL,
        Scene::Jumper,
    ),
    piece(
        "aa-1-13-13",
        noun(Gender::It, "Худи", "Hoodie"),
        "unisex",
        45,
        SPORT,
        &[Black, Gray, White, Blue, Red, Green],
        Scene::Jumper,
    ),
];
const SHOES: &[Piece] = &[
    piece(
        "aa-8-8",
        noun(Gender::They, "Кроссовки", "Trainers"),
        "unisex",
        95,
        SPORT,
        &[White, Black, Gray, Blue, Red],
        Scene::Trainers,
    ),
    piece(
        "aa-8-3",
        noun(Gender::They, "Ботинки зимние", "Men's winter boots"),
        "men",
        120,
        LEATHER,
        &[Black, Brown, Beige],
        Scene::Boots,
    ),
    piece(
        "aa-8-3",
        noun(Gender::They, "Сапоги кожаные", "Women's leather boots"),
        "women",
        150,
        LEATHER,
        &[Black, Brown, Beige, Red],
        Scene::Boots,
    ),
    piece(
        "aa-8-10",
        noun(Gender::They, "Туфли на каблуке", "High heels"),
        "women",
        80,
        EVENING,
        &[Black, Red, Beige, White],
        Scene::Heels,
    ),
];
const SIZES: &[&str] = &["xs", "s", "m", "l"];
const STATES: States = States {
    new: &[
        ("Новая вещь, не надевали.", "New, never worn."),
        ("С чеком, носить не пришлось.", "With its receipt, there was no occasion to wear it."),
    ],
    like_new: &[("Надевали пару раз.", "Worn a few times."), ("Как из магазина.", "As if from the shop.")],
    used: &[
        ("Носили аккуратно, без дефектов.", "Worn with care, nothing is torn."),
        ("Есть следы носки, цена с учётом этого.", "One sees that it was worn, and so does the price."),
        ("Чисто и без запаха.", "Clean, without any smell."),
    ],
    parts: &[],
};

pub(super) fn any(dice: &mut Dice, seller: &Seller) -> Thing {
    let language = seller.language;
    let is_shoe = dice.chance(35);
    let piece = dice.one_of(if is_shoe { SHOES } else { CLOTHES });
    let (color, brand) = (*dice.one_of(piece.colors), *dice.one_of(piece.brands));
    let (size_name, size) = if is_shoe {
        let (least, most) = match piece.gender {
            "women" => (36, 41),
            "men" => (40, 46),
            _ => (37, 45),
        };
        ("shoe-size", dice.between(least, most).to_string())
    } else {
        ("clothing-size", (*dice.one_of(SIZES)).to_owned())
    };
    let (noun, shade, shown) =
        (piece.noun.of(language), piece.noun.color(language, color), size.to_uppercase());
    let title = match language {
        Language::Russian => format!("{noun} {brand}, {shade}, размер {shown}"),
        Language::English => format!("{noun} by {brand}, {shade}, size {shown}"),
    };
    let (condition, percent) = match dice.between(0, 3) {
        0 => (Condition::CONDITION_NEW, 90),
        1 => (Condition::CONDITION_LIKE_NEW, 60),
        _ => (Condition::CONDITION_USED, 35),
    };
    let state = state(dice, seller, condition, &STATES);
    let text = format!("{title}.\n{state}\n{}", handing_over(dice, seller, Weight::Light));
    let attributes = vec![
        ("brand", brand.to_owned()),
        ("color", color_id(color).to_owned()),
        ("gender", piece.gender.to_owned()),
        (size_name, size),
    ];
    Thing {
        category: piece.category,
        title,
        text,
        attributes,
        euros: dice.near(piece.euros * percent / 100, 20),
        condition: Some(condition),
        picture: Some(Picture { scene: piece.scene, color }),
    }
}
