//! What is offered in the demo, by kind: each file has its words, and makes things of them that the built-in catalogue takes.

mod cars;
mod clothes;
mod electronics;
mod furniture;
mod homes;
mod leisure;
mod services;

use contract::torg::offers::v1::Condition;

use super::dice::{Dice, Language, Words};
use super::sellers::{Seller, Trade};

/// Something that somebody offers.
pub(super) struct Thing {
    pub(super) category: &'static str,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) attributes: Vec<(&'static str, String)>,
    pub(super) euros: i64,
    /// Left out where the catalogue knows none.
    pub(super) condition: Option<Condition>,
}

impl Thing {
    /// Something that this seller may have.
    pub(super) fn of(dice: &mut Dice, seller: &Seller) -> Thing {
        let language = seller.language;
        match seller.trade {
            Trade::Cars => cars::car(dice, language),
            Trade::Electronics => electronics::any(dice, language),
            Trade::Furniture => furniture::any(dice, language),
            Trade::Clothes => clothes::any(dice, language),
            Trade::Homes => homes::flat(dice, language, seller.city),
            Trade::Services => services::any(dice, language),
            Trade::Sport => leisure::bicycle(dice, language),
            Trade::Books => leisure::book(dice, language),
            Trade::Anything => Thing::of_a_person(dice, seller),
        }
    }

    fn of_a_person(dice: &mut Dice, seller: &Seller) -> Thing {
        let language = seller.language;
        match dice.between(0, 99) {
            0..10 => cars::car(dice, language),
            10..30 => electronics::any(dice, language),
            30..48 => furniture::any(dice, language),
            48..66 => clothes::any(dice, language),
            66..72 => homes::flat(dice, language, seller.city),
            72..80 => services::any(dice, language),
            80..90 => leisure::bicycle(dice, language),
            _ => leisure::book(dice, language),
        }
    }

    /// The seller's currency, in round numbers as people write them.
    pub(super) fn price_in(&self, currency: &str) -> i64 {
        let amount = match currency {
            "RUB" => self.euros * 98,
            "GBP" => self.euros * 86 / 100,
            _ => self.euros,
        };
        let step = match amount {
            0..100 => 5,
            100..1_000 => 10,
            1_000..20_000 => 100,
            20_000..1_000_000 => 1_000,
            _ => 10_000,
        };
        (amount / step * step).max(step)
    }
}

/// How used something is, and what that does to its price in percent.
fn wear(dice: &mut Dice) -> (Condition, i64) {
    match dice.between(0, 9) {
        0 | 1 => (Condition::CONDITION_NEW, 100),
        2 | 3 => (Condition::CONDITION_LIKE_NEW, 80),
        9 => (Condition::CONDITION_FOR_PARTS, 15),
        _ => (Condition::CONDITION_USED, 55),
    }
}

/// A sentence about the state of something.
fn state(dice: &mut Dice, language: Language, condition: Condition) -> &'static str {
    const NEW: &[Words] = &[
        ("Новое, в упаковке.", "Brand new, still in its box."),
        ("Не использовалось, чек есть.", "Never used, the receipt is there."),
    ];
    const GOOD: &[Words] = &[
        ("Состояние отличное, как из магазина.", "In excellent condition, as if from the shop."),
        ("Пользовались пару раз, следов нет.", "Used a few times, without a trace."),
    ];
    const USED: &[Words] = &[
        ("Есть следы использования, всё работает.", "Some signs of use, everything works."),
        ("Состояние хорошее, смотрите сами.", "In good condition, come and see."),
        ("Пользовались бережно, без животных и курения.", "Well kept, no pets and no smoke."),
        ("Продаю, потому что переезжаем.", "For sale because we are moving."),
    ];
    const PARTS: &[Words] = &[
        ("На запчасти или под восстановление.", "For parts, or for somebody who likes to repair."),
        ("Не работает, причину не искал.", "Does not work, I have not looked for the reason."),
    ];
    let all = match condition {
        Condition::CONDITION_NEW => NEW,
        Condition::CONDITION_LIKE_NEW => GOOD,
        Condition::CONDITION_FOR_PARTS => PARTS,
        _ => USED,
    };
    dice.words(language, all)
}

/// A sentence about how to get it.
fn handing_over(dice: &mut Dice, language: Language) -> &'static str {
    const ALL: &[Words] = &[
        ("Самовывоз, в будни после семи.", "To be collected, on weekdays after seven."),
        ("Возможна доставка за ваш счёт.", "Can be sent at your expense."),
        ("Торг при осмотре.", "The price can be talked about when you see it."),
        ("Без торга и обмена.", "No haggling and no exchange, please."),
        ("Пишите в чат, отвечаю быстро.", "Write to me, I answer quickly."),
        ("Отдам вместе с тем, что к нему прилагалось.", "You get everything that came with it."),
    ];
    dice.words(language, ALL)
}

/// Colours as the catalogue has them, with the words for a title.
const COLORS: &[(&str, Words)] = &[
    ("black", ("чёрный", "black")),
    ("white", ("белый", "white")),
    ("gray", ("серый", "grey")),
    ("blue", ("синий", "blue")),
    ("red", ("красный", "red")),
    ("green", ("зелёный", "green")),
    ("beige", ("бежевый", "beige")),
    ("brown", ("коричневый", "brown")),
];
