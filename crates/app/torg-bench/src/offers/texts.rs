//! Generates texts with the compression ratio of human text: a few words are frequent, most are
//! rare, and some parts are random.

use crate::data::Numbers;

const WORDS: usize = 20_000;
const LATIN: &str = "aaabcdeeeefghiiijklmnnooopqrrsssttttuuvwxyz";
const CYRILLIC: &str = "аааабвгдеееежзииийклмнннооооопрррссстттуфхцчшщыьэюя";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Words of two alphabets.
pub(super) struct Texts {
    latin: Vec<String>,
    cyrillic: Vec<String>,
}

impl Texts {
    pub(super) fn new() -> Self {
        let mut numbers = Numbers::new(77);
        let mut words = |letters: &str| {
            let letters: Vec<char> = letters.chars().collect();
            (0..WORDS).map(|_| word(&mut numbers, &letters)).collect()
        };
        Self { latin: words(LATIN), cyrillic: words(CYRILLIC) }
    }

    /// A word: the lower its number, the more frequent it is.
    pub(super) fn word(&self, numbers: &mut Numbers) -> &str {
        &self.latin[common(numbers, WORDS)]
    }

    /// A text of `chars` characters of words, numbers and full stops, in one of the two alphabets.
    pub(super) fn prose(&self, numbers: &mut Numbers, chars: usize) -> String {
        let words = if numbers.below(3) == 0 { &self.cyrillic } else { &self.latin };
        let (mut text, mut left) = (String::new(), chars);
        while left > 12 {
            let before = text.len();
            match numbers.below(12) {
                0 => text.push_str(&numbers.below(100_000).to_string()),
                1 => text.push_str(", "),
                2 => text.push_str(".\n"),
                _ => text.push_str(&words[common(numbers, WORDS)]),
            }
            text.push(' ');
            left = left.saturating_sub(text[before..].chars().count());
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// The address of a photo with a signature of this many characters.
    pub(super) fn address(numbers: &mut Numbers, signature_chars: usize) -> String {
        let mut url =
            format!("https://img.example.com/{:016x}/{:08x}.jpg?sig=", numbers.next(), numbers.next() as u32);
        url.extend((0..signature_chars).map(|_| char::from(BASE64[numbers.below(64) as usize])));
        url
    }
}

/// A number below `bound`; low ones are more frequent.
fn common(numbers: &mut Numbers, bound: usize) -> usize {
    let part = numbers.below(1 << 20) as f64 / f64::from(1 << 20);
    ((part * part * part) * bound as f64) as usize
}

fn word(numbers: &mut Numbers, letters: &[char]) -> String {
    let length = 3 + numbers.below(9);
    (0..length).map(|_| letters[numbers.below(letters.len() as u64) as usize]).collect()
}
