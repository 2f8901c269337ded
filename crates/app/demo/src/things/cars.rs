//! Generates cars.

use wire::torg::offers::v1::Condition;

use super::words::grouped;
use super::{Color, Dice, Language, Picture, Scene, Seller, Thing, Words};
use Fuel::{Diesel, Hybrid, Petrol};
use Gearbox::{Automatic, Cvt, Manual};

/// A model in one body.
#[derive(Clone, Copy)]
struct Model {
    /// The id in the catalogue.
    make: &'static str,
    make_name: &'static str,
    name: &'static str,
    body: &'static str,
    /// The price of a new one, in euros.
    euros: i64,
    /// The first year of sale.
    since: i64,
    /// Minimum and maximum horsepower.
    power: (i64, i64),
    fuels: &'static [Fuel],
    gearboxes: &'static [Gearbox],
    russian: bool,
}

#[derive(Clone, Copy)]
enum Fuel {
    Petrol,
    Diesel,
    Hybrid,
}

#[derive(Clone, Copy)]
enum Gearbox {
    Manual,
    Automatic,
    Cvt,
}

/// The make in the catalogue and in speech, the model, and the body.
type Name = (&'static str, &'static str, &'static str, &'static str);

const fn model(
    (make, make_name, name, body): Name,
    euros: i64,
    since: i64,
    power: (i64, i64),
    fuels: &'static [Fuel],
    gearboxes: &'static [Gearbox],
) -> Model {
    Model { make, make_name, name, body, euros, since, power, fuels, gearboxes, russian: false }
}

const fn in_russia(model: Model) -> Model {
    Model { russian: true, ..model }
}

const BOTH: &[Gearbox] = &[Manual, Automatic];
const MODELS: &[Model] = &[
    in_russia(model(("lada", "LADA", "Vesta", "sedan"), 14_000, 2015, (106, 122), &[Petrol], &[Manual, Cvt])),
    in_russia(model(("lada", "LADA", "Granta", "liftback"), 9_500, 2014, (87, 106), &[Petrol], BOTH)),
    in_russia(model(("lada", "LADA", "Niva Legend", "suv"), 11_000, 2021, (83, 83), &[Petrol], &[Manual])),
    model(("kia", "Kia", "Rio", "sedan"), 16_000, 2006, (84, 123), &[Petrol], BOTH),
    model(("kia", "Kia", "Sportage", "crossover"), 31_000, 2006, (141, 184), &[Petrol, Diesel], BOTH),
    in_russia(model(("hyundai", "Hyundai", "Solaris", "sedan"), 15_500, 2011, (100, 123), &[Petrol], BOTH)),
    model(("hyundai", "Hyundai", "Tucson", "crossover"), 32_000, 2006, (141, 186), &[Petrol, Diesel], BOTH),
    in_russia(model(
        ("toyota", "Toyota", "Camry", "sedan"),
        34_000,
        2007,
        (150, 249),
        &[Petrol],
        &[Automatic],
    )),
    model(
        ("toyota", "Toyota", "RAV4", "crossover"),
        36_000,
        2006,
        (149, 222),
        &[Petrol, Hybrid],
        &[Automatic, Cvt],
    ),
    model(
        ("volkswagen", "Volkswagen", "Golf", "hatchback"),
        28_000,
        2005,
        (85, 150),
        &[Petrol, Diesel],
        BOTH,
    ),
    model(("volkswagen", "Volkswagen", "Passat", "wagon"), 38_000, 2005, (120, 190), &[Petrol, Diesel], BOTH),
    model(("skoda", "Škoda", "Octavia", "liftback"), 29_000, 2005, (102, 180), &[Petrol, Diesel], BOTH),
    model(("bmw", "BMW", "320i", "sedan"), 46_000, 2006, (150, 184), &[Petrol], &[Automatic]),
    model(("bmw", "BMW", "X5", "suv"), 84_000, 2005, (218, 340), &[Petrol, Diesel], &[Automatic]),
    model(("audi", "Audi", "A4", "sedan"), 45_000, 2005, (120, 204), &[Petrol, Diesel], BOTH),
    model(("ford", "Ford", "Focus", "hatchback"), 26_000, 2005, (85, 150), &[Petrol, Diesel], BOTH),
    model(("ford", "Ford", "Transit", "van"), 39_000, 2007, (105, 170), &[Diesel], &[Manual]),
    in_russia(model(
        ("renault", "Renault", "Duster", "crossover"),
        19_000,
        2011,
        (102, 150),
        &[Petrol, Diesel],
        BOTH,
    )),
    model(("nissan", "Nissan", "Qashqai", "crossover"), 29_000, 2007, (115, 158), &[Petrol], &[Manual, Cvt]),
    in_russia(model(
        ("haval", "Haval", "Jolion", "crossover"),
        22_000,
        2021,
        (143, 150),
        &[Petrol],
        &[Automatic],
    )),
    in_russia(model(
        ("geely", "Geely", "Monjaro", "crossover"),
        38_000,
        2022,
        (200, 238),
        &[Petrol],
        &[Automatic],
    )),
    in_russia(model(
        ("chery", "Chery", "Tiggo 7 Pro", "crossover"),
        24_000,
        2020,
        (122, 147),
        &[Petrol],
        &[Cvt],
    )),
];
/// The latest year of production.
const NEWEST: i64 = 2025;
const PRAISE: &[Words] = &[
    ("один владелец", "one owner"),
    ("без ДТП", "no accidents"),
    ("полная история обслуживания", "full service history"),
    ("зимняя резина в подарок", "winter tyres included"),
    ("вложений не требует", "nothing to be done"),
    ("гаражное хранение", "kept in a garage"),
];
const VISITING: &[Words] = &[
    ("Можно проверить на любом сервисе.", "You may have it checked by a garage of your choice."),
    ("Торг у капота.", "The price can be talked about when you see it."),
    ("Обмен не предлагать.", "No exchange, please."),
    ("Пробная поездка по договорённости.", "Call for a test drive."),
    ("Документы в порядке, ограничений нет.", "All papers are in order."),
];
const COLORS: &[Color] = &[Color::White, Color::Black, Color::Gray, Color::Red];

