//! Single conditions.

use super::fields::Fields;
use super::scalar;
use crate::keywords::{CHUNKS, Condition, Form, keys_of};
use crate::limits::{CHUNKS_MAX, DURATION_MAX};
use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use crate::suggest;
use crate::yaml::{Kind, Node};
use jiff::SignedDuration;
use triggers::limits::DAY_MINUTES;
use triggers::{Amount, Check, Leaf, Parameter, Scale, parse_duration};

/// Reads the value of a condition; `key` is the location of its name.
pub(super) fn read(notes: &mut Notes, condition: Condition, key: Location, node: &Node<'_>) -> Option<Leaf> {
    let (name, form, _) = condition;
    let what = format!("`{name}`");
    if let (Kind::Scalar { .. }, Form::New(Some(scale)) | Form::This(Some(scale))) = (&node.kind, form) {
        if node.is_null() {
            let message = format!("{what} does not say of which parameter");
            return notes.refuse(Code::MissingKey, key, message, example(name, form));
        }
        let of = scalar::parameter(notes, node, &what)?;
        let check = match form {
            Form::New(_) => Check::ChunkDelta { scale, by: None },
            _ => Check::ChunkDelay { scale, within: None },
        };
        return Some(Leaf { of, check });
    }
    if matches!(node.kind, Kind::Scalar { .. } | Kind::List(_)) {
        let message = format!("{what} needs a mapping, not {}", node.what());
        return notes.refuse(Code::WrongType, node.place, message, example(name, form));
    }
    let fields = Fields::of(notes, node, &what, keys_of(form))?;
    let mut reader = Reader { notes, fields, name, form, key };
    // Reads all parts before returning, so that each is checked.
    let of = reader.parameter("of");
    let check = reader.check();
    let (of, check) = (of?, check?);
    if let Check::RefDelay { with, .. } | Check::ChunkRefDelay { with, .. } = &check
        && *with == of
    {
        let message = format!("{what} compares `{of}` with itself");
        return notes.refuse(Code::Conflict, key, message, "name another parameter behind `with`");
    }
    Some(Leaf { of, check })
}

/// The problem has been noted.
struct Noted;

struct Reader<'r, 'n, 't> {
    notes: &'r mut Notes,
    fields: Fields<'n, 't>,
    name: &'static str,
    form: Form,
    key: Location,
}

impl<'n, 't> Reader<'_, 'n, 't> {
    fn check(&mut self) -> Option<Check> {
        match self.form {
            Form::Grew => {
                let by = self.need("by").and_then(|node| self.growth(node));
                Some(Check::Delta { by: by? })
            }
            Form::Fresh => {
                let node = self.need("within")?;
                let within = scalar::duration(self.notes, node, "`within`", DURATION_MAX);
                Some(Check::Delay { within: within? })
            }
            Form::CaughtUp => {
                let with = self.parameter("with");
                let node = self.need("within")?;
                let within = scalar::amount(self.notes, node, "`within`");
                Some(Check::RefDelay { with: with?, within: within? })
            }
            Form::New(scale) => {
                let (scale, by) = (self.scale(scale), self.count("by", 1));
                // One chunk later is the default: it has one representation.
                Some(Check::ChunkDelta { scale: scale?, by: by.ok()?.filter(|by| *by > 1) })
            }
            Form::This(scale) => {
                let (scale, within) = (self.scale(scale), self.count("within", 0));
                Some(Check::ChunkDelay { scale: scale?, within: within.ok()? })
            }
            Form::Same(scale) => {
                let with = self.parameter("with");
                let (scale, within) = (self.scale(scale), self.count("within", 0));
                Some(Check::ChunkRefDelay { with: with?, scale: scale?, within: within.ok()? })
            }
        }
    }

    fn need(&mut self, key: &str) -> Option<&'n Node<'t>> {
        let what = format!("`{}`", self.name);
        self.fields.need(self.notes, key, self.key, &what, &example(self.name, self.form))
    }

    fn parameter(&mut self, key: &str) -> Option<Parameter> {
        let node = self.need(key)?;
        scalar::parameter(self.notes, node, &format!("`{key}`"))
    }

    fn growth(&mut self, node: &Node<'_>) -> Option<Amount> {
        if let Some(chunks) = in_chunks(node) {
            let message = "`grew` compares exact times, and knows no calendar";
            return self.notes.refuse(Code::BadDuration, node.place, message, chunks);
        }
        let by = scalar::amount(self.notes, node, "`by`")?;
        if matches!(by, Amount::Number(0)) || matches!(by, Amount::Time(time) if time.is_zero()) {
            let message = "`by` must be more than nothing: the task would run again and again";
            return self.notes.refuse(
                Code::BadNumber,
                node.place,
                message,
                "write for example `by: 6h` or `by: 1`",
            );
        }
        Some(by)
    }

    fn count(&mut self, key: &str, least: i64) -> Result<Option<u32>, Noted> {
        let Some(node) = self.fields.get(key) else { return Ok(None) };
        let is_duration = node.as_text().is_some_and(|text| parse_duration(text).is_ok());
        if is_duration {
            let message = format!("`{key}` counts whole chunks in `{}`, and is no duration", self.name);
            let exact = match self.form {
                Form::New(_) => "grew",
                Form::This(_) => "fresh",
                _ => "caught_up",
            };
            let remedy = format!("write a number, such as `{key}: 2`; `{exact}` compares durations");
            self.notes.error(Code::WrongType, node.place, message).remedy(remedy);
            return Err(Noted);
        }
        let count = scalar::integer(self.notes, node, &format!("`{key}`"), least..=CHUNKS_MAX);
        count.map(|count| u32::try_from(count).ok()).ok_or(Noted)
    }

    fn scale(&mut self, named: Option<Scale>) -> Option<Scale> {
        if named.is_some() {
            return named;
        }
        let node = self.need("chunk")?;
        chunk(self.notes, node)
    }
}

