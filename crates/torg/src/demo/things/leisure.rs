//! Bicycles and books.

use contract::torg::offers::v1::Condition;

use super::{COLORS, Dice, Language, Thing, Words, handing_over, state, wear};

/// Category, name, what a new one costs in euros.
const BICYCLES: &[(&str, Words, i64)] = &[
    ("sg-4-4-3-10", ("Горный велосипед", "Mountain bike"), 640),
    ("sg-4-4-3-2", ("Городской велосипед", "City bike"), 420),
    ("sg-4-4-3-11", ("Шоссейный велосипед", "Road bike"), 1100),
    ("sg-4-4-3-7", ("Складной велосипед", "Folding bike"), 380),
    ("sg-4-4-3-17", ("Детский велосипед", "Children's bike"), 160),
    ("sg-4-4-3-5", ("Электровелосипед", "Electric bike"), 1600),
];
const MAKERS: &[&str] = &["Stels", "Forward", "Merida", "Trek", "Giant", "Cube", "Brompton", "Specialized"];
const WHEELS: &[&str] = &["16", "20", "24", "26", "27.5", "28", "29"];

/// Author, title: in Russian, in English.
const BOOKS: &[(Words, Words)] = &[
    (("Лев Толстой", "Leo Tolstoy"), ("Война и мир", "War and Peace")),
    (("Лев Толстой", "Leo Tolstoy"), ("Анна Каренина", "Anna Karenina")),
    (("Фёдор Достоевский", "Fyodor Dostoevsky"), ("Идиот", "The Idiot")),
    (("Антон Чехов", "Anton Chekhov"), ("Рассказы", "Short stories")),
    (("Николай Гоголь", "Nikolai Gogol"), ("Мёртвые души", "Dead Souls")),
    (("Александр Пушкин", "Alexander Pushkin"), ("Евгений Онегин", "Eugene Onegin")),
    (("Джейн Остин", "Jane Austen"), ("Гордость и предубеждение", "Pride and Prejudice")),
    (("Чарльз Диккенс", "Charles Dickens"), ("Большие надежды", "Great Expectations")),
    (("Герман Мелвилл", "Herman Melville"), ("Моби Дик", "Moby-Dick")),
    (("Мэри Шелли", "Mary Shelley"), ("Франкенштейн", "Frankenstein")),
    (("Жюль Верн", "Jules Verne"), ("Таинственный остров", "The Mysterious Island")),
    (("Артур Конан Дойл", "Arthur Conan Doyle"), ("Записки о Шерлоке Холмсе", "Sherlock Holmes")),
];

pub(super) fn bicycle(dice: &mut Dice, language: Language) -> Thing {
    let (category, name, new_euros) = *dice.one_of(BICYCLES);
    let ((color, color_words), maker) = (*dice.one_of(COLORS), *dice.one_of(MAKERS));
    let (wheels, gears) = (*dice.one_of(WHEELS), dice.between(1, 27));
    let title = match language {
        Language::Russian => format!("{} {maker}, {}, скоростей: {gears}", name.0, color_words.0),
        Language::English => format!("{} by {maker}, {}, {gears} gear(s)", name.1, color_words.1),
    };
    let (condition, percent) = wear(dice);
    let wheels_words = match language {
        Language::Russian => format!("Колёса {wheels} дюймов."),
        Language::English => format!("Wheels of {wheels} inches."),
    };
    let text =
        format!("{wheels_words}\n{}\n{}", state(dice, language, condition), handing_over(dice, language));
    let attributes =
        vec![("brand", maker.to_owned()), ("color", color.to_owned()), ("wheel-diameter", wheels.to_owned())];
    let euros = dice.near(new_euros * percent / 100, 20);
    Thing { category, title, text, attributes, euros, condition: Some(condition) }
}

pub(super) fn book(dice: &mut Dice, language: Language) -> Thing {
    let (author, name) = *dice.one_of(BOOKS);
    let year = dice.between(1935, 2024);
    let title = match language {
        Language::Russian => format!("{}, «{}», {year}", author.0, name.0),
        Language::English => format!("{}: {}, {year}", author.1, name.1),
    };
    let condition = if year < 2020 { Condition::CONDITION_USED } else { Condition::CONDITION_LIKE_NEW };
    let text = format!("{title}.\n{}\n{}", state(dice, language, condition), handing_over(dice, language));
    let attributes = vec![("author", language.of(author).to_owned()), ("year-published", year.to_string())];
    let euros = dice.between(3, if year < 1960 { 120 } else { 25 });
    Thing { category: "me-1", title, text, attributes, euros, condition: Some(condition) }
}
