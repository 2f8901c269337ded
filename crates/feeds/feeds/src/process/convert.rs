//! Converts an offer of a file to an offer of the ad store: recognises category, attributes and
//! place, copies the rest, and validates all of it by the catalogue.
//!
//! A wrong value that an offer can do without (a phone, a photo, an optional attribute) is left out
//! with a warning; any other wrong value is an error.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalog::{Catalogue, OwnedValue, PriceKind};
use feedfile::{Availability, CategoryKind, FeedOffer, Header, Item};
use geo::Geocoder;
use offers::validation::{Violation, violations};
use tokio::runtime::Handle;
use unify::{Input, Param, Reason, Session, Unified, Unifier};
use wire::torg::feeds::v1::loaded_offer::Verdict;
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::feeds::v1::{Defaults, Feed, LoadedOffer, Problem};
use wire::torg::offers::v1::{
    Condition, Contacts, Coordinates, Money, Offer, Photo, Place, Price, Source, Values, Video, price, source,
};

use super::problems::{as_error, as_warning, is_reported, of_file, problem_of, problem_of_mark};
use super::recognitions::Recognitions;
use crate::feeds::Dependencies;
use crate::limits::OFFER_PROBLEMS_MAX;

/// Converts the offers of one feed.
pub(crate) struct Converter {
    unifier: Arc<Unifier>,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) seller: String,
    pub(super) namespace: String,
    pub(super) defaults: Defaults,
    pub(super) mappings: BTreeMap<String, String>,
    /// A geocoder beside the built-in places, called from the reading thread.
    geocoder: Option<(Arc<dyn Geocoder>, Handle)>,
}

/// The conversion of one file.
pub(crate) struct Conversion<'u> {
    converter: &'u Converter,
    session: Session<'u>,
    /// The recognised categories so far, without those that have a mapping.
    pub(super) recognitions: Recognitions,
}

impl Converter {
    pub(super) fn new(deps: &Dependencies, feed: &Feed, mappings: BTreeMap<String, String>) -> Self {
        let (unifier, catalogue) = (Arc::clone(&deps.unifier), Arc::clone(deps.offers.catalogue()));
        let geocoder = deps.geocoder.as_ref().map(|geocoder| (Arc::clone(geocoder), Handle::current()));
        Self { geocoder, ..Self::with(unifier, catalogue, feed, mappings) }
    }

    pub(crate) fn with(
        unifier: Arc<Unifier>,
        catalogue: Arc<Catalogue>,
        feed: &Feed,
        mappings: BTreeMap<String, String>,
    ) -> Self {
        Self {
            unifier,
            catalogue,
            seller: feed.seller.clone(),
            namespace: feed.namespace.clone(),
            defaults: feed.defaults.as_option().cloned().unwrap_or_default(),
            mappings,
            geocoder: None,
        }
    }

    pub(super) fn currency(&self) -> &str {
        &self.defaults.currency
    }

    pub(crate) fn session(&self) -> Conversion<'_> {
        let session = self.unifier.session_with(&self.mappings);
        Conversion { converter: self, session, recognitions: Recognitions::default() }
    }
}

