//! The YAML of task files: a tree with locations, without anchors, tags and second documents.
//! Entries are built one by one, so that memory does not grow with the file.

mod node;
mod syntax;

pub(crate) use node::{Kind, Node};

use crate::limits::{DEPTH_MAX, ENTRY_NODES_MAX, NODES_MAX};
use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};
use std::collections::BTreeMap;

/// The file cannot be read further; the reason has been noted.
#[derive(Debug)]
pub(crate) struct Broken;

type Result<T> = std::result::Result<T, Broken>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// Build it and pass it on.
    Whole,
    /// It is a mapping: build its entries and pass them on one by one.
    Entries,
    /// Skip it.
    Nothing,
}

pub(crate) trait Visitor<'t> {
    /// What to do with the entry of this name.
    fn want(&self, key: &str) -> Want;
    fn whole(&mut self, notes: &mut Notes, key: &Node<'t>, value: Node<'t>);
    /// One of the entries of a [`Want::Entries`] mapping.
    fn entry(&mut self, notes: &mut Notes, key: &Node<'t>, value: Node<'t>);
}

/// Walks through a file once. Problems of the whole file are noted unless this is done `again`.
pub(crate) fn walk<'t>(
    file: u32,
    text: &'t str,
    again: bool,
    notes: &mut Notes,
    visitor: &mut impl Visitor<'t>,
) -> Result<()> {
    let parser = Parser::new_from_str(text);
    Walk { parser, file, text, again, notes, nodes: 0, entry: 0 }.document(visitor)
}

struct Walk<'t, 'n> {
    parser: Parser<'t, StrInput<'t>>,
    file: u32,
    text: &'t str,
    again: bool,
    notes: &'n mut Notes,
    nodes: usize,
    entry: usize,
}

