//! Clothes and shoes.

use contract::torg::offers::v1::Condition;

use super::{COLORS, Dice, Language, Thing, Words, handing_over, state};

/// Category, name, for whom, what a new one costs in euros.
const CLOTHES: &[(&str, Words, &str, i64)] = &[
    ("aa-1-10-2", ("Пуховик женский", "Women's down jacket"), "women", 140),
    ("aa-1-10-2", ("Пальто мужское", "Men's coat"), "men", 180),
    ("aa-1-12-4", ("Джинсы", "Jeans"), "unisex", 60),
    ("aa-1-4", ("Платье летнее", "Summer dress"), "women", 55),
    ("aa-1-4", ("Платье вечернее", "Evening dress"), "women", 130),
    ("aa-1-13-7", ("Рубашка", "Shirt"), "men", 40),
    ("aa-1-13-12", ("Свитер шерстяной", "Woollen jumper"), "unisex", 65),
    ("aa-1-13-13", ("Худи оверсайз", "Oversized hoodie"), "unisex", 45),
];
/// The same for shoes.
const SHOES: &[(&str, Words, &str, i64)] = &[
    ("aa-8-8", ("Кроссовки", "Trainers"), "unisex", 95),
    ("aa-8-3", ("Ботинки зимние", "Winter boots"), "men", 120),
    ("aa-8-3", ("Сапоги кожаные", "Leather boots"), "women", 150),
    ("aa-8-10", ("Туфли на каблуке", "High heels"), "women", 80),
];
const BRANDS: &[&str] =
    &["Zara", "Uniqlo", "Levi's", "Mango", "Adidas", "Nike", "Reserved", "Marks & Spencer"];
const SIZES: &[&str] = &["xs", "s", "m", "l"];

pub(super) fn any(dice: &mut Dice, language: Language) -> Thing {
    let shoes = dice.chance(35);
    let (category, name, gender, new_euros) = *dice.one_of(if shoes { SHOES } else { CLOTHES });
    let (color, color_words) = *dice.one_of(COLORS);
    let brand = *dice.one_of(BRANDS);
    let (size_name, size) = if shoes {
        ("shoe-size", dice.between(36, 46).to_string())
    } else {
        ("clothing-size", (*dice.one_of(SIZES)).to_owned())
    };
    let shown = size.to_uppercase();
    let title = match language {
        Language::Russian => format!("{} {brand}, {}, размер {shown}", name.0, color_words.0),
        Language::English => format!("{} by {brand}, {}, size {shown}", name.1, color_words.1),
    };
    let (condition, percent) = match dice.between(0, 3) {
        0 => (Condition::CONDITION_NEW, 90),
        1 => (Condition::CONDITION_LIKE_NEW, 60),
        _ => (Condition::CONDITION_USED, 35),
    };
    let text = format!("{title}.\n{}\n{}", state(dice, language, condition), handing_over(dice, language));
    let attributes = vec![
        ("brand", brand.to_owned()),
        ("color", color.to_owned()),
        ("gender", gender.to_owned()),
        (size_name, size),
    ];
    let euros = dice.near(new_euros * percent / 100, 20);
    Thing { category, title, text, attributes, euros, condition: Some(condition) }
}
