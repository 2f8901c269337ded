//! Cleans up titles: spaces and capitals.

/// A title is shouted if it has at least this many letters, all of them capitals.
const SHOUTED_LETTERS_MIN: usize = 10;
/// Names that keep their spelling.
const NAMES: &str = "Acer Adidas AeroCool Air Apple Askona Aspire ASUS Atlant Audi Beko BMW Bosch Camry Chery Clarks \
    Cube Dahon De'Longhi Dell Duster DXRacer ECCO Electrolux Emma Ercol Focus Ford Forward Galaxy Geely Geox Giant Golf \
    Google Granta Habitat Haier Haval Hisense Hoff Honor HP Hyundai IdeaPad IKEA Indesit iPhone Jolion Jura JYSK Kia LADA \
    Lazurit Lee Legend Lenovo Levi's Liebherr MacBook Mango Marks Merida Microsoft Midea Monjaro Nike Nintendo Nissan \
    Niva Note Octavia OLED Panasonic Passat Pavilion Philips Pixel PlayStation Pro Puma Qashqai Raleigh realme Redmi \
    Reebok Renault Reserved Rio Samsung Secretlab Simba Slim Solaris Sony Specialized Spencer Sportage Stels Switch Tern \
    ThinkPad Tiggo Timberland Toyota Transit Trek Tucson Ultra Uniqlo Vesta VivoBook Volkswagen Wrangler Xbox Xiaomi \
    Zara Много Мебели Шатура Škoda";
/// Words of this length without a vowel are names or units and stay unchanged, such as BMW and HP.
/// So do words with digits, such as X5 and 27.
const NAME_LETTERS: std::ops::RangeInclusive<usize> = 2..=3;
const VOWELS: &str = "AEIOUYАЕЁИОУЫЭЮЯ";

/// The title with single spaces, and in lower case if it was shouted.
pub(super) fn polished(title: &str) -> String {
    let shouted = is_shouted(title);
    let mut words: Vec<String> = title.split_whitespace().map(str::to_owned).collect();
    if shouted {
        for (place, word) in words.iter_mut().enumerate() {
            *word = calm(word, place == 0);
        }
    }
    words.join(" ")
}

/// The first word that mixes Latin and Cyrillic letters.
pub(super) fn mixed_word(title: &str) -> Option<&str> {
    let is_word_end = |letter: char| !letter.is_alphanumeric();
    title
        .split(is_word_end)
        .find(|word| word.chars().any(|letter| letter.is_ascii_alphabetic()) && word.chars().any(is_cyrillic))
}

fn is_cyrillic(letter: char) -> bool {
    ('\u{400}'..='\u{52f}').contains(&letter)
}

fn is_shouted(title: &str) -> bool {
    let letters: Vec<char> = title.chars().filter(|letter| letter.is_alphabetic()).collect();
    letters.len() >= SHOUTED_LETTERS_MIN && letters.iter().all(|letter| letter.is_uppercase())
}

/// A word in lower case. The first word and names keep their capitals.
fn calm(word: &str, is_first: bool) -> String {
    let letters = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    if let Some(name) = NAMES.split(' ').find(|name| name.to_uppercase() == letters) {
        return word.replace(letters, name);
    }
    if is_name(word) {
        return word.to_owned();
    }
    let small = word.to_lowercase();
    if !is_first {
        return small;
    }
    let mut letters = small.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn is_name(word: &str) -> bool {
    let letters: Vec<char> = word.chars().filter(|letter| letter.is_alphabetic()).collect();
    let is_short =
        NAME_LETTERS.contains(&letters.len()) && !letters.iter().any(|letter| VOWELS.contains(*letter));
    let is_type = word.chars().any(|letter| letter.is_ascii_digit()) && letters.len() <= *NAME_LETTERS.end();
    is_short || is_type
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_calm_and_have_single_spaces() {
        for (title, tidy) in [
            ("Диван  угловой   серый", "Диван угловой серый"),
            ("УГЛОВОЙ ДИВАН, СЕРЫЙ", "Угловой диван, серый"),
            ("PRETTY RED BICYCLE, ALMOST NEW", "Pretty red bicycle, almost new"),
            ("BMW X5, ДЛЯ СЕМЬИ В ОТЛИЧНОМ СОСТОЯНИИ", "BMW X5, для семьи в отличном состоянии"),
            ("BMW 320i, 2019", "BMW 320i, 2019"),
            ("3-КОМНАТНАЯ КВАРТИРА, 66 М²", "3-комнатная квартира, 66 м²"),
            ("IKEA", "IKEA"),
            ("КОМОД IKEA, БЕЛЫЙ", "Комод IKEA, белый"),
            ("APPLE IPHONE 13 128 GB, RED", "Apple iPhone 13 128 GB, red"),
        ] {
            assert_eq!(polished(title), tidy);
            assert_eq!(polished(tidy), tidy, "once is enough");
        }
    }

    #[test]
    fn a_word_of_two_alphabets_is_found() {
        assert_eq!(mixed_word("Дивaн угловой"), Some("Дивaн"));
        assert_eq!(mixed_word("Диван IKEA, 2-местный"), None);
    }
}
