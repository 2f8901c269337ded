//! Shorthands: conditions with a name and parameters.

use super::fields::{Fields, entries};
use super::scalar;
use crate::keywords::{CONDITIONS, SHORTHAND};
use crate::limits::{ABOUT_CHARS_MAX, SHORTHAND_DEPTH_MAX, SHORTHAND_PARAMETERS_MAX, SHORTHANDS_MAX};
use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use crate::suggest;
use crate::yaml::{Kind, Node};
use saphyr_parser::ScalarStyle;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) default: Option<Node<'static>>,
}

#[derive(Clone, Debug)]
pub(super) struct Shorthand {
    pub(super) name: String,
    pub(super) place: Location,
    pub(super) parameters: Vec<Parameter>,
    pub(super) when: Node<'static>,
}

impl Shorthand {
    /// How it is used, for messages: `daily_after: {source: ..., lag: 3h}`.
    pub(super) fn usage(&self) -> String {
        let shown: Vec<String> = self.parameters.iter().map(Parameter::usage).collect();
        match (shown.as_slice(), self.parameters.as_slice()) {
            ([], _) => format!("`{}`", self.name),
            (_, [one]) if one.default.is_none() => format!("`{}: ...`", self.name),
            _ => format!("`{}: {{{}}}`", self.name, shown.join(", ")),
        }
    }
}

impl Parameter {
    fn usage(&self) -> String {
        let default = self.default.as_ref().and_then(Node::as_text);
        format!("{}: {}", self.name, default.unwrap_or("..."))
    }
}

/// The shorthands of all files, by name.
pub(super) type Shorthands = BTreeMap<String, Shorthand>;

pub(super) fn read(notes: &mut Notes, node: &Node<'_>, known: &mut Shorthands) {
    if node.is_null() {
        return;
    }
    let Some(found) = entries(node) else {
        let message = format!("`shorthands` is a mapping, not {}", node.what());
        notes
            .error(Code::WrongType, node.place, message)
            .remedy("write each by its name, and below it `parameters` and `when`");
        return;
    };
    for (key, value) in found {
        let Some(shorthand) = one(notes, key, value) else { continue };
        if let Some(first) = known.get(&shorthand.name) {
            let message = format!("there is already a shorthand `{}`", shorthand.name);
            notes
                .error(Code::Duplicate, key.place, message)
                .related(first.place, "the first one is here")
                .remedy("remove or rename one of the two");
            continue;
        }
        if known.len() >= SHORTHANDS_MAX {
            notes.error(
                Code::TooLarge,
                key.place,
                format!("there are more than {SHORTHANDS_MAX} shorthands"),
            );
            return;
        }
        known.insert(shorthand.name.clone(), shorthand);
    }
}

fn one(notes: &mut Notes, key: &Node<'_>, value: &Node<'_>) -> Option<Shorthand> {
    let name = scalar::name(notes, key, "the name of a shorthand")?;
    if matches!(name, "all" | "any") || CONDITIONS.iter().any(|(known, ..)| *known == name) {
        let message = format!("`{name}` is a condition of the language, and no name for a shorthand");
        return notes.refuse(Code::BadName, key.place, message, "choose another name");
    }
    let what = format!("the shorthand `{name}`");
    let fields = Fields::of(notes, value, &what, SHORTHAND)?;
    if let Some(about) = fields.get("about") {
        scalar::line(notes, about, "`about`", ABOUT_CHARS_MAX);
    }
    let parameters =
        fields.get("parameters").map_or_else(|| Some(Vec::new()), |node| parameters(notes, node));
    let when = fields.need(notes, "when", key.place, &what, "define it: `when: {new_day: $source}`")?;
    let shorthand = Shorthand {
        name: name.to_owned(),
        place: key.place,
        parameters: parameters?,
        when: when.clone().into_owned(),
    };
    check_uses(notes, &shorthand).then_some(shorthand)
}

