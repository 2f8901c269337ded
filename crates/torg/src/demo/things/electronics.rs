//! Phones, laptops, televisions, consoles, and machines of the household.

use super::{COLORS, Dice, Language, Thing, Words, handing_over, state, wear};

/// Brand, model, what a new one costs in euros.
const PHONES: &[(&str, &str, i64)] = &[
    ("Apple", "iPhone 12", 480),
    ("Apple", "iPhone 13", 620),
    ("Apple", "iPhone 14 Pro", 960),
    ("Apple", "iPhone 15", 880),
    ("Samsung", "Galaxy S22", 560),
    ("Samsung", "Galaxy A54", 340),
    ("Samsung", "Galaxy S24 Ultra", 1150),
    ("Xiaomi", "Redmi Note 12", 200),
    ("Xiaomi", "13T Pro", 600),
    ("Google", "Pixel 8", 640),
    ("HONOR", "Magic 5", 450),
    ("realme", "C55", 170),
];
const STORAGE: &[&str] = &["64", "128", "256", "512"];
/// Brand, model, inches, what a new one costs in euros.
const LAPTOPS: &[(&str, &str, &str, i64)] = &[
    ("Apple", "MacBook Air M2", "13.6", 1150),
    ("Apple", "MacBook Pro 14", "14.2", 2100),
    ("Lenovo", "ThinkPad T14", "14", 1100),
    ("Lenovo", "IdeaPad 3", "15.6", 520),
    ("ASUS", "VivoBook 15", "15.6", 600),
    ("HP", "Pavilion 15", "15.6", 680),
    ("Dell", "XPS 13", "13.4", 1300),
    ("Acer", "Aspire 5", "15.6", 550),
    ("Huawei", "MateBook D 16", "16", 760),
];
const TELEVISIONS: &[(&str, &str, i64)] = &[
    ("LG", "55", 720),
    ("Samsung", "50", 560),
    ("Samsung", "65", 980),
    ("Sony", "55", 890),
    ("Xiaomi", "43", 330),
    ("Hisense", "50", 420),
];
const CONSOLES: &[(&str, &str, i64)] = &[
    ("Sony", "PlayStation 5", 520),
    ("Sony", "PlayStation 4 Slim", 210),
    ("Microsoft", "Xbox Series S", 280),
    ("Nintendo", "Switch OLED", 310),
];
/// Category, name, brands, what a new one costs in euros.
const MACHINES: &[(&str, Words, &[&str], i64)] = &[
    ("hg-9-8-6", ("Стиральная машина", "Washing machine"), &["Bosch", "LG", "Indesit", "Haier"], 480),
    ("hg-11-7-41", ("Холодильник", "Fridge"), &["Samsung", "Atlant", "Bosch", "Liebherr"], 620),
    ("hg-11-7-31", ("Микроволновая печь", "Microwave oven"), &["LG", "Panasonic", "Midea"], 110),
    ("hg-11-7-4", ("Кофемашина", "Espresso machine"), &["De'Longhi", "Philips", "Jura"], 540),
    ("hg-11-7-9", ("Посудомоечная машина", "Dishwasher"), &["Bosch", "Electrolux", "Beko"], 450),
];

pub(super) fn any(dice: &mut Dice, language: Language) -> Thing {
    match dice.between(0, 9) {
        0..4 => phone(dice, language),
        4..6 => laptop(dice, language),
        6 => television(dice, language),
        7 => console(dice, language),
        _ => machine(dice, language),
    }
}

fn phone(dice: &mut Dice, language: Language) -> Thing {
    let ((brand, model, euros), storage) = (*dice.one_of(PHONES), *dice.one_of(STORAGE));
    let (color, color_words) = *dice.one_of(COLORS);
    let unit = language.of(("ГБ", "GB"));
    let title = format!("{brand} {model} {storage} {unit}, {}", language.of(color_words));
    let attributes = vec![
        ("brand", brand.to_owned()),
        ("model", model.to_owned()),
        ("storage", storage.to_owned()),
        ("color", color.to_owned()),
    ];
    thing(dice, language, "el-4-8-5", title, attributes, euros)
}

fn laptop(dice: &mut Dice, language: Language) -> Thing {
    let (brand, model, inches, euros) = *dice.one_of(LAPTOPS);
    let ram = *dice.one_of(&["8", "16", "32"]);
    let kind = language.of(("Ноутбук", "Laptop"));
    let title = format!("{kind} {brand} {model}, {ram} {}", language.of(("ГБ ОЗУ", "GB of RAM")));
    let attributes = vec![
        ("brand", brand.to_owned()),
        ("model", model.to_owned()),
        ("screen-size", inches.to_owned()),
        ("ram", ram.to_owned()),
    ];
    thing(dice, language, "el-6-6", title, attributes, euros)
}

fn television(dice: &mut Dice, language: Language) -> Thing {
    let (brand, inches, euros) = *dice.one_of(TELEVISIONS);
    let title = match language {
        Language::Russian => format!("Телевизор {brand} {inches} дюймов, 4K"),
        Language::English => format!("{brand} television, {inches} inches, 4K"),
    };
    let attributes = vec![("brand", brand.to_owned()), ("screen-size", inches.to_owned())];
    thing(dice, language, "el-17-4", title, attributes, euros)
}

fn console(dice: &mut Dice, language: Language) -> Thing {
    let (brand, model, euros) = *dice.one_of(CONSOLES);
    let pads = dice.between(1, 3);
    let title = match language {
        Language::Russian => format!("Приставка {brand} {model}, геймпадов: {pads}"),
        Language::English => format!("{brand} {model} with {pads} gamepad(s)"),
    };
    thing(dice, language, "el-19", title, vec![("brand", brand.to_owned())], euros)
}

fn machine(dice: &mut Dice, language: Language) -> Thing {
    let (category, name, brands, euros) = *dice.one_of(MACHINES);
    let (brand, year) = (*dice.one_of(brands), dice.between(2014, 2025));
    let title = match language {
        Language::Russian => format!("{} {brand}, {year} год", name.0),
        Language::English => format!("{} by {brand}, bought in {year}", name.1),
    };
    thing(dice, language, category, title, vec![("brand", brand.to_owned())], euros)
}

fn thing(
    dice: &mut Dice,
    language: Language,
    category: &'static str,
    title: String,
    attributes: Vec<(&'static str, String)>,
    new_euros: i64,
) -> Thing {
    let (condition, percent) = wear(dice);
    let text = format!("{title}.\n{}\n{}", state(dice, language, condition), handing_over(dice, language));
    let euros = dice.near(new_euros * percent / 100, 15);
    Thing { category, title, text, attributes, euros, condition: Some(condition) }
}
