//! The graph in the languages of Graphviz and Mermaid.

use super::{Edge, Graph, Link};
use std::collections::BTreeMap;
use std::fmt::Write;

impl Graph {
    /// For Graphviz: tasks are boxes, parameters are ellipses, arrows follow the data. What runs
    /// produce themselves is dashed.
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph tasks {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n");
        let ids = self.ids();
        for parameter in &self.parameters {
            let name = parameter.to_string();
            let _ =
                writeln!(out, "  {} [shape=ellipse, label=\"{}\"];", ids.parameter(&name), for_dot(&name));
        }
        for task in &self.tasks {
            let (id, label) = (ids.task(task.as_str()), for_dot(task.as_str()));
            let _ = writeln!(
                out,
                "  {id} [shape=box, style=\"rounded,filled\", fillcolor=\"#e8f0fe\", label=\"{label}\"];"
            );
        }
        for edge in &self.edges {
            let (from, to) = ids.ends(edge);
            let style = if edge.link == Link::Produces { " [style=dashed]" } else { "" };
            let _ = writeln!(out, "  {from} -> {to}{style};");
        }
        out.push_str("}\n");
        out
    }

    /// For Mermaid: tasks are boxes, parameters have round ends, arrows follow the data. What runs
    /// produce themselves is dotted.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        let ids = self.ids();
        for parameter in &self.parameters {
            let name = parameter.to_string();
            let _ = writeln!(out, "  {}([\"{}\"])", ids.parameter(&name), for_mermaid(&name));
        }
        for task in &self.tasks {
            let _ = writeln!(out, "  {}[\"{}\"]", ids.task(task.as_str()), for_mermaid(task.as_str()));
        }
        for edge in &self.edges {
            let (from, to) = ids.ends(edge);
            let arrow = if edge.link == Link::Produces { "-.->" } else { "-->" };
            let _ = writeln!(out, "  {from} {arrow} {to}");
        }
        out
    }

    fn ids(&self) -> Ids {
        let tasks = self.tasks.iter().zip(1..).map(|(task, number)| (task.to_string(), number));
        let parameters =
            self.parameters.iter().zip(1..).map(|(parameter, number)| (parameter.to_string(), number));
        Ids { tasks: tasks.collect(), parameters: parameters.collect() }
    }
}

/// Names are not used as ids, because both languages have reserved words.
struct Ids {
    tasks: BTreeMap<String, usize>,
    parameters: BTreeMap<String, usize>,
}

impl Ids {
    fn task(&self, name: &str) -> String {
        format!("t{}", self.tasks.get(name).copied().unwrap_or_default())
    }

    fn parameter(&self, name: &str) -> String {
        format!("p{}", self.parameters.get(name).copied().unwrap_or_default())
    }

    /// From where to where an arrow points: data flows from what is read to what is written.
    fn ends(&self, edge: &Edge) -> (String, String) {
        let (task, parameter) = (self.task(edge.task.as_str()), self.parameter(&edge.parameter.to_string()));
        if edge.link == Link::Reads { (parameter, task) } else { (task, parameter) }
    }
}

/// Escapes a text for double quotes of Graphviz.
fn for_dot(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
}

/// Escapes a text for double quotes of Mermaid, which knows character codes but no backslash.
fn for_mermaid(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '#' | '&' | '<' | '>' | ';' | '\\' | '`' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_label_is_written_otherwise() {
        assert_eq!(for_dot("a\"b\\c\nd"), "a\\\"b\\\\c d");
        assert_eq!(for_mermaid("a\"b<c>#d\ne"), "a#34;b#60;c#62;#35;d e");
    }
}
