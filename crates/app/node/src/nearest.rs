//! "Did you mean ...?"

/// A name further away than this is no typing mistake.
const EDITS_MAX: usize = 3;

/// A name longer than this is none that anybody mistyped, and would take long to compare.
const NAME_BYTES_MAX: usize = 100;

/// The known name that a wrong one was probably meant to be.
pub fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if wrong.len() > NAME_BYTES_MAX {
        return None;
    }
    let limit = EDITS_MAX.min(wrong.len() / 2).min(wrong.len().saturating_sub(2));
    known
        .map(|name| (edits(wrong, name), name))
        .filter(|(edits, _)| *edits <= limit)
        .min()
        .map(|(_, name)| name)
}

/// How many letters have to be inserted, removed or replaced (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_strange_word_finds_none() {
        let known = ["store.cache_mb", "store.url", "log.level"];
        assert_eq!(nearest("store.cachemb", known.into_iter()), Some("store.cache_mb"));
        assert_eq!(nearest("log.levle", known.into_iter()), Some("log.level"));
        assert_eq!(nearest("colour", known.into_iter()), None);
    }
}
