//! Calls about mappings of categories.

use access::{Action, Caller};
use feeds::Mapping;
use wire::torg::feeds::v1 as proto;

use super::FeedCalls;
use super::view::FeedView;
use crate::caller::{self, Intent};
use crate::errors::Refusal;
use crate::limits::{CATEGORY_BYTES_MAX, MAPPING_NAMES_MAX, MAPPINGS_PAGE, count, name, page_size};
use crate::tokens::{self, About};
use feeds::limits::MAPPING_KEY_BYTES_MAX;

impl FeedCalls {
    pub async fn list_mappings(
        &self,
        caller: &Caller,
        request: proto::ListMappingsRequest,
    ) -> Result<proto::ListMappingsResponse, Refusal> {
        let limit = page_size(request.page_size, MAPPINGS_PAGE)?;
        let seller = caller::whose(caller, "seller", &request.seller, Intent::Read)?;
        let about = About::method("ListMappings").and("seller", seller);
        let after: Option<String> = tokens::page(&about, &request.page_token)?;
        let after = after.unwrap_or_default();
        let mut mappings = self.feeds.list_mappings(seller, &after, limit + 1).await?;
        let next_page_token = tokens::cut(&about, &mut mappings, limit, |(key, _)| key.clone());
        let view = FeedView::by(caller);
        Ok(proto::ListMappingsResponse {
            mappings: mappings.into_iter().map(|(_, mapping)| view.mapping(mapping)).collect(),
            next_page_token,
            ..Default::default()
        })
    }

    /// Sets a mapping: by the seller, services and staff.
    pub async fn set_mapping(
        &self,
        caller: &Caller,
        request: proto::SetMappingRequest,
    ) -> Result<proto::SetMappingResponse, Refusal> {
        let intent = if caller.may(Action::SeeInternals) { Intent::Read } else { Intent::Write };
        let seller = caller::whose(caller, "seller", &request.seller, intent)?;
        count("path", request.path.len(), MAPPING_NAMES_MAX)?;
        for (number, part) in request.path.iter().enumerate() {
            name(&format!("path[{number}]"), part, MAPPING_KEY_BYTES_MAX)?;
        }
        if !request.category.is_empty() {
            name("category", &request.category, CATEGORY_BYTES_MAX)?;
        }
        let author = caller::author(caller, seller).name;
        let by_hand = !request.category.is_empty();
        let score = f64::from(u8::from(by_hand));
        let (path, category) = (request.path.clone(), request.category.clone());
        let mapping = Mapping { path, category, author, by_hand, score };
        self.feeds.set_mapping(seller, &mapping).await?;
        let mapping = FeedView::by(caller).mapping(mapping);
        Ok(proto::SetMappingResponse { mapping: Some(mapping).into(), ..Default::default() })
    }
}
