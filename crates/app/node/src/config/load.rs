//! Merges the layers of the configuration: defaults, file, environment, flags.
//!
//! Later layers win, and each value remembers its origin.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use toml::de::DeTable;
use toml::{Table, Value};

use super::{Config, Error, bounds, keys};
use text::nearest;

/// Read when no file is named; may be absent.
const DEFAULT_FILE: &str = "torg.toml";

#[derive(Debug, Default)]
pub struct Sources {
    /// `--config FILE`, which must exist. Without it `torg.toml`, which may be absent.
    pub file: Option<PathBuf>,
    /// Environment variables; only `TORG_...` is read.
    pub environment: Vec<(String, String)>,
    pub flags: Vec<Flag>,
}

#[derive(Debug)]
pub struct Flag {
    pub name: &'static str,
    pub key: &'static str,
    pub value: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    File {
        path: String,
        line: usize,
    },
    Environment(String),
    Flag(&'static str),
    /// Derived from another setting.
    Follows(&'static str),
}

impl Origin {
    /// The place for an error message.
    pub(super) fn place(&self) -> String {
        match self {
            Origin::File { path, line } => format!("{path}:{line}"),
            Origin::Environment(name) => format!("environment variable {name}"),
            Origin::Flag(flag) => (*flag).to_owned(),
            Origin::Follows(key) => (*key).to_owned(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Environment(name) => write!(f, "from {name}"),
            Origin::Follows(key) => write!(f, "follows {key}"),
            Origin::File { .. } | Origin::Flag(_) => write!(f, "from {}", self.place()),
        }
    }
}

/// The effective configuration with the origin of every value that was set.
#[derive(Debug)]
pub struct Effective {
    pub config: Config,
    /// Probable mistakes that do not prevent the start, for the log.
    pub warnings: Vec<String>,
    pub(super) table: Table,
    pub(super) origins: BTreeMap<String, Origin>,
}

/// Reads all layers. Returns the first error, with its place.
pub fn load(sources: &Sources) -> Result<Effective, Error> {
    let mut layers = Layers { table: keys::defaults(), defaults: keys::defaults(), origins: BTreeMap::new() };
    layers.file(sources.file.as_deref())?;
    let warnings = layers.environment(&sources.environment)?;
    for Flag { name, key, value } in &sources.flags {
        layers.set_text(key, value, Origin::Flag(name))?;
    }
    layers.follow_data_dir();
    let config = Config::deserialize(layers.table.clone()).map_err(|error| Error::BadValue {
        origin: Origin::Follows("configuration"),
        key: "all".to_owned(),
        why: error.message().to_owned(),
    })?;
    bounds::check_together(&config)?;
    Ok(Effective { config, warnings, table: layers.table, origins: layers.origins })
}

struct Layers {
    table: Table,
    defaults: Table,
    origins: BTreeMap<String, Origin>,
}

impl Layers {
    fn file(&mut self, named: Option<&Path>) -> Result<(), Error> {
        let path = named.unwrap_or(Path::new(DEFAULT_FILE));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                return Err(Error::Unreadable { path: path.display().to_string(), why: error.to_string() });
            }
        };
        let path = path.display().to_string();
        let syntax = |error: &toml::de::Error| Error::Syntax {
            line: error.span().map_or(1, |span| line_of(&text, span.start)),
            why: error.message().lines().collect::<Vec<_>>().join(", "),
            path: path.clone(),
        };
        let spans = DeTable::parse(&text).map_err(|error| syntax(&error))?;
        let values: Table = text.parse().map_err(|error| syntax(&error))?;
        let place = |start: usize| Origin::File { path: path.clone(), line: line_of(&text, start) };
        self.file_section("", spans.get_ref(), &values, &place)
    }

    fn file_section(
        &mut self,
        section: &str,
        spans: &DeTable<'_>,
        values: &Table,
        place: &dyn Fn(usize) -> Origin,
    ) -> Result<(), Error> {
        // In the order of the file, so that the first error in the file is reported.
        let mut names: Vec<_> = spans.iter().collect();
        names.sort_by_key(|(name, _)| name.span().start);
        for (name, span) in names {
            let key = if section.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{section}.{}", name.get_ref())
            };
            let origin = place(name.span().start);
            let Some(value) = values.get(name.get_ref().as_ref()) else { continue };
            match (keys::get(&self.defaults, &key), span.get_ref().as_table(), value) {
                (None, ..) => return Err(self.unknown(key, &origin)),
                (Some(Value::Table(_)), Some(inner), Value::Table(table)) => {
                    self.file_section(&key, inner, table, place)?;
                }
                (Some(_), ..) => self.set(&key, value.clone(), origin)?,
            }
        }
        Ok(())
    }

