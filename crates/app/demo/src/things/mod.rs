//! Generates the things on offer. Each file has the texts of one kind, and makes things that the
//! built-in catalogue accepts.

mod cars;
mod clothes;
mod electronics;
mod furniture;
mod homes;
mod leisure;
mod services;
mod words;

use wire::torg::offers::v1::Condition;

use super::dice::{Dice, Language, Words};
use super::pictures::{Color, Picture, Scene};
use super::sellers::{Seller, Trade};

pub(super) use self::words::{Gender, color_in_russian};

/// A generated thing on offer.
pub(super) struct Thing {
    pub(super) category: &'static str,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) attributes: Vec<(&'static str, String)>,
    pub(super) euros: i64,
    /// `None` if the catalogue does not ask for it.
    pub(super) condition: Option<Condition>,
    /// `None` if there is nothing to photograph.
    pub(super) picture: Option<Picture>,
}

impl Thing {
    /// A random thing that fits the seller.
    pub(super) fn of(dice: &mut Dice, seller: &Seller) -> Thing {
        match seller.trade {
            Trade::Cars => cars::car(dice, seller),
            Trade::Electronics => electronics::any(dice, seller),
            Trade::Furniture | Trade::UsedFurniture => furniture::any(dice, seller),
            Trade::Clothes => clothes::any(dice, seller),
            Trade::Homes => homes::flat(dice, seller),
            Trade::Repairs => services::repair(dice, seller),
            Trade::Cleaning => services::cleaning(dice, seller),
            Trade::Sport => leisure::bicycle(dice, seller),
            Trade::Books => leisure::book(dice, seller),
            Trade::Anything => Thing::of_a_person(dice, seller),
        }
    }

    fn of_a_person(dice: &mut Dice, seller: &Seller) -> Thing {
        match dice.between(0, 99) {
            0..10 => cars::car(dice, seller),
            10..30 => electronics::any(dice, seller),
            30..48 => furniture::any(dice, seller),
            48..66 => clothes::any(dice, seller),
            66..72 => homes::flat(dice, seller),
            72..80 => services::any(dice, seller),
            80..90 => leisure::bicycle(dice, seller),
            _ => leisure::book(dice, seller),
        }
    }

    /// The price in the seller's currency, rounded as people do.
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

/// A random condition, and the share of the new price in percent. A shop sells new and display
/// items, unless it is a second-hand shop.
fn wear(dice: &mut Dice, seller: &Seller) -> (Condition, i64) {
    let case = dice.between(0, 9);
    match seller.trade {
        Trade::UsedFurniture => match case {
            0..4 => (Condition::CONDITION_LIKE_NEW, 75),
            _ => (Condition::CONDITION_USED, 50),
        },
        Trade::Anything => match case {
            0 | 1 => (Condition::CONDITION_NEW, 100),
            2 | 3 => (Condition::CONDITION_LIKE_NEW, 80),
            9 => (Condition::CONDITION_FOR_PARTS, 15),
            _ => (Condition::CONDITION_USED, 55),
        },
        _ if case < 8 => (Condition::CONDITION_NEW, 100),
        _ => (Condition::CONDITION_LIKE_NEW, 85),
    }
}

/// Sentences about the state of a thing, by condition.
struct States {
    new: &'static [Words],
    like_new: &'static [Words],
    used: &'static [Words],
    parts: &'static [Words],
}

/// Sentences about display items.
const DISPLAYED: &[Words] = &[
    ("С витрины, следов нет.", "From our window, without a trace."),
    ("Вскрывалась только упаковка.", "Only the box was opened."),
];

fn state(dice: &mut Dice, seller: &Seller, condition: Condition, states: &States) -> &'static str {
    let sells_new = !seller.is_person() && !seller.is_second_hand();
    let all = match condition {
        Condition::CONDITION_NEW => states.new,
        Condition::CONDITION_LIKE_NEW if sells_new => DISPLAYED,
        Condition::CONDITION_LIKE_NEW => states.like_new,
        Condition::CONDITION_FOR_PARTS => states.parts,
        _ => states.used,
    };
    dice.words(seller.language, all)
}

/// How a thing is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// By post.
    Light,
    /// By pickup or carrier.
    Heavy,
}

/// The last sentence: the delivery, or the reason for the sale.
fn handing_over(dice: &mut Dice, seller: &Seller, weight: Weight) -> &'static str {
    const PERSON: &[Words] = &[
        ("Самовывоз, в будни после семи.", "To be collected, on weekdays after seven."),
        ("Торг при осмотре.", "The price can be talked about when you see it."),
        ("Продаём, потому что переезжаем.", "For sale because we are moving."),
        ("Без торга и обмена.", "No haggling and no exchange, please."),
        ("Пишите в чат, отвечаю быстро.", "Write to me, I answer quickly."),
    ];
    const SHOP: &[Words] = &[
        ("Можно забрать сегодня.", "Can be collected today."),
        ("Оплата картой или наличными.", "Cards and cash are both fine."),
        ("Отложим на два дня по звонку.", "Call us, and we keep it for two days."),
    ];
    const LIGHT: Words = ("Отправлю почтой за ваш счёт.", "Can be posted at your expense.");
    const HEAVY: Words = ("Помогу погрузить.", "I help to load it.");
    const DELIVERED: Words = ("Доставка по городу.", "We deliver in town.");
    let all = if seller.is_person() { PERSON } else { SHOP };
    if dice.chance(20) {
        return seller.language.of(match (seller.is_person(), weight) {
            (false, _) => DELIVERED,
            (true, Weight::Light) => LIGHT,
            (true, Weight::Heavy) => HEAVY,
        });
    }
    dice.words(seller.language, all)
}

#[cfg(test)]
mod tests {
    use super::super::sellers::SELLERS;
    use super::*;

    fn things() -> impl Iterator<Item = (&'static Seller, Thing)> {
        (0..4_000).map(|seed| {
            let mut dice = Dice::new(seed);
            let seller = dice.one_of(SELLERS);
            (seller, Thing::of(&mut dice, seller))
        })
    }

    #[test]
    fn a_text_is_in_the_language_of_its_seller_and_has_no_words_that_leave_something_open() {
        for (seller, thing) in things() {
            let all = format!("{}\n{}", thing.title, thing.text);
            assert!(!all.contains("(s)") && !all.contains("  "), "{all}");
            let is_russian = |letter: char| ('\u{400}'..='\u{52f}').contains(&letter);
            match seller.language {
                Language::Russian => {
                    assert!(all.contains(is_russian), "{all}");
                    for unit in [" km", " hp", " cm", "GB"] {
                        assert!(!all.contains(unit), "{all}");
                    }
                }
                Language::English => assert!(!all.contains(is_russian), "{all}"),
            }
        }
    }

    #[test]
    fn a_shop_of_new_things_sells_neither_used_ones_nor_parts() {
        for (seller, thing) in things().filter(|(seller, _)| seller.trade == Trade::Electronics) {
            let condition = thing.condition.unwrap();
            let is_fit = [Condition::CONDITION_NEW, Condition::CONDITION_LIKE_NEW].contains(&condition);
            assert!(is_fit, "{}: {}", seller.id, thing.title);
        }
    }
}
