//! The plain format of a large tree: a line `id name name ...` for each category, separated by
//! tabs, after a line `id en ru ...` with the languages. The parent of `ap-2-1` is `ap-2`. All
//! categories but the roots accept offers: such a tree is so fine that people and feeds often know
//! no more than "Sofas".

use crate::declared::{CategorySource, Declared, Language, Named, Names};
use crate::error::{At, Problems};
use crate::limits::NAME_CHARS_MAX;

use super::names::is_language;
use super::reader::is_id;

const SHAPE: &str = "a line is an id and a name for each language of the first line, separated by tabs";

/// Skips empty lines and lines that begin with `#`.
pub(crate) fn read_taxonomy(name: &str, text: &str, declared: &mut Declared, problems: &mut Problems) {
    let file = problems.file(name);
    let mut languages: Option<Vec<Language>> = None;
    for (number, line) in text.lines().enumerate() {
        let at = At { file, line: number as u32 + 1 };
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match &languages {
            None => {
                if let Some(found) = read_languages(line, declared) {
                    languages = Some(found);
                } else {
                    problems.add(
                        at,
                        "the first line does not name the languages",
                        "begin with `id`, then codes such as `en` and `ru`, separated by tabs",
                    );
                    return;
                }
            }
            Some(languages) => match read_category(line, at, languages) {
                Ok(category) => declared.categories.push(category),
                Err(what) => problems.add(at, what, SHAPE),
            },
        }
    }
}

fn read_languages(line: &str, declared: &mut Declared) -> Option<Vec<Language>> {
    let codes = line.strip_prefix("id\t")?;
    codes.split('\t').map(|code| is_language(code).then(|| declared.language(code)).flatten()).collect()
}

fn read_category(line: &str, at: At, languages: &[Language]) -> Result<CategorySource, String> {
    let mut fields = line.split('\t');
    let id = fields.next().unwrap_or_default();
    if !is_id(id) {
        return Err(format!("`{}` is no valid id", crate::text::echo(id)));
    }
    let mut names = Names::new();
    for language in languages {
        let name = fields.next().unwrap_or_default().trim();
        if name.is_empty() || name.len() > NAME_CHARS_MAX * 4 {
            return Err(format!("`{id}` has a missing or too long name"));
        }
        names.push((*language, name.into()));
    }
    if fields.next().is_some() {
        return Err(format!("`{id}` has more names than there are languages"));
    }
    let parent = id.rsplit_once('-').map(|(parent, _)| (parent.into(), at));
    let takes_offers = parent.is_some();
    let named = Named { id: id.into(), at, names, synonyms: Names::new() };
    Ok(CategorySource { named, parent, takes_offers, own: None })
}
