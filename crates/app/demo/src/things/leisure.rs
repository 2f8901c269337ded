//! Generates bicycles and books.

use wire::torg::offers::v1::Condition;

use super::words::{Gender, Noun, color_id, counted, noun};
use super::{
    Color, Dice, Language, Picture, Scene, Seller, States, Thing, Weight, Words, handing_over, state, wear,
};

struct Kind {
    category: &'static str,
    noun: Noun,
    /// The price of a new one, in euros.
    euros: i64,
    /// Makers in Russia and elsewhere.
    makers: (&'static [&'static str], &'static [&'static str]),
    /// In inches.
    wheels: &'static [&'static str],
    gears: &'static [i64],
}

const fn kind(
    category: &'static str,
    noun: Noun,
    euros: i64,
    makers: (&'static [&'static str], &'static [&'static str]),
    wheels: &'static [&'static str],
    gears: &'static [i64],
) -> Kind {
    Kind { category, noun, euros, makers, wheels, gears }
}

type Makers = (&'static [&'static str], &'static [&'static str]);

const ALL_ROUND: Makers =
    (&["Stels", "Forward", "Merida", "Trek", "Giant"], &["Merida", "Trek", "Giant", "Cube", "Specialized"]);
const ROAD: Makers = (&["Merida", "Trek", "Giant"], &["Trek", "Giant", "Cube", "Specialized"]);
const FOLDING: Makers = (&["Stels", "Forward", "Dahon"], &["Raleigh", "Dahon", "Tern"]);
const KINDS: &[Kind] = &[
    kind(
        "sg-4-4-3-10",
        noun(Gender::He, "Горный велосипед", "Mountain bike"),
        640,
        ALL_ROUND,
        &["26", "27.5", "29"],
        &[18, 21, 24, 27],
    ),
    kind(
        "sg-4-4-3-2",
        noun(Gender::He, "Городской велосипед", "City bike"),
        420,
        ALL_ROUND,
        &["26", "28"],
        &[1, 3, 7, 8],
    ),
    kind(
        "sg-4-4-3-11",
        noun(Gender::He, "Шоссейный велосипед", "Road bike"),
        1100,
        ROAD,
        &["28"],
        &[16, 18, 20, 22],
    ),
    kind(
        "sg-4-4-3-7",
        noun(Gender::He, "Складной велосипед", "Folding bike"),
        380,
        FOLDING,
        &["16", "20"],
        &[1, 3, 6, 7],
    ),
    kind(
        "sg-4-4-3-17",
        noun(Gender::He, "Детский велосипед", "Children's bike"),
        160,
        ALL_ROUND,
        &["16", "20", "24"],
        &[1, 6],
    ),
    kind(
        "sg-4-4-3-5",
        noun(Gender::He, "Электровелосипед", "Electric bike"),
        1600,
        ALL_ROUND,
        &["26", "27.5", "28"],
        &[7, 8, 9],
    ),
];
const BICYCLE: States = States {
    new: &[
        ("Новый, собран и настроен.", "Brand new, put together and adjusted."),
        ("На нём ещё не ездили, чек есть.", "Nobody has ridden it yet, the receipt is there."),
    ],
    like_new: &[
        ("Проехал один сезон по асфальту.", "One season, on good roads only."),
        ("Состояние отличное.", "In excellent condition."),
    ],
    used: &[
        ("Есть царапины на раме, ездит отлично.", "The frame has scratches, it rides well."),
        ("Недавно поменяли цепь и колодки.", "New chain and brake pads."),
        ("Хранился дома.", "It was kept indoors."),
        ("Ездили мало, продаём за ненадобностью.", "Not ridden much, and not needed any more."),
    ],
    parts: &[
        ("Под восстановление: погнуто заднее колесо.", "To be repaired: the rear wheel is bent."),
        ("На запчасти, рама целая.", "For parts, the frame is sound."),
    ],
};

/// Author and title, each in Russian and in English.
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
    (
        ("Артур Конан Дойл", "Arthur Conan Doyle"),
        ("Записки о Шерлоке Холмсе", "The Memoirs of Sherlock Holmes"),
    ),
];
const BOOK: States = States {
    new: &[],
    like_new: &[
        ("Как новая, читали один раз.", "As new, read once."),
        ("Не читали, корешок ровный.", "Never read, the spine is straight."),
    ],
    used: &[
        ("Страницы целы, обложка потёрта.", "All pages are there, the cover is worn."),
        ("Есть пометки карандашом.", "With some notes in pencil."),
        ("Из домашней библиотеки.", "From a library at home."),
    ],
    parts: &[],
};
const COVERS: &[Color] = &[Color::Red, Color::Blue, Color::Green, Color::Brown];
/// Books of this year and later are as good as new.
const RECENT: i64 = 2020;

pub(super) fn bicycle(dice: &mut Dice, seller: &Seller) -> Thing {
    let (language, kind) = (seller.language, dice.one_of(KINDS));
    let makers = if language == Language::Russian { kind.makers.0 } else { kind.makers.1 };
    let (color, maker) = (*dice.one_of(&Color::ALL), *dice.one_of(makers));
    let (wheels, gears) = (*dice.one_of(kind.wheels), *dice.one_of(kind.gears));
    let (noun, shade) = (kind.noun.of(language), kind.noun.color(language, color));
    let (title, about) = match language {
        Language::Russian => {
            let gears = counted(gears, ["скорость", "скорости", "скоростей"]);
            (format!("{noun} {maker}, {shade}, {gears}"), format!("Колёса {}″.", wheels.replace('.', ",")))
        }
        Language::English => {
            let gears = if gears == 1 { "single speed".to_owned() } else { format!("{gears} gears") };
            (format!("{noun} by {maker}, {shade}, {gears}"), format!("Wheels of {wheels} inches."))
        }
    };
    let (condition, percent) = wear(dice, seller);
    let state = state(dice, seller, condition, &BICYCLE);
    let text = format!("{about}\n{state}\n{}", handing_over(dice, seller, Weight::Heavy));
    let attributes = vec![
        ("brand", maker.to_owned()),
        ("color", color_id(color).to_owned()),
        ("wheel-diameter", wheels.to_owned()),
    ];
    Thing {
        category: kind.category,
        title,
        text,
        attributes,
        euros: dice.near(kind.euros * percent / 100, 20),
        condition: Some(condition),
        picture: Some(Picture { scene: Scene::Bicycle, color }),
    }
}

pub(super) fn book(dice: &mut Dice, seller: &Seller) -> Thing {
    let (language, (author, name)) = (seller.language, *dice.one_of(BOOKS));
    let (author, name, year) = (language.of(author), language.of(name), dice.between(1935, 2024));
    let title = match language {
        Language::Russian => format!("{author}, «{name}», {year}"),
        Language::English => format!("{author}: {name}, {year}"),
    };
    let condition = if year < RECENT { Condition::CONDITION_USED } else { Condition::CONDITION_LIKE_NEW };
    let state = state(dice, seller, condition, &BOOK);
    let text = format!("{title}.\n{state}\n{}", handing_over(dice, seller, Weight::Light));
    let attributes = vec![("author", author.to_owned()), ("year-published", year.to_string())];
    Thing {
        category: "me-1",
        title,
        text,
        attributes,
        euros: dice.between(3, if year < 1960 { 120 } else { 25 }),
        condition: Some(condition),
        picture: Some(Picture { scene: Scene::Book, color: *dice.one_of(COVERS) }),
    }
}
