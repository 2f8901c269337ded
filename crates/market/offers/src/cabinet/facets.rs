//! How a filter stays fast in a list of a million: by rows that say which offers of a seller have a category, a source, a beginning of the title, about a price.
//!
//! A stream of places goes by one kind of those rows, the newest first, over all values that fit (categories below one, prices between two: a merge). The narrowest stream leads: the one
//! that reaches furthest back in its first page. What it finds is looked up in the preset, whose row says the rest. A call looks at a bounded number of places and says where the next one goes on.

use std::collections::VecDeque;

use futures::future::try_join_all;
use store::{Key, Read, Row};
use wire::torg::offers::v1::Card;

use super::filter::{Filter, Range, below, is_within};
use super::{List, Place, card};
use crate::error::Result;
use crate::limits::{FACET_GUESSES_MAX, FACET_LOOKS_MAX, FACET_PAGE, FACET_VALUES_MAX, LIST_LOOKS_MAX};
use crate::lists::category_facet;
use crate::offers::{Offers, parse};
use crate::presets::{name, with_cards};
use crate::tables::{FILTERS, PRESETS};

/// Places by several index values, merged, the newest first.
struct Stream {
    lanes: Vec<Lane>,
}

/// Places of one index value; `None`: of the preset itself.
struct Lane {
    facet: Option<String>,
    /// What was read and not yet taken.
    ahead: VecDeque<Place>,
    /// Where reading goes on; `None` at the end.
    after: Next,
}

/// Where a lane goes on reading.
#[derive(Clone, Copy)]
enum Next {
    From(Option<Place>),
    End,
}

impl Offers {
    /// Places in a preset that fit a filter, the newest first; and where to go on.
    pub(super) async fn filtered(
        &self,
        list: List<'_>,
        filter: &Filter,
        after: Option<Place>,
        limit: usize,
    ) -> Result<(Vec<Place>, Option<Place>)> {
        let mut stream = self.narrowest(list, filter, after).await?;
        let (mut fitting, mut seen, mut looks) = (Vec::new(), after, 0);
        while looks < LIST_LOOKS_MAX {
            let places = self.take(list, &mut stream, FACET_PAGE).await?;
            if places.is_empty() {
                return Ok((fitting, None));
            }
            looks += places.len();
            for (place, card) in self.cards(list, &places).await? {
                seen = Some(place);
                if card.is_some_and(|card| filter.fits(&card, self.catalogue())) {
                    fitting.push(place);
                    if fitting.len() == limit {
                        return Ok((fitting, seen));
                    }
                }
            }
        }
        Ok((fitting, seen))
    }

    /// The stream that reaches furthest back in its first page.
    async fn narrowest(&self, list: List<'_>, filter: &Filter, after: Option<Place>) -> Result<Stream> {
        let mut streams = vec![Stream::new([None], after)];
        for range in filter.ranges() {
            streams
                .extend(self.values(list, &range, |_| true).await?.map(|facets| Stream::new(facets, after)));
        }
        if let Some(above) = &filter.category {
            let facets = self.categories(list, above).await?;
            streams.extend(facets.map(|facets| Stream::new(facets, after)));
        }
        let mut narrowest: Option<((bool, Option<Place>), Stream)> = None;
        for mut stream in streams {
            let first = self.take(list, &mut stream, FACET_PAGE).await?;
            // One that ends within its first page is narrower than any that goes on.
            let reach = (first.len() == FACET_PAGE, first.last().copied());
            stream.put_back(first);
            if narrowest.as_ref().is_none_or(|(least, _)| reach < *least) {
                narrowest = Some((reach, stream));
            }
        }
        Ok(narrowest.map_or_else(|| Stream::new([None], after), |(_, stream)| stream))
    }

    /// The index values of a category and of all below it that a seller has; `None` if they are too many to be merged.
    async fn categories(&self, list: List<'_>, above: &str) -> Result<Option<Vec<Option<String>>>> {
        let below = below(self.catalogue(), above, FACET_GUESSES_MAX);
        if let Some(categories) = below {
            return Ok(Some(categories.into_iter().map(|category| Some(category_facet(category))).collect()));
        }
        let range = Range { from: "c:".to_owned(), to: format!("c:{}", char::MAX) };
        self.values(list, &range, |facet| is_within(self.catalogue(), &facet[2..], above)).await
    }

