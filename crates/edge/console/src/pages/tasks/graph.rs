//! The graph of values and tasks and its layered layout: values lead to the tasks that read them,
//! tasks to the values that they set.
//!
//! The layer of a node is the length of the longest path to it. Edges that close a cycle are
//! ignored for this. Within a layer, nodes are placed near their neighbours.

use std::collections::{BTreeMap, BTreeSet};

use wire::torg::tasks::v1::TaskSummary;

use super::status::tone_of;
use crate::limits::GRAPH_NODES_MAX;
use crate::view::Tone;

/// Sweeps that improve the order within layers.
const SWEEPS: usize = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pages) struct Node {
    pub(super) name: String,
    /// The tone of a task; `None` for a value.
    pub(super) task: Option<Tone>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::pages) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<(usize, usize)>,
    /// Tasks omitted because of the node limit.
    pub(super) left_out: usize,
}

impl Graph {
    fn of(tasks: &[&TaskSummary], left_out: usize) -> Self {
        let mut graph = Self { left_out, ..Self::default() };
        let mut values: BTreeMap<&str, usize> = BTreeMap::new();
        for name in tasks.iter().flat_map(|task| task.reads.iter().chain(&task.sets)) {
            values.entry(name).or_insert_with(|| graph.add(name, None));
        }
        for task in tasks {
            let node = graph.add(&task.name, Some(tone_of(task)));
            graph.edges.extend(task.reads.iter().map(|name| (values[&**name], node)));
            graph.edges.extend(task.sets.iter().map(|name| (node, values[&**name])));
        }
        graph.edges.sort_unstable();
        graph.edges.dedup();
        graph
    }

    fn add(&mut self, name: &str, task: Option<Tone>) -> usize {
        self.nodes.push(Node { name: name.to_owned(), task });
        self.nodes.len() - 1
    }

    /// The wanted tasks and those that share values with them, if they fit; else the wanted tasks
    /// alone; else the first of them.
    pub(in crate::pages) fn around(tasks: &[TaskSummary], wanted: impl Fn(&TaskSummary) -> bool) -> Self {
        let chosen: Vec<&TaskSummary> = tasks.iter().filter(|task| wanted(task)).collect();
        let values: BTreeSet<&String> = chosen.iter().flat_map(|task| values_of(task)).collect();
        let near: Vec<&TaskSummary> = tasks
            .iter()
            .filter(|task| wanted(task) || values_of(task).any(|name| values.contains(name)))
            .collect();
        if size(&near) <= GRAPH_NODES_MAX {
            return Self::of(&near, 0);
        }
        let fitting = count_fitting(&chosen);
        Self::of(&chosen[..fitting], near.len() - fitting)
    }

    pub(in crate::pages) fn of_value(tasks: &[TaskSummary], name: &str) -> Self {
        let joined: Vec<&TaskSummary> =
            tasks.iter().filter(|task| values_of(task).any(|known| known == name)).collect();
        let fitting = count_fitting(&joined);
        Self::of(&joined[..fitting], joined.len() - fitting)
    }

    pub(super) fn layout(&self) -> Layout {
        let (order, back) = self.ordered();
        let mut layer = vec![0; self.nodes.len()];
        for node in order {
            for &(_, to) in self.edges_from(node).filter(|edge| !back.contains(edge)) {
                layer[to] = layer[to].max(layer[node] + 1);
            }
        }
        let depth = layer.iter().max().map_or(0, |deepest| deepest + 1);
        let mut layers = vec![Vec::new(); depth];
        for (node, &at) in layer.iter().enumerate() {
            layers[at].push(node);
        }
        for sweep in 0..SWEEPS {
            self.order_layers(&mut layers, sweep % 2 == 0);
        }
        Layout { layers, back }
    }

    fn edges_from(&self, node: usize) -> impl Iterator<Item = &(usize, usize)> {
        let begin = self.edges.partition_point(|edge| edge.0 < node);
        self.edges[begin..].iter().take_while(move |edge| edge.0 == node)
    }

    /// A topological order, and the edges that lead back.
    fn ordered(&self) -> (Vec<usize>, BTreeSet<(usize, usize)>) {
        let (mut done, mut back) = (Vec::new(), BTreeSet::new());
        let mut state = vec![Seen::Never; self.nodes.len()];
        for begin in 0..self.nodes.len() {
            // The current path: nodes with their remaining edges.
            let mut way = Vec::new();
            if state[begin] == Seen::Never {
                state[begin] = Seen::OnTheWay;
                way.push((begin, self.edges_from(begin)));
            }
            while let Some((node, rest)) = way.last_mut() {
                let node = *node;
                match rest.next() {
                    Some(edge) if state[edge.1] == Seen::OnTheWay => {
                        back.insert(*edge);
                    }
                    Some(&(_, to)) if state[to] == Seen::Never => {
                        state[to] = Seen::OnTheWay;
                        way.push((to, self.edges_from(to)));
                    }
                    Some(_) => {}
                    None => {
                        state[node] = Seen::Done;
                        done.push(node);
                        way.pop();
                    }
                }
            }
        }
        done.reverse();
        (done, back)
    }

