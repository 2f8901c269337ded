//! Loads catalogues from files.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::build::build;
use crate::catalogue::Catalogue;
use crate::declared::Declared;
use crate::error::{At, Problems, Result};
use crate::limits::FILE_BYTES_MAX;
use crate::read::{read_taxonomy, read_toml};

const TAXONOMY: &[u8] = include_bytes!("../data/shopify.tsv.gz");
const OWN: [(&str, &str); 8] = [
    ("catalogue.toml", include_str!("../data/catalogue.toml")),
    ("attributes.toml", include_str!("../data/attributes.toml")),
    ("brands.toml", include_str!("../data/brands.toml")),
    ("transport.toml", include_str!("../data/transport.toml")),
    ("real-estate.toml", include_str!("../data/real-estate.toml")),
    ("jobs.toml", include_str!("../data/jobs.toml")),
    ("services.toml", include_str!("../data/services.toml")),
    ("goods.toml", include_str!("../data/goods.toml")),
];

/// The files of one catalogue. Add them in any order, then [`load`](Self::load) checks everything
/// together: files may refer to each other, and all problems are reported at once.
///
/// ```
/// use catalog::Sources;
///
/// let own = r#"
///     [catalogue]
///     version = 1
///     languages = ["en"]
///     [attribute.pages]
///     name = { en = "Pages" }
///     type = "whole"
///     min = 1
///     [category.books]
///     name = { en = "Books" }
///     required = ["pages"]
/// "#;
/// let catalogue = Sources::new().text("own.toml", own).load()?;
/// assert_eq!(catalogue.category("books").unwrap().name("en"), "Books");
///
/// let wrong = own.replace("required", "requird");
/// let error = Sources::new().text("own.toml", &wrong).load().unwrap_err();
/// assert_eq!(error.to_string(), "own.toml:11: unknown key `requird`; did you mean `required`?");
/// # Ok::<(), catalog::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Sources {
    declared: Declared,
    problems: Problems,
    digest: u64,
}

impl Sources {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the built-in catalogue, which other files can extend: with categories, attributes and
    /// rules, and by replacing keys of its `[catalogue]`.
    #[must_use]
    pub fn builtin(mut self) -> Self {
        for (name, text) in OWN {
            self.note(text);
            read_toml(name, text, true, &mut self.declared, &mut self.problems);
        }
        self.packed("shopify.tsv.gz", TAXONOMY);
        self
    }

    /// Adds a TOML text. Problems are reported under `name`.
    #[must_use]
    pub fn text(mut self, name: &str, text: &str) -> Self {
        self.note(text);
        read_toml(name, text, false, &mut self.declared, &mut self.problems);
        self
    }

    /// Adds a large tree in the plain format: a line for each category, `id` and names separated by
    /// tabs.
    #[must_use]
    pub fn taxonomy(mut self, name: &str, text: &str) -> Self {
        self.note(text);
        read_taxonomy(name, text, &mut self.declared, &mut self.problems);
        self
    }

    /// Reads a file by its extension: `.toml`, `.tsv` or `.tsv.gz`. Blocking.
    #[must_use]
    pub fn file(mut self, path: &Path) -> Self {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Err(error) => self.unreadable(&name, &format!("cannot read the file: {error}")),
            Ok(bytes) if name.ends_with(".tsv.gz") => self.packed(&name, &bytes),
            Ok(bytes) => match String::from_utf8(bytes) {
                Err(_) => self.unreadable(&name, "the file is not UTF-8"),
                Ok(text) if path.extension().is_some_and(|ending| ending == "toml") => {
                    return self.text(&name, &text);
                }
                Ok(text) if path.extension().is_some_and(|ending| ending == "tsv") => {
                    return self.taxonomy(&name, &text);
                }
                Ok(_) => self.unreadable(&name, "the file name does not tell the format"),
            },
        }
        self
    }

    /// Adds every `.toml`, `.tsv` and `.tsv.gz` file of a directory in the order of their names.
    /// Blocking.
    #[must_use]
    pub fn directory(mut self, path: &Path) -> Self {
        let name = path.display().to_string();
        let mut files = match std::fs::read_dir(path) {
            Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect::<Vec<_>>(),
            Err(error) => {
                self.unreadable(&name, &format!("cannot read the directory: {error}"));
                return self;
            }
        };
        files.retain(|file| {
            let name = file.to_string_lossy();
            [".toml", ".tsv", ".tsv.gz"].iter().any(|ending| name.ends_with(ending))
        });
        files.sort();
        files.iter().fold(self, |sources, file| sources.file(file))
    }

    pub fn load(self) -> Result<Catalogue> {
        Ok(Catalogue { digest: self.digest, ..build(self.declared, self.problems)? })
    }

    fn note(&mut self, text: &str) {
        self.digest = xxh3_64_with_seed(text.as_bytes(), self.digest);
    }

    fn packed(&mut self, name: &str, bytes: &[u8]) {
        let mut text = String::new();
        let unpacked = GzDecoder::new(bytes).take(FILE_BYTES_MAX as u64 + 1).read_to_string(&mut text);
        match unpacked {
            Err(error) => self.unreadable(name, &format!("cannot unpack the file: {error}")),
            Ok(length) if length > FILE_BYTES_MAX => self.unreadable(name, "the file is too large"),
            Ok(_) => {
                self.note(&text);
                read_taxonomy(name, &text, &mut self.declared, &mut self.problems);
            }
        }
    }

    fn unreadable(&mut self, name: &str, what: &str) {
        let file = self.problems.file(name);
        let advice = "give a readable file whose name ends in .toml, .tsv or .tsv.gz";
        self.problems.add_unreadable(At { file, line: 0 }, what, advice);
    }
}

impl Catalogue {
    /// The built-in catalogue: Shopify's product taxonomy and branches for transport, real estate,
    /// jobs and services, in English and Russian. Every call builds it: keep the result.
    pub fn builtin() -> Result<Self> {
        Sources::new().builtin().load()
    }
}
