//! Extractors for the path and the query of an address. An invalid address is answered with a page
//! that says so.

use axum::extract::{FromRequestParts, Path as AxumPath, Query as AxumQuery};
use axum::response::Response;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::layout::Section;
use crate::services::{Failure, Kind};
use crate::visit::{Visit, no_visit};

/// The query of an address.
pub(crate) struct Query<T>(pub(crate) T);

/// The query of a list that only has pages.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Page {
    /// The token of the page; empty for the first one.
    pub(crate) page: String,
}

/// The variable parts of the path.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let params = AxumQuery::<T>::try_from_uri(&parts.uri);
        params.map(|params| Self(params.0)).map_err(|why| invalid(parts, &why.body_text()))
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let pieces = AxumPath::<T>::from_request_parts(parts, state).await;
        pieces.map(|pieces| Self(pieces.0)).map_err(|why| invalid(parts, &why.body_text()))
    }
}

fn invalid(parts: &Parts, why: &str) -> Response {
    let Some(visit) = parts.extensions.get::<Visit>() else { return no_visit() };
    let title = visit.t("Invalid address");
    visit.page(Section::Other, title, Err(Failure::new(Kind::Refused, why)))
}
