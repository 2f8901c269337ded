//! Generates large files for benchmarks and tests: the same seed gives the same bytes.

use std::io::{self, Write};
use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Torg's own XML; every offer follows the schema.
    OwnXml,
    Yml,
}

static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "\
    велосипед городской новый красный лампа настольная кресло дубовый стол для кухни с \
    подсветкой набор посуды телефон camera with case light drill cordless jacket winter size \
    оригинал почти комплект сталь хлопок wood classic"
        .split(' ')
        .collect()
});
static QUALITIES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "\
    новый красный классический большой удобный белый лёгкий прочный чёрный недорогой домашний \
    простой"
        .split(' ')
        .collect()
});
/// Parameters with their values, or with the unit of numbers.
const PARAMS: [(&str, &str, &[&str]); 8] = [
    ("Цвет", "", &["красный", "синий", "чёрный", "белый", "серый", "зелёный"]),
    ("Вес", "кг", &[]),
    ("Материал", "", &["дерево", "металл", "пластик", "хлопок", "сталь"]),
    ("Ширина", "см", &[]),
    ("Страна", "", &["Россия", "Италия", "Китай", "Германия"]),
    ("Мощность", "Вт", &[]),
    ("Высота", "см", &[]),
    ("Гарантия", "мес", &[]),
];
/// Items: the category, its parent, and the noun of titles.
const GOODS: [(&str, &str, &str); 12] = [
    ("Мебель", "Диваны", "Диван"),
    ("Мебель", "Кресла", "Кресло"),
    ("Мебель", "Кухонные столы", "Стол кухонный"),
    ("Мебель", "Книжные шкафы", "Книжный шкаф"),
    ("Спорт", "Велосипеды", "Велосипед"),
    ("Спорт", "Самокаты", "Самокат"),
    ("Освещение", "Настольные лампы", "Лампа настольная"),
    ("Освещение", "Люстры", "Люстра"),
    ("Инструменты", "Дрели", "Дрель"),
    ("Инструменты", "Молотки", "Молоток"),
    ("Кухня", "Чайники", "Чайник"),
    ("Кухня", "Сковороды", "Сковорода"),
];
/// The minimum number of words of a description.
const WORDS_MIN: u64 = 20;

#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub kind: Kind,
    /// Decides the offers.
    pub seed: u64,
    pub size: Size,
    /// The maximum number of words of a description.
    pub words_max: u64,
    /// One of this many offers has a changed price; 0 changes none.
    pub changed_every: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// At least this many bytes, up to the end of an offer.
    Bytes(u64),
    Offers(u64),
}

impl Plan {
    /// A file of this format and size as a shop would export it.
    #[must_use]
    pub fn new(kind: Kind, seed: u64, size: Size) -> Self {
        Self { kind, seed, size, words_max: 80, changed_every: 0 }
    }

    pub fn write(&self, out: impl Write) -> io::Result<u64> {
        let mut out = Counting { out, bytes: 0 };
        write_head(self.kind, &mut out)?;
        let mut offers = 0;
        while self.has_more(offers, out.bytes) {
            offers += 1;
            // Each offer has random numbers of its own: changing one changes no other.
            let mut numbers = Numbers(self.seed ^ offers.wrapping_mul(0xD1B5_4A32_D192_ED03));
            match self.kind {
                Kind::OwnXml => self.write_own(&mut out, &mut numbers, offers)?,
                Kind::Yml => self.write_yml(&mut out, &mut numbers, offers)?,
            }
        }
        out.write_all(match self.kind {
            Kind::OwnXml => b"  </offers>\n</torg-offers>\n",
            Kind::Yml => b"    </offers>\n  </shop>\n</yml_catalog>\n",
        })?;
        out.flush()?;
        Ok(offers)
    }

    fn has_more(&self, offers: u64, bytes: u64) -> bool {
        match self.size {
            Size::Bytes(wanted) => bytes < wanted,
            Size::Offers(wanted) => offers < wanted,
        }
    }

