//! The arguments of a shorthand where it is used.

use super::shorthand::{Parameter, Shorthand};
use crate::notes::Notes;
use crate::problem::Code;
use crate::suggest;
use crate::yaml::{Kind, Node};
use std::collections::BTreeMap;

pub(super) fn arguments<'d, 't>(
    notes: &mut Notes,
    definition: &'d Shorthand,
    key: &Node<'t>,
    value: Option<&Node<'t>>,
) -> Option<BTreeMap<&'d str, Node<'t>>> {
    let name = &definition.name;
    let mut given: BTreeMap<&str, Node<'t>> = BTreeMap::new();
    let needed: Vec<&Parameter> =
        definition.parameters.iter().filter(|parameter| parameter.default.is_none()).collect();
    let bad = |notes: &mut Notes, place, message: String| {
        notes
            .error(Code::BadArguments, place, message)
            .related(definition.place, "the shorthand is defined here")
            .remedy(format!("write {}", definition.usage()));
    };
    match value {
        None => {}
        Some(value) if value.is_null() => {}
        Some(value) => match &value.kind {
            Kind::Scalar { .. } => {
                // A single value is the only required parameter, or the first optional one.
                let one = match needed.as_slice() {
                    [one] => Some(*one),
                    [] => definition.parameters.first(),
                    _ => None,
                };
                let Some(one) = one else {
                    let message = if definition.parameters.is_empty() {
                        format!("the shorthand `{name}` has no parameters")
                    } else {
                        format!("the shorthand `{name}` needs {} values, each by its name", needed.len())
                    };
                    bad(notes, value.place, message);
                    return None;
                };
                given.insert(&one.name, value.clone());
            }
            Kind::List(_) => {
                bad(
                    notes,
                    value.place,
                    format!("the parameters of the shorthand `{name}` are given by name, not as a list"),
                );
                return None;
            }
            Kind::Map(entries) => {
                for (key, value) in entries {
                    let word = key.as_text().unwrap_or_default();
                    let Some(known) = definition.parameters.iter().find(|known| known.name == word) else {
                        let names = definition.parameters.iter().map(|known| known.name.as_str());
                        let message =
                            format!("the shorthand `{name}` has no parameter `{}`", crate::quote(word));
                        notes
                            .error(Code::BadArguments, key.place, message)
                            .related(definition.place, "the shorthand is defined here")
                            .remedy(suggest::remedy(word, names, "its parameters"));
                        return None;
                    };
                    if value.as_text().is_none() {
                        bad(
                            notes,
                            value.place,
                            format!("`{word}` must be a single value, not {}", value.what()),
                        );
                        return None;
                    }
                    given.insert(&known.name, value.clone());
                }
            }
        },
    }
    for parameter in &definition.parameters {
        if given.contains_key(parameter.name.as_str()) {
            continue;
        }
        let Some(default) = &parameter.default else {
            let message = format!("the shorthand `{name}` needs its parameter `{}`", parameter.name);
            bad(notes, key.place, message);
            return None;
        };
        given.insert(&parameter.name, default.clone());
    }
    Some(given)
}
