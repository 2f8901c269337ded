//! Extractors for the path and the query of an address. An invalid address is answered with a page
//! that says so.

use axum::extract::{FromRequestParts, Path as Pieces, Query as Asked};
use axum::response::Response;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::layout::Place;
use crate::services::{Failure, Kind};
use crate::visit::{Visit, nobody};

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
        let asked = Asked::<T>::try_from_uri(&parts.uri);
        asked.map(|asked| Self(asked.0)).map_err(|why| senseless(parts, &why.body_text()))
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let pieces = Pieces::<T>::from_request_parts(parts, state).await;
        pieces.map(|pieces| Self(pieces.0)).map_err(|why| senseless(parts, &why.body_text()))
    }
}

fn senseless(parts: &Parts, why: &str) -> Response {
    let Some(visit) = parts.extensions.get::<Visit>() else { return nobody() };
    let title = visit.t("Invalid address");
    visit.page(Place::Nowhere, title, Err(Failure::new(Kind::Refused, why)))
}