impl<'t> Walk<'t, '_> {
    fn document(&mut self, visitor: &mut impl Visitor<'t>) -> Result<()> {
        loop {
            let (event, span) = self.event()?;
            match event {
                Event::StreamEnd => return Ok(()),
                Event::MappingStart(..) => break,
                Event::Scalar(text, ..) if text.is_empty() => {}
                Event::Scalar(..) | Event::SequenceStart(..) => {
                    let glued = matches!(event, Event::Scalar(text, ..) if text.contains(':'));
                    let remedy = if glued { "put a space behind every `:`" } else { "begin with `tasks:`" };
                    let message = "a task file is a mapping with the key `tasks`";
                    return Err(self.broken(Code::WrongType, span, message, remedy));
                }
                _ => {}
            }
        }
        self.top(visitor)?;
        loop {
            let (event, span) = self.event()?;
            match event {
                Event::StreamEnd => return Ok(()),
                Event::DocumentStart(_) => {
                    let remedy = "a file holds one document: put the other into a file of its own";
                    return Err(self.broken(Code::NotUsed, span, "a second document begins here", remedy));
                }
                _ => {}
            }
        }
    }

    fn top(&mut self, visitor: &mut impl Visitor<'t>) -> Result<()> {
        let mut seen = BTreeMap::new();
        while let Some(key) = self.key(&mut seen, self.again)? {
            self.entry = 0;
            match key.as_text().map_or(Want::Whole, |key| visitor.want(key)) {
                Want::Nothing => self.pass_over()?,
                Want::Whole => {
                    let value = self.node(1)?;
                    if let Some(value) = value {
                        visitor.whole(self.notes, &key, value);
                    }
                }
                Want::Entries => self.entries(&key, visitor)?,
            }
        }
        Ok(())
    }

    fn entries(&mut self, key: &Node<'t>, visitor: &mut impl Visitor<'t>) -> Result<()> {
        let (event, span) = self.event()?;
        match event {
            Event::MappingStart(..) => {}
            Event::Scalar(text, style, ..) if is_null(&text, style) => return Ok(()),
            event => {
                let name = key.as_text().unwrap_or_default();
                let place = self.place(span);
                let what = if matches!(event, Event::SequenceStart(..)) { "a list" } else { "a text" };
                self.notes
                    .error(Code::WrongType, place, format!("`{name}` is {what}; it must be a mapping"))
                    .remedy("write each by its name: `sales_report:`, and below it, indented, what it is");
                return if what == "a list" { self.rest_of(1) } else { Ok(()) };
            }
        }
        let mut seen = BTreeMap::new();
        while let Some(key) = self.key(&mut seen, false)? {
            self.entry = 0;
            if let Some(value) = self.node(2)? {
                visitor.entry(self.notes, &key, value);
            }
        }
        Ok(())
    }

    /// The next key of a mapping; none at its end. Skips a duplicate key with its value, and notes
    /// it unless it is `known`.
    fn key(&mut self, seen: &mut BTreeMap<String, Location>, known: bool) -> Result<Option<Node<'t>>> {
        loop {
            let (event, span) = self.event()?;
            let place = self.place(span);
            match event {
                Event::MappingEnd => return Ok(None),
                Event::Scalar(text, style, ..) => {
                    if let Some(first) = seen.get(text.as_ref()) {
                        if known {
                            self.pass_over()?;
                            continue;
                        }
                        let message = format!("`{}` occurs for the second time", crate::quote(&text));
                        self.notes
                            .error(Code::DuplicateKey, place, message)
                            .related(*first, "the first one is here")
                            .remedy("remove or rename one of the two");
                        self.pass_over()?;
                        continue;
                    }
                    seen.insert(text.clone().into_owned(), place);
                    return Ok(Some(Node { place, kind: Kind::Scalar { text, style } }));
                }
                _ => {
                    if !known {
                        self.notes.error(Code::NotUsed, place, "this key is a list or a mapping").remedy(
                            "keys are plain text; a text that begins with `[`, `{` or `?` needs quotes around it",
                        );
                    }
                    return Err(Broken);
                }
            }
        }
    }

    fn node(&mut self, depth: usize) -> Result<Option<Node<'t>>> {
        let (event, span) = self.event()?;
        let place = self.place(span);
        self.entry += 1;
        if self.entry > ENTRY_NODES_MAX {
            let message = format!("this entry has more than {ENTRY_NODES_MAX} values");
            self.notes.error(Code::TooLarge, place, message).remedy("split it");
            return Err(Broken);
        }
        if depth > DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} lists and mappings are nested here");
            self.notes.error(Code::TooLarge, place, message).remedy("nothing in a task file is so deep");
            return Err(Broken);
        }
        let kind = match event {
            Event::Scalar(text, style, ..) => Kind::Scalar { text, style },
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                while let Some(item) = self.node(depth + 1)? {
                    items.push(item);
                }
                Kind::List(items)
            }
            Event::MappingStart(..) => {
                let (mut entries, mut seen) = (Vec::new(), BTreeMap::new());
                while let Some(key) = self.key(&mut seen, false)? {
                    if let Some(value) = self.node(depth + 1)? {
                        entries.push((key, value));
                    }
                }
                Kind::Map(entries)
            }
            _ => return Ok(None),
        };
        Ok(Some(Node { place, kind }))
    }

    fn pass_over(&mut self) -> Result<()> {
        match self.event()?.0 {
            Event::MappingStart(..) | Event::SequenceStart(..) => self.rest_of(1),
            _ => Ok(()),
        }
    }

    /// Skips the rest of this many lists and mappings.
    fn rest_of(&mut self, mut open: usize) -> Result<()> {
        while open > 0 {
            match self.event()?.0 {
                Event::MappingStart(..) | Event::SequenceStart(..) => open += 1,
                Event::MappingEnd | Event::SequenceEnd => open -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn event(&mut self) -> Result<(Event<'t>, Span)> {
        let (event, span) = match self.parser.next_event() {
            Some(Ok(event)) => event,
            Some(Err(error)) => {
                if !self.again {
                    syntax::note(self.notes, self.file, self.text, &error);
                }
                return Err(Broken);
            }
            None => return Err(Broken),
        };
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let message = format!("the file has more than {NODES_MAX} values");
            return Err(self.broken(Code::TooLarge, span, &message, "split it into several files"));
        }
        let (anchor, tag) = match &event {
            Event::Alias(_) => (true, false),
            Event::Scalar(_, _, anchor, tag)
            | Event::SequenceStart(anchor, tag)
            | Event::MappingStart(anchor, tag) => (*anchor > 0, tag.is_some()),
            _ => (false, false),
        };
        if anchor {
            let message = "anchors (`&name`) and aliases (`*name`) are not used in task files";
            let remedy = "say what tasks share under `defaults`, and conditions that repeat under `shorthands`; \
                          a text that begins with `&` or `*` needs quotes";
            return Err(self.broken(Code::NotUsed, span, message, remedy));
        }
        if tag {
            let message = "tags (`!name`) are not used in task files";
            let remedy = "remove it; a text that begins with `!` needs quotes";
            return Err(self.broken(Code::NotUsed, span, message, remedy));
        }
        Ok((event, span))
    }

    fn broken(&mut self, code: Code, span: Span, message: &str, remedy: &str) -> Broken {
        if !self.again {
            let place = self.place(span);
            self.notes.error(code, place, message).remedy(remedy);
        }
        Broken
    }

    fn place(&self, span: Span) -> Location {
        let (start, end) = (span.start, span.end);
        let width = if start.line() == end.line() { end.col().saturating_sub(start.col()).max(1) } else { 1 };
        let place = Location::new(self.file, start.line() as u32, start.col() as u32 + 1);
        Location { width: width as u32, ..place }
    }
}

pub(crate) fn is_null(text: &str, style: ScalarStyle) -> bool {
    style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL")
}