    /// Orders each layer by the mean position of the neighbours in the layers before it, or behind.
    fn order_layers(&self, layers: &mut [Vec<usize>], forward: bool) {
        let mut place = vec![0.0; self.nodes.len()];
        let mut joined = vec![Vec::new(); self.nodes.len()];
        for &(from, to) in &self.edges {
            if forward { joined[to].push(from) } else { joined[from].push(to) }
        }
        let count = layers.len();
        for step in 0..count {
            let layer = &mut layers[if forward { step } else { count - 1 - step }];
            let middle = (layer.len().max(1) - 1) as f64 / 2.0;
            let position = |node: usize, at: usize| {
                let all = &joined[node];
                if all.is_empty() {
                    return at as f64 - middle;
                }
                all.iter().map(|&other| place[other]).sum::<f64>() / all.len() as f64
            };
            let mut positions: Vec<(f64, usize)> =
                layer.iter().enumerate().map(|(at, &node)| (position(node, at), node)).collect();
            positions.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            *layer = positions.into_iter().map(|(_, node)| node).collect();
            for (at, &node) in layer.iter().enumerate() {
                place[node] = at as f64 - middle;
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Never,
    OnTheWay,
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Nodes by layer, from left to right and top to bottom.
    pub(super) layers: Vec<Vec<usize>>,
    pub(super) back: BTreeSet<(usize, usize)>,
}

fn values_of(task: &TaskSummary) -> impl Iterator<Item = &String> {
    task.reads.iter().chain(&task.sets)
}

/// How many of the tasks fit into the node limit with their values.
fn count_fitting(tasks: &[&TaskSummary]) -> usize {
    let (mut nodes, mut seen) = (0, BTreeSet::new());
    for (place, task) in tasks.iter().enumerate() {
        nodes += 1 + values_of(task).filter(|name| seen.insert(*name)).count();
        if nodes > GRAPH_NODES_MAX {
            return place;
        }
    }
    tasks.len()
}

fn size(tasks: &[&TaskSummary]) -> usize {
    let values: BTreeSet<&String> = tasks.iter().flat_map(|task| values_of(task)).collect();
    tasks.len() + values.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str, reads: &[&str], sets: &[&str]) -> TaskSummary {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        TaskSummary { name: name.into(), reads: own(reads), sets: own(sets), ..TaskSummary::default() }
    }

    fn all(tasks: &[TaskSummary]) -> Graph {
        Graph::around(tasks, |_| true)
    }

    /// The names in each layer.
    fn names(graph: &Graph) -> Vec<Vec<&str>> {
        let name = |node: &usize| &*graph.nodes[*node].name;
        graph.layout().layers.iter().map(|layer| layer.iter().map(name).collect()).collect()
    }

    #[test]
    fn a_node_stands_behind_the_longest_way_to_it() {
        let tasks = [
            task("load", &["shop.exported"], &["orders.loaded"]),
            task("build", &["orders.loaded"], &["sales.built"]),
            task("report", &["sales.built", "shop.exported"], &[]),
        ];
        let expected: [&[&str]; 6] =
            [&["shop.exported"], &["load"], &["orders.loaded"], &["build"], &["sales.built"], &["report"]];
        assert_eq!(names(&all(&tasks)), expected);
    }

    #[test]
    fn a_circle_is_followed_once_and_has_a_picture() {
        let tasks = [task("a", &["y.v"], &["x.v"]), task("b", &["x.v"], &["y.v"])];
        let graph = all(&tasks);
        let layout = graph.layout();
        assert_eq!(layout.back.len(), 1, "one edge leads back");
        assert_eq!(layout.layers.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1, 1]);
        let itself = all(&[task("own", &["z.v"], &["z.v"])]);
        assert_eq!(itself.layout().layers.len(), 2);
    }

    #[test]
    fn nodes_stand_near_those_that_they_are_joined_to() {
        // By name alone the ways would cross.
        let tasks = [task("1", &["a.v"], &["z.out"]), task("2", &["b.v"], &["y.out"])];
        let graph = all(&tasks);
        let layers = names(&graph);
        let row = |layer: usize, name: &str| layers[layer].iter().position(|known| *known == name).unwrap();
        assert_eq!(row(0, "a.v"), row(1, "1"));
        assert_eq!(row(1, "1"), row(2, "z.out"));
        assert_eq!(row(1, "2"), row(2, "y.out"));
    }

    #[test]
    fn of_many_tasks_those_around_the_wanted_ones_are_drawn_and_the_rest_is_counted() {
        let chain: Vec<TaskSummary> = (0..400)
            .map(|n| task(&format!("t{n:03}"), &[&format!("v.{n}")], &[&format!("v.{}", n + 1)]))
            .collect();
        let one = Graph::around(&chain, |task| task.name == "t200");
        let tasks: Vec<&str> =
            one.nodes.iter().filter(|node| node.task.is_some()).map(|node| &*node.name).collect();
        assert_eq!(tasks, ["t199", "t200", "t201"]);
        assert_eq!(one.left_out, 0);
        let many = all(&chain);
        assert!(many.nodes.len() <= GRAPH_NODES_MAX && many.nodes.len() > GRAPH_NODES_MAX - 3);
        let drawn = many.nodes.iter().filter(|node| node.task.is_some()).count();
        assert_eq!(many.left_out, 400 - drawn);
        assert_eq!(all(&[]).layout().layers.len(), 0);
    }
}