    /// The index values of a seller in a range; `None` if they are too many to be merged.
    async fn values(
        &self,
        list: List<'_>,
        range: &Range,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Vec<Option<String>>>> {
        let List { shard, seller, .. } = list;
        let (mut values, mut looks) = (Vec::new(), 0);
        let mut scan =
            FILTERS.prefix((shard, seller)).from(FILTERS.bound((shard, seller, &*range.from))).limit(1);
        loop {
            let Some(row) = self.store().scan(&scan).await?.rows.into_iter().next() else {
                return Ok(Some(values));
            };
            let (_, _, facet, ..) = FILTERS.parts(&row.key)?;
            looks += 1;
            if facet > range.to {
                return Ok(Some(values));
            }
            if looks > FACET_LOOKS_MAX || values.len() >= FACET_VALUES_MAX {
                return Ok(None);
            }
            scan = scan.above(FILTERS.bound((shard, seller, &*facet)));
            if wanted(&facet) {
                values.push(Some(facet));
            }
        }
    }

    /// The next places of a stream, fewer only at its end.
    async fn take(&self, list: List<'_>, stream: &mut Stream, count: usize) -> Result<Vec<Place>> {
        let mut places = Vec::with_capacity(count);
        while places.len() < count {
            let dry = stream.lanes.iter_mut().filter(|lane| lane.is_dry());
            try_join_all(dry.map(|lane| self.refill(list, lane))).await?;
            let newest = stream.lanes.iter_mut().max_by_key(|lane| lane.ahead.front().copied());
            let Some(place) = newest.and_then(|lane| lane.ahead.pop_front()) else { break };
            places.push(place);
        }
        Ok(places)
    }

    async fn refill(&self, list: List<'_>, lane: &mut Lane) -> Result<()> {
        let Next::From(after) = lane.after else { return Ok(()) };
        let List { shard, seller, preset } = list;
        let (scan, key): (_, Box<dyn Fn(Place) -> Key + Send + Sync>) =
            if let Some(facet) = lane.facet.clone() {
                let scan = FILTERS.prefix((shard, seller, &*facet));
                let seller = seller.to_owned();
                let key = move |Place { created_ms, id }: Place| {
                    FILTERS.key((shard, &*seller, &*facet, created_ms, &*id.to_string()))
                };
                (scan, Box::new(key))
            } else {
                (PRESETS.prefix((shard, seller, name(preset))), Box::new(|place| preset_key(list, place)))
            };
        let mut scan = scan.descending().limit(FACET_PAGE);
        if let Some(place) = after {
            scan = scan.after(key(place));
        }
        let page = self.store().scan(&scan).await?;
        for row in &page.rows {
            // Rows of both tables end with the time of creation and the id.
            let (created_ms, id) = match lane.facet {
                Some(_) => FILTERS.parts(&row.key).map(|(.., created_ms, id)| (created_ms, id))?,
                None => PRESETS.parts(&row.key).map(|(.., created_ms, id)| (created_ms, id))?,
            };
            lane.ahead.push_back(Place { created_ms, id: parse(&id)? });
        }
        lane.after = match lane.ahead.back() {
            Some(place) if page.next.is_some() => Next::From(Some(*place)),
            _ => Next::End,
        };
        Ok(())
    }

    /// The cards of offers; `None` for those that do not stand in the preset.
    async fn cards(&self, list: List<'_>, places: &[Place]) -> Result<Vec<(Place, Option<Card>)>> {
        let cards = List { preset: with_cards(list.preset), ..list };
        let mut keys: Vec<Key> = places.iter().map(|place| preset_key(cards, *place)).collect();
        if cards.preset != list.preset {
            keys.extend(places.iter().map(|place| preset_key(list, *place)));
        }
        let rows = self.store().get(&keys).await?;
        let (cards, listed) = rows.split_at(places.len());
        // Both are written in one commit; between two looks an offer may come or go, and then it is none of this moment.
        let stands = |number: usize| listed.is_empty() || listed[number].is_some();
        let card = |(number, row): (usize, &Option<Row>)| {
            row.as_ref().filter(|_| stands(number)).map(card).transpose()
        };
        let cards = cards.iter().enumerate().map(card);
        places.iter().zip(cards).map(|(place, card)| Ok((*place, card?))).collect()
    }
}

impl Stream {
    fn new(facets: impl IntoIterator<Item = Option<String>>, after: Option<Place>) -> Self {
        let lane = |facet| Lane { facet, ahead: VecDeque::new(), after: Next::From(after) };
        Self { lanes: facets.into_iter().map(lane).collect() }
    }

    /// Puts back what was taken: it comes first again.
    fn put_back(&mut self, places: Vec<Place>) {
        self.lanes.push(Lane { facet: None, ahead: places.into(), after: Next::End });
    }
}

impl Lane {
    fn is_dry(&self) -> bool {
        self.ahead.is_empty() && matches!(self.after, Next::From(_))
    }
}

fn preset_key(list: List<'_>, Place { created_ms, id }: Place) -> Key {
    PRESETS.key((list.shard, list.seller, name(list.preset), created_ms, &*id.to_string()))
}