fn parameters(notes: &mut Notes, node: &Node<'_>) -> Option<Vec<Parameter>> {
    let Kind::List(items) = &node.kind else {
        let message = format!("`parameters` is a list, not {}", node.what());
        return notes.refuse(
            Code::WrongType,
            node.place,
            message,
            "write `[source, lag: 3h]`: a name, or a name and its default",
        );
    };
    if items.len() > SHORTHAND_PARAMETERS_MAX {
        let message = format!("a shorthand has at most {SHORTHAND_PARAMETERS_MAX} parameters");
        return notes.refuse(Code::TooLarge, node.place, message, "");
    }
    let mut found: Vec<Parameter> = Vec::new();
    for item in items {
        let (name, default) = match &item.kind {
            Kind::Map(entries) if entries.len() == 1 => (&entries[0].0, Some(&entries[0].1)),
            Kind::Scalar { .. } => (item, None),
            Kind::Map(_) | Kind::List(_) => {
                let message = "a parameter of a shorthand is a name, or a name and its default";
                return notes.refuse(Code::WrongType, item.place, message, "write `source`, or `lag: 3h`");
            }
        };
        if default.is_some_and(|default| default.as_text().is_none()) {
            return notes.refuse(
                Code::WrongType,
                item.place,
                "a default is a single value",
                "write `lag: 3h`",
            );
        }
        let text = scalar::line(notes, name, "the name of a parameter", 64)?;
        if !crate::template::is_variable(text) {
            let message = format!("`{}` is no name for a parameter of a shorthand", crate::quote(text));
            return notes.refuse(
                Code::BadName,
                name.place,
                message,
                "letters, digits and `_`, and no digit first",
            );
        }
        if found.iter().any(|known| known.name == text) {
            return notes.refuse(
                Code::DuplicateKey,
                name.place,
                format!("the parameter `{text}` occurs twice"),
                "",
            );
        }
        found.push(Parameter { name: text.to_owned(), default: default.cloned().map(Node::into_owned) });
    }
    Some(found)
}

/// Notes unknown and unused parameters. Returns whether the shorthand is usable.
fn check_uses(notes: &mut Notes, shorthand: &Shorthand) -> bool {
    let (mut used, before) = (BTreeSet::new(), notes.errors());
    walk(&shorthand.when, &mut |node| {
        for (name, _) in uses(node.as_text().unwrap_or_default()) {
            if shorthand.parameters.iter().any(|known| known.name == name) {
                used.insert(name.to_owned());
                continue;
            }
            let known = shorthand.parameters.iter().map(|known| known.name.as_str());
            let message =
                format!("`${}` is no parameter of the shorthand `{}`", crate::quote(name), shorthand.name);
            let remedy = suggest::remedy(name, known, "its parameters");
            notes.error(Code::BadVariable, node.place, message).remedy(remedy);
        }
    });
    for parameter in shorthand.parameters.iter().filter(|parameter| !used.contains(&parameter.name)) {
        let message =
            format!("the shorthand `{}` does not use its parameter `{}`", shorthand.name, parameter.name);
        let remedy = format!("write `${}` in its `when`, or remove the parameter", parameter.name);
        notes.warning(Code::UnusedParameter, shorthand.place, message).remedy(remedy);
    }
    notes.errors() == before
}

fn walk<'n>(node: &'n Node<'static>, visit: &mut impl FnMut(&'n Node<'static>)) {
    match &node.kind {
        Kind::Scalar { .. } => visit(node),
        Kind::List(items) => items.iter().for_each(|item| walk(item, visit)),
        Kind::Map(entries) => entries.iter().for_each(|(key, value)| {
            walk(key, visit);
            walk(value, visit);
        }),
    }
}

