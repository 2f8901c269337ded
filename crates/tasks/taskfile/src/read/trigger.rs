//! Triggers: conditions, aggregates, and expanded shorthands.

use super::arguments::arguments;
use super::condition;
use super::shorthand::{Shorthand, Shorthands, fill};
use crate::keywords::CONDITIONS;
use crate::limits::CONDITIONS_MAX;
use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use crate::suggest;
use crate::yaml::{Kind, Node};
use std::collections::BTreeSet;
use triggers::{Aggregate, Group, Leaf, Trigger};

/// A condition as written, before its depth is checked.
enum Built {
    Leaf(Leaf),
    Of(Aggregate, Location, Vec<Built>),
}

impl Built {
    /// Moves an expanded shorthand to where it is used.
    fn move_to(&mut self, to: Location) {
        if let Self::Of(_, place, members) = self {
            *place = to;
            for member in members {
                member.move_to(to);
            }
        }
    }
}

pub(super) struct Triggers<'s> {
    shorthands: &'s Shorthands,
    /// All files could be read, so a missing shorthand does not exist.
    complete: bool,
    /// Errors inside shorthands that another use has noted already.
    noted: BTreeSet<(Location, String)>,
    conditions: usize,
}

impl<'s> Triggers<'s> {
    pub(super) const fn new(shorthands: &'s Shorthands, complete: bool) -> Self {
        Self { shorthands, complete, noted: BTreeSet::new(), conditions: 0 }
    }

    pub(super) fn read(&mut self, notes: &mut Notes, node: &Node<'_>) -> Option<Trigger> {
        self.conditions = 0;
        let built = self.condition(notes, node)?;
        shape(notes, simplify(built))
    }

    fn condition(&mut self, notes: &mut Notes, node: &Node<'_>) -> Option<Built> {
        // Shorthands that use others several times could expand without bound: expansion stops.
        if self.conditions > CONDITIONS_MAX {
            return None;
        }
        let entries = match &node.kind {
            Kind::Map(entries) => entries,
            Kind::Scalar { text, .. } if self.shorthands.contains_key(text.as_ref()) => {
                return self.shorthand(notes, node, None);
            }
            Kind::Scalar { .. } | Kind::List(_) => {
                no_mapping(notes, node, self.shorthands);
                return None;
            }
        };
        let (key, value) = match entries.as_slice() {
            [entry] => entry,
            [] => {
                return notes.refuse(
                    Code::EmptyGroup,
                    node.place,
                    "there is no condition here",
                    "write for example `{new_day: sales.loaded_to}`",
                );
            }
            [(first, _), (second, _), ..] => {
                let names: Vec<&str> = entries.iter().filter_map(|(key, _)| key.as_text()).collect();
                if misplaced(notes, &names, first, second) {
                    return None;
                }
                let message = format!("there are {} conditions in one: {}", names.len(), ticked(&names));
                notes
                    .error(Code::SeveralConditions, second.place, message)
                    .related(first.place, "the first one is here")
                    .remedy("say whether all or one of them must hold: `all:` or `any:`, and behind it a list with a `-` before each");
                return None;
            }
        };
        let name = key.as_text().unwrap_or_default();
        match name {
            "all" => self.aggregate(notes, Aggregate::All, key, value),
            "any" => self.aggregate(notes, Aggregate::Any, key, value),
            _ => {
                if let Some(known) = CONDITIONS.iter().find(|(known, ..)| *known == name) {
                    self.count(notes, key.place)?;
                    return condition::read(notes, *known, key.place, value).map(Built::Leaf);
                }
                if self.shorthands.contains_key(name) {
                    return self.shorthand(notes, key, Some(value));
                }
                if self.complete {
                    unknown(notes, key, name, self.shorthands);
                }
                None
            }
        }
    }

