//! Shared grammar: colours that agree with nouns, and nouns that agree with numbers.

use super::super::dice::{Language, Words};
use super::super::pictures::Color;

/// The gender of a Russian noun, or plural.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Gender {
    He,
    She,
    It,
    They,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Noun {
    pub(super) words: Words,
    pub(super) gender: Gender,
}

pub(super) const fn noun(gender: Gender, russian: &'static str, english: &'static str) -> Noun {
    Noun { words: (russian, english), gender }
}

impl Noun {
    pub(super) fn of(self, language: Language) -> &'static str {
        language.of(self.words)
    }

    /// A colour as it is written behind the noun.
    pub(super) fn color(self, language: Language, color: Color) -> &'static str {
        match language {
            Language::Russian => color_in_russian(color, self.gender),
            Language::English => color_in_english(color),
        }
    }
}

/// The colour's value in the catalogue.
pub(super) fn color_id(color: Color) -> &'static str {
    match color {
        // The catalogue uses American spelling, the offers British.
        Color::Gray => "gray",
        _ => color_in_english(color),
    }
}

/// The colour in British English.
pub(super) fn color_in_english(color: Color) -> &'static str {
    match color {
        Color::Black => "black",
        Color::White => "white",
        Color::Gray => "grey",
        Color::Blue => "blue",
        Color::Red => "red",
        Color::Green => "green",
        Color::Beige => "beige",
        Color::Brown => "brown",
    }
}

/// The Russian colour that agrees with a noun.
pub(in super::super) fn color_in_russian(color: Color, gender: Gender) -> &'static str {
    let [he, she, it, they] = match color {
        Color::Black => ["чёрный", "чёрная", "чёрное", "чёрные"],
        Color::White => ["белый", "белая", "белое", "белые"],
        Color::Gray => ["серый", "серая", "серое", "серые"],
        Color::Blue => ["синий", "синяя", "синее", "синие"],
        Color::Red => ["красный", "красная", "красное", "красные"],
        Color::Green => ["зелёный", "зелёная", "зелёное", "зелёные"],
        Color::Beige => ["бежевый", "бежевая", "бежевое", "бежевые"],
        Color::Brown => ["коричневый", "коричневая", "коричневое", "коричневые"],
    };
    match gender {
        Gender::He => he,
        Gender::She => she,
        Gender::It => it,
        Gender::They => they,
    }
}

/// A number and its Russian noun, in the plural form for one, few or many.
pub(super) fn counted(count: i64, [one, few, many]: [&str; 3]) -> String {
    let noun = match (count % 10, count % 100) {
        (_, 11..=14) => many,
        (1, _) => one,
        (2..=4, _) => few,
        _ => many,
    };
    format!("{count} {noun}")
}

/// A number with the thousands separator of a language.
pub(super) fn grouped(language: Language, number: i64) -> String {
    let mark = match language {
        Language::Russian => ' ',
        Language::English => ',',
    };
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(mark);
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_numbers_and_colours_with_nouns() {
        let gears = |count| counted(count, ["скорость", "скорости", "скоростей"]);
        assert_eq!([1, 3, 7].map(gears), ["1 скорость", "3 скорости", "7 скоростей"]);
        assert_eq!([11, 21, 24].map(gears), ["11 скоростей", "21 скорость", "24 скорости"]);
        let bed = noun(Gender::She, "Кровать", "Bed");
        assert_eq!(bed.color(Language::Russian, Color::White), "белая");
        assert_eq!(bed.color(Language::English, Color::Gray), "grey");
        assert_eq!(color_id(Color::Gray), "gray");
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(grouped(Language::Russian, 1_234_000), "1 234 000");
        assert_eq!(grouped(Language::English, 82_000), "82,000");
        assert_eq!(grouped(Language::English, 999), "999");
    }
}
