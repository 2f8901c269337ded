//! The explanation of a trigger as a tree.

use maud::{Markup, html};
use wire::torg::tasks::v1::explain_task_response::{LeafExplained, Regression};
use wire::torg::tasks::v1::{ExplainTaskResponse, SeenValue};

use super::super::values::shown as value;
use crate::language::w;
use crate::view::{Tone, empty, path, state};
use crate::visit::Visit;

#[derive(Debug)]
enum Branch<'a> {
    Leaf(&'a LeafExplained),
    /// `true`: all of them; `false`: any of them.
    Group(bool, Vec<Branch<'a>>),
}

impl Branch<'_> {
    fn holds(&self) -> bool {
        match self {
            Self::Leaf(leaf) => leaf.holds,
            Self::Group(true, members) => members.iter().all(Branch::holds),
            Self::Group(false, members) => members.iter().any(Branch::holds),
        }
    }
}

/// A step in the path of a leaf: `all[1]`.
fn step(text: &str) -> Option<(bool, usize)> {
    let (kind, place) = text.strip_suffix(']')?.split_once('[')?;
    let is_all = match kind {
        "all" => true,
        "any" => false,
        _ => return None,
    };
    Some((is_all, place.parse().ok()?))
}

/// Builds the tree from the paths of the leaves. Leaves with unknown paths are listed in order.
fn tree<'a>(leaves: &[(&'a str, &'a LeafExplained)]) -> Option<Branch<'a>> {
    let (first, leaf) = leaves.first()?;
    let steps = |path: &'a str| {
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        step(head).map(|(is_all, place)| (is_all, place, rest))
    };
    let Some((is_all, ..)) = steps(first) else {
        if leaves.len() == 1 {
            return Some(Branch::Leaf(leaf));
        }
        return Some(Branch::Group(true, leaves.iter().map(|(_, leaf)| Branch::Leaf(leaf)).collect()));
    };
    let mut members: Vec<(usize, Vec<(&str, &LeafExplained)>)> = Vec::new();
    for (path, leaf) in leaves {
        let (place, rest) = steps(path).map_or((usize::MAX, ""), |(_, place, rest)| (place, rest));
        match members.last_mut() {
            Some((known, inner)) if *known == place => inner.push((rest, leaf)),
            _ => members.push((place, vec![(rest, leaf)])),
        }
    }
    Some(Branch::Group(is_all, members.iter().filter_map(|(_, inner)| tree(inner)).collect()))
}

pub(super) fn show(visit: &Visit, it: &ExplainTaskResponse) -> Markup {
    let leaves: Vec<(&str, &LeafExplained)> = it.leaves.iter().map(|leaf| (&*leaf.path, leaf)).collect();
    html! {
        p {
            @if it.fires { (state(Tone::Good, visit.t("the trigger holds"))) }
            @else { (state(Tone::Plain, visit.t("the trigger does not hold"))) }
            @if !it.earliest.is_empty() { " " (visit.t("Earliest firing")) ": " strong lang="en" { (it.earliest) } }
        }
        @if !it.blocked.is_empty() {
            div.notice {
                strong { (visit.t("Queued, not started because")) }
                ul lang="en" { @for why in &it.blocked { li { (why) } } }
            }
        }
        @if !it.regressions.is_empty() { (regressions(visit, &it.regressions)) }
        @match tree(&leaves) {
            Some(branch) => { ul.tree { (branch_item(visit, &branch)) } },
            None => { (empty(visit.t("Its trigger is unknown: its definition was removed."))) }
        }
        details #message { summary { (visit.t("As text")) } pre lang="en" { (it.text) } }
    }
}

fn branch_item(visit: &Visit, branch: &Branch<'_>) -> Markup {
    match branch {
        Branch::Leaf(leaf) => html! { li { (one(visit, leaf)) } },
        Branch::Group(is_all, members) => html! {
            li {
                (holds(visit, branch.holds())) " "
                strong { @if *is_all { (visit.t("All of these:")) } @else { (visit.t("At least one of these:")) } }
                ul { @for member in members { (branch_item(visit, member)) } }
            }
        },
    }
}

