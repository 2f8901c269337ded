//! The sellers of the demo: private people and shops, in Russia, Germany and Great Britain.

use super::dice::{Dice, Language};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Seller {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(super) language: Language,
    pub(super) currency: &'static str,
    pub(super) city: &'static str,
    /// A shop has many offers of one kind; a person has a few of many kinds.
    pub(super) trade: Trade,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trade {
    Anything,
    Cars,
    Electronics,
    Furniture,
    UsedFurniture,
    /// Second-hand clothes; books are second-hand, too.
    Clothes,
    Homes,
    Repairs,
    Cleaning,
    Sport,
    Books,
}

/// The seller of the feeds without mistakes.
pub(crate) const GOOD: &str = "mebelny-dom";
/// The seller of the feed with mistakes.
pub(crate) const MISTAKES: &str = "tehno-ryad";

const fn ru(id: &'static str, name: &'static str, city: &'static str, trade: Trade) -> Seller {
    Seller { id, name, language: Language::Russian, currency: "RUB", city, trade }
}

const fn de(id: &'static str, name: &'static str, city: &'static str, trade: Trade) -> Seller {
    Seller { id, name, language: Language::English, currency: "EUR", city, trade }
}

const fn gb(id: &'static str, name: &'static str, city: &'static str, trade: Trade) -> Seller {
    Seller { id, name, language: Language::English, currency: "GBP", city, trade }
}

use Trade::{
    Anything, Books, Cars, Cleaning, Clothes, Electronics, Furniture, Homes, Repairs, Sport, UsedFurniture,
};

/// Offers and feeds are stored under these ids, so the ids never change.
pub(crate) const SELLERS: &[Seller] = &[
    ru(GOOD, "Мебельный дом", "Москва", Furniture),
    ru(MISTAKES, "ТехноРяд", "Санкт-Петербург", Electronics),
    ru("avtograd", "Автоград", "Казань", Cars),
    ru("sever-auto", "Север Авто", "Екатеринбург", Cars),
    ru("metry", "Агентство «Метры»", "Москва", Homes),
    ru("klyuchi", "Ключи от города", "Новосибирск", Homes),
    ru("smart-lavka", "Смарт Лавка", "Краснодар", Electronics),
    ru("velomir", "Веломир", "Нижний Новгород", Sport),
    ru("bukinist", "Букинист на Литейном", "Санкт-Петербург", Books),
    ru("modny-shkaf", "Модный шкаф", "Самара", Clothes),
    ru("master-dom", "Мастер в дом", "Воронеж", Repairs),
    ru("chistota", "Чистота и порядок", "Пермь", Cleaning),
    ru("anna-k", "Анна К.", "Москва", Anything),
    ru("dmitry-s", "Дмитрий С.", "Тула", Anything),
    ru("olga-v", "Ольга В.", "Ярославль", Anything),
    ru("sergey-m", "Сергей М.", "Челябинск", Anything),
    ru("elena-p", "Елена П.", "Ростов-на-Дону", Anything),
    ru("igor-l", "Игорь Л.", "Омск", Anything),
    ru("natalia-r", "Наталья Р.", "Уфа", Anything),
    ru("alexey-t", "Алексей Т.", "Калининград", Anything),
    ru("maria-d", "Мария Д.", "Сочи", Anything),
    ru("pavel-z", "Павел З.", "Томск", Anything),
    ru("tatiana-b", "Татьяна Б.", "Иркутск", Anything),
    ru("viktor-g", "Виктор Г.", "Владивосток", Anything),
    de("autohaus-mitte", "Autohaus Mitte", "Berlin", Cars),
    de("radwerk", "Radwerk Hamburg", "Hamburg", Sport),
    de("wohnraum", "Wohnraum Rhein", "Cologne", Homes),
    de("second-sofa", "Second Sofa", "Leipzig", UsedFurniture),
    de("lena-w", "Lena W.", "Munich", Anything),
    de("jonas-k", "Jonas K.", "Berlin", Anything),
    de("clara-h", "Clara H.", "Bremen", Anything),
    de("felix-b", "Felix B.", "Stuttgart", Anything),
    gb("northside-motors", "Northside Motors", "Manchester", Cars),
    gb("pixel-and-co", "Pixel & Co", "London", Electronics),
    gb("harbour-homes", "Harbour Homes", "Bristol", Homes),
    gb("old-threads", "Old Threads", "Leeds", Clothes),
    gb("handy-harry", "Handy Harry", "Birmingham", Repairs),
    gb("emily-r", "Emily R.", "Oxford", Anything),
    gb("jack-t", "Jack T.", "Glasgow", Anything),
    gb("sophie-l", "Sophie L.", "Edinburgh", Anything),
];

impl Seller {
    /// Whether it is a private person, whose own name stands for the seller.
    pub(super) fn is_person(&self) -> bool {
        self.trade == Anything
    }

    /// Whether it is a shop for used things.
    pub(super) fn is_second_hand(&self) -> bool {
        matches!(self.trade, Cars | UsedFurniture | Clothes | Books)
    }

    /// A random seller, weighted: shops publish far more often than people, and providers of a few
    /// services rarely.
    pub(super) fn somebody(dice: &mut Dice) -> &'static Seller {
        loop {
            let seller = dice.one_of(SELLERS);
            let percent = match seller.trade {
                Anything => 45,
                Repairs | Cleaning => 8,
                _ => 100,
            };
            if dice.chance(percent) {
                return seller;
            }
        }
    }

    /// The phone number, with digits that are not assigned to anyone.
    pub(super) fn phone(&self) -> String {
        let place = SELLERS.iter().position(|seller| seller.id == self.id).unwrap_or_default();
        match self.currency {
            "RUB" => format!("+7 900 000-00-{place:02}"),
            "GBP" => format!("+44 7700 9000{place:02}"),
            _ => format!("+49 30 230000{place:02}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_forty_sellers_with_ids_of_their_own() {
        assert_eq!(SELLERS.len(), 40);
        assert_eq!(SELLERS.iter().map(|seller| seller.id).collect::<BTreeSet<_>>().len(), 40);
    }
}
