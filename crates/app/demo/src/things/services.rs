//! Generates services.

use super::{Dice, Language, Seller, Thing, Words};

/// A trade, and the promises in its offers.
struct Service {
    category: &'static str,
    name: Words,
    /// The price in euros, and the catalogue's value for its unit.
    euros: i64,
    price_for: &'static str,
    promises: &'static [Words],
    /// Possible providers, as values of the catalogue.
    providers: &'static [&'static str],
}

const fn service(
    category: &'static str,
    name: Words,
    euros: i64,
    price_for: &'static str,
    promises: &'static [Words],
    providers: &'static [&'static str],
) -> Service {
    Service { category, name, euros, price_for, promises, providers }
}

/// A category whose offers must name the language.
const LANGUAGES: &str = "services/lessons/languages";
const ALONE: &[&str] = &["person"];
const TOGETHER: &[&str] = &["person", "team", "company"];
const EXPERIENCE: Words = ("опыт больше десяти лет", "more than ten years of experience");
const WEEKENDS: Words = ("без выходных", "also at weekends");
const CONTRACT: Words = ("договор и чек", "with a contract and a receipt");
const SAME_DAY: Words = ("выезд в день звонка", "same-day visits");
const GUARANTEE: Words = ("гарантия два года", "two years of guarantee");

const BUILDING: &[Words] = &[GUARANTEE, EXPERIENCE, CONTRACT, ("смета бесплатно", "free estimate")];
const VISITS: &[Words] = &[SAME_DAY, WEEKENDS, EXPERIENCE, ("гарантия на работу", "guaranteed work")];
const GARAGE: &[Words] = &[
    ("диагностика бесплатно", "free check-up"),
    ("запчасти в наличии", "parts in stock"),
    ("гарантия год", "one year of guarantee"),
    WEEKENDS,
];
const CLEANING: &[Words] = &[
    ("свои средства и инвентарь", "own equipment and supplies"),
    ("разово или регулярно", "once or regularly"),
    WEEKENDS,
    CONTRACT,
];
const CLEARING: &[Words] = &[
    ("свои средства и инвентарь", "own equipment and supplies"),
    ("вывезем мусор", "we take the rubbish away"),
    WEEKENDS,
    CONTRACT,
];
const CARE: &[Words] = &[
    EXPERIENCE,
    ("можно по вечерам", "also in the evenings"),
    ("игры и прогулки", "games and walks"),
    ("обучена первой помощи", "trained in first aid"),
];
const LESSONS: &[Words] = &[
    ("первое занятие бесплатно", "the first lesson is free"),
    ("онлайн или у вас дома", "online or at your place"),
    ("взрослым и детям", "for adults and children"),
    EXPERIENCE,
];
const MOVING: &[Words] = &[
    ("своя машина", "with our own van"),
    ("упаковка включена", "packing included"),
    ("подача в день звонка", "same-day service"),
    WEEKENDS,
];
const DOGS: &[Words] = &[
    ("выезд на дом", "at your home"),
    ("бережно с пугливыми", "gentle with shy dogs"),
    ("любые породы", "all breeds"),
    WEEKENDS,
];

