//! Countries and first-order divisions in addresses.

use crate::error::{Error, Result};
use crate::text::{Word, stem, words};

const COUNTRIES: &str = include_str!("../data/countries.tsv");
const REGIONS: &str = include_str!("../data/regions.tsv");

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Area {
    Country(u16),
    Region(u16),
}

#[derive(Debug)]
struct Named {
    country: [u8; 2],
    /// Empty for a country.
    code: Box<str>,
    english: Box<str>,
    russian: Box<str>,
}

/// Divisions are known for the countries that use them most in addresses.
#[derive(Debug)]
pub(crate) struct Regions {
    countries: Vec<Named>,
    divisions: Vec<Named>,
    /// Stems of a name, whether a marker such as "oblast" is required, and the area.
    names: Vec<(Box<str>, bool, Area)>,
    codes: Vec<(Box<str>, Area)>,
}

impl Regions {
    pub(crate) fn builtin() -> Result<Self> {
        let mut regions =
            Self { countries: Vec::new(), divisions: Vec::new(), names: Vec::new(), codes: Vec::new() };
        for (number, line) in lines(COUNTRIES) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [code, english, russian, others] = fields[..] else { return Err(broken(number)) };
            let area = Area::Country(regions.countries.len() as u16);
            regions.codes.push((code.into(), area));
            regions.countries.push(named(code, "", english, russian).ok_or_else(|| broken(number))?);
            regions.add_names(area, [english, russian].into_iter().chain(others.split('|')));
        }
        for (number, line) in lines(REGIONS) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [country, code, english, russian, others] = fields[..] else { return Err(broken(number)) };
            let area = Area::Region(regions.divisions.len() as u16);
            regions.divisions.push(named(country, code, english, russian).ok_or_else(|| broken(number))?);
            regions.add_names(area, [english, russian].into_iter().chain(others.split('|')));
        }
        regions.names.sort_unstable();
        regions.codes.sort_unstable();
        Ok(regions)
    }

    fn add_names<'n>(&mut self, area: Area, names: impl Iterator<Item = &'n str>) {
        for name in names.filter(|name| !name.is_empty()) {
            if (2..=3).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_uppercase()) {
                self.codes.push((name.into(), area));
                continue;
            }
            let words = words(name);
            let needs_marker = words.iter().any(|word| is_marker(&word.text));
            self.names.push((key(&words).into(), needs_marker, area));
        }
    }

    /// Calls `visit` for every area with this name.
    pub(crate) fn each_called(&self, words: &[Word], mut visit: impl FnMut(Area)) {
        if let [word] = words
            && word.is_code
        {
            let code = word.text.to_ascii_uppercase();
            let start = self.codes.partition_point(|known| *known.0 < *code);
            self.codes[start..].iter().take_while(|known| *known.0 == *code).for_each(|known| visit(known.1));
        }
        let has_marker = words.iter().any(|word| is_marker(&word.text));
        let key = key(words);
        if key.is_empty() {
            return;
        }
        let start = self.names.partition_point(|known| *known.0 < *key);
        let named = self.names[start..].iter().take_while(|known| *known.0 == *key);
        named.filter(|known| has_marker || !known.1).for_each(|known| visit(known.2));
    }

    /// Country and division code of an area; the division is empty for a country.
    pub(crate) fn codes(&self, area: Area) -> ([u8; 2], &str) {
        let named = match area {
            Area::Country(number) => &self.countries[usize::from(number)],
            Area::Region(number) => &self.divisions[usize::from(number)],
        };
        (named.country, &named.code)
    }

    pub(crate) fn country_name(&self, code: &str, language: &str) -> Option<&str> {
        let number = self.countries.binary_search_by(|named| named.country[..].cmp(code.as_bytes())).ok()?;
        Some(self.countries[number].name(language))
    }

    pub(crate) fn region_name(&self, country: &str, code: &str, language: &str) -> Option<&str> {
        let found = self
            .divisions
            .iter()
            .find(|named| named.country == country.as_bytes() && &*named.code == code)?;
        Some(found.name(language))
    }
}

impl Named {
    fn name(&self, language: &str) -> &str {
        if language == "ru" && !self.russian.is_empty() { &self.russian } else { &self.english }
    }
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'))
        .map(|(number, line)| (number + 1, line))
}

fn broken(line: usize) -> Error {
    Error::Data { line, what: "not a country or a region".to_owned() }
}

fn named(country: &str, code: &str, english: &str, russian: &str) -> Option<Named> {
    let country = country.as_bytes().try_into().ok()?;
    Some(Named { country, code: code.into(), english: english.into(), russian: russian.into() })
}

/// Stems of the words without markers.
fn key(words: &[Word]) -> String {
    let mut key = String::new();
    for word in words.iter().filter(|word| !is_marker(&word.text)) {
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(stem(&word.text));
    }
    key
}

/// Whether a word tells the kind of an area.
pub(crate) fn is_marker(word: &str) -> bool {
    matches!(
        stem(word),
        "област"
            | "обл"
            | "край"
            | "кра"
            | "республик"
            | "респ"
            | "автономн"
            | "округ"
            | "ао"
            | "штат"
            | "oblast"
            | "region"
            | "krai"
            | "kray"
            | "republic"
            | "autonomous"
            | "okrug"
            | "state"
            | "province"
            | "of"
    )
}
