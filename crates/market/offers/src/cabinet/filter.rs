//! Filters inside a preset.

use catalog::Catalogue;
use wire::torg::offers::v1::{Card, Money};

use crate::limits::TITLE_FILTER_CHARS;
use crate::lists::{price_facet, source_facet, title_facet, title_key};

/// Conditions that an offer of a list meets, all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Also all subcategories.
    pub category: Option<String>,
    /// `manual`, or `feed:` and a namespace.
    pub source: Option<String>,
    /// Case-insensitive.
    pub title_prefix: Option<String>,
    /// Offers without an amount in this currency do not fit.
    pub price: Option<PriceFilter>,
    /// The id in the feed of `source`; without a feed there, nothing fits.
    pub external_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceFilter {
    pub currency: String,
    /// In millionths, like `to`; both are included.
    pub from: i64,
    pub to: i64,
}

/// An inclusive range of index values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) from: String,
    pub(crate) to: String,
}

impl Filter {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The feed and the id there.
    pub(crate) fn external(&self) -> Option<(Option<&str>, &str)> {
        let namespace = self.source.as_deref().and_then(|source| source.strip_prefix("feed:"));
        self.external_id.as_deref().map(|external| (namespace, external))
    }

    /// Whether an offer fits; its id in a feed is not in the card and not compared.
    pub(crate) fn fits(&self, card: &Card, catalogue: &Catalogue) -> bool {
        let in_category = |category: &str| is_within(catalogue, &card.category, category);
        self.category.as_deref().is_none_or(in_category)
            && self.source.as_ref().is_none_or(|source| card.source == *source)
            && self.title_prefix.as_ref().is_none_or(|prefix| card.title.starts_with(&title_key(prefix)))
            && self.price.as_ref().is_none_or(|price| price.fits(card.price.as_option()))
    }

    /// Index ranges, each of which contains all offers that fit. Not for the category: its
    /// subcategories are not next to it.
    pub(crate) fn ranges(&self) -> Vec<Range> {
        let source = self.source.as_deref().map(|source| Range::exactly(source_facet(source)));
        let title = self.title_prefix.as_ref().map(|prefix| {
            let key = title_key(prefix);
            let facet = title_facet(&key);
            if key.chars().count() < TITLE_FILTER_CHARS {
                Range::beginning(facet)
            } else {
                Range::exactly(facet)
            }
        });
        let price = self.price.as_ref().map(|PriceFilter { currency, from, to }| {
            let facet =
                |micros: i64| price_facet(&Money { micros, currency: currency.clone(), ..Money::default() });
            Range { from: facet(*from), to: facet(*to) }
        });
        [title, price, source].into_iter().flatten().collect()
    }
}

impl PriceFilter {
    fn fits(&self, price: Option<&Money>) -> bool {
        price.is_some_and(|price| {
            price.currency == self.currency && (self.from..=self.to).contains(&price.micros)
        })
    }
}

impl Range {
    fn exactly(facet: String) -> Self {
        Self { from: facet.clone(), to: facet }
    }

    fn beginning(facet: String) -> Self {
        let to = format!("{facet}{}", char::MAX);
        Self { from: facet, to }
    }
}

/// Whether a category is another one or a subcategory of it. The catalogue may know neither any
/// more.
pub(crate) fn is_within(catalogue: &Catalogue, category: &str, above: &str) -> bool {
    category == above
        || match (catalogue.category(category), catalogue.category(above)) {
            (Some(category), Some(above)) => category.is_within(above),
            _ => false,
        }
}

/// A category and its subcategories; `None` if they are more than `most`.
pub(crate) fn below<'a>(catalogue: &'a Catalogue, above: &'a str, most: usize) -> Option<Vec<&'a str>> {
    let mut found = vec![above];
    let mut children: Vec<catalog::Category<'_>> = catalogue.category(above)?.children().collect();
    while let Some(category) = children.pop() {
        found.push(category.id());
        children.extend(category.children());
        if found.len() > most {
            return None;
        }
    }
    Some(found)
}
