//! Splits an XML stream into offers without parsing them, so that a broken offer affects no other.

use super::local;
use super::pass::{Next, element_end, next_token, pass_token, rest, tag_without_quotes};
use super::repair::repair;
use super::scan::{Kind, Token, token};
use super::tree::{Element, Tree};
use crate::Code;
use crate::input::Text;
use crate::limits::{DEPTH_MAX, OFFER_BYTES_MAX};
use crate::position::Position;
use crate::problem::Excerpt;
use crate::split::{Flaw, Sink, Stop};

pub(crate) struct Versioned<'s, 'a> {
    pub(crate) parent: &'s str,
    pub(crate) source: &'a str,
    pub(crate) at: Position,
}

pub(crate) struct Dialect {
    pub(crate) offer: &'static str,
    /// Whether an element belongs to the header, by the names of its parent and itself.
    pub(crate) is_header: fn(&str, &str) -> bool,
    pub(crate) read_header: fn(&mut Sink<'_>, &Versioned<'_, '_>, Element<'_, '_>),
    /// Checks an element that is neither: the names of its ancestors, and its start tag.
    pub(crate) other: fn(&mut Sink<'_>, &[String], Element<'_, '_>, Position),
    /// Text outside of offers and header is a problem.
    pub(crate) strict: bool,
}

/// Splits the text of a file from its root element on.
pub(crate) struct Splitter<'d> {
    dialect: &'d Dialect,
    open: Vec<String>,
    said_extra_text: bool,
}

impl<'d> Splitter<'d> {
    pub(crate) fn new(dialect: &'d Dialect) -> Self {
        Self { dialect, open: Vec::new(), said_extra_text: false }
    }

    /// Reads to the end of the root element and of the file.
    pub(crate) fn run(mut self, text: &mut Text<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let mut began = false;
        while !(began && self.open.is_empty()) {
            let token = match next_token(text)? {
                Next::Token(token) => token,
                Next::TooLong if self.begins_offer(text) => {
                    self.too_large(text, sink, self.dialect.offer, 0)?;
                    continue;
                }
                Next::TooLong => {
                    let message = "a tag or comment outside of the offers is not closed";
                    return Err(text.problem(Code::BrokenFile, 0, message).into());
                }
                Next::End => {
                    let inside = self.open.last().map_or("its head".to_owned(), |name| format!("<{name}>"));
                    let end = text.window().len();
                    return Err(text
                        .problem(Code::BrokenFile, end, format!("the file ends inside {inside}"))
                        .into());
                }
            };
            match token.kind {
                Kind::Start { name_end, closed, .. } => {
                    let name = text.window()[1..name_end].to_owned();
                    began = true;
                    self.start(text, sink, token, &name, closed)?;
                    if closed && self.open.is_empty() {
                        break;
                    }
                }
                Kind::End { name_end } => {
                    let name = text.window()[2..name_end].to_owned();
                    self.end(text, sink, &name);
                    text.advance(token.end);
                }
                Kind::Doctype { subset: true } => {
                    let message = "the document type contains declarations";
                    return Err(text.problem(Code::ForbiddenDoctype, 0, message).into());
                }
                Kind::Text | Kind::BareLess | Kind::CData => {
                    self.outside_text(text, sink, token);
                    text.advance(token.end);
                }
                Kind::Comment | Kind::Instruction | Kind::Doctype { .. } => text.advance(token.end),
            }
        }
        if self.dialect.strict && !sink.seen.iter().any(|name| name == "offers") {
            sink.problem(text.problem(Code::WrongHeader, 0, "there is no <offers>").into_error());
        }
        rest(text, sink)
    }

