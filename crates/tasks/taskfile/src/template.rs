//! Texts with variables, whose values are secrets: resolved only when a run starts, and never
//! shown.

use std::fmt;

/// A text in which `${NAME}` stands for an environment variable and `$$` for a `$`. It knows names,
/// never values: printing it prints the names.
#[derive(Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, PartialEq, Eq)]
enum Piece {
    Plain(String),
    Variable(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("a `$` stands alone")]
    LoneDollar,
    #[error("a `${{` is not closed")]
    Open,
    #[error("`{0}` is no name of a variable")]
    Name(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the variable {0} is not set in the environment of Torg: set it, and restart")]
pub struct MissingVariable(pub String);

/// A text that may contain secrets: it prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// For the run, and nothing else.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some((before, after)) = rest.split_once('$') {
            plain.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                plain.push('$');
                rest = after;
                continue;
            }
            let inside = after.strip_prefix('{').ok_or(TemplateError::LoneDollar)?;
            let (name, after) = inside.split_once('}').ok_or(TemplateError::Open)?;
            if !is_variable(name) {
                return Err(TemplateError::Name(crate::quote(name)));
            }
            if !plain.is_empty() {
                pieces.push(Piece::Plain(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Variable(name.to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Plain(plain));
        }
        Ok(Self { pieces })
    }

    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable(name) => Some(name.as_str()),
            Piece::Plain(_) => None,
        })
    }

    pub fn resolve(&self, value: impl Fn(&str) -> Option<String>) -> Result<Secret, MissingVariable> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Plain(text) => out.push_str(text),
                Piece::Variable(name) => {
                    out.push_str(&value(name).ok_or_else(|| MissingVariable(name.clone()))?);
                }
            }
        }
        Ok(Secret(out))
    }

    /// How it may be shown beside its name: a secret that is written into the file is hidden.
    #[must_use]
    pub fn shown(&self, name: &str) -> String {
        if self.is_written_secret(name) { "***".to_owned() } else { self.to_string() }
    }

    /// Whether the name suggests a secret and the value has no variable.
    pub(crate) fn is_written_secret(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let secret = [
            "authorization",
            "cookie",
            "token",
            "secret",
            "password",
            "passwd",
            "api_key",
            "api-key",
            "apikey",
            "private_key",
        ];
        !self.pieces.is_empty()
            && self.variables().next().is_none()
            && secret.iter().any(|part| name.contains(part))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Plain(text) => out.write_str(&text.replace('$', "$$"))?,
                Piece::Variable(name) => write!(out, "${{{name}}}")?,
            }
        }
        Ok(())
    }
}

/// Shows variable names only, because any plain text may be a secret.
impl fmt::Debug for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Template(")?;
        for piece in &self.pieces {
            match piece {
                Piece::Plain(_) => out.write_str("***")?,
                Piece::Variable(name) => write!(out, "${{{name}}}")?,
            }
        }
        out.write_str(")")
    }
}

pub(crate) fn is_variable(name: &str) -> bool {
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_shown_nowhere() {
        let template = Template::parse("Bearer ${TOKEN} costs $$5").unwrap();
        let secret = template.resolve(|name| (name == "TOKEN").then(|| "s3cr3t".to_owned())).unwrap();
        assert_eq!(secret.reveal(), "Bearer s3cr3t costs $5");
        assert_eq!(format!("{secret:?}"), "***");
        assert_eq!(template.to_string(), "Bearer ${TOKEN} costs $$5");
        assert_eq!(format!("{template:?}"), "Template(***${TOKEN}***)");
        assert_eq!(template.resolve(|_| None), Err(MissingVariable("TOKEN".into())));
    }

    #[test]
    fn what_is_no_template_is_refused() {
        assert_eq!(Template::parse("$HOME"), Err(TemplateError::LoneDollar));
        assert_eq!(Template::parse("${HOME"), Err(TemplateError::Open));
        assert_eq!(Template::parse("${}"), Err(TemplateError::Name(String::new())));
        assert_eq!(Template::parse("${A B}"), Err(TemplateError::Name("A B".into())));
    }

    #[test]
    fn a_secret_that_is_written_down_is_not_shown() {
        let written = Template::parse("Bearer abc").unwrap();
        assert_eq!(written.shown("Authorization"), "***");
        assert_eq!(written.shown("greeting"), "Bearer abc");
        assert_eq!(Template::parse("${T}").unwrap().shown("authorization"), "${T}");
    }
}