    #[must_use]
    pub fn is_changed(&self, offer: u64) -> bool {
        self.changed_every > 0 && offer.is_multiple_of(self.changed_every)
    }

    fn words(&self, numbers: &mut Numbers) -> u64 {
        WORDS_MIN.min(self.words_max) + numbers.below(self.words_max.saturating_sub(WORDS_MIN) + 1)
    }

    fn price(&self, numbers: &mut Numbers, offer: u64) -> u64 {
        100 + numbers.below(100_000) + u64::from(self.is_changed(offer))
    }
}

struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn words(&mut self, count: u64) -> String {
        self.some(&WORDS, count)
    }

    fn some(&mut self, words: &[&str], count: u64) -> String {
        let mut out = String::new();
        for at in 0..count {
            if at > 0 {
                out.push(' ');
            }
            out.push_str(words[self.below(words.len() as u64) as usize]);
        }
        out
    }

    /// A name, a unit and a value of it.
    fn param(&mut self) -> (&'static str, &'static str, String) {
        let (name, unit, values) = PARAMS[self.below(PARAMS.len() as u64) as usize];
        let value = if values.is_empty() { (1 + self.below(500)).to_string() } else { self.some(values, 1) };
        (name, unit, value)
    }
}

struct Counting<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = self.out.write(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a file of at least `bytes` bytes, up to the end of an offer; returns the number of
/// offers.
pub fn generate(kind: Kind, seed: u64, bytes: u64, out: impl Write) -> io::Result<u64> {
    Plan::new(kind, seed, Size::Bytes(bytes)).write(out)
}

fn write_head(kind: Kind, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
    match kind {
        Kind::OwnXml => out.write_all(b"<torg-offers version=\"1\">\n  <shop><name>Generated</name></shop>\n  <categories>\n")?,
        Kind::Yml => out.write_all(
            b"<yml_catalog date=\"2026-01-31 12:00\">\n  <shop>\n    <name>Generated</name>\n    <currencies>\
              <currency id=\"RUB\" rate=\"1\"/></currencies>\n    <categories>\n",
        )?,
    }
    let parent = if kind == Kind::OwnXml { "parent" } else { "parentId" };
    let mut above = (0, "");
    for (id, (shelf, name, _)) in (1..).zip(GOODS) {
        if shelf != above.1 {
            above = (100 + id, shelf);
            writeln!(out, "    <category id=\"{}\">{shelf}</category>", above.0)?;
        }
        writeln!(out, "    <category id=\"{id}\" {parent}=\"{}\">{name}</category>", above.0)?;
    }
    out.write_all(b"  </categories>\n  <offers>\n")
}

impl Plan {
    fn write_own(&self, out: &mut impl Write, numbers: &mut Numbers, id: u64) -> io::Result<()> {
        writeln!(out, "    <offer id=\"o-{id}\">")?;
        let thing = numbers.below(GOODS.len() as u64);
        writeln!(out, "      <title>{} {}</title>", GOODS[thing as usize].2, numbers.some(&QUALITIES, 4))?;
        let words = self.words(numbers);
        writeln!(
            out,
            "      <description>{} &amp; {}</description>",
            numbers.words(words),
            numbers.words(3)
        )?;
        writeln!(out, "      <category ref=\"{}\"/>", thing + 1)?;
        let price = self.price(numbers, id);
        writeln!(
            out,
            "      <price><fixed currency=\"RUB\">{price}.50</fixed><old>{}</old></price>",
            price + 1 + numbers.below(1_000)
        )?;
        writeln!(out, "      <condition>{}</condition>", if numbers.below(2) == 0 { "new" } else { "used" })?;
        writeln!(out, "      <url>https://shop.example.com/catalogue/item?id={id}&amp;from=feed</url>")?;
        out.write_all(b"      <photos>\n")?;
        for photo in 0..=numbers.below(5) {
            writeln!(
                out,
                "        <photo>https://img.example.com/{}/{id}-{photo}.jpg</photo>",
                numbers.below(1_000_000)
            )?;
        }
        out.write_all(b"      </photos>\n")?;
        writeln!(
            out,
            "      <place><address>Москва, улица {}, {}</address><latitude>55.{}</latitude><longitude>37.{}</longitude></place>",
            numbers.words(1),
            1 + numbers.below(99),
            numbers.below(10_000),
            numbers.below(10_000)
        )?;
        let phone = 1_000_000 + numbers.below(9_000_000);
        writeln!(out, "      <contacts><name>Продавец</name><phone>+7495{phone}</phone></contacts>")?;
        out.write_all(b"      <params>\n")?;
        for _ in 0..2 + numbers.below(6) {
            let (name, unit, value) = numbers.param();
            if unit.is_empty() {
                writeln!(out, "        <param name=\"{name}\">{value}</param>")?;
            } else {
                writeln!(out, "        <param name=\"{name}\" unit=\"{unit}\">{value}</param>")?;
            }
        }
        out.write_all(b"      </params>\n    </offer>\n")
    }

    fn write_yml(&self, out: &mut impl Write, numbers: &mut Numbers, id: u64) -> io::Result<()> {
        writeln!(out, "      <offer id=\"{id}\" available=\"true\">")?;
        writeln!(out, "        <url>https://shop.example.com/item?id={id}&amp;from=yml</url>")?;
        writeln!(out, "        <price>{}</price><currencyId>RUB</currencyId>", self.price(numbers, id))?;
        let thing = numbers.below(GOODS.len() as u64);
        writeln!(out, "        <categoryId>{}</categoryId>", thing + 1)?;
        for photo in 0..=numbers.below(5) {
            writeln!(out, "        <picture>https://img.example.com/{id}-{photo}.jpg</picture>")?;
        }
        let title = GOODS[thing as usize].2;
        writeln!(
            out,
            "        <name>{title} {}</name><vendor>{}</vendor>",
            numbers.some(&QUALITIES, 4),
            numbers.words(1)
        )?;
        let words = self.words(numbers);
        writeln!(
            out,
            "        <description><![CDATA[<p>{}</p><p>{}</p>]]></description>",
            numbers.words(words),
            numbers.words(9)
        )?;
        for _ in 0..2 + numbers.below(6) {
            let (name, unit, value) = numbers.param();
            writeln!(out, "        <param name=\"{name}\" unit=\"{unit}\">{value}</param>")?;
        }
        out.write_all(b"      </offer>\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, check};

    #[test]
    fn a_change_of_some_offers_changes_no_other() {
        let plan = Plan::new(Kind::OwnXml, 7, Size::Offers(200));
        let read = |plan: Plan| {
            let mut file = Vec::new();
            assert_eq!(plan.write(&mut file).unwrap(), 200);
            String::from_utf8(file).unwrap()
        };
        let (before, after) = (read(plan), read(Plan { changed_every: 100, ..plan }));
        let differing: Vec<_> = before.lines().zip(after.lines()).filter(|(a, b)| a != b).collect();
        assert!(
            differing.len() == 2 && differing.iter().all(|(a, _)| a.contains("<price>")),
            "{differing:?}"
        );
    }

    #[test]
    fn what_is_generated_is_the_same_each_time_and_wholly_accepted() {
        for kind in [Kind::OwnXml, Kind::Yml] {
            let (mut first, mut second) = (Vec::new(), Vec::new());
            let offers = generate(kind, 7, 600_000, &mut first).unwrap();
            generate(kind, 7, 600_000, &mut second).unwrap();
            assert!(first == second);
            let report = check(first.as_slice(), Options::default(), &mut ());
            assert_eq!(report.summary.offers, offers);
            assert_eq!(report.summary.accepted, offers, "{}", report.render("x", crate::Language::English));
            assert_eq!(report.summary.warnings(), 0, "{}", report.render("x", crate::Language::English));
        }
    }
}