/// Recognizes `2 days`, by which authors mean calendar days.
fn in_chunks(node: &Node<'_>) -> Option<String> {
    let (number, unit) = node.as_text()?.split_once(' ')?;
    let unit = unit.trim().trim_end_matches('s');
    let known = CHUNKS.iter().any(|(name, scale)| *name == unit && *scale != Scale::Hour);
    number.parse::<u32>().ok().filter(|_| known)?;
    let exact = match unit {
        "day" => format!(", or `by: {number}d` for exact days of 24 hours"),
        "week" => format!(", or `by: {number}w` for exact weeks of 168 hours"),
        _ => String::new(),
    };
    Some(format!("for {unit}s of the calendar write `new_{unit}: {{of: ..., by: {number}}}`{exact}"))
}

fn chunk(notes: &mut Notes, node: &Node<'_>) -> Option<Scale> {
    let names = || CHUNKS.iter().map(|(name, _)| *name);
    let text = scalar::line(notes, node, "`chunk`", 64)?;
    if let Some((_, scale)) = CHUNKS.iter().find(|(name, _)| *name == text) {
        return Some(*scale);
    }
    let Ok(duration) = parse_duration(text) else {
        let message = format!("`chunk` is `{}`, which is no size of a chunk", crate::quote(text));
        let remedy = match suggest::meant(text.trim_end_matches('s'), names()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("{}, or minutes such as `30m`", suggest::list(names(), "chunks")),
        };
        return notes.refuse(Code::BadChunk, node.place, message, remedy);
    };
    let seconds = duration.as_secs();
    let minutes =
        u16::try_from(seconds / 60).ok().filter(|_| seconds % 60 == 0 && duration.subsec_nanos() == 0);
    match minutes {
        Some(60) => Some(Scale::Hour),
        Some(minutes) if minutes > 0 && minutes < DAY_MINUTES && DAY_MINUTES.is_multiple_of(minutes) => {
            Some(Scale::Minutes(minutes))
        }
        minutes => {
            let message = format!("chunks of `{}` do not divide a day", crate::quote(text));
            notes.refuse(Code::BadChunk, node.place, message, chunk_remedy(duration, minutes))
        }
    }
}

fn chunk_remedy(duration: SignedDuration, minutes: Option<u16>) -> String {
    if duration >= SignedDuration::from_hours(24) {
        return "days and more are chunks of the calendar: write `day`, `week`, `month` or `year`".to_owned();
    }
    let minutes = minutes.unwrap_or(1);
    let divides = |n: &u16| DAY_MINUTES.is_multiple_of(*n);
    let below = (1..minutes).rev().find(divides);
    let above = (minutes + 1..DAY_MINUTES).find(divides);
    let near: Vec<String> = [below, above].into_iter().flatten().map(|n| format!("`{n}m`")).collect();
    if near.is_empty() {
        "write `hour`, or minutes such as `30m`".to_owned()
    } else {
        format!("take {}", near.join(" or "))
    }
}

pub(super) fn example(name: &str, form: Form) -> String {
    let example = match form {
        Form::Grew => "{of: sales.loaded_to, by: 6h}",
        Form::Fresh => "{of: sales.loaded_to, within: 3h}",
        Form::CaughtUp => "{of: sales.loaded_to, with: orders.loaded_to, within: 1h}",
        Form::New(Some(_)) | Form::This(Some(_)) => "sales.loaded_to",
        Form::New(None) | Form::This(None) => "{of: sales.loaded_to, chunk: 30m}",
        Form::Same(Some(_)) => "{of: sales.loaded_to, with: orders.loaded_to}",
        Form::Same(None) => "{of: sales.loaded_to, with: orders.loaded_to, chunk: 30m}",
    };
    format!("write for example `{name}: {example}`")
}
