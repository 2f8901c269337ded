//! What a load would find wrong with offers beside what the file itself tells, without a store: categories, attributes, places, prices.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalog::Catalogue;
use feedfile::{Code, Excerpt, FeedOffer, Header, Item, Judge, Position, Price, Problem, Severity};
use unify::Unifier;
use wire::torg::feeds::v1::problem::Severity as WireSeverity;
use wire::torg::feeds::v1::{self as proto, Defaults, Feed};

use crate::process::unifying::{Unification, Unifying};

/// Stands for the seller and the namespace that nobody has named.
const NOBODY: &str = "check";

/// One that every catalogue has.
const ANY_CURRENCY: &str = "RUB";

/// The catalogue's side of a load.
pub struct Offline(Unifying);

/// The same at work on one file.
pub struct OfflineSession<'o>(Unification<'o>);

impl Offline {
    /// For a feed with these defaults, of a seller who has mapped nothing.
    #[must_use]
    pub fn new(unifier: Arc<Unifier>, catalogue: Arc<Catalogue>, defaults: Defaults) -> Self {
        let feed = Feed {
            seller: NOBODY.to_owned(),
            namespace: NOBODY.to_owned(),
            defaults: Some(defaults).into(),
            ..Feed::default()
        };
        Self(Unifying::with(unifier, catalogue, &feed, BTreeMap::new()))
    }

    /// Begins with a file.
    #[must_use]
    pub fn session(&self) -> OfflineSession<'_> {
        OfflineSession(self.0.session())
    }
}

impl Judge for OfflineSession<'_> {
    /// The problems that a load adds to those of the file. They have no excerpts.
    fn judge(&mut self, item: Item, header: &Header) -> Vec<Problem> {
        let mut item = Item { problems: Vec::new(), ..item };
        item.offer.iter_mut().for_each(name_a_currency);
        let loaded = self.0.unify(item, header);
        let id = &loaded.external_id;
        loaded.problems.into_iter().filter_map(|problem| of_wire(problem, id)).collect()
    }
}

/// That a price names no currency was said, and a feed has one for such prices: which one is not known here.
fn name_a_currency(offer: &mut FeedOffer) {
    let Some(price) = &mut offer.price else { return };
    let amounts = match &mut price.value {
        Price::Fixed(money) => [Some(money), None],
        Price::Negotiable(from) => [from.as_mut(), None],
        Price::Range(from, to) => [from.as_mut(), to.as_mut()],
        Price::Free => [None, None],
    };
    for money in amounts.into_iter().flatten().filter(|money| money.currency.is_empty()) {
        ANY_CURRENCY.clone_into(&mut money.currency);
    }
}

fn of_wire(problem: proto::Problem, external_id: &str) -> Option<Problem> {
    let severity = match problem.severity.as_known()? {
        WireSeverity::SEVERITY_ERROR => Severity::Error,
        _ => Severity::Warning,
    };
    Some(Problem {
        code: Code::from_name(&problem.code)?,
        severity,
        field: problem.field,
        value: problem.value,
        at: Position { line: problem.line, column: problem.column },
        message: problem.message,
        external_id: external_id.to_owned(),
        excerpt: Excerpt::default(),
    })
}
