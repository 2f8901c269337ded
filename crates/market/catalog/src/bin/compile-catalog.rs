//! Makes `data/shopify.tsv.gz` from the category files of Shopify's product taxonomy:
//! `cargo run -p catalog --bin compile-catalog -- OUT.tsv.gz en=categories_en.txt
//! ru=categories_ru.txt`.
//!
//! A line is `gid://shopify/TaxonomyCategory/ap-2-1 : Animals & Pet Supplies > Pet Supplies > Bird
//! Supplies`. The
//! first mismatch between the files ends the program with its line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use flate2::{Compression, GzBuilder};

const USAGE: &str = "usage: compile-catalog OUT.tsv.gz LANGUAGE=FILE [LANGUAGE=FILE ...]";
const PREFIX: &str = "gid://shopify/TaxonomyCategory/";

/// The ids of one file in its order, and their paths.
struct Names {
    language: String,
    title: String,
    order: Vec<String>,
    paths: BTreeMap<String, String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<String, String> {
    let [out, files @ ..] = arguments else { return Err(USAGE.into()) };
    let languages = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    let first = languages.first().ok_or(USAGE)?;
    for other in &languages[1..] {
        if let Some(id) = first.order.iter().find(|id| !other.paths.contains_key(*id)) {
            return Err(format!("`{id}` has no name in `{}`; take files of one version", other.language));
        }
        if other.order.len() != first.order.len() {
            return Err(format!("`{}` has other categories; take files of one version", other.language));
        }
    }
    let text = table(&languages)?;
    let packed = pack(&text).map_err(|error| format!("cannot pack: {error}"))?;
    std::fs::write(out, &packed).map_err(|error| format!("cannot write {out}: {error}"))?;
    Ok(format!("{} categories, {} bytes, packed {}", first.order.len(), text.len(), packed.len()))
}

fn read(argument: &str) -> Result<Names, String> {
    let (language, file) = argument.split_once('=').ok_or(USAGE)?;
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let mut names =
        Names { language: language.into(), title: String::new(), order: Vec::new(), paths: BTreeMap::new() };
    for (number, line) in text.lines().enumerate() {
        if let Some(comment) = line.strip_prefix('#') {
            if names.title.is_empty() {
                comment.trim().clone_into(&mut names.title);
            }
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let parsed = line.strip_prefix(PREFIX).and_then(|rest| rest.split_once(" : "));
        let Some((id, path)) = parsed else {
            return Err(format!("{file}:{}: not `{PREFIX}ID : PATH`", number + 1));
        };
        let id = id.trim().to_owned();
        names.order.push(id.clone());
        if names.paths.insert(id, path.trim().to_owned()).is_some() {
            return Err(format!("{file}:{}: duplicate id", number + 1));
        }
    }
    Ok(names)
}

/// `id name name` lines after a header with the source.
fn table(languages: &[Names]) -> Result<String, String> {
    let first = &languages[0];
    let mut text = format!("# {}\n# Copyright (c) Shopify, MIT: see LICENSE.shopify\nid", first.title);
    for names in languages {
        let _ = write!(text, "\t{}", names.language);
    }
    for id in &first.order {
        let _ = write!(text, "\n{id}");
        for names in languages {
            let _ = write!(text, "\t{}", own_name(id, names)?);
        }
    }
    text.push('\n');
    Ok(text)
}

/// The last part of the path, which must extend the path of the parent.
fn own_name<'a>(id: &str, names: &'a Names) -> Result<&'a str, String> {
    let path = &names.paths[id];
    let name = match id.rsplit_once('-') {
        None => Some(path.as_str()),
        Some((parent, _)) => names
            .paths
            .get(parent)
            .and_then(|above| path.strip_prefix(above.as_str()))
            .and_then(|rest| rest.strip_prefix(" > ")),
    };
    name.filter(|name| !name.is_empty() && !name.contains('\t')).ok_or_else(|| {
        format!("the path of `{id}` in `{}` does not extend that of its parent", names.language)
    })
}

/// Packs without a time stamp, so that the output is reproducible.
fn pack(text: &str) -> std::io::Result<Vec<u8>> {
    let mut writer = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    writer.write_all(text.as_bytes())?;
    writer.finish()
}