impl Conversion<'_> {
    /// The message about an offer, without its fingerprint.
    pub(crate) fn convert(&mut self, item: Item, header: &Header) -> LoadedOffer {
        let mut problems: Vec<Problem> = item.problems.iter().map(of_file).collect();
        let title = item.offer.as_ref().map_or(item.title, |offer| offer.title.value.clone());
        let Some(offer) = item.offer else {
            return loaded(item.external_id, title, Verdict::VERDICT_REJECTED, None, problems);
        };
        let is_gone = offer.availability.as_ref().is_some_and(|it| it.value == Availability::OutOfStock);
        if is_gone {
            return loaded(item.external_id, title, Verdict::VERDICT_WITHDRAWN, None, problems);
        }
        let unified = self.recognise(&offer, header);
        let is_passing = unified.is_passing();
        let marks = unified.marks.iter().filter(|mark| is_reported(mark, &offer));
        problems.extend(marks.map(|mark| problem_of_mark(mark, &unified, &offer, &self.converter.catalogue)));
        let made = self.make(&offer, &unified);
        let (made, found) = self.check(made, &offer);
        problems.extend(found);
        let has_error =
            problems.iter().any(|problem| problem.severity.as_known() == Some(Severity::SEVERITY_ERROR));
        let verdict = match (is_passing, has_error) {
            (true, _) => Verdict::VERDICT_POSTPONED,
            (false, true) => Verdict::VERDICT_REJECTED,
            (false, false) => Verdict::VERDICT_ACCEPTED,
        };
        let made = (verdict == Verdict::VERDICT_ACCEPTED).then_some(made);
        loaded(item.external_id, title, verdict, made, problems)
    }

    fn recognise(&mut self, offer: &FeedOffer, header: &Header) -> Unified {
        let path = Self::path(offer, header);
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let params: Vec<Param<'_>> = offer
            .params
            .iter()
            .map(|param| Param { name: &param.name, value: &param.value, unit: &param.unit })
            .collect();
        let text = |kind: CategoryKind| {
            let mut texts = offer.category.texts.iter().filter(move |(of, _)| *of == kind);
            texts.next().map(|(_, text)| text.value.as_str())
        };
        let (place, defaults) = (&self.converter.defaults.place, &self.converter.defaults);
        let usual_address = place.as_option().map(|place| &*place.address).filter(|text| !text.is_empty());
        let address = offer.address.as_ref().map(|address| address.value.as_str()).or(usual_address);
        let country = Some(&*defaults.country).filter(|country| !country.is_empty());
        let input = Input {
            title: &offer.title.value,
            description: offer.description.as_ref().map_or("", |text| &text.value),
            path: &path,
            category: text(CategoryKind::Torg),
            google: text(CategoryKind::Google),
            params: &params,
            vendor: offer.vendor.as_ref().map(|vendor| vendor.value.as_str()),
            model: offer.model.as_ref().map(|model| model.value.as_str()),
            address,
            point: offer.coordinates.as_ref().map(|at| (at.value.latitude, at.value.longitude)),
            hints: geo::Hints { country, region: None },
        };
        let unified = match &self.converter.geocoder {
            None => self.session.unify(&input),
            Some((geocoder, runtime)) => {
                runtime.block_on(self.session.unify_asking(&input, geocoder.as_ref()))
            }
        };
        let found = unified.category.as_ref();
        if found.is_none_or(|found| found.reason != Reason::Mapping) {
            self.recognitions.note(&path, found.map(|found| &*found.id));
        }
        unified
    }

    /// The seller's category, from the top down.
    pub(super) fn path(offer: &FeedOffer, header: &Header) -> Vec<String> {
        let known = offer.category.path.clone();
        let later = || header.category_path(&offer.category.id.as_ref()?.value);
        if let Some(path) = known.or_else(later) {
            return path.iter().map(ToString::to_string).collect();
        }
        let own = offer.category.texts.iter();
        let own = own.filter(|(kind, _)| matches!(kind, CategoryKind::Own | CategoryKind::Avito));
        own.flat_map(|(_, text)| text.value.split(" > ")).map(|part| part.trim().to_owned()).collect()
    }

    fn make(&self, offer: &FeedOffer, unified: &Unified) -> Offer {
        let Converter { seller, namespace, defaults, .. } = self.converter;
        let text =
            |at: &Option<feedfile::At<String>>| at.as_ref().map(|at| at.value.clone()).unwrap_or_default();
        let feed = source::Feed {
            namespace: namespace.clone(),
            external_id: offer.external_id.clone(),
            ..source::Feed::default()
        };
        let photo = |url: &feedfile::At<String>| Photo { source_url: url.value.clone(), ..Photo::default() };
        let video = offer.video.as_ref().map(|url| Video { url: url.value.clone(), ..Video::default() });
        let condition =
            offer.condition.as_ref().map_or(Condition::CONDITION_UNSPECIFIED, |at| condition(at.value));
        let attributes = unified.attributes.iter().map(|(name, values)| {
            (name.clone(), Values { values: values.iter().map(text_of).collect(), ..Values::default() })
        });
        Offer {
            seller: seller.clone(),
            category: unified.category.as_ref().map(|category| category.id.clone()).unwrap_or_default(),
            title: offer.title.value.clone(),
            description: text(&offer.description),
            price: offer.price.as_ref().map(|at| price(&at.value)).into(),
            attributes: attributes.collect(),
            photos: offer.photos.iter().map(photo).collect(),
            video: video.into(),
            place: place(offer, unified, defaults).into(),
            contacts: contacts(offer, defaults).into(),
            condition: condition.into(),
            source: Some(Source { kind: Some(feed.into()), ..Source::default() }).into(),
            ..Offer::default()
        }
    }

    /// Validates an offer. Leaves out wrong values that it can do without; what is wrong then is an
    /// error.
    fn check(&self, mut made: Offer, offer: &FeedOffer) -> (Offer, Vec<Problem>) {
        let (catalogue, mut problems) = (&self.converter.catalogue, Vec::new());
        if made.category.is_empty() {
            // Nothing can be validated without a category, and that it is missing is reported
            // already.
            return (made, problems);
        }
        ask_for_the_price(&mut made, catalogue);
        let mut found = violations(catalogue, &made);
        // From the last to the first: what is taken out of a list moves what comes after it.
        found.sort_by(|a, b| b.field.cmp(&a.field));
        let mut is_reduced = false;
        for violation in &found {
            // Shops call everything new. Where items have no condition, that is no mistake.
            let is_reported =
                violation.field != "condition" || made.condition.as_known() != Some(Condition::CONDITION_NEW);
            let is_cut = cut_title(&mut made, violation, catalogue);
            let is_left_out = !is_cut && leave_out(&mut made, violation);
            is_reduced |= is_cut || is_left_out;
            if is_cut || is_left_out && is_reported {
                problems.push(as_warning(problem_of(violation, offer, catalogue, &made)));
            }
        }
        if is_reduced {
            found = violations(catalogue, &made);
        }
        // The ad store does not validate again what was validated by its version of the catalogue.
        made.catalogue_version = catalogue.version();
        let errors = found.iter().map(|violation| as_error(problem_of(violation, offer, catalogue, &made)));
        problems.extend(errors);
        (made, problems)
    }
}

