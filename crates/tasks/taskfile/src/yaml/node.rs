//! The tree of one entry.

use crate::location::Location;
use saphyr_parser::ScalarStyle;
use std::borrow::Cow;

#[derive(Clone, Debug)]
pub(crate) enum Kind<'t> {
    Scalar { text: Cow<'t, str>, style: ScalarStyle },
    List(Vec<Node<'t>>),
    Map(Vec<(Node<'t>, Node<'t>)>),
}

#[derive(Clone, Debug)]
pub(crate) struct Node<'t> {
    pub(crate) place: Location,
    pub(crate) kind: Kind<'t>,
}

impl<'t> Node<'t> {
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// The text of a scalar without quotes: only such scalars are numbers and booleans.
    pub(crate) fn as_plain(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, style: ScalarStyle::Plain } => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, style } if super::is_null(text, *style))
    }

    pub(crate) fn what(&self) -> String {
        match &self.kind {
            _ if self.is_null() => "nothing".to_owned(),
            Kind::Scalar { text, .. } => format!("`{}`", crate::quote(text)),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a mapping".to_owned(),
        }
    }

    pub(crate) fn into_owned(self) -> Node<'static> {
        let kind = match self.kind {
            Kind::Scalar { text, style } => Kind::Scalar { text: Cow::Owned(text.into_owned()), style },
            Kind::List(items) => Kind::List(items.into_iter().map(Node::into_owned).collect()),
            Kind::Map(entries) => Kind::Map(
                entries.into_iter().map(|(key, value)| (key.into_owned(), value.into_owned())).collect(),
            ),
        };
        Node { place: self.place, kind }
    }

    pub(crate) fn scalar(place: Location, text: impl Into<Cow<'t, str>>, style: ScalarStyle) -> Self {
        Self { place, kind: Kind::Scalar { text: text.into(), style } }
    }
}
