//! Names in the catalogue's languages.

use crate::attribute::Labels;
use crate::declared::{EVERY_LANGUAGE, Language, Names};
use crate::error::{At, Problems};

/// Brings names from the languages as they were seen in the files to the languages of the catalogue.
pub(crate) struct Labeller {
    codes: Vec<Box<str>>,
    /// From the language in the files to that of the catalogue.
    places: Vec<Option<usize>>,
}

impl Labeller {
    pub(crate) fn new(seen: &[Box<str>], languages: &[Box<str>]) -> Self {
        let places = seen.iter().map(|code| languages.iter().position(|language| language == code)).collect();
        Self { codes: languages.to_vec(), places }
    }

    pub(crate) fn count(&self) -> usize {
        self.codes.len()
    }

    /// The language of the catalogue; [`EVERY_LANGUAGE`] stays what it is.
    pub(crate) fn place(&self, language: Language) -> Language {
        match self.places.get(usize::from(language)) {
            Some(Some(place)) => *place as Language,
            _ => EVERY_LANGUAGE,
        }
    }

    /// Calls `put` with the name in every language, in order; a language without a name is a problem.
    pub(crate) fn each_name<'n>(
        &self,
        id: &str,
        at: At,
        names: &'n Names,
        problems: &mut Problems,
        mut put: impl FnMut(&'n str),
    ) {
        for (place, code) in self.codes.iter().enumerate() {
            let name = names.iter().find(|(language, _)| {
                *language == EVERY_LANGUAGE || usize::from(self.place(*language)) == place
            });
            if let Some((_, name)) = name {
                put(name);
            } else {
                let advice = format!("add it: `name = {{ {code} = \"...\" }}`");
                problems.add(at, format!("`{id}` has no name in `{code}`"), advice);
                put("");
            }
        }
    }

    pub(crate) fn labels(
        &self,
        id: &str,
        at: At,
        names: &Names,
        synonyms: &Names,
        problems: &mut Problems,
    ) -> Labels {
        let mut all = Vec::with_capacity(self.codes.len());
        self.each_name(id, at, names, problems, |name| all.push(name.into()));
        let synonyms =
            synonyms.iter().map(|(language, name)| (self.place(*language), name.clone())).collect();
        Labels { names: all.into(), synonyms }
    }
}
