//! Finds the root element.

use super::scan::{Kind, token};
use crate::input::Text;
use crate::limits::PROLOGUE_BYTES_MAX;
use crate::{Code, Problem};

/// The name of the root element. The text stays in the window.
pub(crate) fn root_name(text: &mut Text<'_>) -> Result<String, Box<Problem>> {
    let mut at = 0;
    loop {
        let found = if at < text.window().len() { token(text.window().as_bytes(), at) } else { None };
        match found {
            Some(found) => match found.kind {
                Kind::Start { name_end, .. } => return Ok(text.window()[at + 1..name_end].to_owned()),
                Kind::Doctype { subset: true } => {
                    let message = "the document type contains declarations";
                    return Err(text.problem(Code::ForbiddenDoctype, at, message));
                }
                Kind::Text | Kind::Comment | Kind::Instruction | Kind::Doctype { .. } => at = found.end,
                Kind::BareLess | Kind::CData | Kind::End { .. } => {
                    return Err(text.problem(Code::UnknownFormat, at, "this is not XML"));
                }
            },
            None if text.ended() => {
                let message = "the file ends before its first element";
                return Err(text.problem(Code::BrokenFile, text.window().len(), message));
            }
            None => {}
        }
        if at > PROLOGUE_BYTES_MAX || (found.is_none() && text.window().len() > 2 * PROLOGUE_BYTES_MAX) {
            return Err(text.problem(Code::UnknownFormat, 0, "there is no element in the first 64 kB"));
        }
        if found.is_none() {
            text.fill()?;
        }
    }
}
