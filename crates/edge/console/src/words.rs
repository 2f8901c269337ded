//! Translations. English texts in the code are the keys: [`Language::t`] looks them up.
//!
//! A test reads the code and reports texts that are missing or unused in `words/`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::language::Language;

static RUSSIAN: LazyLock<BTreeMap<&'static str, &'static str>> =
    LazyLock::new(|| entries(include_str!("../words/ru.tsv")).collect());

/// The lines `English<tab>translation` of a file; lines with `#` are comments.
fn entries(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
}

impl Language {
    /// The text itself if it has no translation.
    pub(crate) fn t(self, text: &'static str) -> &'static str {
        match self {
            Self::English => text,
            Self::Russian => RUSSIAN.get(text).copied().unwrap_or(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// The text that begins here as a literal of Rust.
    fn literal(code: &str) -> Option<String> {
        let mut chars = code.trim_start().strip_prefix('"')?.chars();
        let mut text = String::new();
        loop {
            match chars.next()? {
                '"' => return Some(text),
                '\\' => match chars.next()? {
                    'n' => text.push('\n'),
                    '\n' => chars = chars.as_str().trim_start().chars(),
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
    }

    /// Every text that some code in this folder wants in the language of the person.
    fn used(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                used(&path, found);
            } else if !path.to_string_lossy().contains("words") {
                let code = std::fs::read_to_string(&path).unwrap();
                for call in
                    [".t(", ".f(", "w(", "refuse(", "[text ", " text ", "[number ", " number ", "reason },"]
                {
                    found.extend(code.split(call).skip(1).filter_map(literal));
                }
            }
        }
    }

    #[test]
    fn every_text_has_its_russian_form_once_and_none_is_left_over() {
        let mut wanted = BTreeSet::new();
        used(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut wanted);
        assert!(wanted.contains("Overview"));
        let mut known = BTreeSet::new();
        for (english, russian) in entries(include_str!("../words/ru.tsv")) {
            assert!(known.insert(english.to_owned()), "{english:?} is there twice");
            let places = |text: &str| (0..9).filter(|place| text.contains(&format!("{{{place}}}"))).count();
            assert_eq!(places(english), places(russian), "{english:?} and {russian:?}");
        }
        let missing: Vec<&String> = wanted.difference(&known).collect();
        assert!(missing.is_empty(), "without a Russian form: {missing:#?}");
        let unused: Vec<&String> = known.difference(&wanted).collect();
        assert!(unused.is_empty(), "not used any more: {unused:#?}");
    }
}
