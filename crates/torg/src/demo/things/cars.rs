//! Cars.

use contract::torg::offers::v1::Condition;

use super::{Dice, Language, Thing, Words, handing_over};

/// Make as the catalogue has it, make, model, body, what a new one costs in euros.
const MODELS: &[(&str, &str, &str, &str, i64)] = &[
    ("lada", "LADA", "Vesta", "sedan", 14_000),
    ("lada", "LADA", "Granta", "liftback", 9_500),
    ("lada", "LADA", "Niva Legend", "suv", 11_000),
    ("kia", "Kia", "Rio", "sedan", 16_000),
    ("kia", "Kia", "Sportage", "crossover", 31_000),
    ("hyundai", "Hyundai", "Solaris", "sedan", 15_500),
    ("hyundai", "Hyundai", "Tucson", "crossover", 32_000),
    ("toyota", "Toyota", "Camry", "sedan", 34_000),
    ("toyota", "Toyota", "RAV4", "crossover", 36_000),
    ("volkswagen", "Volkswagen", "Golf", "hatchback", 28_000),
    ("volkswagen", "Volkswagen", "Passat", "wagon", 38_000),
    ("skoda", "Škoda", "Octavia", "liftback", 29_000),
    ("bmw", "BMW", "320i", "sedan", 46_000),
    ("bmw", "BMW", "X5", "suv", 84_000),
    ("audi", "Audi", "A4", "sedan", 45_000),
    ("ford", "Ford", "Focus", "hatchback", 26_000),
    ("ford", "Ford", "Transit", "van", 39_000),
    ("renault", "Renault", "Duster", "crossover", 19_000),
    ("nissan", "Nissan", "Qashqai", "crossover", 29_000),
    ("haval", "Haval", "Jolion", "crossover", 22_000),
    ("geely", "Geely", "Monjaro", "crossover", 38_000),
    ("chery", "Chery", "Tiggo 7 Pro", "crossover", 24_000),
];
const FUELS: &[(&str, Words)] = &[
    ("petrol", ("бензин", "petrol")),
    ("petrol", ("бензин", "petrol")),
    ("diesel", ("дизель", "diesel")),
    ("hybrid", ("гибрид", "hybrid")),
];
const GEARBOXES: &[(&str, Words)] = &[
    ("manual", ("механика", "manual")),
    ("automatic", ("автомат", "automatic")),
    ("cvt", ("вариатор", "CVT")),
];
const PRAISE: &[Words] = &[
    ("один владелец", "one owner"),
    ("без ДТП", "no accidents"),
    ("полная история обслуживания", "full service history"),
    ("зимняя резина в подарок", "winter tyres included"),
    ("вложений не требует", "nothing to be done"),
    ("гаражное хранение", "kept in a garage"),
];

pub(super) fn car(dice: &mut Dice, language: Language) -> Thing {
    let (make, make_name, model, body, new_euros) = *dice.one_of(MODELS);
    let ((fuel, fuel_word), (gearbox, gearbox_word)) = (*dice.one_of(FUELS), *dice.one_of(GEARBOXES));
    let year = dice.between(2005, 2025);
    let age = 2026 - year;
    let mileage = (age * dice.between(7_000, 22_000) / 1000).max(1) * 1000;
    let praise = dice.words(language, PRAISE);
    let left = (0..age).fold(new_euros * 92 / 100, |euros, _| euros * 88 / 100);
    let title = format!("{make_name} {model}, {year}, {praise}");
    let (about, km, power) = match language {
        Language::Russian => ("Двигатель", "Пробег", "Мощность"),
        Language::English => ("Engine", "Mileage", "Power"),
    };
    let horses = dice.between(75, 260);
    let text = format!(
        "{make_name} {model}, {year}.\n{about}: {}, {}.\n{km}: {mileage} km. {power}: {horses} hp.\n{}",
        language.of(fuel_word),
        language.of(gearbox_word),
        handing_over(dice, language),
    );
    let attributes = vec![
        ("car-make", make.to_owned()),
        ("vehicle-model", model.to_owned()),
        ("year", year.to_string()),
        ("mileage", mileage.to_string()),
        ("body", body.to_owned()),
        ("fuel", fuel.to_owned()),
        ("gearbox", gearbox.to_owned()),
        ("power", horses.to_string()),
    ];
    let euros = dice.near(left, 12);
    Thing {
        category: "transport/cars",
        title,
        text,
        attributes,
        euros,
        condition: Some(Condition::CONDITION_USED),
    }
}
