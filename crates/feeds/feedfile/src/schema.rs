//! Validates elements of Torg's own XML by the published schema.

mod extra;
mod sure;

pub(crate) use sure::is_surely_valid;

use crate::position::floor_boundary;
use crate::xml::Element;
use uppsala::XsdValidator;

/// The schema `torg-offers-1.xsd`.
pub const XSD: &str = include_str!("../schema/torg-offers-1.xsd");

#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) field: String,
    pub(crate) offset: usize,
    pub(crate) message: String,
}

/// Validates elements. Each thread has one.
pub(crate) struct Schema {
    validator: Option<XsdValidator>,
    problem: String,
}

impl Schema {
    /// Loads the built-in schema. If it cannot be read, every check reports that.
    pub(crate) fn offers() -> Self {
        let schema = extra::without_lengths(XSD);
        let built = uppsala::parse(&schema).and_then(|document| XsdValidator::from_schema(&document));
        match built {
            Ok(validator) => Self { validator: Some(validator), problem: String::new() },
            Err(error) => Self { validator: None, problem: error.to_string() },
        }
    }

    /// The violations of an `offer`, `shop` or `category` with this text.
    pub(crate) fn check(&self, source: &str, root: Element<'_, '_>) -> Vec<Violation> {
        let mut violations = self.validate(source);
        let mut more = extra::violations(root);
        more.retain(|one| violations.iter().all(|known| known.offset != one.offset));
        violations.append(&mut more);
        violations
    }

    fn validate(&self, source: &str) -> Vec<Violation> {
        let Some(validator) = &self.validator else {
            return vec![violation(0, format!("the schema cannot be read: {}", self.problem))];
        };
        let document = match uppsala::parse(source) {
            Ok(document) => document,
            Err(error) => return vec![not_well_formed(source, &error)],
        };
        let place = |line: Option<usize>, column: Option<usize>| {
            offset_of(source, line.unwrap_or(1), column.unwrap_or(1))
        };
        let found = validator.validate(&document).into_iter();
        found.map(|error| violation_at(source, place(error.line, error.column), error.message)).collect()
    }
}

fn violation(offset: usize, message: String) -> Violation {
    Violation { field: String::new(), offset, message }
}

/// Names the element at the offset.
fn violation_at(source: &str, offset: usize, message: String) -> Violation {
    let name = source.get(offset + 1..).unwrap_or_default();
    let end = name.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).unwrap_or(0);
    Violation { field: name[..end].chars().take(100).collect(), offset, message }
}

fn not_well_formed(source: &str, error: &uppsala::XmlError) -> Violation {
    let (message, line, column) = match error {
        uppsala::XmlError::WellFormedness(error) => (error.message.clone(), error.line, error.column),
        uppsala::XmlError::Parse(error) => (error.message.clone(), error.line, error.column),
        uppsala::XmlError::Namespace(error) => (error.message.clone(), error.line, error.column),
        other => (other.to_string(), 1, 1),
    };
    violation(offset_of(source, line, column), message)
}

/// The offset of a position whose column counts bytes.
fn offset_of(source: &str, line: usize, column: usize) -> usize {
    let start = if line <= 1 {
        0
    } else {
        memchr::memchr_iter(b'\n', source.as_bytes()).nth(line - 2).map_or(0, |end| end + 1)
    };
    floor_boundary(source, start + column.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Tree;

    fn check(schema: &Schema, source: &str) -> Vec<Violation> {
        schema.check(source, Tree::parse(source).unwrap().root())
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        let schema = Schema::offers();
        let offer = |title: &str| format!("<offer id='1'><title>{title}</title></offer>");
        assert!(check(&schema, &offer(&"ж".repeat(200))).is_empty());
        assert_eq!(check(&schema, &offer(&"ж".repeat(201))).len(), 1);
        assert!(check(&schema, &offer(&format!("a {}b", " ".repeat(300)))).is_empty());
    }

    #[test]
    fn a_sound_offer_passes_and_each_mistake_has_its_place() {
        let schema = Schema::offers();
        let sound =
            "<offer id='1'><price><fixed currency='EUR'>5.50</fixed></price><title>Пила</title></offer>";
        assert!(check(&schema, sound).is_empty(), "{:?}", check(&schema, sound));
        let wrong = "<offer id='1'>\n<title>Пила</title><colour>red</colour></offer>";
        let found = check(&schema, wrong);
        assert!(!found.is_empty());
        assert!(found.iter().any(|one| wrong[one.offset..].starts_with("<colour")), "{found:?}");
    }
}
