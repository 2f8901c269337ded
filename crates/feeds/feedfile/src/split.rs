//! The output of the splitters: pieces of text in batches.

use crate::header::Header;
use crate::input::Text;
use crate::limits::{BATCH_BYTES, BATCH_OFFERS, FILE_PROBLEMS_MAX, KEPT_BYTES};
use crate::position::{Position, floor_boundary};
use crate::{Code, Problem};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) enum Stop {
    Broken(Box<Problem>),
    /// The caller wants no more.
    Unwanted,
}

impl From<Box<Problem>> for Stop {
    fn from(problem: Box<Problem>) -> Self {
        Self::Broken(problem)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// It has an unescaped `<`.
    BareLess,
    Broken(Code, &'static str),
}

#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) at: Position,
    pub(crate) flaw: Flaw,
}

#[derive(Debug)]
pub(crate) struct RawBatch {
    pub(crate) text: String,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) header: Arc<Header>,
}

pub(crate) struct Sink<'s> {
    /// Changes after the first batch do not reach later batches.
    pub(crate) header: Header,
    pub(crate) problems: Vec<Problem>,
    pub(crate) offers: u64,
    /// Names of elements that a dialect has to remember.
    pub(crate) seen: Vec<String>,
    offers_max: u64,
    shared: Option<Arc<Header>>,
    text: String,
    pieces: Vec<Piece>,
    send: Box<dyn FnMut(RawBatch) -> Result<(), Stop> + 's>,
}

impl<'s> Sink<'s> {
    pub(crate) fn new(offers_max: u64, send: impl FnMut(RawBatch) -> Result<(), Stop> + 's) -> Self {
        Self {
            header: Header::default(),
            problems: Vec::new(),
            offers: 0,
            seen: Vec::new(),
            offers_max,
            shared: None,
            text: String::new(),
            pieces: Vec::new(),
            send: Box::new(send),
        }
    }

    pub(crate) fn offer(&mut self, text: &str, at: Position, flaw: Flaw) -> Result<(), Stop> {
        self.offers += 1;
        if self.offers > self.offers_max {
            let message = format!("more than {} offers", self.offers_max);
            return Err(Box::new(Problem::of_file(Code::TooLarge, at, message)).into());
        }
        let start = self.text.len();
        self.text.push_str(text);
        self.pieces.push(Piece { start, end: self.text.len(), at, flaw });
        if self.text.len() >= BATCH_BYTES || self.pieces.len() >= BATCH_OFFERS {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Adds the beginning of the offer at the start of the window, which is too large to be read.
    pub(crate) fn too_large(&mut self, text: &Text<'_>, message: &'static str) -> Result<(), Stop> {
        let window = text.window();
        let flaw = Flaw::Broken(Code::OfferTooLarge, message);
        self.offer(&window[..floor_boundary(window, KEPT_BYTES)], text.position(), flaw)
    }

    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        if self.pieces.is_empty() {
            return Ok(());
        }
        let header = Arc::clone(self.shared.get_or_insert_with(|| {
            self.header.resolve();
            Arc::new(self.header.clone())
        }));
        let text = std::mem::replace(&mut self.text, String::with_capacity(BATCH_BYTES + BATCH_BYTES / 4));
        (self.send)(RawBatch { text, pieces: std::mem::take(&mut self.pieces), header })
    }

    /// Whether the header was sent: later additions are too late.
    pub(crate) fn is_late(&self) -> bool {
        self.offers > 0
    }

    pub(crate) fn problem(&mut self, problem: Problem) {
        if self.problems.len() < FILE_PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }
}
