//! Locates an offer.

use geo::{Builtin, Geocoder, Located, Point};

use crate::input::Input;
use crate::output::{Mark, MarkKind, Unified};

/// Uses the built-in places. Coordinates have precedence; the address is used if they have no
/// place.
pub(crate) fn locate_now(places: &Builtin, input: &Input<'_>, unified: &mut Unified) {
    let located = point_of(input, unified).and_then(|point| places.locate_now(point));
    let address = input.address.filter(|address| !address.trim().is_empty());
    let located = located.or_else(|| places.find_now(address?, input.hints));
    finish(located, input, unified);
}

pub(crate) async fn locate(geocoder: &dyn Geocoder, input: &Input<'_>, unified: &mut Unified) {
    let mut located = None;
    if let Some(point) = point_of(input, unified) {
        match geocoder.locate(point).await {
            Ok(found) => located = found,
            Err(error) => return mark_failure(&error, "coordinates", input, unified),
        }
    }
    if let (None, Some(address)) = (&located, input.address.filter(|address| !address.trim().is_empty())) {
        match geocoder.find(address, input.hints).await {
            Ok(found) => located = found,
            Err(error) => return mark_failure(&error, "address", input, unified),
        }
    }
    finish(located, input, unified);
}

fn mark_failure(error: &geo::Error, field: &str, input: &Input<'_>, unified: &mut Unified) {
    let kind = if error.is_passing() { MarkKind::GeocoderUnavailable } else { MarkKind::GeocoderRefused };
    unified.marks.push(Mark::new(kind, field, input.address.unwrap_or_default(), Some(error.to_string())));
}

/// The point of the feed; an invalid one becomes a mark. Programs without coordinates write 0, 0.
fn point_of(input: &Input<'_>, unified: &mut Unified) -> Option<Point> {
    let (latitude, longitude) = input.point.filter(|point| *point != (0.0, 0.0))?;
    let point = Point::new(latitude, longitude);
    if point.is_none() {
        let given = format!("{latitude}, {longitude}");
        unified.marks.push(Mark::new(MarkKind::UnknownPlace, "coordinates", &given, None));
    }
    point
}

fn finish(located: Option<Located>, input: &Input<'_>, unified: &mut Unified) {
    match (&located, input.address) {
        (Some(found), address) => {
            let mark = |other| {
                Mark::new(MarkKind::AmbiguousPlace, "address", address.unwrap_or_default(), Some(other))
            };
            unified.marks.extend(found.or_else.clone().map(mark));
        }
        (None, Some(address)) if !address.trim().is_empty() => {
            unified.marks.push(Mark::new(MarkKind::UnknownPlace, "address", address, None));
        }
        (None, _) => {
            if let Some((latitude, longitude)) = input.point.filter(|point| *point != (0.0, 0.0)) {
                let given = format!("{latitude}, {longitude}");
                let known = unified.marks.iter().any(|mark| mark.kind == MarkKind::UnknownPlace);
                let mark = Mark::new(MarkKind::UnknownPlace, "coordinates", &given, None);
                unified.marks.extend((!known).then_some(mark));
            }
        }
    }
    unified.place = located;
}
