//! Generates phones, laptops, televisions, consoles and household appliances.

use wire::torg::offers::v1::Condition;

use super::words::{Gender, color_id, color_in_english, color_in_russian};
use super::{
    Color, Dice, Language, Picture, Scene, Seller, States, Thing, Weight, Words, handing_over, state, wear,
};
use Color::{Black, Blue, Gray, Green, Red, White};

/// Brand, model, gigabytes, colours, price of a new one in euros.
type Phone = (&'static str, &'static str, &'static [&'static str], &'static [Color], i64);
const PHONES: &[Phone] = &[
    ("Apple", "iPhone 12", &["64", "128", "256"], &[Black, White, Blue, Red, Green], 480),
    ("Apple", "iPhone 13", &["128", "256", "512"], &[Black, White, Blue, Red, Green], 620),
    ("Apple", "iPhone 14 Pro", &["128", "256", "512"], &[Black, White], 960),
    ("Apple", "iPhone 15", &["128", "256", "512"], &[Black, Blue, Green], 880),
    ("Samsung", "Galaxy S22", &["128", "256"], &[Black, White, Green], 560),
    ("Samsung", "Galaxy A54", &["128", "256"], &[Black, White], 340),
    ("Samsung", "Galaxy S24 Ultra", &["256", "512"], &[Black, Gray], 1150),
    ("Xiaomi", "Redmi Note 12", &["64", "128", "256"], &[Gray, Blue, Green], 200),
    ("Xiaomi", "13T Pro", &["256", "512"], &[Black, Blue, Green], 600),
    ("Google", "Pixel 8", &["128", "256"], &[Black, Gray], 640),
    ("HONOR", "Magic 5", &["256", "512"], &[Black, Blue], 450),
    ("realme", "C55", &["128", "256"], &[Black, Green], 170),
];
/// Brand, model, inches, gigabytes of memory, price of a new one in euros.
const LAPTOPS: &[(&str, &str, &str, &[&str], i64)] = &[
    ("Apple", "MacBook Air M2", "13.6", &["8", "16", "24"], 1150),
    ("Apple", "MacBook Pro 14", "14.2", &["16", "32"], 2100),
    ("Lenovo", "ThinkPad T14", "14", &["8", "16", "32"], 1100),
    ("Lenovo", "IdeaPad 3", "15.6", &["8", "16"], 520),
    ("ASUS", "VivoBook 15", "15.6", &["8", "16"], 600),
    ("HP", "Pavilion 15", "15.6", &["8", "16"], 680),
    ("Dell", "XPS 13", "13.4", &["8", "16", "32"], 1300),
    ("Acer", "Aspire 5", "15.6", &["8", "16"], 550),
    ("Huawei", "MateBook D 16", "16", &["8", "16"], 760),
];
const TELEVISIONS: &[(&str, &str, i64)] = &[
    ("LG", "55", 720),
    ("Samsung", "50", 560),
    ("Samsung", "65", 980),
    ("Sony", "55", 890),
    ("Xiaomi", "43", 330),
    ("Hisense", "50", 420),
];
/// Brand, model, colour, price of a new one in euros.
const CONSOLES: &[(&str, &str, Color, i64)] = &[
    ("Sony", "PlayStation 5", White, 520),
    ("Sony", "PlayStation 4 Slim", Black, 210),
    ("Microsoft", "Xbox Series S", White, 280),
    ("Nintendo", "Switch OLED", White, 310),
];
const GAMEPADS: &[Words] = &[
    ("с одним геймпадом", "with one gamepad"),
    ("с двумя геймпадами", "with two gamepads"),
    ("с тремя геймпадами", "with three gamepads"),
];
/// Category, name, brands, scene, price of a new one in euros.
const MACHINES: &[(&str, Words, &[&str], Scene, i64)] = &[
    (
        "hg-9-8-6",
        ("Стиральная машина", "Washing machine"),
        &["Bosch", "LG", "Indesit", "Haier"],
        Scene::Washer,
        480,
    ),
    ("hg-11-7-41", ("Холодильник", "Fridge"), &["Samsung", "Haier", "Bosch", "Liebherr"], Scene::Fridge, 620),
    (
        "hg-11-7-31",
        ("Микроволновая печь", "Microwave oven"),
        &["LG", "Panasonic", "Midea"],
        Scene::Microwave,
        110,
    ),
    ("hg-11-7-4", ("Кофемашина", "Espresso machine"), &["De'Longhi", "Philips", "Jura"], Scene::Coffee, 540),
    (
        "hg-11-7-9",
        ("Посудомоечная машина", "Dishwasher"),
        &["Bosch", "Electrolux", "Beko"],
        Scene::Dishwasher,
        450,
    ),
];
const STATES: States = States {
    new: &[
        ("В заводской упаковке.", "Brand new, still in its box."),
        ("Не включали, чек есть.", "Never switched on, the receipt is there."),
    ],
    like_new: &[
        ("Состояние отличное, как из магазина.", "In excellent condition, as if from the shop."),
        ("Пользовались пару раз, следов нет.", "Used a few times, without a trace."),
    ],
    used: &[
        ("Есть следы использования, всё работает.", "Some signs of use, everything works."),
        ("Работает исправно, смотрите сами.", "Works as it should, come and see."),
        ("Пользовались бережно.", "Used with care."),
    ],
    parts: &[
        ("На запчасти или под восстановление.", "For parts, or for somebody who likes to repair."),
        ("Не включается, причину не искали.", "Does not switch on, nobody has looked for the reason."),
    ],
};