fn holds(visit: &Visit, so: bool) -> Markup {
    if so { state(Tone::Good, visit.t("holds")) } else { state(Tone::Plain, visit.t("does not hold")) }
}

fn one(visit: &Visit, leaf: &LeafExplained) -> Markup {
    let values = [
        (w("Now"), leaf.current.as_option()),
        (w("Remembered"), leaf.remembered.as_option()),
        (w("Compared with"), leaf.reference.as_option()),
    ];
    let texts =
        [(w("Difference"), &leaf.difference), (w("Threshold"), &leaf.threshold), (w("Why"), &leaf.why)];
    html! {
        (holds(visit, leaf.holds)) " " span lang="en" { (leaf.leaf) }
        dl.facts {
            dt { (visit.t("Value")) } dd { a href=(path(&["values", &leaf.parameter])) { (leaf.parameter) } }
            @for (label, seen) in values { (fact(visit, label, seen)) }
            @for (label, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
                dt { (visit.t(label)) } dd lang="en" { (text) }
            }
        }
    }
}

fn fact(visit: &Visit, label: &'static str, seen: Option<&SeenValue>) -> Markup {
    html! { @if seen.is_some() { dt { (visit.t(label)) } dd { (value(visit, seen)) } } }
}

/// Values that were moved back, with commands that fix it.
fn regressions(visit: &Visit, regressions: &[Regression]) -> Markup {
    html! {
        div.notice.bad role="alert" {
            strong { (visit.t("A value was moved back below the remembered one")) }
            ul {
                @for one in regressions {
                    li {
                        a href=(path(&["values", &one.parameter])) lang="en" { (one.text) }
                        @if !one.commands.is_empty() {
                            br; (visit.t("One of these fixes it:"))
                            ul { @for command in &one.commands { li { code { (command) } } } }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(path: &str, holds: bool) -> LeafExplained {
        LeafExplained { path: path.into(), leaf: path.into(), holds, ..LeafExplained::default() }
    }

    fn message(branch: &Branch<'_>) -> String {
        match branch {
            Branch::Leaf(leaf) => leaf.path.clone(),
            Branch::Group(is_all, members) => {
                let inner: Vec<String> = members.iter().map(message).collect();
                format!("{}({})", if *is_all { "all" } else { "any" }, inner.join(" "))
            }
        }
    }

    fn of(leaves: &[LeafExplained]) -> (String, bool) {
        let leaves: Vec<_> = leaves.iter().map(|leaf| (&*leaf.path, leaf)).collect();
        let tree = tree(&leaves).unwrap();
        (message(&tree), tree.holds())
    }

    #[test]
    fn leaves_become_a_tree_by_their_paths_and_groups_hold_as_their_members_do() {
        assert_eq!(of(&[leaf("", true)]), (String::new(), true));
        let nested = [leaf("all[0]", true), leaf("all[1].any[0]", false), leaf("all[1].any[1]", true)];
        assert_eq!(of(&nested), ("all(all[0] any(all[1].any[0] all[1].any[1]))".into(), true));
        let other = [leaf("any[0].all[0]", true), leaf("any[0].all[1]", false), leaf("any[1]", false)];
        assert_eq!(of(&other), ("any(all(any[0].all[0] any[0].all[1]) any[1])".into(), false));
        assert!(tree(&[]).is_none());
    }

    #[test]
    fn leaves_with_paths_of_another_kind_are_still_shown() {
        assert_eq!(of(&[leaf("some[0]", true), leaf("some[1]", true)]).0, "all(some[0] some[1])");
        assert_eq!(of(&[leaf("all[0]", true), leaf("odd", true)]).0, "all(all[0] odd)");
    }
}
