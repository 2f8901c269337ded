//! Builds the tree of an offer from its tokens.

use super::tree::{Attribute, Node, Tree, TreeError};
use crate::Code;
use crate::limits::{ATTRIBUTES_MAX, DEPTH_MAX, NODES_MAX};
use quick_xml::escape;
use quick_xml::events::Event;
use std::borrow::Cow;

pub(super) struct Builder<'t> {
    pub(super) tree: Tree<'t>,
    pub(super) open: Vec<usize>,
}

impl<'t> Builder<'t> {
    pub(super) fn event(&mut self, event: &Event<'_>, start: usize, end: usize) -> Result<(), TreeError> {
        let source = self.tree.source;
        match event {
            Event::Start(_) => self.start(start, end, false)?,
            Event::Empty(_) => self.start(start, end, true)?,
            Event::End(_) => self.end(source[start + 2..end - 1].trim_end(), start)?,
            Event::Text(_) => self.text(Cow::Borrowed(&source[start..end]), start),
            Event::CData(_) => {
                self.tree.sections += 1;
                self.text(Cow::Borrowed(&source[start + 9..end - 3]), start + 9);
            }
            Event::GeneralRef(_) => {
                let resolved =
                    escape::unescape(&source[start..end]).unwrap_or(Cow::Borrowed(&source[start..end]));
                self.text(resolved, start);
            }
            Event::Comment(_) => {
                let inside = &source[start + 4..end - 3];
                self.tree.unusual |= self.open.is_empty() || inside.contains("--") || inside.ends_with('-');
            }
            Event::PI(_) | Event::Decl(_) | Event::DocType(_) => self.tree.unusual = true,
            Event::Eof => {}
        }
        Ok(())
    }

    fn start(&mut self, start: usize, end: usize, closed: bool) -> Result<(), TreeError> {
        if self.open.is_empty() && !self.tree.nodes.is_empty() {
            return Err(broken(start, "an element follows the end of the offer"));
        }
        if self.open.len() >= DEPTH_MAX {
            return Err(error(
                Code::BrokenOffer,
                start,
                format!("elements are nested more than {DEPTH_MAX} deep"),
            ));
        }
        if self.tree.nodes.len() >= NODES_MAX {
            return Err(error(Code::OfferTooLarge, start, format!("more than {NODES_MAX} elements")));
        }
        let content_end = if closed { end - 2 } else { end - 1 };
        let tag = &self.tree.source[start + 1..content_end];
        let name_end = tag.find(|c: char| c.is_ascii_whitespace()).unwrap_or(tag.len());
        let first = self.tree.attributes.len() as u32;
        self.read_attributes(start + 1 + name_end, content_end)?;
        let index = self.tree.nodes.len();
        self.tree.nodes.push(Node {
            name: &tag[..name_end],
            offset: start as u32,
            attributes: (first, self.tree.attributes.len() as u32),
            text: Cow::Borrowed(""),
            spaces: 0,
            text_offset: end as u32,
            inner_end: end as u32,
            end: index as u32 + 1,
        });
        if !closed {
            self.open.push(index);
        }
        Ok(())
    }

    fn end(&mut self, name: &str, start: usize) -> Result<(), TreeError> {
        let Some(depth) = self.open.iter().rposition(|index| self.tree.nodes[*index].name == name) else {
            if is_html(name) {
                self.tree.unclosed.push(start);
                return Ok(());
            }
            return Err(broken(start, format!("</{name}> closes an element that was not opened")));
        };
        for index in self.open.drain(depth + 1..).collect::<Vec<_>>() {
            let node = &self.tree.nodes[index];
            if !is_html(node.name) {
                return Err(broken(node.offset as usize, format!("<{}> is not closed", node.name)));
            }
            self.tree.unclosed.push(node.offset as usize);
            self.close(index, start);
        }
        if let Some(index) = self.open.pop() {
            self.close(index, start);
        }
        Ok(())
    }

    fn close(&mut self, index: usize, start: usize) {
        let end = self.tree.nodes.len() as u32;
        let node = &mut self.tree.nodes[index];
        node.inner_end = start as u32;
        node.end = end;
    }

    fn text(&mut self, piece: Cow<'t, str>, offset: usize) {
        let Some(index) = self.open.last() else {
            self.tree.unusual = true;
            return;
        };
        let node = &mut self.tree.nodes[*index];
        if node.text.is_empty() {
            let spaces = piece.len() - piece.trim_start().len();
            if spaces == piece.len() {
                node.spaces += piece.chars().count() as u32;
            } else {
                node.text = piece;
                if node.end as usize == *index + 1 {
                    node.text_offset = (offset + spaces) as u32;
                }
            }
        } else {
            node.text.to_mut().push_str(&piece);
        }
    }

    fn read_attributes(&mut self, from: usize, to: usize) -> Result<(), TreeError> {
        let source = self.tree.source;
        let first = self.tree.attributes.len();
        let mut at = from;
        loop {
            let spaces = source[at..to].len() - source[at..to].trim_start().len();
            at += spaces;
            if at >= to {
                return Ok(());
            }
            self.tree.unusual |= spaces == 0;
            if self.tree.attributes.len() - first >= ATTRIBUTES_MAX {
                return Err(broken(at, format!("more than {ATTRIBUTES_MAX} attributes")));
            }
            let equals = source[at..to].find('=').ok_or_else(|| broken(at, "an attribute has no value"))?;
            let name = source[at..at + equals].trim_end();
            let value_at = at + equals + 1;
            let value_at = value_at + (source[value_at..to].len() - source[value_at..to].trim_start().len());
            let quote = source[value_at..to].chars().next().filter(|quote| matches!(quote, '"' | '\''));
            let quote = quote.ok_or_else(|| broken(at, "the value of an attribute is not in quotes"))?;
            if name.is_empty() || name.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<'))
            {
                return Err(broken(at, "an attribute has no name or no value"));
            }
            let length =
                source[value_at + 1..to].find(quote).ok_or_else(|| broken(value_at, "a quote is missing"))?;
            let raw = &source[value_at + 1..value_at + 1 + length];
            let value = escape::unescape(raw).unwrap_or(Cow::Borrowed(raw));
            self.tree.attributes.push(Attribute { name, value, offset: value_at + 1 });
            at = value_at + length + 2;
        }
    }

    pub(super) fn finish(self) -> Result<Tree<'t>, TreeError> {
        match (self.open.first(), self.tree.nodes.is_empty()) {
            (None, false) => Ok(self.tree),
            (Some(index), _) => {
                let node = &self.tree.nodes[*index];
                Err(broken(node.offset as usize, format!("<{}> is not closed", node.name)))
            }
            (None, true) => Err(broken(0, "there is no element")),
        }
    }
}

/// Elements that descriptions contain and leave open.
fn is_html(name: &str) -> bool {
    const NAMES: [&str; 34] = [
        "a",
        "b",
        "big",
        "blockquote",
        "br",
        "center",
        "code",
        "div",
        "em",
        "font",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "img",
        "li",
        "ol",
        "p",
        "pre",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "table",
        "td",
        "tr",
        "u",
        "ul",
    ];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

pub(super) fn broken(offset: usize, message: impl Into<String>) -> TreeError {
    error(Code::BrokenOffer, offset, message)
}

fn error(code: Code, offset: usize, message: impl Into<String>) -> TreeError {
    TreeError { code, offset, message: message.into() }
}
