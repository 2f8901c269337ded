//! Tasks that wait on each other in a cycle.

use super::Drafts;
use crate::limits::CYCLE_TASKS_MAX;
use crate::notes::Notes;
use crate::problem::Code;
use crate::read::TaskLocations;
use crate::task::Task;
use std::collections::{BTreeMap, VecDeque};
use triggers::Parameter;

/// One warning per strongly connected component, with the shortest cycle through its first task.
pub(super) fn note(notes: &mut Notes, drafts: &Drafts) {
    let net = Net::of(drafts);
    for mut knot in net.knots() {
        knot.sort_unstable();
        let tasks = knot.iter().filter(|node| net.is_task(**node)).count();
        // A single task is reported at its own conditions.
        if tasks < 2 {
            continue;
        }
        let circle = net.circle(knot[0], &knot);
        let on_it: Vec<usize> = circle.iter().skip(1).copied().filter(|node| net.is_task(*node)).collect();
        let names: Vec<String> = circle.iter().map(|node| net.name(*node)).collect();
        let others = match tasks - on_it.len() {
            0 => String::new(),
            more => format!("; {more} more are tied to it"),
        };
        let message =
            format!("tasks wait on each other in a circle: {}{others}", shorten(&names).join(" -> "));
        let (first, spots) = net.tasks[knot[0]];
        let note = notes.warning(Code::Cycle, spots.outputs.unwrap_or(spots.name), message);
        for node in on_it.iter().take(CYCLE_TASKS_MAX) {
            let (task, spots) = net.tasks[*node];
            if task.name != first.name {
                note.related(spots.name, format!("`{}` is part of it", task.name));
            }
        }
        note.remedy("each run may start the next one without end: let one of them wait on something else");
    }
}

fn shorten(names: &[String]) -> Vec<String> {
    if names.len() <= 2 * CYCLE_TASKS_MAX {
        return names.to_vec();
    }
    let mut short = names[..2 * CYCLE_TASKS_MAX - 2].to_vec();
    short.push("...".to_owned());
    short.extend(names.last().cloned());
    short
}

/// Tasks first, then parameters. Edges lead from a task to what it writes, and from a parameter to
/// its readers.
struct Net<'d> {
    tasks: Vec<(&'d Task, &'d TaskLocations)>,
    parameters: Vec<&'d Parameter>,
    edges: Vec<Vec<usize>>,
}

impl<'d> Net<'d> {
    fn of(drafts: &'d Drafts) -> Self {
        let tasks: Vec<(&Task, &TaskLocations)> =
            drafts.values().map(|(task, spots)| (task, spots)).collect();
        let mut numbers: BTreeMap<&Parameter, usize> = BTreeMap::new();
        let (mut parameters, mut edges) = (Vec::new(), vec![Vec::new(); tasks.len()]);
        // Parameters that no task writes are on no cycle.
        for (number, (task, _)) in tasks.iter().enumerate() {
            for parameter in task.outputs() {
                let node = *numbers.entry(parameter).or_insert_with(|| {
                    parameters.push(parameter);
                    edges.push(Vec::new());
                    edges.len() - 1
                });
                edges[number].push(node);
            }
        }
        for (number, (task, _)) in tasks.iter().enumerate() {
            for parameter in task.trigger.parameters() {
                if let Some(node) = numbers.get(parameter) {
                    edges[*node].push(number);
                }
            }
        }
        Self { tasks, parameters, edges }
    }

    fn is_task(&self, node: usize) -> bool {
        node < self.tasks.len()
    }

    fn name(&self, node: usize) -> String {
        match self.tasks.get(node) {
            Some((task, _)) => format!("`{}`", task.name),
            None => self.parameters[node - self.tasks.len()].to_string(),
        }
    }

    /// Strongly connected components of more than one node: Tarjan's algorithm with an explicit
    /// stack.
    fn knots(&self) -> Vec<Vec<usize>> {
        const NEW: usize = usize::MAX;
        let count = self.edges.len();
        let (mut order, mut low, mut next) = (vec![NEW; count], vec![0; count], 0);
        let (mut open, mut is_open, mut knots) = (Vec::new(), vec![false; count], Vec::new());
        for root in 0..count {
            let mut path = if order[root] == NEW { vec![(root, 0)] } else { Vec::new() };
            while let Some((node, edge)) = path.last_mut() {
                let node = *node;
                if order[node] == NEW {
                    (order[node], low[node]) = (next, next);
                    next += 1;
                    open.push(node);
                    is_open[node] = true;
                }
                if let Some(to) = self.edges[node].get(*edge).copied() {
                    *edge += 1;
                    if order[to] == NEW {
                        path.push((to, 0));
                    } else if is_open[to] {
                        low[node] = low[node].min(order[to]);
                    }
                    continue;
                }
                path.pop();
                if let Some((parent, _)) = path.last() {
                    low[*parent] = low[*parent].min(low[node]);
                }
                if low[node] == order[node] {
                    let from = open.iter().rposition(|open| *open == node).unwrap_or_default();
                    let knot = open.split_off(from);
                    for node in &knot {
                        is_open[*node] = false;
                    }
                    if knot.len() > 1 {
                        knots.push(knot);
                    }
                }
            }
        }
        knots
    }

    /// The shortest path from a node of a component back to it, with the node at both ends. The
    /// component is sorted.
    fn circle(&self, start: usize, knot: &[usize]) -> Vec<usize> {
        let mut from: BTreeMap<usize, usize> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for to in self.edges[node].iter().copied().filter(|to| knot.binary_search(to).is_ok()) {
                if to == start {
                    let mut circle = vec![start, node];
                    while let Some(before) = circle.last().and_then(|node| from.get(node)) {
                        circle.push(*before);
                    }
                    circle.reverse();
                    return circle;
                }
                from.entry(to).or_insert_with(|| {
                    queue.push_back(to);
                    node
                });
            }
        }
        vec![start]
    }
}