    fn unknown(&self, key: String, origin: &Origin) -> Error {
        let Origin::File { path, line } = origin else { unreachable!("only files have unknown keys") };
        let leaves = keys::leaves(&self.defaults);
        let sections =
            leaves.iter().filter_map(|(known, _)| known.rsplit_once('.').map(|(section, _)| section));
        let known = leaves.iter().map(|(known, _)| known.as_str()).chain(sections);
        let near = nearest(&key, known).map(str::to_owned).or_else(|| {
            // The right name in the wrong section.
            let name = key.rsplit('.').next()?;
            leaves
                .iter()
                .map(|(known, _)| known)
                .find(|known| known.rsplit('.').next() == Some(name))
                .cloned()
        });
        Error::UnknownKey { path: path.clone(), line: *line, key, near }
    }

    /// Applies environment variables. Other programs may define variables with the same prefix (a
    /// cluster's `TORG_SERVICE_HOST`), so an unknown one is no error. One that looks like a typo
    /// yields a warning.
    fn environment(&mut self, environment: &[(String, String)]) -> Result<Vec<String>, Error> {
        let variables: BTreeMap<String, String> =
            keys::leaves(&self.defaults).into_iter().map(|(key, _)| (keys::variable(&key), key)).collect();
        let mut warnings = Vec::new();
        for (name, value) in environment.iter().filter(|(name, _)| name.starts_with(keys::PREFIX)) {
            if let Some(key) = variables.get(name) {
                self.set_text(key, value, Origin::Environment(name.clone()))?;
            } else if keys::OF_COMMANDS.contains(&name.as_str()) {
                // Read by the command line.
            } else if let Some(near) = nearest(name, variables.keys().map(String::as_str)) {
                warnings.push(format!("environment variable {name} is not known: did you mean {near}?"));
            }
        }
        Ok(warnings)
    }

    /// Parses a value as the type of its key.
    fn set_text(&mut self, key: &str, text: &str, origin: Origin) -> Result<(), Error> {
        let bad = |why: String| Error::BadValue { origin: origin.clone(), key: key.to_owned(), why };
        let value = match keys::get(&self.defaults, key) {
            Some(Value::Integer(_)) => Value::Integer(
                text.trim().parse().map_err(|_| bad(format!("\"{text}\" is no whole number")))?,
            ),
            Some(Value::Boolean(_)) => Value::Boolean(
                text.trim().parse().map_err(|_| bad(format!("\"{text}\" is neither true nor false")))?,
            ),
            Some(Value::Array(_)) => Value::Array(
                text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from).collect(),
            ),
            _ => Value::from(text),
        };
        self.set(key, value, origin)
    }

    fn set(&mut self, key: &str, value: Value, origin: Origin) -> Result<(), Error> {
        let bad = |why: String| Error::BadValue { origin: origin.clone(), key: key.to_owned(), why };
        if let Some(default) = keys::get(&self.defaults, key)
            && !default.same_type(&value)
        {
            return Err(bad(format!("found {}, expected {}", value.type_str(), default.type_str())));
        }
        if let Some(why) = bounds::complaint(key, &value) {
            return Err(bad(why));
        }
        // Merge with the defaults only, so that an error can only be about this value.
        let mut alone = self.defaults.clone();
        keys::set(&mut alone, key, value.clone());
        Config::deserialize(alone).map_err(|error| bad(error.message().to_owned()))?;
        keys::set(&mut self.table, key, value);
        self.origins.insert(key.to_owned(), origin);
        Ok(())
    }

    /// The embedded store, the files and the spool follow `data_dir` unless they are set
    /// explicitly.
    fn follow_data_dir(&mut self) {
        let Some(data_dir) = keys::get(&self.table, "data_dir").and_then(Value::as_str).map(str::to_owned)
        else {
            return;
        };
        let followers = [
            ("store.url", "fjall:", "store"),
            ("files.url", "file:", "files"),
            ("feeds.spool_dir", "", "spool"),
            ("tasks.runs_dir", "", "runs"),
        ];
        for (key, url, folder) in followers {
            if self.origins.contains_key("data_dir") && !self.origins.contains_key(key) {
                let place = Path::new(&data_dir).join(folder);
                keys::set(&mut self.table, key, Value::from(format!("{url}{}", place.display())));
                self.origins.insert(key.to_owned(), Origin::Follows("data_dir"));
            }
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.char_indices().take_while(|(index, _)| *index < at).filter(|(_, letter)| *letter == '\n').count() + 1
}
