//! A window of UTF-8 text that slides over a file of any size.

use super::encoding::{by_declaration, by_mark, by_validity};
use super::guard::{reason, refused};
use crate::limits::{DAMAGED_MAX, DAMAGED_SHARE, ENCODING_PROBE_BYTES, READ_BYTES};
use crate::position::Position;
use crate::problem::Excerpt;
use crate::{Code, Problem};
use encoding_rs::{Decoder, Encoding, UTF_8};
use std::io::{self, Read};

enum Mode {
    /// Only ASCII so far.
    Undecided,
    Utf8,
    Other(Box<Decoder>),
    /// This is not text.
    Hopeless,
}

/// The text of a file from the current position, as far as it is read.
pub(crate) struct Text<'a> {
    bytes: Box<dyn Read + Send + 'a>,
    raw: Vec<u8>,
    raw_ended: bool,
    mode: Mode,
    declared: Option<&'static Encoding>,
    encoding: &'static Encoding,
    damaged: u64,
    decoded_bytes: u64,
    window: String,
    start: usize,
    position: Position,
    ended: bool,
    /// Returned after all text before it was taken.
    error: Option<io::Error>,
    warnings: Vec<Problem>,
}

impl<'a> Text<'a> {
    /// Reads the first bytes and detects the encoding.
    pub(crate) fn open(bytes: Box<dyn Read + Send + 'a>) -> Result<Self, Box<Problem>> {
        let mut text = Self {
            bytes,
            raw: Vec::new(),
            raw_ended: false,
            mode: Mode::Undecided,
            declared: None,
            encoding: UTF_8,
            damaged: 0,
            decoded_bytes: 0,
            window: String::new(),
            start: 0,
            position: Position::START,
            ended: false,
            error: None,
            warnings: Vec::new(),
        };
        text.look_at_the_head();
        match text.error.take() {
            Some(error) if text.raw.is_empty() => Err(text.fatal(&error)),
            error => Ok(Self { error, ..text }),
        }
    }

    fn look_at_the_head(&mut self) {
        self.read_raw(READ_BYTES);
        if let Some((encoding, mark)) = by_mark(&self.raw) {
            self.raw.drain(..mark);
            self.use_encoding(encoding);
        } else {
            self.declared = by_declaration(&self.raw);
            self.encoding = self.declared.unwrap_or(UTF_8);
        }
    }

    fn use_encoding(&mut self, encoding: &'static Encoding) {
        self.encoding = encoding;
        self.mode = if encoding == UTF_8 {
            Mode::Utf8
        } else {
            Mode::Other(Box::new(encoding.new_decoder_without_bom_handling()))
        };
    }

    pub(crate) fn window(&self) -> &str {
        &self.window[self.start..]
    }

    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// The position of an offset in the window.
    pub(crate) fn position_of(&self, offset: usize) -> Position {
        self.position.after(&self.window().as_bytes()[..offset])
    }

