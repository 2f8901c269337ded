//! Names in the catalogue's languages.

use crate::attribute::{Labelled, Labels};
use crate::declared::{EVERY_LANGUAGE, Language, Named};
use crate::error::Problems;

/// Maps languages of the files to languages of the catalogue.
pub(crate) struct Labeller {
    codes: Vec<Box<str>>,
    /// The language of the catalogue for each language of the files.
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

    /// The language of the catalogue; [`EVERY_LANGUAGE`] stays.
    pub(crate) fn place(&self, language: Language) -> Language {
        match self.places.get(usize::from(language)) {
            Some(Some(place)) => *place as Language,
            _ => EVERY_LANGUAGE,
        }
    }

    /// Calls `put` with the name in each language in order. A language without a name is a problem.
    pub(crate) fn each_name<'n>(
        &self,
        named: &'n Named,
        problems: &mut Problems,
        mut put: impl FnMut(&'n str),
    ) {
        for (place, code) in self.codes.iter().enumerate() {
            let name = named.names.iter().find(|(language, _)| {
                *language == EVERY_LANGUAGE || usize::from(self.place(*language)) == place
            });
            if let Some((_, name)) = name {
                put(name);
            } else {
                let advice = format!("add it: `name = {{ {code} = \"...\" }}`");
                problems.add(named.at, format!("`{}` has no name in `{code}`", named.id), advice);
                put("");
            }
        }
    }

    pub(crate) fn labelled(&self, named: Named, problems: &mut Problems) -> Labelled {
        let mut names = Vec::with_capacity(self.codes.len());
        self.each_name(&named, problems, |name| names.push(name.into()));
        let synonyms = named.synonyms.into_iter().map(|(language, name)| (self.place(language), name));
        Labelled { id: named.id, labels: Labels { names: names.into(), synonyms: synonyms.collect() } }
    }
}
