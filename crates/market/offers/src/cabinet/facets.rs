//! Filtered lists that stay fast for a seller with a million offers, by an index of facets.
//!
//! The index has a row for the category, the source, the beginning of the title and the approximate
//! price of each offer. A filter merges the scans of all index values of one kind that fit
//! (categories below one, prices between two), newest first. It uses the kind that reaches furthest
//! back in its first page, and checks the remaining conditions on the cards in the preset. A call
//! examines a bounded number of rows and returns where the next one continues.

use std::collections::VecDeque;

use futures::future::try_join_all;
use store::{Key, Read, Row};
use wire::torg::offers::v1::Card;

use super::filter::{Filter, Range, below, is_within};
use super::{Cursor, List, card};
use crate::error::Result;
use crate::limits::{FACET_CATEGORIES_MAX, FACET_PAGE, FACET_SCAN_MAX, FACET_VALUES_MAX, LIST_ROWS_MAX};
use crate::lists::category_facet;
use crate::offers::{Offers, parse};
use crate::presets::{name, with_cards};
use crate::tables::{FILTERS, PRESETS};

/// The merge of several scans, newest first.
struct Merge {
    scans: Vec<FacetScan>,
}

/// A scan of one index value; of the whole preset if `facet` is `None`.
struct FacetScan {
    facet: Option<String>,
    /// Read and not yet taken.
    buffer: VecDeque<Cursor>,
    next: Next,
}

/// Where a scan continues.
#[derive(Clone, Copy)]
enum Next {
    After(Option<Cursor>),
    End,
}