    fn begins_offer(&self, text: &Text<'_>) -> bool {
        let name = text.window().strip_prefix('<').and_then(|rest| rest.strip_prefix(self.dialect.offer));
        name.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_whitespace()))
    }

    fn start(
        &mut self,
        text: &mut Text<'_>,
        sink: &mut Sink<'_>,
        token: Token,
        name: &str,
        closed: bool,
    ) -> Result<(), Stop> {
        let parent = self.open.last().map_or("", |parent| local(parent));
        if !self.open.is_empty() && local(name) == self.dialect.offer {
            if self.dialect.strict && self.open.len() != 2 {
                let problem = text.problem(Code::WrongHeader, 0, "an offer is outside of <offers>");
                sink.problem(problem.into_error());
            }
            return self.offer(text, sink, name, token);
        }
        if (self.dialect.is_header)(parent, local(name))
            && let Some(end) = element_end(text, token, name, closed)?
        {
            self.header(text, sink, end);
            return Ok(());
        }
        if self.open.len() >= DEPTH_MAX {
            let message = format!("elements are nested more than {DEPTH_MAX} deep");
            return Err(text.problem(Code::TooDeep, 0, message).into());
        }
        self.look_at_other(text, sink, token, closed);
        if !closed {
            self.open.push(name.to_owned());
        }
        text.advance(token.end);
        Ok(())
    }

    fn look_at_other(&self, text: &Text<'_>, sink: &mut Sink<'_>, token: Token, closed: bool) {
        let tag = &text.window()[..token.end];
        let whole = if closed { tag.to_owned() } else { format!("{}/>", &tag[..tag.len() - 1]) };
        let repaired = repair(&whole, true);
        match Tree::parse(&repaired.text) {
            Ok(tree) => {
                let known = sink.problems.len();
                (self.dialect.other)(sink, &self.open, tree.root(), text.position());
                for problem in &mut sink.problems[known..] {
                    let offset = problem.at.offset_in(tag, text.position()).unwrap_or_default();
                    problem.excerpt = Excerpt::of(tag, offset);
                }
            }
            Err(error) => sink.problem(*text.problem(Code::WrongHeader, 0, error.message)),
        }
    }

    fn header(&self, text: &mut Text<'_>, sink: &mut Sink<'_>, end: usize) {
        let at = text.position();
        let source = &text.window()[..end];
        let repaired = repair(source, true);
        for (code, offset) in repaired.mended.iter().take(1) {
            sink.problem(*text.problem(
                *code,
                *offset,
                code.texts(crate::Language::English).meaning.trim_end_matches('.'),
            ));
        }
        let parent = self.open.last().map_or("", |parent| local(parent));
        match Tree::parse(&repaired.text) {
            Ok(tree) => {
                (self.dialect.read_header)(
                    sink,
                    &Versioned { parent, source: &repaired.text, at },
                    tree.root(),
                );
            }
            Err(error) => {
                let problem = text.problem(Code::WrongHeader, repaired.original(error.offset), error.message);
                sink.problem(if self.dialect.strict { problem.into_error() } else { *problem });
            }
        }
        text.advance(end);
    }

    fn end(&mut self, text: &Text<'_>, sink: &mut Sink<'_>, name: &str) {
        let depth = self.open.iter().rposition(|open| open == name);
        let message = match depth {
            Some(depth) if depth + 1 == self.open.len() => None,
            Some(depth) => Some(format!("<{}> is not closed before </{name}>", self.open[depth + 1])),
            None => Some(format!("</{name}> closes an element that was not opened")),
        };
        if let Some(depth) = depth {
            self.open.truncate(depth);
        }
        if let Some(message) = message {
            sink.problem(*text.problem(Code::UnclosedTag, 0, message));
        }
    }

    fn outside_text(&mut self, text: &Text<'_>, sink: &mut Sink<'_>, token: Token) {
        let piece = &text.window()[..token.end];
        if self.dialect.strict && !self.said_extra_text && !piece.trim().is_empty() {
            self.said_extra_text = true;
            let spaces = piece.len() - piece.trim_start().len();
            let problem = text.problem(Code::WrongHeader, spaces, "there is text between the elements");
            sink.problem(problem.into_error());
        }
    }

    /// Takes the offer whose start tag begins the window.
    fn offer(&self, text: &mut Text<'_>, sink: &mut Sink<'_>, name: &str, start: Token) -> Result<(), Stop> {
        let mut flaw = Flaw::None;
        let mut at = 0;
        let mut next = Some(start);
        loop {
            let Some(found) = next else {
                let too_large = text.window().len() > OFFER_BYTES_MAX;
                if (text.ended() || too_large)
                    && let Some(end) = tag_without_quotes(text.window(), at)
                {
                    flaw = Flaw::Broken(Code::BrokenOffer, "a quote is missing");
                    at = end;
                    next = token_at(text, at);
                    continue;
                }
                if text.ended() {
                    let message = format!("the file ends inside <{name}>");
                    return Err(text.problem(Code::BrokenFile, text.window().len(), message).into());
                }
                if too_large {
                    return self.too_large(text, sink, name, at);
                }
                text.fill()?;
                next = token_at(text, at);
                continue;
            };
            if found.end > OFFER_BYTES_MAX {
                return self.too_large(text, sink, name, at);
            }
            match self.judge(text, at, found, name) {
                Judgement::Inside(end, worse) => {
                    flaw = if worse == Flaw::None { flaw } else { worse };
                    at = end;
                }
                Judgement::Last(end) => {
                    sink.offer(&text.window()[..end], text.position(), flaw)?;
                    text.advance(end);
                    return Ok(());
                }
                Judgement::NotOurs => {
                    let flaw = Flaw::Broken(Code::BrokenOffer, "the offer is not closed");
                    sink.offer(&text.window()[..at], text.position(), flaw)?;
                    text.advance(at);
                    return Ok(());
                }
            }
            next = token_at(text, at);
        }
    }

    fn judge(&self, text: &Text<'_>, at: usize, found: Token, offer: &str) -> Judgement {
        let window = text.window();
        match found.kind {
            Kind::Start { closed: true, less_in_value: false, .. } if at == 0 => Judgement::Last(found.end),
            Kind::Start { name_end, less_in_value, .. } => {
                if at > 0 && &window[at + 1..name_end] == offer {
                    return Judgement::NotOurs;
                }
                if !less_in_value {
                    return Judgement::Inside(found.end, Flaw::None);
                }
                let tag = &window[at..found.end];
                let swallowed =
                    tag.contains(&format!("</{offer}>")) || tag[1..].contains(&format!("<{offer} "));
                if swallowed {
                    let end = at + tag.find('>').map_or(tag.len(), |end| end + 1);
                    return Judgement::Inside(end, Flaw::Broken(Code::BrokenOffer, "a quote is missing"));
                }
                Judgement::Inside(found.end, Flaw::BareLess)
            }
            Kind::End { name_end } => {
                let name = &window[at + 2..name_end];
                if name == offer {
                    Judgement::Last(found.end)
                } else if self.open.iter().any(|open| open == name) {
                    Judgement::NotOurs
                } else {
                    Judgement::Inside(found.end, Flaw::None)
                }
            }
            Kind::BareLess => Judgement::Inside(found.end, Flaw::BareLess),
            Kind::Doctype { .. } => Judgement::Inside(
                found.end,
                Flaw::Broken(Code::BrokenOffer, "there is a document type inside"),
            ),
            Kind::Text | Kind::Comment | Kind::CData | Kind::Instruction => {
                Judgement::Inside(found.end, Flaw::None)
            }
        }
    }

    /// Skips an offer in bounded memory; its tokens up to `at` were read.
    fn too_large(&self, text: &mut Text<'_>, sink: &mut Sink<'_>, name: &str, at: usize) -> Result<(), Stop> {
        sink.too_large(text, "the offer is larger than 1 MB")?;
        text.advance(at);
        loop {
            if text.window().is_empty() {
                if text.ended() {
                    let message = format!("the file ends inside <{name}>");
                    return Err(text.problem(Code::BrokenFile, 0, message).into());
                }
                text.fill()?;
                continue;
            }
            match token(text.window().as_bytes(), 0) {
                Some(found) => match self.judge(text, 0, found, name) {
                    Judgement::Last(end) if matches!(found.kind, Kind::End { .. }) => {
                        text.advance(end);
                        return Ok(());
                    }
                    Judgement::NotOurs => return Ok(()),
                    Judgement::Inside(..) | Judgement::Last(_) => text.advance(found.end),
                },
                None if text.window().len() > OFFER_BYTES_MAX => pass_token(text)?,
                None if text.ended() => text.advance(text.window().len()),
                None => text.fill()?,
            }
        }
    }
}

fn token_at(text: &Text<'_>, at: usize) -> Option<Token> {
    let window = text.window().as_bytes();
    if at < window.len() { token(window, at) } else { None }
}

enum Judgement {
    /// Part of the offer, up to this offset.
    Inside(usize, Flaw),
    Last(usize),
    /// Part of the parent of the offer: the offer is not closed.
    NotOurs,
}
