//! Words of commands that are printed to be typed again.

/// A word as a shell takes it: as it is, or in single quotes.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/.-_+:@".contains(letter);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        assert_eq!(quoted("/usr/bin/torg-1.2"), "/usr/bin/torg-1.2");
        assert_eq!(quoted("http://[::1]:80"), "'http://[::1]:80'");
        assert_eq!(quoted("/home/a b/it's"), r"'/home/a b/it'\''s'");
        assert_eq!((&*quoted(""), &*quoted("-f")), ("''", "'-f'"));
    }
}
