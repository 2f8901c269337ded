//! Checks a file offline as a load would: categories, attributes, places and prices.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalog::Catalogue;
use feedfile::{Code, Excerpt, FeedOffer, Header, Item, Judge, Position, Price, Problem, Severity};
use unify::Unifier;
use wire::torg::feeds::v1::problem::Severity as WireSeverity;
use wire::torg::feeds::v1::{self as proto, Defaults, Feed};

use crate::process::convert::{Conversion, Converter};

/// The placeholder of the seller and the namespace.
const NOBODY: &str = "check";

/// A currency of every catalogue.
const ANY_CURRENCY: &str = "RUB";

/// The checks of a load beyond those of the file itself.
pub struct Offline(Converter);

pub struct OfflineSession<'o>(Conversion<'o>);

impl Offline {
    /// Checks for a feed with these defaults, without mappings.
    #[must_use]
    pub fn new(unifier: Arc<Unifier>, catalogue: Arc<Catalogue>, defaults: Defaults) -> Self {
        let feed = Feed {
            seller: NOBODY.to_owned(),
            namespace: NOBODY.to_owned(),
            defaults: Some(defaults).into(),
            ..Feed::default()
        };
        Self(Converter::with(unifier, catalogue, &feed, BTreeMap::new()))
    }

    #[must_use]
    pub fn session(&self) -> OfflineSession<'_> {
        OfflineSession(self.0.session())
    }
}

impl Judge for OfflineSession<'_> {
    /// The problems that a load adds to those of the file, without excerpts.
    fn judge(&mut self, item: Item, header: &Header) -> Vec<Problem> {
        let mut item = Item { problems: Vec::new(), ..item };
        item.offer.iter_mut().for_each(name_a_currency);
        let loaded = self.0.convert(item, header);
        let id = &loaded.external_id;
        loaded.problems.into_iter().filter_map(|problem| of_wire(problem, id)).collect()
    }
}

/// A missing currency is reported already. In a load, the default of the feed is used, which is not
/// known here.
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