impl Offers {
    /// Positions in a preset that fit a filter, newest first, and where to continue.
    pub(super) async fn filtered(
        &self,
        list: List<'_>,
        filter: &Filter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<(Vec<Cursor>, Option<Cursor>)> {
        let mut merge = self.narrowest(list, filter, after).await?;
        let mut fitting = Vec::new();
        let mut examined_to = after;
        let mut examined = 0;
        while examined < LIST_ROWS_MAX {
            let cursors = self.take(list, &mut merge, FACET_PAGE).await?;
            if cursors.is_empty() {
                return Ok((fitting, None));
            }
            examined += cursors.len();
            for (cursor, card) in self.cards(list, &cursors).await? {
                examined_to = Some(cursor);
                if card.is_some_and(|card| filter.fits(&card, self.catalogue())) {
                    fitting.push(cursor);
                    if fitting.len() == limit {
                        return Ok((fitting, examined_to));
                    }
                }
            }
        }
        Ok((fitting, examined_to))
    }

    /// The merge that reaches furthest back in its first page.
    async fn narrowest(&self, list: List<'_>, filter: &Filter, after: Option<Cursor>) -> Result<Merge> {
        let mut narrowest = Merge::new([None], after);
        let mut least_reach = self.reach(list, &mut narrowest).await?;
        let mut candidates = Vec::new();
        for range in filter.ranges() {
            candidates.extend(self.values(list, &range, |_| true).await?);
        }
        if let Some(above) = &filter.category {
            candidates.extend(self.categories(list, above).await?);
        }
        for facets in candidates {
            let mut merge = Merge::new(facets.into_iter().map(Some), after);
            let reach = self.reach(list, &mut merge).await?;
            if reach < least_reach {
                (narrowest, least_reach) = (merge, reach);
            }
        }
        Ok(narrowest)
    }

    /// How far back the first page of a merge reaches; one that ends within its first page comes
    /// first.
    async fn reach(&self, list: List<'_>, merge: &mut Merge) -> Result<(bool, Option<Cursor>)> {
        let first = self.take(list, merge, FACET_PAGE).await?;
        let reach = (first.len() == FACET_PAGE, first.last().copied());
        merge.put_back(first);
        Ok(reach)
    }

    /// The index values of a category and its subcategories; `None` if they are too many to merge.
    async fn categories(&self, list: List<'_>, above: &str) -> Result<Option<Vec<String>>> {
        if let Some(categories) = below(self.catalogue(), above, FACET_CATEGORIES_MAX) {
            return Ok(Some(categories.into_iter().map(category_facet).collect()));
        }
        let range = Range { from: "c:".to_owned(), to: format!("c:{}", char::MAX) };
        self.values(list, &range, |facet| is_within(self.catalogue(), &facet[2..], above)).await
    }

    /// The index values of a seller in a range; `None` if they are too many to merge.
    async fn values(
        &self,
        list: List<'_>,
        range: &Range,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Vec<String>>> {
        let List { shard, seller, .. } = list;
        let mut values = Vec::new();
        let mut scan =
            FILTERS.prefix((shard, seller)).from(FILTERS.bound((shard, seller, &*range.from))).limit(1);
        for scanned in 0.. {
            let Some(row) = self.store().scan(&scan).await?.rows.into_iter().next() else { break };
            let (_, _, facet, ..) = FILTERS.parts(&row.key)?;
            if facet > range.to {
                break;
            }
            if scanned >= FACET_SCAN_MAX || values.len() >= FACET_VALUES_MAX {
                return Ok(None);
            }
            scan = scan.above(FILTERS.bound((shard, seller, &*facet)));
            if is_wanted(&facet) {
                values.push(facet);
            }
        }
        Ok(Some(values))
    }

    /// The next positions of a merge; fewer than `count` only at its end.
    async fn take(&self, list: List<'_>, merge: &mut Merge, count: usize) -> Result<Vec<Cursor>> {
        let mut cursors = Vec::with_capacity(count);
        while cursors.len() < count {
            let empty = merge.scans.iter_mut().filter(|scan| scan.buffer.is_empty());
            try_join_all(empty.map(|scan| self.refill(list, scan))).await?;
            let newest = merge.scans.iter_mut().max_by_key(|scan| scan.buffer.front().copied());
            let Some(cursor) = newest.and_then(|scan| scan.buffer.pop_front()) else { break };
            cursors.push(cursor);
        }
        Ok(cursors)
    }

    async fn refill(&self, list: List<'_>, scan: &mut FacetScan) -> Result<()> {
        let Next::After(after) = scan.next else { return Ok(()) };
        let List { shard, seller, preset } = list;
        let rows = match &scan.facet {
            Some(facet) => FILTERS.prefix((shard, seller, &**facet)),
            None => PRESETS.prefix((shard, seller, name(preset))),
        };
        let mut rows = rows.descending().limit(FACET_PAGE);
        if let Some(Cursor { created_ms, id }) = after {
            rows = rows.after(match &scan.facet {
                Some(facet) => FILTERS.key((shard, seller, &**facet, created_ms, &*id.to_string())),
                None => list.key(Cursor { created_ms, id }),
            });
        }
        let page = self.store().scan(&rows).await?;
        for row in &page.rows {
            let (.., created_ms, id) = match scan.facet {
                Some(_) => FILTERS.parts(&row.key)?,
                None => PRESETS.parts(&row.key)?,
            };
            scan.buffer.push_back(Cursor { created_ms, id: parse(&id)? });
        }
        scan.next = match scan.buffer.back() {
            Some(oldest) if page.next.is_some() => Next::After(Some(*oldest)),
            _ => Next::End,
        };
        Ok(())
    }

    /// The cards of offers; `None` for offers that are not in the preset.
    async fn cards(&self, list: List<'_>, cursors: &[Cursor]) -> Result<Vec<(Cursor, Option<Card>)>> {
        let cards = List { preset: with_cards(list.preset), ..list };
        let mut keys: Vec<Key> = cursors.iter().map(|cursor| cards.key(*cursor)).collect();
        if cards.preset != list.preset {
            keys.extend(cursors.iter().map(|cursor| list.key(*cursor)));
        }
        let rows = self.store().get(&keys).await?;
        let (cards, listed) = rows.split_at(cursors.len());
        let is_listed = |number: usize| listed.is_empty() || listed[number].is_some();
        let card = |(number, row): (usize, &Option<Row>)| {
            row.as_ref().filter(|_| is_listed(number)).map(card).transpose()
        };
        let cards = cards.iter().enumerate().map(card);
        cursors.iter().zip(cards).map(|(cursor, card)| Ok((*cursor, card?))).collect()
    }
}

impl Merge {
    fn new(facets: impl IntoIterator<Item = Option<String>>, after: Option<Cursor>) -> Self {
        let scan = |facet| FacetScan { facet, buffer: VecDeque::new(), next: Next::After(after) };
        Self { scans: facets.into_iter().map(scan).collect() }
    }

    fn put_back(&mut self, cursors: Vec<Cursor>) {
        self.scans.push(FacetScan { facet: None, buffer: cursors.into(), next: Next::End });
    }
}
