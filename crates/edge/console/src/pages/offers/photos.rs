//! Photos and video of an offer.

use maud::{Markup, html};
use wire::torg::offers::v1::{Photo, Problem, Video, video};

use crate::language::w;
use crate::view::{Tone, ago_of_offers, cut, state};
use crate::visit::Visit;

/// Only photos served by Torg are shown: pages load nothing from elsewhere.
const PHOTOS: &str = "/photos/";
/// The preferred minimum for the long side of a thumbnail, in pixels.
const THUMB_SIDE_MIN: u32 = 200;

/// A link to another site without a referrer; plain text if it is not a web address.
pub(super) fn outward(url: &str) -> Markup {
    let web = url.starts_with("https://") || url.starts_with("http://");
    html! {
        @if web { a href=(url) rel="noreferrer noopener nofollow" target="_blank" { (cut(url)) } }
        @else { (cut(url)) }
    }
}

pub(super) fn show(visit: &Visit, photos: &[Photo], order: &[u32]) -> Markup {
    html! {
        ul.photos {
            @for (at, photo) in photos.iter().enumerate() {
                @let shown_as = order.iter().position(|place| *place as usize == at);
                li { (one(visit, photo, at + 1, shown_as)) }
            }
        }
    }
}

fn one(visit: &Visit, photo: &Photo, number: usize, shown_as: Option<usize>) -> Markup {
    let name = visit.f("Photo {0}", &[&number]);
    html! {
        figure {
            @match (thumb(photo), largest(photo)) {
                (Some(thumb), Some(largest)) => {
                    a href=(largest) { img src=(thumb) alt=(name) loading="lazy"; }
                }
                _ => { div.nothing { (visit.t("not fetched")) } }
            }
            figcaption {
                (name)
                @if photo.width > 0 { ", " (photo.width) "×" (photo.height) }
                @if let Some(place) = shown_as { ", " (visit.f("position {0}", &[&(place + 1)])) }
                @if let Some(problem) = photo.problem.as_option() { br; (fetch_problem(visit, problem)) }
                @if !photo.source_url.is_empty() { br; span.quiet { (outward(&photo.source_url)) } }
            }
        }
    }
}

fn fetch_problem(visit: &Visit, problem: &Problem) -> Markup {
    html! {
        (state(if problem.passing { Tone::Warn } else { Tone::Bad }, &problem.code)) " "
        span { (cut(&problem.text)) } " " span.quiet { (ago_of_offers(visit, problem.time.as_option())) }
        @if problem.passing { " " span.quiet { (visit.t("It is retried by itself.")) } }
    }
}

/// Sizes served by Torg, the smallest first.
fn served(photo: &Photo) -> Vec<(u32, &str)> {
    let mut sizes: Vec<(u32, &str)> = photo
        .sizes
        .iter()
        .filter(|(_, place)| place.starts_with(PHOTOS))
        .map(|(side, place)| (side.parse().unwrap_or(u32::MAX), &**place))
        .collect();
    sizes.sort_unstable();
    sizes
}

fn thumb(photo: &Photo) -> Option<&str> {
    let sizes = served(photo);
    let fitting = sizes.iter().find(|(side, _)| *side >= THUMB_SIDE_MIN).or_else(|| sizes.last());
    fitting.map(|(_, place)| *place)
}

fn largest(photo: &Photo) -> Option<&str> {
    served(photo).last().map(|(_, place)| *place)
}

pub(super) fn video_facts(visit: &Visit, film: &Video) -> Markup {
    use video::State;
    let availability = film.availability.as_option();
    let known = availability.and_then(|known| known.state.as_known()).unwrap_or_default();
    let (tone, text) = match known {
        State::STATE_AVAILABLE => (Tone::Good, w("available")),
        State::STATE_UNAVAILABLE => (Tone::Bad, w("unavailable")),
        State::STATE_UNKNOWN_HOST => (Tone::Warn, w("site not supported")),
        State::STATE_UNSPECIFIED => (Tone::Plain, w("not checked yet")),
    };
    html! {
        (outward(&film.url)) " " (state(tone, visit.t(text)))
        @if let Some(known) = availability {
            @if !known.title.is_empty() { br; (cut(&known.title)) }
            @if let Some(problem) = known.problem.as_option() { br; (fetch_problem(visit, problem)) }
            @if let Some(time) = known.check_time.as_option() {
                br; span.quiet { (visit.t("Checked")) " " (ago_of_offers(visit, Some(time))) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_photos_of_our_own_are_shown_and_a_thumbnail_is_the_smallest_that_suffices() {
        let sizes =
            [("80", "/photos/a-80.jpg"), ("320", "/photos/a-320.jpg"), ("1600", "https://evil.example/x")];
        let sizes = sizes.map(|(side, place)| (side.to_owned(), place.to_owned()));
        let photo = Photo { sizes: sizes.into(), ..Photo::default() };
        assert_eq!(thumb(&photo), Some("/photos/a-320.jpg"));
        assert_eq!(largest(&photo), Some("/photos/a-320.jpg"));
        assert_eq!(thumb(&Photo::default()), None);
    }

    #[test]
    fn only_an_address_of_the_web_becomes_a_link() {
        assert!(outward("https://shop.example/1").into_string().contains("rel=\"noreferrer"));
        assert_eq!(outward("javascript:alert(1)").into_string(), "javascript:alert(1)");
    }
}