/// The parameters in a text, `$name` or `${name}`, with their ranges.
fn uses(text: &str) -> Vec<(&str, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('$') {
        let rest = &text[at + 1..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let bare = (&rest[..length], at + 1 + length);
        let braced = rest.strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let (name, end) = braced.map_or(bare, |(name, _)| (name, at + name.len() + 3));
        found.push((name, at..end));
    }
    found
}

/// Expands a shorthand. A text that is only `$name` takes the location of its argument.
pub(super) fn fill<'t>(node: &Node<'static>, arguments: &BTreeMap<&str, Node<'t>>) -> Node<'t> {
    let kind = match &node.kind {
        Kind::Scalar { text, style } => {
            let found = uses(text);
            match found.as_slice() {
                [] => Kind::Scalar { text: text.clone(), style: *style },
                [(name, range)] if range.len() == text.len() => {
                    return arguments.get(name).cloned().unwrap_or_else(|| node.clone());
                }
                _ => Kind::Scalar { text: filled(text, &found, arguments).into(), style: ScalarStyle::Plain },
            }
        }
        Kind::List(items) => Kind::List(items.iter().map(|item| fill(item, arguments)).collect()),
        Kind::Map(entries) => Kind::Map(
            entries.iter().map(|(key, value)| (fill(key, arguments), fill(value, arguments))).collect(),
        ),
    };
    Node { place: node.place, kind }
}

fn filled(
    text: &str,
    uses: &[(&str, std::ops::Range<usize>)],
    arguments: &BTreeMap<&str, Node<'_>>,
) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for (name, range) in uses {
        out.push_str(&text[from..range.start]);
        out.push_str(arguments.get(name).and_then(Node::as_text).unwrap_or(&text[range.clone()]));
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Removes shorthands that use themselves or form too long chains; expansion of the others
/// terminates.
pub(super) fn refuse_recursion(notes: &mut Notes, shorthands: &mut Shorthands) {
    let mut used: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for shorthand in shorthands.values() {
        let mine = used.entry(&shorthand.name).or_default();
        walk(&shorthand.when, &mut |node| {
            if let Some((name, _)) = node.as_text().and_then(|text| shorthands.get_key_value(text)) {
                mine.insert(name);
            }
        });
    }
    let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
    let mut bad: Vec<(String, Option<Vec<String>>)> = Vec::new();
    for name in used.keys() {
        let mut chain = vec![*name];
        match depth(name, &used, &mut chain, &mut depths) {
            Ok(levels) if levels <= SHORTHAND_DEPTH_MAX => {}
            Ok(_) => bad.push(((*name).to_owned(), None)),
            Err(Recursion) => {
                bad.push(((*name).to_owned(), Some(chain.into_iter().map(str::to_owned).collect())));
            }
        }
    }
    for (name, circle) in bad {
        let Some(shorthand) = shorthands.remove(&name) else { continue };
        match circle {
            // Every member finds the cycle: the first one reports it.
            Some(chain) if chain.last() == Some(&name) && chain.iter().min() == Some(&name) => {
                let message = format!("the shorthand `{name}` uses itself: {}", chain.join(" -> "));
                notes.error(Code::Recursion, shorthand.place, message).remedy("write out its definition");
            }
            // Another member reports that cycle, or this shorthand only leads to it.
            Some(_) => {}
            None => {
                let message =
                    format!("the shorthand `{name}` uses others more than {SHORTHAND_DEPTH_MAX} levels deep");
                notes
                    .error(Code::Recursion, shorthand.place, message)
                    .remedy("write out the definition of some of them");
            }
        }
    }
}

struct Recursion;

/// The number of levels of a shorthand. On a cycle the chain stays as it closed, and nothing is
/// cached.
fn depth<'s>(
    name: &'s str,
    used: &BTreeMap<&'s str, BTreeSet<&'s str>>,
    chain: &mut Vec<&'s str>,
    depths: &mut BTreeMap<&'s str, usize>,
) -> Result<usize, Recursion> {
    if let Some(depth) = depths.get(name) {
        return Ok(*depth);
    }
    let mut deepest = 0;
    for next in used.get(name).into_iter().flatten() {
        let closed = chain.contains(next);
        chain.push(next);
        if closed {
            return Err(Recursion);
        }
        deepest = deepest.max(depth(next, used, chain, depths)?);
        chain.pop();
    }
    depths.insert(name, deepest + 1);
    Ok(deepest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_in_texts() {
        let names =
            |text| uses(text).into_iter().map(|(name, range)| (name, range.len())).collect::<Vec<_>>();
        assert_eq!(names("$a"), [("a", 2)]);
        assert_eq!(names("$table.loaded_to"), [("table", 6)]);
        assert_eq!(names("x_${table}s.$p"), [("table", 8), ("p", 2)]);
        assert_eq!(names("none"), []);
        assert_eq!(names("$"), [("", 1)]);
    }
}
