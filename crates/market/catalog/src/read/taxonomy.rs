//! The plain form of a large tree: a line by category, fields between tabs, `id name name ...`. The line `id en ru ...` before them
//! says which languages the names are in. The parent of `ap-2-1` is `ap-2`. Offers can stand in all of them
//! but the roots: such a tree is so fine that people, and feeds, often know no more than "Sofas".

use crate::declared::{CategorySource, Declared, Language, Names};
use crate::error::{At, Problems};
use crate::limits::NAME_CHARS_MAX;

use super::names::is_language;
use super::reader::is_id;

const SHAPE: &str = "a line is an id and a name for every language of the first line, with tabs between them";

/// Reads one file in the plain form. Lines that begin with `#` and empty lines are passed by.
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
                        "begin with `id`, then codes such as `en` and `ru`, with tabs between them",
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
        return Err(format!("`{}` cannot be an id", crate::text::echo(id)));
    }
    let mut names = Names::new();
    for language in languages {
        let name = fields.next().unwrap_or_default().trim();
        if name.is_empty() || name.len() > NAME_CHARS_MAX * 4 {
            return Err(format!("`{id}` has a name that is missing or too long"));
        }
        names.push((*language, name.into()));
    }
    if fields.next().is_some() {
        return Err(format!("`{id}` has more names than there are languages"));
    }
    let parent = id.rsplit_once('-').map(|(parent, _)| (parent.into(), at));
    let takes_offers = parent.is_some();
    Ok(CategorySource { id: id.into(), at, parent, names, synonyms: Names::new(), takes_offers, own: None })
}
