//! Prints an error as two lines: what happened, and what to do.

use std::fmt;

use crate::{Colour, error_word};

/// An error with a hint. Travels inside `anyhow::Error` until [`report`] prints it.
#[derive(Debug)]
pub struct Advised {
    message: String,
    hint: String,
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Advised {}

/// Makes an error from what happened and what to do.
pub fn advised(message: impl fmt::Display, hint: impl Into<String>) -> anyhow::Error {
    Advised { message: message.to_string(), hint: hint.into() }.into()
}

/// The lines for stderr: `error: ...`, and `hint: ...` if the error has a hint.
pub fn report(error: &anyhow::Error) -> String {
    let (message, hint) = told(error);
    let mut text = format!("{}: {message}", error_word(Colour::Bad, "error"));
    if let Some(hint) = hint {
        text = format!("{text}\n{}: {hint}", error_word(Colour::Head, "hint"));
    }
    text
}

/// The error message on one line, and its hint if there is one.
pub fn told(error: &anyhow::Error) -> (String, Option<String>) {
    let chain: Vec<String> = error.chain().map(|cause| one_line(&cause.to_string())).collect();
    let advised = error.chain().find_map(|cause| cause.downcast_ref::<Advised>());
    (chain.join(": "), advised.map(|advised| one_line(&advised.hint)))
}

fn one_line(text: &str) -> String {
    text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_line_of_causes_and_one_line_of_advice() {
        let error = advised("port 80 is taken\n by another", "choose another port").context("cannot start");
        assert_eq!(
            report(&error),
            "error: cannot start: port 80 is taken; by another\nhint: choose another port"
        );
        assert_eq!(report(&anyhow::anyhow!("bare")), "error: bare");
    }
}
