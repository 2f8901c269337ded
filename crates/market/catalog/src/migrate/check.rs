//! Checks a migration against its two catalogues.

use crate::attribute::AttributeData;
use crate::catalogue::{Attribute, Catalogue, Category};
use crate::error::{At, Problems};

use super::{AttributeStep, Destination, Migration};

pub(crate) fn against_new(migration: &Migration, at: At, new: &Catalogue, problems: &mut Problems) {
    if migration.from == 0 || migration.to != migration.from + 1 {
        let what = format!("the migration leads from {} to {}", migration.from, migration.to);
        problems.add(at, what, "give `from = n` and `to = n + 1` under `[migration]`");
    }
    if migration.to != new.version() {
        let what =
            format!("the migration leads to {}, the catalogue is of version {}", migration.to, new.version());
        problems.add(at, what, "take the catalogue of that version");
    }
    for step in migration.categories.values() {
        for target in targets(&step.change) {
            need_category(new, target, step.at, problems);
            if new.category(target).is_some_and(|category| !category.accepts_offers()) {
                let what = format!("`{target}` accepts no offers in version {}", new.version());
                problems.add(step.at, what, "name a category below it, or set `offers = true` there");
            }
        }
    }
    for step in &migration.attributes {
        check_attribute(step, new, problems);
    }
}

fn targets(change: &Destination) -> Vec<&str> {
    match change {
        Destination::To(to) => vec![to],
        Destination::ByValue { into, otherwise, .. } => {
            into.values().chain(otherwise).map(|to| &**to).collect()
        }
        Destination::ByRange { ranges, otherwise, .. } => {
            ranges.iter().map(|(_, to)| to).chain(otherwise).map(|to| &**to).collect()
        }
    }
}

fn need_category(catalogue: &Catalogue, id: &str, at: At, problems: &mut Problems) {
    if catalogue.category(id).is_none() {
        let what = format!("there is no category `{id}` in version {}", catalogue.version());
        problems.add_unknown(at, what, id, catalogue.categories().map(Category::id), "name an existing one");
    }
}

fn need_attribute<'c>(
    catalogue: &'c Catalogue,
    id: &str,
    at: At,
    problems: &mut Problems,
) -> Option<Attribute<'c>> {
    let found = catalogue.attribute(id);
    if found.is_none() {
        let what = format!("there is no attribute `{id}` in version {}", catalogue.version());
        problems.add_unknown(at, what, id, catalogue.attributes().map(Attribute::id), "name an existing one");
    }
    found
}

fn check_attribute(step: &AttributeStep, new: &Catalogue, problems: &mut Problems) {
    if let Some(within) = &step.within {
        need_category(new, within, step.at, problems);
    }
    if step.remove {
        return;
    }
    let Some(target) = need_attribute(new, step.target(), step.at, problems) else { return };
    if let Some((before, after)) = &step.unit {
        let pair = new.unit(before).zip(new.unit(after));
        let fits = pair.is_some_and(|(before, after)| before.quantity() == after.quantity());
        if !fits || target.unit().is_none_or(|unit| unit.id() != &**after) {
            let what = format!("`{}` cannot go from `{before}` to `{after}`", step.attribute);
            let advice = "both must be units of one quantity, and the second the unit of the attribute";
            problems.add(step.at, what, advice);
        }
    }
    for value in step.values.values() {
        need_choice(target.data(), value, step.at, problems);
    }
}

fn need_choice(attribute: &AttributeData, id: &str, at: At, problems: &mut Problems) {
    if attribute.choice(id).is_none() {
        let known = attribute.choices.iter().map(|choice| &*choice.id);
        let what = format!("`{}` has no value `{id}`", attribute.id());
        problems.add_unknown(at, what, id, known, "name an existing one");
    }
}

pub(crate) fn against_old(
    migration: &Migration,
    at: At,
    old: &Catalogue,
    new: &Catalogue,
    problems: &mut Problems,
) {
    if migration.from != old.version() {
        let what = format!(
            "the migration leads from {}, the old catalogue is of version {}",
            migration.from,
            old.version()
        );
        problems.add(at, what, "take the catalogue of that version");
    }
    for (source, step) in &migration.categories {
        need_category(old, source, step.at, problems);
        check_split(&step.change, step.at, old, problems);
    }
    for category in old.categories() {
        if category.accepts_offers()
            && new.category(category.id()).is_none()
            && !migration.categories.contains_key(category.id())
        {
            let what = format!("the category `{}` is gone, and no step moves its offers", category.id());
            problems.add(at, what, "add a `[[category]]` with `from` and `to`");
        }
    }
    for step in &migration.attributes {
        need_attribute(old, &step.attribute, step.at, problems);
    }
    for attribute in old.attributes() {
        check_forgotten(migration, attribute, at, new, problems);
    }
}

fn check_split(change: &Destination, at: At, old: &Catalogue, problems: &mut Problems) {
    match change {
        Destination::To(_) => {}
        Destination::ByRange { attribute, .. } => {
            need_attribute(old, attribute, at, problems);
        }
        Destination::ByValue { attribute, into, otherwise } => {
            let Some(found) = need_attribute(old, attribute, at, problems) else { return };
            if !found.kind().chooses() {
                return;
            }
            for value in into.keys() {
                need_choice(found.data(), value, at, problems);
            }
            let forgotten = found.choices().find(|choice| !into.contains_key(choice.id()));
            if let (Some(choice), None) = (forgotten, otherwise) {
                let what = format!("no branch is for the value `{}` of `{attribute}`", choice.id());
                problems.add(at, what, "add it to `into`, or give `otherwise`");
            }
        }
    }
}

/// Requires a step for an attribute that is gone, lost values, or has another unit.
fn check_forgotten(
    migration: &Migration,
    attribute: Attribute<'_>,
    at: At,
    new: &Catalogue,
    problems: &mut Problems,
) {
    let steps = || migration.attributes.iter().filter(|step| &*step.attribute == attribute.id());
    let Some(kept) = new.attribute(attribute.id()) else {
        if steps().next().is_none() {
            let what = format!("the attribute `{}` is gone, and no step handles it", attribute.id());
            problems.add(at, what, "add an `[[attribute]]` with `to` or `remove = true`");
        }
        return;
    };
    let unit = |attribute: Attribute<'_>| attribute.unit().map(|unit| unit.id().to_owned());
    if unit(kept) != unit(attribute)
        && !steps().any(|step| step.unit.is_some() || step.remove || step.to.is_some())
    {
        let what = format!("the unit of `{}` changed, and no step converts it", attribute.id());
        problems.add(at, what, "add an `[[attribute]]` with `unit = [\"before\", \"after\"]`");
    }
    if !attribute.kind().chooses()
        || !kept.kind().chooses()
        || steps().any(|step| step.remove || step.to.is_some())
    {
        return;
    }
    for choice in attribute.choices() {
        if kept.choice(choice.id()).is_none() && !steps().any(|step| step.values.contains_key(choice.id())) {
            let what = format!(
                "the value `{}` of `{}` is gone, and no step handles it",
                choice.id(),
                attribute.id()
            );
            problems.add(at, what, "add an `[[attribute]]` with `values = { before = \"after\" }`");
        }
    }
}
