//! Suggestions for misspelt words.

use crate::keywords::SYNONYMS;
use crate::limits::LISTED_MAX;

/// Shorter beginnings of words are not completed.
const BEGINNING_BYTES_MIN: usize = 3;

pub(crate) fn meant<'w>(word: &str, known: impl Iterator<Item = &'w str> + Clone) -> Option<&'w str> {
    let lower = word.to_lowercase().replace('-', "_");
    if let Some(same) = known.clone().find(|known| known.to_lowercase().replace('-', "_") == lower) {
        return Some(same);
    }
    let mut synonyms = SYNONYMS.iter().filter(|(wrong, _)| *wrong == lower);
    if let Some(right) = synonyms.find_map(|(_, right)| known.clone().find(|known| known == right)) {
        return Some(right);
    }
    let mut longer =
        known.clone().filter(|known| lower.len() >= BEGINNING_BYTES_MIN && known.starts_with(&lower));
    if let (Some(one), None) = (longer.next(), longer.next()) {
        return Some(one);
    }
    text::nearest(&lower, known)
}

/// A sentence: the word that was probably meant, or the list of known ones.
pub(crate) fn remedy<'w>(word: &str, known: impl Iterator<Item = &'w str> + Clone, what: &str) -> String {
    match meant(word, known.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => list(known, what),
    }
}

/// A sentence with the known words, truncated.
pub(crate) fn list<'w>(known: impl Iterator<Item = &'w str> + Clone, what: &str) -> String {
    let count = known.clone().count();
    if count == 0 {
        return format!("there are no {what}");
    }
    // A list that is only slightly too long is shown whole.
    let shown = if count <= 2 * LISTED_MAX { count } else { LISTED_MAX };
    let words: Vec<String> = known.take(shown).map(|word| format!("`{word}`")).collect();
    let more = if count > shown { format!(" and {} more", count - shown) } else { String::new() };
    format!("{what}: {}{more}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant_of(word: &str) -> Option<&'static str> {
        meant(word, ["about", "when", "run", "timeout", "environment", "new_day", "any"].into_iter())
    }

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        assert_eq!(meant_of("tiemout"), Some("timeout"));
        assert_eq!(meant_of("Run"), Some("run"));
        assert_eq!(meant_of("new-day"), Some("new_day"));
        assert_eq!(meant_of("enviroment"), Some("environment"));
        assert_eq!(meant_of("env"), Some("environment"));
        assert_eq!(meant_of("time"), Some("timeout"));
        assert_eq!(meant_of("colour"), None);
        assert_eq!(meant_of(&"x".repeat(10_000)), None);
    }

    #[test]
    fn words_of_other_tools_lead_to_ours() {
        assert_eq!(meant_of("env"), Some("environment"));
        assert_eq!(meant_of("or"), Some("any"));
        assert_eq!(meant_of("trigger"), Some("when"));
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..100).map(|n| format!("p{n}")).collect();
        let shown = list(names.iter().map(String::as_str), "pools");
        assert!(shown.starts_with("pools: `p0`, `p1`,") && shown.ends_with("`p11` and 88 more"), "{shown}");
        assert_eq!(list([].into_iter(), "pools"), "there are no pools");
    }
}
