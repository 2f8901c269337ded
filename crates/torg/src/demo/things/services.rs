//! Services.

use super::{Dice, Language, Thing, Words};

/// Has to say which language.
const LANGUAGES: &str = "services/lessons/languages";
/// Category, name, what it costs in euros, for what (as the catalogue has it).
const SERVICES: &[(&str, Words, i64, &str)] = &[
    ("services/repair/flats", ("Ремонт квартир под ключ", "Renovation of flats"), 60, "square-metre"),
    ("services/repair/plumbing", ("Услуги сантехника", "Plumber"), 30, "hour"),
    ("services/repair/electrics", ("Услуги электрика", "Electrician"), 35, "hour"),
    ("services/repair/tiling", ("Укладка плитки", "Tiling"), 25, "square-metre"),
    ("services/repair/handyman", ("Муж на час", "Handyman by the hour"), 25, "hour"),
    ("services/home/cleaning", ("Уборка квартир", "Cleaning of flats"), 50, "service"),
    ("services/home/nannies", ("Няня с рекомендациями", "Nanny with references"), 12, "hour"),
    (LANGUAGES, ("Уроки английского", "English lessons"), 22, "lesson"),
    ("services/lessons/music", ("Уроки гитары", "Guitar lessons"), 20, "lesson"),
    ("services/lessons/school", ("Репетитор по математике", "Tutor of mathematics"), 24, "lesson"),
    ("services/transport/moving", ("Переезды с грузчиками", "Moves with helping hands"), 40, "hour"),
    ("services/cars/repair", ("Ремонт автомобилей", "Car repairs"), 45, "hour"),
    ("services/appliances/computers", ("Ремонт компьютеров", "Computer repairs"), 35, "service"),
    ("services/pets/grooming", ("Стрижка собак", "Dog grooming"), 40, "service"),
];
const PROMISES: &[Words] = &[
    ("выезд в день звонка", "on the same day"),
    ("гарантия два года", "two years of warranty"),
    ("опыт больше десяти лет", "more than ten years of experience"),
    ("без выходных", "also at weekends"),
    ("работаю один, без посредников", "I do it myself"),
    ("договор и чек", "with a contract and a receipt"),
];

pub(super) fn any(dice: &mut Dice, language: Language) -> Thing {
    let (category, name, usual, price_for) = *dice.one_of(SERVICES);
    let (first, second) = (dice.words(language, PROMISES), dice.words(language, PROMISES));
    let title = format!("{}, {first}", language.of(name));
    let text = match language {
        Language::Russian => format!("{}: {first}, {second}.\nПишите, договоримся о времени.", name.0),
        Language::English => format!("{}: {first}, {second}.\nWrite to me and we find a day.", name.1),
    };
    let provider = *dice.one_of(&["person", "team", "company"]);
    let mut attributes = vec![("service-price-for", price_for.to_owned()), ("provider", provider.to_owned())];
    if category == LANGUAGES {
        attributes.push(("language", "en".to_owned()));
    }
    let euros = dice.near(usual, 35);
    Thing { category, title, text, attributes, euros, condition: None }
}
