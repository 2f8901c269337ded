//! The graph as SVG; every node links to its page.

use maud::{Markup, html};

use super::graph::{Graph, Node};
use crate::view::{empty, number, path};
use crate::visit::Visit;

/// Five layers fit side by side on a desktop screen.
const WIDTH: usize = 172;
const HEIGHT: usize = 30;
/// Gaps between layers and between the nodes of a layer.
const GAP: usize = 40;
const ROW_GAP: usize = 12;
const EDGE: usize = 8;
/// Characters of a name that fit into a node.
const LETTERS: usize = 23;

pub(in crate::pages) fn picture(visit: &Visit, graph: &Graph) -> Markup {
    if graph.nodes.is_empty() {
        return empty(visit.t("There is nothing to draw: no task is shown."));
    }
    let layout = graph.layout();
    let rows = layout.layers.iter().map(Vec::len).max().unwrap_or_default();
    let width = layout.layers.len() * (WIDTH + GAP) - GAP + 2 * EDGE;
    let height = rows * (HEIGHT + ROW_GAP) - ROW_GAP + 2 * EDGE;
    let mut places = vec![(0, 0); graph.nodes.len()];
    for (column, layer) in layout.layers.iter().enumerate() {
        let above = (rows - layer.len()) * (HEIGHT + ROW_GAP) / 2;
        for (row, &node) in layer.iter().enumerate() {
            places[node] = (EDGE + column * (WIDTH + GAP), EDGE + above + row * (HEIGHT + ROW_GAP));
        }
    }
    html! {
        @if graph.left_out > 0 {
            p.hint {
                (visit.f("Not drawn: {0} tasks. Narrow the selection by name or state.", &[&number(graph.left_out as u64)]))
            }
        }
        div.graph role="region" tabindex="0" aria-label=(visit.t("Graph of values and tasks")) {
            svg viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
                @for edge in &graph.edges {
                    path.edge.back[layout.back.contains(edge)] d=(curve(places[edge.0], places[edge.1])) {}
                }
                @for (node, &place) in graph.nodes.iter().zip(&places) { (node_link(visit, node, place)) }
            }
        }
        p.hint { (visit.t("Arrows lead from values to the tasks that read them, and from tasks to the values that they set. Rounded boxes are tasks, coloured by state; framed boxes are values.")) }
    }
}

fn node_link(visit: &Visit, node: &Node, (x, y): (usize, usize)) -> Markup {
    let (class, page, kind, round) = match node.task {
        Some(tone) => (format!("node task {}", tone.class()), "tasks", visit.t("Task"), 14),
        None => ("node value".to_owned(), "values", visit.t("Value"), 2),
    };
    html! {
        a class=(class) href=(path(&[page, &node.name])) {
            title { (kind) " " (node.name) }
            rect x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx=(round) {}
            text x=(x + 8) y=(y + 20) { (short(&node.name)) }
        }
    }
}

/// The end of a long name is more specific than its start.
fn short(name: &str) -> String {
    let letters = name.chars().count();
    if letters <= LETTERS {
        return name.to_owned();
    }
    ['…'].into_iter().chain(name.chars().skip(letters + 1 - LETTERS)).collect()
}

/// A curve from the right side of a node to the left side of another.
fn curve(from: (usize, usize), to: (usize, usize)) -> String {
    let (x1, y1) = (from.0 + WIDTH, from.1 + HEIGHT / 2);
    let (x2, y2) = (to.0, to.1 + HEIGHT / 2);
    let bend = GAP / 2;
    format!("M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}", x1 + bend, x2.saturating_sub(bend))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_end_and_an_edge_goes_from_side_to_side() {
        assert_eq!(short("sales.loaded_to"), "sales.loaded_to");
        let long = short("warehouse/attribution_by_channel.built_to");
        assert_eq!(long.chars().count(), LETTERS);
        assert!(long.starts_with('…') && long.ends_with("channel.built_to"));
        assert_eq!(curve((8, 8), (220, 50)), "M180 23C200 23 200 65 220 65");
    }
}