    fn count(&mut self, notes: &mut Notes, place: Location) -> Option<()> {
        self.conditions += 1;
        if self.conditions == CONDITIONS_MAX + 1 {
            let message = format!("the trigger has more than {CONDITIONS_MAX} conditions");
            notes
                .error(Code::TooLarge, place, message)
                .remedy("split the task, or have another task set one parameter for many");
        }
        (self.conditions <= CONDITIONS_MAX).then_some(())
    }

    fn aggregate(
        &mut self,
        notes: &mut Notes,
        kind: Aggregate,
        key: &Node<'_>,
        value: &Node<'_>,
    ) -> Option<Built> {
        let name = key.as_text().unwrap_or_default();
        let items = match &value.kind {
            Kind::List(items) if !items.is_empty() => items,
            _ if value.is_null() || matches!(&value.kind, Kind::List(_)) => {
                let message = format!("`{name}` of nothing: there is no condition in it");
                return notes.refuse(
                    Code::EmptyGroup,
                    key.place,
                    message,
                    "give at least one condition, or remove it",
                );
            }
            _ => {
                let message = format!("`{name}` needs a list of conditions, not {}", value.what());
                let remedy =
                    format!("write `{name}: [{{...}}, {{...}}]`, or put a `-` before each condition");
                return notes.refuse(Code::WrongType, value.place, message, remedy);
            }
        };
        let read: Vec<Option<Built>> = items.iter().map(|item| self.condition(notes, item)).collect();
        let members: Option<Vec<Built>> = read.into_iter().collect();
        Some(Built::Of(kind, key.place, members?))
    }

    /// Expands a shorthand. Its errors are reported where it is used, with their origin.
    fn shorthand(&mut self, notes: &mut Notes, key: &Node<'_>, value: Option<&Node<'_>>) -> Option<Built> {
        let definition = self.shorthands.get(key.as_text()?)?;
        let arguments = arguments(notes, definition, key, value)?;
        let filled = fill(&definition.when, &arguments);
        let before = notes.kept_errors();
        let built = self.condition(notes, &filled);
        let errors = notes.errors_from(before);
        let mut kept = Vec::new();
        for mut error in errors {
            let argument = arguments.iter().find(|(_, node)| node.place == error.place);
            match argument {
                Some((name, node))
                    if node.place.file == key.place.file
                        && value.is_some()
                        && !is_default(definition, node) =>
                {
                    error.related.push((
                        definition.place,
                        format!("it is `${name}` of the shorthand `{}`", definition.name),
                    ));
                }
                _ => {
                    let noted = (error.place, error.message.clone());
                    if !self.noted.insert(noted) {
                        continue;
                    }
                    let message = format!("it comes from here, in the shorthand `{}`", definition.name);
                    error.related.insert(0, (error.place, message));
                    error.place = key.place;
                }
            }
            kept.push(error);
        }
        notes.put_back(kept);
        let mut built = built?;
        built.move_to(key.place);
        Some(built)
    }
}

fn is_default(definition: &Shorthand, node: &Node<'_>) -> bool {
    definition
        .parameters
        .iter()
        .filter_map(|known| known.default.as_ref())
        .any(|default| default.place == node.place)
}

/// Replaces aggregates of one member by the member, and merges nested aggregates of the same kind.
fn simplify(built: Built) -> Built {
    let Built::Of(kind, place, members) = built else { return built };
    let mut flat = Vec::new();
    for member in members.into_iter().map(simplify) {
        match member {
            Built::Of(inner, _, members) if inner == kind => flat.extend(members),
            other => flat.push(other),
        }
    }
    if flat.len() == 1
        && let Some(one) = flat.pop()
    {
        return one;
    }
    Built::Of(kind, place, flat)
}

