//! A small catalogue that has one of everything, and the built-in one, loaded once.

use std::sync::OnceLock;

use catalog::{Catalogue, Item, OwnedPrice, OwnedValue, PriceKind, Sources};

pub(crate) const SMALL: &str = r#"
[catalogue]
name = "small"
version = 1
languages = ["en", "ru"]
currencies = ["EUR", "RUB"]
title = [3, 20]
description = [0, 50]
photos = [1, 3]
price = { kinds = ["fixed", "range", "negotiable", "free"], required = true, max = 1000 }
condition = { allowed = ["new", "used"], required = true }

[condition.new]
name = { en = "New", ru = "Новое" }
[condition.used]
name = { en = "Used", ru = "Б/у" }
[condition.broken]
name = { en = "Broken", ru = "Сломано" }

[unit.km]
name = { en = "km", ru = "км" }
measures = "length"
factor = 1000
[unit.mi]
name = { en = "mi", ru = "миль" }
synonyms = { en = ["miles"] }
measures = "length"
factor = 1609.344
[unit.kg]
name = { en = "kg", ru = "кг" }
measures = "mass"
factor = 1

[attribute.make]
name = { en = "Make", ru = "Марка" }
type = "text"
length = [2, 10]
[attribute.code]
name = { en = "Code", ru = "Код" }
type = "text"
length = [4, 4]
characters = "ABC123"
[attribute.mileage]
name = { en = "Mileage", ru = "Пробег" }
synonyms = { en = ["odometer"], ru = ["километраж"] }
type = "whole"
unit = "km"
min = 0
max = 500000
[attribute.weight]
name = { en = "Weight", ru = "Вес" }
type = "decimal"
scale = 2
unit = "kg"
min = 0.5
max = 100
[attribute.electric]
name = { en = "Electric", ru = "Электрический" }
type = "yes-no"
[attribute.inspected]
name = { en = "Inspected", ru = "Техосмотр" }
type = "date"
min = 2020-01-01
max = 2030-12-31
[attribute.fuel]
name = { en = "Fuel", ru = "Топливо" }
type = "one"
[attribute.fuel.values]
petrol = { en = "Petrol", ru = "Бензин", also = ["gasoline"] }
diesel = { en = "Diesel", ru = "Дизель" }
electric = { en = "Electric", ru = "Электро" }
[attribute.options]
name = { en = "Options", ru = "Опции" }
type = "several"
max-values = 2
[attribute.options.values]
radio = { en = "Radio", ru = "Радио" }
heater = { en = "Heater", ru = "Печка" }
hook = { en = "Tow bar", ru = "Фаркоп" }

[category.vehicles]
name = { en = "Vehicles", ru = "Транспорт" }
required = ["make"]
optional = ["mileage", "fuel", "weight"]
[category."vehicles/cars"]
name = { en = "Cars", ru = "Легковые автомобили" }
synonyms = { en = ["automobiles"], ru = ["машины"] }
required = ["mileage"]
optional = ["code", "electric", "inspected", "options"]
narrow = { fuel = { values = ["petrol", "diesel"] }, mileage = { max = 300000 } }
[category."vehicles/bicycles"]
name = { en = "Bicycles", ru = "Велосипеды" }
price = { kinds = ["fixed"] }
condition = { allowed = [], required = false }
[category."vehicles/parts"]
name = { en = "Parts", ru = "Запчасти" }
price = { kinds = [] }
[category.old]
name = { en = "Old things", ru = "Старое" }
closed = true
instead = "vehicles/parts"
[category."old/things"]
name = { en = "Very old things", ru = "Очень старое" }
"#;

/// The small catalogue.
pub(crate) fn small() -> Catalogue {
    Sources::new().text("small.toml", SMALL).load().unwrap()
}

/// The built-in catalogue.
pub(crate) fn builtin() -> &'static Catalogue {
    static BUILTIN: OnceLock<Catalogue> = OnceLock::new();
    BUILTIN.get_or_init(|| Catalogue::builtin().unwrap())
}

/// An offer that is right in the small catalogue.
pub(crate) fn car() -> Item {
    let mut item = Item {
        version: 1,
        category: "vehicles/cars".into(),
        title: "A good car".into(),
        price: Some(price(PriceKind::Fixed, Some(500), None, Some("EUR"))),
        photos: 1,
        condition: Some("used".into()),
        ..Item::default()
    };
    item.attributes.insert("make".into(), vec!["Volga".into()]);
    item.attributes.insert("mileage".into(), vec![OwnedValue::Whole(120_000)]);
    item
}

pub(crate) fn price(
    kind: PriceKind,
    amount: Option<i64>,
    upper: Option<i64>,
    currency: Option<&str>,
) -> OwnedPrice {
    OwnedPrice {
        kind,
        amount: amount.map(Into::into),
        upper: upper.map(Into::into),
        currency: currency.map(Into::into),
    }
}