fn loaded(
    external_id: String,
    title: String,
    verdict: Verdict,
    offer: Option<Offer>,
    mut problems: Vec<Problem>,
) -> LoadedOffer {
    // Errors first, so that truncation drops warnings.
    problems.sort_by_key(|problem| problem.severity.as_known() != Some(Severity::SEVERITY_ERROR));
    problems.truncate(OFFER_PROBLEMS_MAX);
    LoadedOffer {
        external_id,
        offer: offer.into(),
        problems,
        verdict: verdict.into(),
        title,
        ..LoadedOffer::default()
    }
}

fn text_of(value: &OwnedValue) -> String {
    match value {
        OwnedValue::Text(text) => text.clone(),
        OwnedValue::Whole(number) => number.to_string(),
        OwnedValue::Decimal(number) => number.to_string(),
        OwnedValue::YesNo(answer) => answer.to_string(),
        OwnedValue::Date(date) => date.to_string(),
    }
}

fn condition(condition: feedfile::Condition) -> Condition {
    match condition {
        feedfile::Condition::New => Condition::CONDITION_NEW,
        feedfile::Condition::LikeNew => Condition::CONDITION_LIKE_NEW,
        feedfile::Condition::Used => Condition::CONDITION_USED,
        feedfile::Condition::ForParts => Condition::CONDITION_FOR_PARTS,
        feedfile::Condition::Refurbished => Condition::CONDITION_REFURBISHED,
    }
}

fn money(money: &feedfile::Money) -> Money {
    Money { micros: money.micros, currency: money.currency.clone(), ..Money::default() }
}

fn price(price: &feedfile::Price) -> Price {
    let optional = |amount: &Option<feedfile::Money>| amount.as_ref().map(money);
    let kind = match price {
        feedfile::Price::Fixed(amount) => money(amount).into(),
        feedfile::Price::Free => price::Free::default().into(),
        feedfile::Price::Negotiable(from) => {
            price::Negotiable { from: optional(from).into(), ..price::Negotiable::default() }.into()
        }
        feedfile::Price::Range(from, to) => price::PriceRange {
            from: optional(from).into(),
            to: optional(to).into(),
            ..price::PriceRange::default()
        }
        .into(),
    };
    Price { kind: Some(kind), ..Price::default() }
}

