//! The elements of an offer in text order, borrowed from the text.

use super::build::{Builder, broken};
use super::local;
use crate::Code;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::borrow::Cow;

#[derive(Debug)]
pub(crate) struct TreeError {
    pub(crate) code: Code,
    pub(crate) offset: usize,
    pub(crate) message: String,
}

#[derive(Debug)]
pub(super) struct Node<'t> {
    pub(super) name: &'t str,
    pub(super) offset: u32,
    pub(super) attributes: (u32, u32),
    /// Its own text, trimmed at the start, and its offset.
    pub(super) text: Cow<'t, str>,
    pub(super) text_offset: u32,
    /// White space before the text.
    pub(super) spaces: u32,
    /// The end of its content.
    pub(super) inner_end: u32,
    /// The first node after its descendants.
    pub(super) end: u32,
}

/// An attribute: its full name, its value, and the offset of the value.
#[derive(Debug)]
pub(crate) struct Attribute<'t> {
    pub(crate) name: &'t str,
    pub(crate) value: Cow<'t, str>,
    pub(crate) offset: usize,
}

#[derive(Debug)]
pub(crate) struct Tree<'t> {
    pub(super) source: &'t str,
    pub(super) nodes: Vec<Node<'t>>,
    pub(super) attributes: Vec<Attribute<'t>>,
    /// HTML elements with a missing or extra end tag.
    pub(crate) unclosed: Vec<usize>,
    /// There are instructions, malformed comments, text outside, or attributes without a space
    /// before them.
    pub(super) unusual: bool,
    pub(super) sections: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'t, 'a> {
    tree: &'a Tree<'t>,
    index: usize,
}

impl<'t> Tree<'t> {
    /// Parses one element. End tags of HTML elements may be missing, others not.
    pub(crate) fn parse(source: &'t str) -> Result<Self, TreeError> {
        let mut builder = Builder {
            tree: Self {
                source,
                nodes: Vec::with_capacity(32),
                attributes: Vec::new(),
                unclosed: Vec::new(),
                unusual: false,
                sections: 0,
            },
            open: Vec::with_capacity(8),
        };
        let mut reader = Reader::from_str(source);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        loop {
            let start = reader.buffer_position() as usize;
            let event = reader.read_event().map_err(|error| broken(start, error.to_string()))?;
            let end = reader.buffer_position() as usize;
            if matches!(event, Event::Eof) {
                break;
            }
            builder.event(&event, start, end)?;
        }
        builder.finish()
    }

    /// Whether a strict parser would accept it, too.
    pub(crate) fn is_plain(&self) -> bool {
        let count = |mark: &str| memchr::memmem::find_iter(self.source.as_bytes(), mark).count();
        !self.unusual && self.unclosed.is_empty() && count("]]>") == self.sections
    }

    pub(crate) fn size(&self) -> usize {
        self.nodes.len() + self.attributes.len()
    }

    pub(crate) fn root(&self) -> Element<'t, '_> {
        Element { tree: self, index: 0 }
    }
}

impl<'t, 'a> Element<'t, 'a> {
    fn node(&self) -> &'a Node<'t> {
        &self.tree.nodes[self.index]
    }

    pub(crate) fn name(&self) -> &'t str {
        self.node().name
    }

    pub(crate) fn local(&self) -> &'t str {
        local(self.node().name)
    }

    pub(crate) fn offset(&self) -> usize {
        self.node().offset as usize
    }

    pub(crate) fn source_before(&self, offset: usize) -> &'t [u8] {
        &self.tree.source.as_bytes()[..offset.min(self.tree.source.len())]
    }

    /// The offset of its text or, without one, of its tag.
    pub(crate) fn text_offset(&self) -> usize {
        self.node().text_offset as usize
    }

    /// Its own text, trimmed, references resolved.
    pub(crate) fn text(&self) -> &'a str {
        self.node().text.trim()
    }

    /// Characters of its own text, with white space; line ends count once.
    pub(crate) fn text_chars(&self) -> usize {
        let node = self.node();
        let returns = memchr::memmem::find_iter(node.text.as_bytes(), "\r\n").count();
        node.spaces as usize + node.text.chars().count() - returns
    }

    /// At least as many bytes as its text has.
    pub(crate) fn text_bytes_at_most(&self) -> usize {
        let node = self.node();
        node.spaces as usize
            + (node.inner_end - node.text_offset.min(node.inner_end)) as usize
            + node.text.len()
    }

    /// Its text if it has no child elements, else its source text.
    pub(crate) fn content(&self) -> Cow<'a, str> {
        let node = self.node();
        if self.has_children() {
            Cow::Borrowed(self.tree.source[node.text_offset as usize..node.inner_end as usize].trim())
        } else {
            Cow::Borrowed(self.text())
        }
    }

    pub(crate) fn has_children(&self) -> bool {
        self.node().end as usize > self.index + 1
    }

    pub(crate) fn children(&self) -> impl Iterator<Item = Element<'t, 'a>> + use<'t, 'a> {
        let (tree, end) = (self.tree, self.node().end as usize);
        let mut next = self.index + 1;
        std::iter::from_fn(move || {
            let index = next;
            if index >= end {
                return None;
            }
            next = tree.nodes[index].end as usize;
            Some(Element { tree, index })
        })
    }

    pub(crate) fn child(&self, name: &str) -> Option<Element<'t, 'a>> {
        self.children().find(|child| child.local() == name)
    }

    pub(crate) fn attributes(&self) -> &'a [Attribute<'t>] {
        let (from, to) = self.node().attributes;
        &self.tree.attributes[from as usize..to as usize]
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&'a Attribute<'t>> {
        self.attributes().iter().find(|attribute| attribute.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_attributes_and_texts_are_found_with_their_places() {
        let source = "<offer id='1&amp;2'>\n <name>A &amp; <![CDATA[<b>]]></name><p x=\"y\"/></offer>";
        let tree = Tree::parse(source).unwrap();
        let root = tree.root();
        assert_eq!(root.attribute("id").unwrap().value, "1&2");
        assert_eq!(root.child("name").unwrap().text(), "A & <b>");
        assert_eq!(root.child("name").unwrap().text_offset(), source.find("A &").unwrap());
        assert_eq!(root.children().map(|child| child.name()).collect::<Vec<_>>(), ["name", "p"]);
        assert_eq!(root.child("p").unwrap().attribute("x").unwrap().value, "y");
    }

    #[test]
    fn open_html_is_forgiven_and_other_open_elements_are_not() {
        let tree = Tree::parse("<o><d>one<br>two<p>three</d><e/></o>").unwrap();
        assert_eq!(tree.root().child("d").unwrap().content(), "one<br>two<p>three");
        assert_eq!(tree.unclosed.len(), 2);
        assert!(Tree::parse("<o><price>1<d>x</d></o>").is_err());
        assert!(Tree::parse("<o></x></o>").is_err());
        assert!(Tree::parse("<o a=1></o>").is_err());
    }

    #[test]
    fn depth_and_attributes_are_limited() {
        assert!(Tree::parse(&format!("{}{}", "<a>".repeat(100), "</a>".repeat(100))).is_err());
        let many = (0..300).map(|i| format!(" a{i}=''")).collect::<Vec<_>>().concat();
        assert!(Tree::parse(&format!("<o{many}/>")).is_err());
    }
}
