//! Which tasks read and write which parameters.

mod draw;

use crate::set::TaskSet;
use crate::task::TaskName;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use triggers::Parameter;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    Reads,
    /// Torg sets it when a run succeeds.
    Sets,
    /// Its runs write it themselves.
    Produces,
}

impl Link {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Sets => "sets",
            Self::Produces => "produces",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub task: TaskName,
    pub link: Link,
    pub parameter: Parameter,
}

/// Tasks, parameters and edges, all sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    pub tasks: BTreeSet<TaskName>,
    pub parameters: BTreeSet<Parameter>,
    pub edges: BTreeSet<Edge>,
}

#[must_use]
pub fn graph(set: &TaskSet) -> Graph {
    let mut graph = Graph::default();
    for task in set.tasks() {
        graph.tasks.insert(task.name.clone());
        let reads = task.trigger.parameters().into_iter().map(|parameter| (Link::Reads, parameter));
        let sets = task.sets.keys().map(|parameter| (Link::Sets, parameter));
        let produces = task.produces.iter().map(|parameter| (Link::Produces, parameter));
        for (link, parameter) in reads.chain(sets).chain(produces) {
            graph.parameters.insert(parameter.clone());
            graph.edges.insert(Edge { task: task.name.clone(), link, parameter: parameter.clone() });
        }
    }
    graph
}

impl Graph {
    /// The part of the graph within this many edges of a task or a parameter; empty if there is no
    /// such name.
    #[must_use]
    pub fn near(&self, name: &str, edges: usize) -> Self {
        let mut links: BTreeMap<Node<'_>, Vec<Node<'_>>> = BTreeMap::new();
        for edge in &self.edges {
            let (task, parameter) = (Node::Task(&edge.task), Node::Parameter(&edge.parameter));
            links.entry(task).or_default().push(parameter);
            links.entry(parameter).or_default().push(task);
        }
        let tasks = self.tasks.get(name).map(Node::Task);
        let parameters = name.parse().ok().and_then(|name: Parameter| self.parameters.get(&name));
        let mut front: Vec<Node<'_>> = tasks.into_iter().chain(parameters.map(Node::Parameter)).collect();
        let mut found: BTreeSet<Node<'_>> = front.iter().copied().collect();
        for _ in 0..edges {
            let next = front.iter().filter_map(|node| links.get(node)).flatten().copied();
            front = next.filter(|node| found.insert(*node)).collect();
        }
        let tasks: BTreeSet<TaskName> = found.iter().filter_map(Node::task).cloned().collect();
        let parameters: BTreeSet<Parameter> = found.iter().filter_map(Node::parameter).cloned().collect();
        let inside = |edge: &&Edge| tasks.contains(&edge.task) && parameters.contains(&edge.parameter);
        let edges = self.edges.iter().filter(inside).cloned().collect();
        Self { tasks, parameters, edges }
    }

    /// For programs: `tasks`, `parameters`, and `edges` of `task`, `link` and `parameter`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let edge = |edge: &Edge| {
            json!({
                "task": edge.task.as_str(),
                "link": edge.link.name(),
                "parameter": edge.parameter.to_string(),
            })
        };
        json!({
            "tasks": self.tasks.iter().map(TaskName::as_str).collect::<Vec<_>>(),
            "parameters": self.parameters.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "edges": self.edges.iter().map(edge).collect::<Vec<_>>(),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node<'g> {
    Task(&'g TaskName),
    Parameter(&'g Parameter),
}

impl<'g> Node<'g> {
    const fn task(&self) -> Option<&'g TaskName> {
        match self {
            Self::Task(task) => Some(task),
            Self::Parameter(_) => None,
        }
    }

    const fn parameter(&self) -> Option<&'g Parameter> {
        match self {
            Self::Parameter(parameter) => Some(parameter),
            Self::Task(_) => None,
        }
    }
}