fn place(offer: &FeedOffer, unified: &Unified, defaults: &Defaults) -> Option<Place> {
    let usual = defaults.place.as_option();
    let address = offer.address.as_ref().map(|at| at.value.clone());
    let located = unified.place.as_ref();
    if address.is_none() && located.is_none() {
        return usual.cloned();
    }
    let coordinates = offer.coordinates.as_ref().map(|at| Coordinates {
        latitude: at.value.latitude,
        longitude: at.value.longitude,
        ..Coordinates::default()
    });
    Some(Place {
        address: address.or_else(|| usual.map(|place| place.address.clone())).unwrap_or_default(),
        place_id: located.map(|located| located.place_id.clone()).unwrap_or_default(),
        coordinates: coordinates.into(),
        ..Place::default()
    })
}

fn contacts(offer: &FeedOffer, defaults: &Defaults) -> Option<Contacts> {
    let own = &offer.contacts;
    if own.name.is_none() && own.phones.is_empty() && own.email.is_none() {
        return defaults.contacts.as_option().cloned();
    }
    let text = |at: &Option<feedfile::At<String>>| at.as_ref().map(|at| at.value.clone()).unwrap_or_default();
    Some(Contacts {
        name: text(&own.name),
        phones: own.phones.iter().map(|phone| phone.value.clone()).collect(),
        email: text(&own.email),
        ..Contacts::default()
    })
}

/// Makes the price of an offer without one negotiable where its category allows that. The missing
/// price is reported already.
fn ask_for_the_price(offer: &mut Offer, catalogue: &Catalogue) {
    let limits = catalogue.category(&offer.category).map(catalog::Category::limits);
    let may_be_asked =
        |limits: &catalog::Limits| limits.price_required && limits.allows_price(PriceKind::Negotiable);
    if !offer.price.is_set() && limits.is_some_and(may_be_asked) {
        let negotiable = price::Negotiable::default().into();
        offer.price = Some(Price { kind: Some(negotiable), ..Price::default() }).into();
    }
}

/// Truncates a title that is longer than its category allows.
fn cut_title(offer: &mut Offer, violation: &Violation, catalogue: &Catalogue) -> bool {
    if (violation.field.as_str(), violation.code) != ("title", "too_long") {
        return false;
    }
    let Some(category) = catalogue.category(&offer.category) else { return false };
    let most = category.limits().title.most as usize;
    let Some((end, _)) = offer.title.char_indices().nth(most) else { return false };
    // At a word's end, unless the last word is very long.
    let end = offer.title[..end].rfind(' ').filter(|at| *at * 2 > end).unwrap_or(end);
    offer.title.truncate(end);
    offer.title.truncate(offer.title.trim_end().len());
    true
}

/// Removes the field of a violation, if the offer can do without it.
fn leave_out(offer: &mut Offer, violation: &Violation) -> bool {
    let field = violation.field.as_str();
    let number = |prefix: &str| {
        let rest = field.strip_prefix(prefix)?.strip_prefix('[')?;
        rest.split_once(']')?.0.parse::<usize>().ok()
    };
    if let Some(name) = field.strip_prefix("attributes.") {
        let name = name.split('[').next().unwrap_or(name);
        return offer.attributes.remove(name).is_some();
    }
    if let Some(number) = number("photos").filter(|number| *number < offer.photos.len()) {
        offer.photos.remove(number);
        return true;
    }
    if let (Some(number), Some(contacts)) = (number("contacts.phones"), offer.contacts.as_option_mut())
        && number < contacts.phones.len()
    {
        contacts.phones.remove(number);
        return true;
    }
    match field {
        "condition" if violation.code != "required" => {
            offer.condition = Condition::CONDITION_UNSPECIFIED.into();
        }
        "contacts.email" => offer.contacts.get_or_insert_default().email.clear(),
        "contacts.name" => offer.contacts.get_or_insert_default().name.clear(),
        "place.coordinates" => offer.place.get_or_insert_default().coordinates = None.into(),
        "place.address" => offer.place.get_or_insert_default().address.clear(),
        "video" | "video.url" => offer.video = None.into(),
        _ => return false,
    }
    true
}