    /// Whether the window will get no more text.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    pub(crate) fn encoding(&self) -> &'static str {
        self.encoding.name()
    }

    pub(crate) fn take_warnings(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.warnings)
    }

    pub(crate) fn advance(&mut self, count: usize) {
        let passed = &self.window.as_bytes()[self.start..self.start + count];
        self.position = self.position.after(passed);
        self.start += count;
    }

    pub(crate) fn problem(&self, code: Code, offset: usize, message: impl Into<String>) -> Box<Problem> {
        let problem = Problem::of_file(code, self.position_of(offset), message);
        Box::new(problem.with_excerpt(Excerpt::of(self.window(), offset)))
    }

    /// Reads more into the window. At the end of the file [`Text::ended`] is true afterwards. Text
    /// before an error is returned first, the error by the next call.
    pub(crate) fn fill(&mut self) -> Result<(), Box<Problem>> {
        if self.start > self.window.len() / 2 {
            self.window.drain(..self.start);
            self.start = 0;
        }
        let before = self.window.len();
        while self.window.len() == before && !self.ended {
            self.read_raw(READ_BYTES);
            self.decode();
            if let Some(error) = self.error.as_ref().filter(|_| self.window.len() == before) {
                return Err(self.fatal(error));
            }
        }
        Ok(())
    }

    fn fatal(&self, error: &io::Error) -> Box<Problem> {
        let (code, message) = reason(error);
        self.problem(code, self.window().len(), message)
    }

    /// Reads until this many bytes are there, if the file has them; an error is returned later.
    fn read_raw(&mut self, wanted: usize) {
        if self.raw_ended || self.error.is_some() {
            return;
        }
        let missing = wanted.saturating_sub(self.raw.len()) as u64;
        match self.bytes.by_ref().take(missing).read_to_end(&mut self.raw) {
            Ok(read) => self.raw_ended = (read as u64) < missing,
            Err(error) => self.error = Some(error),
        }
    }

    fn decode(&mut self) {
        if matches!(self.mode, Mode::Undecided) {
            self.pass_ascii();
        }
        match self.mode {
            Mode::Undecided | Mode::Hopeless => {}
            Mode::Utf8 => self.pass_utf8(),
            Mode::Other(_) => self.pass_other(),
        }
        self.ended = self.raw_ended && self.raw.is_empty();
    }

    /// ASCII is the same in all encodings that remain; the first other byte decides.
    fn pass_ascii(&mut self) {
        let ascii = Encoding::ascii_valid_up_to(&self.raw);
        self.pass_valid(ascii);
        if self.raw.is_empty() {
            return;
        }
        self.read_raw(ENCODING_PROBE_BYTES);
        let encoding = by_validity(self.declared, &self.raw);
        if self.declared.is_some_and(|declared| declared != encoding) {
            let declared = self.declared.map_or("", Encoding::name);
            let message = format!(
                "the file declares {declared}, but its text is {} and is read as such",
                encoding.name()
            );
            let warning = self.problem(Code::WrongEncodingName, self.window().len(), message);
            self.warnings.push(*warning);
        }
        self.use_encoding(encoding);
    }

    fn pass_valid(&mut self, count: usize) {
        self.decoded_bytes += count as u64;
        self.window.push_str(std::str::from_utf8(&self.raw[..count]).unwrap_or_default());
        self.raw.drain(..count);
    }

    fn pass_utf8(&mut self) {
        loop {
            let (valid, wrong) = match std::str::from_utf8(&self.raw) {
                Ok(text) => {
                    self.window.push_str(text);
                    self.decoded_bytes += self.raw.len() as u64;
                    self.raw.clear();
                    return;
                }
                Err(error) => (error.valid_up_to(), error.error_len()),
            };
            self.pass_valid(valid);
            let wrong = match wrong {
                Some(wrong) => wrong,
                None if self.raw_ended && !self.raw.is_empty() => self.raw.len(),
                None => return,
            };
            self.raw.drain(..wrong);
            self.window.push(char::REPLACEMENT_CHARACTER);
            if self.is_hopeless() {
                self.mode = Mode::Hopeless;
                return;
            }
        }
    }

    /// Counts a damaged character; true if there are too many.
    fn is_hopeless(&mut self) -> bool {
        self.damaged += 1;
        let hopeless = self.damaged > DAMAGED_MAX && self.damaged > self.decoded_bytes / DAMAGED_SHARE;
        if hopeless {
            let name = self.encoding.name();
            let message = format!("{} damaged characters so far: this is not {name} text", self.damaged);
            self.error = Some(refused(Code::BadEncoding, message));
        }
        hopeless
    }

    fn pass_other(&mut self) {
        let Mode::Other(decoder) = &mut self.mode else { return };
        let room = decoder.max_utf8_buffer_length(self.raw.len()).unwrap_or(self.raw.len() * 3 + 16);
        self.window.reserve(room);
        let (_, read, _) = decoder.decode_to_string(&self.raw, &mut self.window, self.raw_ended);
        self.decoded_bytes += read as u64;
        self.raw.drain(..read);
    }
}