pub(super) fn any(dice: &mut Dice, seller: &Seller) -> Thing {
    match dice.between(0, 9) {
        0..4 => phone(dice, seller),
        4..6 => laptop(dice, seller),
        6 => television(dice, seller),
        7 => console(dice, seller),
        _ => machine(dice, seller),
    }
}

fn phone(dice: &mut Dice, seller: &Seller) -> Thing {
    let (brand, model, storages, colors, euros) = *dice.one_of(PHONES);
    let (storage, color) = (*dice.one_of(storages), *dice.one_of(colors));
    let title = match seller.language {
        Language::Russian => {
            format!("{brand} {model} {storage} ГБ, {}", color_in_russian(color, Gender::He))
        }
        Language::English => format!("{brand} {model} {storage} GB, {}", color_in_english(color)),
    };
    let attributes = vec![
        ("brand", brand.to_owned()),
        ("model", model.to_owned()),
        ("storage", storage.to_owned()),
        ("color", color_id(color).to_owned()),
    ];
    let picture = Picture { scene: Scene::Phone, color };
    Made { category: "el-4-8-5", title, attributes, picture }.worn(dice, seller, euros, Weight::Light)
}

fn laptop(dice: &mut Dice, seller: &Seller) -> Thing {
    let (brand, model, inches, memories, euros) = *dice.one_of(LAPTOPS);
    let ram = *dice.one_of(memories);
    let title = match seller.language {
        Language::Russian => format!("Ноутбук {brand} {model}, {ram} ГБ ОЗУ"),
        Language::English => format!("{brand} {model} laptop, {ram} GB of RAM"),
    };
    let attributes = vec![
        ("brand", brand.to_owned()),
        ("model", model.to_owned()),
        ("screen-size", inches.to_owned()),
        ("ram", ram.to_owned()),
    ];
    let picture = Picture { scene: Scene::Laptop, color: Gray };
    Made { category: "el-6-6", title, attributes, picture }.worn(dice, seller, euros, Weight::Light)
}

fn television(dice: &mut Dice, seller: &Seller) -> Thing {
    let (brand, inches, euros) = *dice.one_of(TELEVISIONS);
    let title = match seller.language {
        Language::Russian => format!("Телевизор {brand}, {inches} дюймов, 4K"),
        Language::English => format!("{brand} television, {inches} inches, 4K"),
    };
    let attributes = vec![("brand", brand.to_owned()), ("screen-size", inches.to_owned())];
    let picture = Picture { scene: Scene::Television, color: *dice.one_of(&[Blue, Green]) };
    Made { category: "el-17-4", title, attributes, picture }.worn(dice, seller, euros, Weight::Heavy)
}

fn console(dice: &mut Dice, seller: &Seller) -> Thing {
    let (brand, model, color, euros) = *dice.one_of(CONSOLES);
    let pads = dice.words(seller.language, GAMEPADS);
    let title = match seller.language {
        Language::Russian => format!("Приставка {brand} {model} {pads}"),
        Language::English => format!("{brand} {model} {pads}"),
    };
    let (attributes, picture) = (vec![("brand", brand.to_owned())], Picture { scene: Scene::Console, color });
    Made { category: "el-19", title, attributes, picture }.worn(dice, seller, euros, Weight::Light)
}

fn machine(dice: &mut Dice, seller: &Seller) -> Thing {
    let (category, name, brands, scene, euros) = *dice.one_of(MACHINES);
    let brand = *dice.one_of(brands);
    let title = match seller.language {
        Language::Russian => format!("{} {brand}", name.0),
        Language::English => format!("{} by {brand}", name.1),
    };
    let picture = Picture { scene, color: *dice.one_of(&[White, Gray]) };
    let attributes = vec![("brand", brand.to_owned())];
    let mut thing = Made { category, title, attributes, picture }.worn(dice, seller, euros, Weight::Heavy);
    if matches!(thing.condition, Some(Condition::CONDITION_USED | Condition::CONDITION_FOR_PARTS)) {
        let year = dice.between(2014, 2024);
        let bought = match seller.language {
            Language::Russian => format!(", {year} год"),
            Language::English => format!(", bought in {year}"),
        };
        thing.title.push_str(&bought);
    }
    thing
}

/// A factory-made product in new condition.
struct Made {
    category: &'static str,
    title: String,
    attributes: Vec<(&'static str, String)>,
    picture: Picture,
}

impl Made {
    /// The product in a random condition, at a matching price.
    fn worn(self, dice: &mut Dice, seller: &Seller, new_euros: i64, weight: Weight) -> Thing {
        let Made { category, title, attributes, picture } = self;
        let (condition, percent) = wear(dice, seller);
        let state = state(dice, seller, condition, &STATES);
        let text = format!("{title}.\n{state}\n{}", handing_over(dice, seller, weight));
        let euros = dice.near(new_euros * percent / 100, 15);
        let (condition, picture) = (Some(condition), Some(picture));
        Thing { category, title, text, attributes, euros, condition, picture }
    }
}