/// Manual work in customers' homes.
const REPAIRS: &[Service] = &[
    service(
        "services/repair/flats",
        ("Ремонт квартир под ключ", "Renovation of flats"),
        60,
        "square-metre",
        BUILDING,
        TOGETHER,
    ),
    service("services/repair/plumbing", ("Услуги сантехника", "Plumber"), 30, "hour", VISITS, TOGETHER),
    service("services/repair/electrics", ("Услуги электрика", "Electrician"), 35, "hour", VISITS, TOGETHER),
    service("services/repair/tiling", ("Укладка плитки", "Tiling"), 25, "square-metre", BUILDING, TOGETHER),
    service("services/repair/handyman", ("Муж на час", "Handyman by the hour"), 25, "hour", VISITS, ALONE),
];
const CLEANERS: &[Service] = &[
    service(
        "services/home/cleaning",
        ("Уборка квартир", "Cleaning of flats"),
        50,
        "service",
        CLEANING,
        TOGETHER,
    ),
    service(
        "services/home/cleaning",
        ("Уборка после ремонта", "Cleaning after renovations"),
        90,
        "service",
        CLEARING,
        TOGETHER,
    ),
    service("services/home/cleaning", ("Мытьё окон", "Window cleaning"), 40, "service", CLEANING, TOGETHER),
    service(
        "services/home/cleaning",
        ("Уборка офисов", "Cleaning of offices"),
        70,
        "service",
        CLEANING,
        TOGETHER,
    ),
];
const OTHERS: &[Service] = &[
    service(
        "services/home/nannies",
        ("Няня с рекомендациями", "Nanny with references"),
        12,
        "hour",
        CARE,
        ALONE,
    ),
    service(LANGUAGES, ("Уроки английского", "English lessons"), 22, "lesson", LESSONS, ALONE),
    service("services/lessons/music", ("Уроки гитары", "Guitar lessons"), 20, "lesson", LESSONS, ALONE),
    service(
        "services/lessons/school",
        ("Репетитор по математике", "Maths tutor"),
        24,
        "lesson",
        LESSONS,
        ALONE,
    ),
    service(
        "services/transport/moving",
        ("Переезды с грузчиками", "House moves with helpers"),
        40,
        "hour",
        MOVING,
        TOGETHER,
    ),
    service("services/cars/repair", ("Ремонт автомобилей", "Car repairs"), 45, "hour", GARAGE, TOGETHER),
    service(
        "services/appliances/computers",
        ("Ремонт компьютеров", "Computer repairs"),
        35,
        "service",
        VISITS,
        TOGETHER,
    ),
    service("services/pets/grooming", ("Стрижка собак", "Dog grooming"), 40, "service", DOGS, ALONE),
];

pub(super) fn any(dice: &mut Dice, seller: &Seller) -> Thing {
    let all = match dice.between(0, 9) {
        0..3 => REPAIRS,
        3 => CLEANERS,
        _ => OTHERS,
    };
    one_of(dice, seller, all)
}

pub(super) fn repair(dice: &mut Dice, seller: &Seller) -> Thing {
    one_of(dice, seller, REPAIRS)
}

pub(super) fn cleaning(dice: &mut Dice, seller: &Seller) -> Thing {
    one_of(dice, seller, CLEANERS)
}

fn one_of(dice: &mut Dice, seller: &Seller, all: &[Service]) -> Thing {
    let (language, service) = (seller.language, dice.one_of(all));
    let (first, second) = promises(dice, language, service.promises);
    let name = language.of(service.name);
    let text = match language {
        Language::Russian => format!("{name}: {first}, {second}.\nПишите, договоримся о времени."),
        Language::English => format!("{name}: {first}, {second}.\nWrite, and we will find a day."),
    };
    let provider = if seller.is_person() { "person" } else { *dice.one_of(service.providers) };
    let mut attributes =
        vec![("service-price-for", service.price_for.to_owned()), ("provider", provider.to_owned())];
    if service.category == LANGUAGES {
        attributes.push(("language", "en".to_owned()));
    }
    Thing {
        category: service.category,
        title: format!("{name}, {first}"),
        text,
        attributes,
        euros: dice.near(service.euros, 35),
        condition: None,
        picture: None,
    }
}

/// Two different promises.
fn promises(dice: &mut Dice, language: Language, all: &[Words]) -> (&'static str, &'static str) {
    let first = dice.between(0, all.len() as i64 - 1);
    let further = dice.between(1, all.len() as i64 - 1);
    let second = (first + further) % all.len() as i64;
    (language.of(all[first as usize]), language.of(all[second as usize]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_promises_are_never_the_same() {
        for seed in 0..500 {
            let (first, second) = promises(&mut Dice::new(seed), Language::English, CARE);
            assert_ne!(first, second);
        }
    }
}
