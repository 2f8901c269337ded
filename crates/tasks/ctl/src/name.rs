//! Names and keys of parameters in the store.

use std::str::FromStr;

use store::Key;
use triggers::Parameter;
use triggers::limits::NAME_BYTES_MAX;
use xxhash_rust::xxh3::xxh3_64;

use super::error::{Error, Result};
use super::tables::{CHANGED, Columns, HISTORY, VALUES};

const DEFAULT: &str = "default";

/// A validated parameter, in listing order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) namespace: String,
    pub(super) entity: String,
    pub(super) parameter: String,
}

impl Name {
    /// Validates a parameter. The first `/` ends the namespace; further ones belong to the entity.
    pub(super) fn of(parameter: &Parameter) -> Result<Self> {
        let refuse = |what: String| {
            let text = parameter.to_string().chars().take(NAME_BYTES_MAX).collect();
            Err(Error::Name { text, what })
        };
        let (namespace, entity) = split_namespace(&parameter.entity);
        let name = &parameter.name;
        if parameter.entity.len() > NAME_BYTES_MAX || name.len() > NAME_BYTES_MAX {
            return refuse(format!(
                "an entity with its namespace, and the name of a parameter, have at most {NAME_BYTES_MAX} bytes each"
            ));
        }
        if namespace.is_empty() {
            return refuse("the namespace before / is empty".to_owned());
        }
        if entity.is_empty() || entity.split('.').any(str::is_empty) || name.is_empty() {
            return refuse("a part of it is empty".to_owned());
        }
        if namespace.contains('.') {
            return refuse("there is a dot in the namespace before /".to_owned());
        }
        if name.contains('.') {
            return refuse("there is a dot in what follows the entity".to_owned());
        }
        let allowed = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/' | '.');
        if let Some(wrong) = parameter.entity.chars().chain(name.chars()).find(|letter| !allowed(*letter)) {
            return refuse(format!(
                "there is {wrong:?} in it, and only letters, digits, _, -, / and dots are allowed"
            ));
        }
        Ok(Self { namespace: namespace.to_owned(), entity: entity.to_owned(), parameter: name.clone() })
    }

    /// Without the default namespace.
    pub(super) fn to_parameter(&self) -> Parameter {
        let plain = self.namespace == DEFAULT && !self.entity.contains('/');
        let entity = if plain { self.entity.clone() } else { format!("{}/{}", self.namespace, self.entity) };
        Parameter { entity, name: self.parameter.clone() }
    }

    pub(super) fn from_columns((_, namespace, entity, parameter): Columns) -> Self {
        Self { namespace, entity, parameter }
    }

    fn shard(&self, shards: u32) -> u32 {
        let id = format!("{}/{}", self.namespace, self.entity);
        (xxh3_64(id.as_bytes()) % u64::from(shards.max(1))) as u32
    }

    pub(super) fn keys(&self, shards: u32) -> Keys<'_> {
        Keys { shard: self.shard(shards), name: self }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Keys<'a> {
    pub(super) shard: u32,
    pub(super) name: &'a Name,
}

impl Keys<'_> {
    fn columns(&self) -> (u32, &str, &str, &str) {
        (self.shard, &self.name.namespace, &self.name.entity, &self.name.parameter)
    }

    pub(super) fn value(&self) -> Key {
        VALUES.key(self.columns())
    }

    pub(super) fn changed(&self) -> Key {
        CHANGED.key(self.columns())
    }

    pub(super) fn change(&self, version: u64) -> Key {
        let (shard, namespace, entity, parameter) = self.columns();
        HISTORY.key((shard, namespace, entity, parameter, version.cast_signed()))
    }
}

fn split_namespace(text: &str) -> (&str, &str) {
    text.split_once('/').unwrap_or((DEFAULT, text))
}

/// The canonical form, which all responses use: `default/sales.loaded_to` is `sales.loaded_to`.
pub fn canonical(parameter: &Parameter) -> Result<Parameter> {
    Name::of(parameter).map(|name| name.to_parameter())
}

/// Which values to list. As text: empty for all, `namespace/` for a namespace, `namespace/sal` for
/// its entities that begin with `sal`, `sal` for those of the default namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// Only values of this namespace.
    pub namespace: Option<String>,
    /// Only values of entities with this prefix; needs a namespace.
    pub entity: String,
}

impl Prefix {
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    pub(super) fn holds(&self, name: &Name) -> bool {
        self.namespace
            .as_ref()
            .is_none_or(|namespace| *namespace == name.namespace && name.entity.starts_with(&self.entity))
    }
}

impl FromStr for Prefix {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self::all());
        }
        let (namespace, entity) = split_namespace(text);
        let allowed = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/' | '.');
        if namespace.is_empty() || text.len() > NAME_BYTES_MAX || !text.chars().all(allowed) {
            let text = text.chars().take(NAME_BYTES_MAX).collect();
            let what = format!(
                "a beginning has at most {NAME_BYTES_MAX} bytes of letters, digits, _, -, / and dots, and no / in front"
            );
            return Err(Error::Name { text, what });
        }
        Ok(Self { namespace: Some(namespace.to_owned()), entity: entity.to_owned() })
    }
}
