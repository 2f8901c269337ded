//! The name of a feed.

use std::fmt;
use std::str::FromStr;

use wire::torg::feeds::v1::Feed;

/// A feed of a seller. As text it is `namespace/seller`: a namespace has no `/` in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedName {
    pub seller: String,
    pub namespace: String,
}

impl FeedName {
    pub fn new(seller: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self { seller: seller.into(), namespace: namespace.into() }
    }

    /// The key of all messages about this feed, which keeps them in order.
    #[must_use]
    pub fn topic_key(&self) -> String {
        format!("{}/{}", self.seller, self.namespace)
    }
}

impl From<&Feed> for FeedName {
    fn from(feed: &Feed) -> Self {
        Self::new(&*feed.seller, &*feed.namespace)
    }
}

impl fmt::Display for FeedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.seller)
    }
}

impl FromStr for FeedName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (namespace, seller) = text.split_once('/').ok_or("the name of a feed is NAMESPACE/SELLER")?;
        Ok(Self::new(seller, namespace))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_also_if_the_seller_has_a_slash() {
        let name = FeedName::new("shop/7", "default");
        assert_eq!(name.to_string().parse(), Ok(name));
    }
}