fn shape(notes: &mut Notes, built: Built) -> Option<Trigger> {
    let (kind, members) = match built {
        Built::Leaf(leaf) => return Some(Trigger::Leaf(leaf)),
        Built::Of(kind, _, members) => (kind, members),
    };
    let group = |member: Built| match member {
        Built::Leaf(leaf) => Ok(Group::Leaf(leaf)),
        Built::Of(_, _, inner) => {
            let leaves = inner.into_iter().map(|inner| match inner {
                Built::Leaf(leaf) => Ok(leaf),
                Built::Of(kind, place, _) => Err((kind, place)),
            });
            leaves.collect::<Result<Vec<Leaf>, _>>().map(Group::Of)
        }
    };
    match members.into_iter().map(group).collect::<Result<Vec<Group>, _>>() {
        Ok(groups) if kind == Aggregate::All => Some(Trigger::All(groups)),
        Ok(groups) => Some(Trigger::Any(groups)),
        Err((kind, place)) => {
            let name = if kind == Aggregate::All { "all" } else { "any" };
            let message = format!(
                "this `{name}` is too deep: `all` may contain `any`, and `any` may contain `all`, but nothing deeper"
            );
            notes.refuse(
                Code::TooDeep,
                place,
                message,
                "have another task watch a part of it, and set a parameter that this one waits on",
            )
        }
    }
}

fn ticked(names: &[&str]) -> String {
    let ticked: Vec<String> = names.iter().map(|name| format!("`{}`", crate::quote(name))).collect();
    ticked.join(", ")
}

/// Recognizes keys such as `of` and `within` beside a condition instead of inside it.
fn misplaced(notes: &mut Notes, names: &[&str], first: &Node<'_>, second: &Node<'_>) -> bool {
    let Some((name, form, _)) = CONDITIONS.iter().find(|(name, ..)| first.as_text() == Some(name)) else {
        return false;
    };
    let is_key = |word: &&str| matches!(*word, "of" | "with" | "within" | "by" | "chunk");
    if !names.iter().skip(1).all(is_key) {
        return false;
    }
    let message =
        format!("`{}` stands beside `{name}` and not in it", names.get(1).copied().unwrap_or_default());
    let remedy = format!("{}, or indent what belongs to `{name}`", condition::example(name, *form));
    notes.error(Code::SeveralConditions, second.place, message).remedy(remedy);
    true
}

fn no_mapping(notes: &mut Notes, node: &Node<'_>, shorthands: &Shorthands) {
    let message = format!("a condition is a mapping with its name, not {}", node.what());
    let problem = notes.error(Code::WrongType, node.place, message);
    match &node.kind {
        Kind::List(_) => {
            problem.remedy("say whether all or one of them must hold: write `all:` or `any:` before the list")
        }
        Kind::Scalar { text, .. } if text.contains(':') => problem.remedy("put a space behind the `:`"),
        Kind::Scalar { text, .. } => {
            let meant = suggest::meant(text, shorthands.keys().map(String::as_str));
            match meant {
                Some(meant) => problem.remedy(format!("did you mean `{meant}`?")),
                None => problem.remedy("write for example `{new_day: sales.loaded_to}`"),
            }
        }
        Kind::Map(_) => problem,
    };
}

fn unknown(notes: &mut Notes, key: &Node<'_>, name: &str, shorthands: &Shorthands) {
    let names = CONDITIONS.iter().map(|(name, ..)| *name).chain(["all", "any"]);
    let known = names.chain(shorthands.keys().map(String::as_str));
    let message = format!("there is no condition `{}`", crate::quote(name));
    let problem = notes.error(Code::UnknownCondition, key.place, message);
    let glued = name.split_once(':').filter(|(head, _)| known.clone().any(|known| known == *head));
    if let Some((head, tail)) = glued {
        problem.remedy(format!("a space is missing behind the `:`: write `{head}: {}`", crate::quote(tail)));
    } else if matches!(name, "cron" | "every" | "at" | "interval" | "schedule") {
        problem.remedy("tasks run when data moves, not by the clock: wait for a parameter, such as `{new_day: sales.loaded_to}`");
    } else {
        problem.remedy(suggest::remedy(name, known, "conditions and shorthands"));
    }
}
