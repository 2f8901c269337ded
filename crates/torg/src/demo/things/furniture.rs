//! Furniture.

use super::{COLORS, Dice, Language, Thing, Words, handing_over, state, wear};

/// Category, name, what a new one costs in euros.
const PIECES: &[(&str, Words, i64)] = &[
    ("fr-22", ("Диван-кровать", "Sofa bed"), 520),
    ("fr-22-3", ("Угловой диван", "Corner sofa"), 740),
    ("fr-4-1", ("Шкаф-купе", "Wardrobe with sliding doors"), 460),
    ("fr-4-5", ("Комод", "Chest of drawers"), 190),
    ("fr-2-2", ("Кровать двуспальная", "Double bed"), 380),
    ("fr-2-6", ("Матрас ортопедический", "Firm mattress"), 240),
    ("fr-24-4", ("Обеденный стол", "Dining table"), 280),
    ("fr-7-9", ("Стул для кухни", "Kitchen chair"), 60),
    ("fr-7-1", ("Кресло", "Armchair"), 210),
    ("fr-7-7", ("Игровое кресло", "Gaming chair"), 180),
];
const MAKERS: &[&str] = &["IKEA", "Hoff", "Много Мебели", "Nobilia", "JYSK", "Lazurit"];
const EXTRAS: &[Words] = &[
    ("почти новый вид", "looks almost new"),
    ("с доставкой по городу", "can be brought to you"),
    ("самовывоз", "to be collected"),
    ("в связи с переездом", "because we move"),
    ("качественная ткань", "good fabric"),
    ("массив дерева", "solid wood"),
];

pub(super) fn any(dice: &mut Dice, language: Language) -> Thing {
    let (category, name, new_euros) = *dice.one_of(PIECES);
    let (color, color_words) = *dice.one_of(COLORS);
    let (maker, extra) = (*dice.one_of(MAKERS), dice.words(language, EXTRAS));
    let (width, depth) = (dice.between(5, 24) * 10, dice.between(4, 12) * 10);
    let title = format!("{} {maker}, {}, {extra}", language.of(name), language.of(color_words));
    let (condition, percent) = wear(dice);
    let size = match language {
        Language::Russian => format!("Размеры: {width} на {depth} см."),
        Language::English => format!("{width} by {depth} cm."),
    };
    let text = format!("{size}\n{}\n{}", state(dice, language, condition), handing_over(dice, language));
    let attributes = vec![("brand", maker.to_owned()), ("color", color.to_owned())];
    let euros = dice.near(new_euros * percent / 100, 20);
    Thing { category, title, text, attributes, euros, condition: Some(condition) }
}