pub(super) fn car(dice: &mut Dice, seller: &Seller) -> Thing {
    let language = seller.language;
    let model = loop {
        let model = dice.one_of(MODELS);
        if language == Language::Russian || !model.russian {
            break model;
        }
    };
    let (fuel, fuel_word) = match dice.one_of(model.fuels) {
        Petrol => ("petrol", ("бензин", "petrol")),
        Diesel => ("diesel", ("дизель", "diesel")),
        Hybrid => ("hybrid", ("гибрид", "hybrid")),
    };
    let (gearbox, gearbox_word) = match dice.one_of(model.gearboxes) {
        Manual => ("manual", ("механика", "manual")),
        Automatic => ("automatic", ("автомат", "automatic")),
        Cvt => ("cvt", ("вариатор", "CVT")),
    };
    let year = dice.between(model.since, NEWEST);
    let age = NEWEST + 1 - year;
    let mileage = (age * dice.between(7_000, 22_000) / 1000).max(1) * 1000;
    let power = dice.between(model.power.0, model.power.1);
    let left = (0..age).fold(model.euros * 92 / 100, |euros, _| euros * 88 / 100);
    let car = format!("{} {}, {year}", model.make_name, model.name);
    let (engine, driven) =
        (format!("{}, {}", language.of(fuel_word), language.of(gearbox_word)), distance(seller, mileage));
    let about = match language {
        Language::Russian => format!("Двигатель: {engine}.\nПробег: {driven}. Мощность: {power} л. с."),
        Language::English => format!("Engine: {engine}.\nMileage: {driven}. Power: {power} hp."),
    };
    let (praise, visiting) = (dice.words(language, PRAISE), dice.words(language, VISITING));
    let attributes = vec![
        ("car-make", model.make.to_owned()),
        ("vehicle-model", model.name.to_owned()),
        ("year", year.to_string()),
        ("mileage", mileage.to_string()),
        ("body", model.body.to_owned()),
        ("fuel", fuel.to_owned()),
        ("gearbox", gearbox.to_owned()),
        ("power", power.to_string()),
    ];
    let scene = match model.body {
        "crossover" | "suv" => Scene::Crossover,
        "van" => Scene::Van,
        _ => Scene::Car,
    };
    Thing {
        category: "transport/cars",
        title: format!("{car}, {praise}"),
        text: format!("{car}.\n{about}\n{visiting}"),
        attributes,
        euros: dice.near(left, 12),
        condition: Some(Condition::CONDITION_USED),
        picture: Some(Picture { scene, color: *dice.one_of(COLORS) }),
    }
}

/// A distance in the unit and format of the seller's country.
fn distance(seller: &Seller, kilometres: i64) -> String {
    match (seller.language, seller.currency) {
        (_, "GBP") => format!("{} miles", grouped(seller.language, (kilometres * 5 / 8000).max(1) * 1000)),
        (Language::Russian, _) => format!("{} км", grouped(seller.language, kilometres)),
        (Language::English, _) => format!("{} km", grouped(seller.language, kilometres)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::sellers::SELLERS;
    use super::*;

    #[test]
    fn britons_count_miles() {
        let of = |currency| {
            let seller = SELLERS.iter().find(|seller| seller.currency == currency).unwrap();
            distance(seller, 80_000)
        };
        assert_eq!(["RUB", "EUR", "GBP"].map(of), ["80 000 км", "80,000 km", "50,000 miles"]);
    }
}
