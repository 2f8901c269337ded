//! Types of attribute values, and how categories narrow them.

use crate::decimal::Decimal;
use crate::declared::{BoundsSource, Scalar, TypeName};
use crate::error::{At, Problems};
use crate::value::Date;

/// The default length limit of a text attribute.
const TEXT_CHARS_DEFAULT: u32 = 200;
const TEXT_CHARS_MOST: u32 = 10_000;
const SCALE_DEFAULT: u8 = 2;

/// The type of an attribute's values with inclusive bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Text {
        min_length: u32,
        max_length: u32,
        /// The only allowed characters, if restricted.
        characters: Option<Box<str>>,
    },
    Whole {
        min: i64,
        max: i64,
    },
    Decimal {
        scale: u8,
        min: Option<Decimal>,
        max: Option<Decimal>,
    },
    YesNo,
    Date {
        min: Date,
        max: Date,
    },
    One,
    Several {
        max_values: u16,
    },
}

impl Kind {
    /// The name in catalogue files: `text`, `whole`, `decimal`, `yes-no`, `date`, `one`, `several`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_of().as_str()
    }

    /// Whether its values are ids of choices.
    #[must_use]
    pub fn chooses(&self) -> bool {
        matches!(self, Self::One | Self::Several { .. })
    }

    pub(crate) fn type_of(&self) -> TypeName {
        match self {
            Self::Text { .. } => TypeName::Text,
            Self::Whole { .. } => TypeName::Whole,
            Self::Decimal { .. } => TypeName::Decimal,
            Self::YesNo => TypeName::YesNo,
            Self::Date { .. } => TypeName::Date,
            Self::One => TypeName::One,
            Self::Several { .. } => TypeName::Several,
        }
    }

    /// The kind of an attribute as declared in its file.
    pub(crate) fn declared(
        type_name: TypeName,
        bounds: &BoundsSource,
        choices: usize,
        problems: &mut Problems,
    ) -> Self {
        let mut kind = match type_name {
            TypeName::Text => Self::Text {
                min_length: 1,
                max_length: TEXT_CHARS_MOST,
                characters: bounds.characters.as_ref().map(|(set, _)| set.clone()),
            },
            TypeName::Whole => Self::Whole { min: i64::MIN, max: i64::MAX },
            TypeName::Decimal => {
                let scale = bounds.scale.map_or(SCALE_DEFAULT, |(scale, _)| scale);
                Self::Decimal { scale, min: None, max: None }
            }
            TypeName::YesNo => Self::YesNo,
            TypeName::Date => Self::Date { min: Date::MIN, max: Date::MAX },
            TypeName::One => Self::One,
            TypeName::Several => Self::Several { max_values: choices.min(usize::from(u16::MAX)) as u16 },
        };
        if let (Some((_, at)), false) = (&bounds.characters, type_name == TypeName::Text) {
            not_applicable(problems, *at, "characters", type_name);
        }
        if let (Some((_, at)), false) = (bounds.scale, type_name == TypeName::Decimal) {
            not_applicable(problems, at, "scale", type_name);
        }
        kind.narrow(bounds, problems);
        if let (Self::Text { max_length, .. }, None) = (&mut kind, bounds.length) {
            *max_length = TEXT_CHARS_DEFAULT;
        }
        kind
    }

    /// Narrows by `bounds`. Bounds that widen or do not fit the type are problems and change
    /// nothing.
    pub(crate) fn narrow(&mut self, bounds: &BoundsSource, problems: &mut Problems) {
        if let Some((value, at)) = bounds.min {
            self.narrow_end(value, at, true, problems);
        }
        if let Some((value, at)) = bounds.max {
            self.narrow_end(value, at, false, problems);
        }
        if let Some((least, most, at)) = bounds.length {
            match self {
                Self::Text { min_length, max_length, .. }
                    if least.max(1) >= *min_length && most <= *max_length =>
                {
                    (*min_length, *max_length) = (least.max(1), most);
                }
                Self::Text { min_length, max_length, .. } => {
                    widens(problems, at, "length", &format!("from {min_length} to {max_length}"));
                }
                _ => not_applicable(problems, at, "length", self.type_of()),
            }
        }
        if let Some((count, at)) = bounds.max_values {
            match self {
                Self::Several { max_values } if count <= *max_values => *max_values = count,
                Self::Several { max_values } => {
                    widens(problems, at, "max-values", &format!("up to {max_values}"));
                }
                _ => not_applicable(problems, at, "max-values", self.type_of()),
            }
        }
        if let (true, Some((_, at))) = (self.is_empty(), bounds.max.or(bounds.min)) {
            problems.add(at, "`min` is above `max`", "leave room for at least one value");
        }
    }

    /// Whether no value is valid.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Whole { min, max } => min > max,
            Self::Decimal { min: Some(min), max: Some(max), .. } => min > max,
            Self::Date { min, max } => min > max,
            Self::Text { min_length, max_length, .. } => min_length > max_length,
            _ => false,
        }
    }

    fn narrow_end(&mut self, value: Scalar, at: At, lower: bool, problems: &mut Problems) {
        let key = if lower { "min" } else { "max" };
        match (&mut *self, value) {
            (Self::Whole { min, max }, Scalar::Number(number)) => {
                let Some(number) = number.as_whole() else {
                    problems.add(at, format!("`{key}` is not a whole number"), "write it without a point");
                    return;
                };
                let end = if lower { min } else { max };
                narrow_to(end, number, lower, at, key, problems);
            }
            (Self::Decimal { min, max, .. }, Scalar::Number(number)) => {
                let end = if lower { min } else { max };
                let mut now = end.unwrap_or(number);
                narrow_to(&mut now, number, lower, at, key, problems);
                *end = Some(now);
            }
            (Self::Date { min, max }, Scalar::Date(day)) => {
                let end = if lower { min } else { max };
                narrow_to(end, day, lower, at, key, problems);
            }
            _ => not_applicable(problems, at, key, self.type_of()),
        }
    }
}

fn narrow_to<T: Copy + Ord + std::fmt::Display>(
    end: &mut T,
    to: T,
    lower: bool,
    at: At,
    key: &str,
    problems: &mut Problems,
) {
    if if lower { to >= *end } else { to <= *end } {
        *end = to;
    } else {
        widens(problems, at, key, &end.to_string());
    }
}

fn widens(problems: &mut Problems, at: At, key: &str, now: &str) {
    problems.add(
        at,
        format!("`{key}` allows more than before ({now})"),
        "a category may only narrow what its ancestors and the attribute itself allow",
    );
}

fn not_applicable(problems: &mut Problems, at: At, key: &str, type_name: TypeName) {
    problems.add(
        at,
        format!("`{key}` does not fit an attribute of the type {}", type_name.as_str()),
        "remove it, or change the type; a `date` has bounds such as 2020-01-31",
    );
}
