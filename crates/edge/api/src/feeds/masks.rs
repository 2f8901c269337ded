//! The update mask of feeds.

use buffa_types::google::protobuf::FieldMask;
use feeds::Error;
use wire::torg::feeds::v1::{Feed, Link};

use super::checks::HIDDEN;
use crate::errors::{FieldFault, Refusal};
use crate::limits::{FEED_MASK_PATHS_MAX, count};

const TITLE: &str = "title";
const LINK: &str = "link";
const LINK_PERIOD: &str = "link.period";
const PAUSED: &str = "paused";
const MISSING: &str = "missing";
const GUARD: &str = "guard";
const DEFAULTS: &str = "defaults";

/// All paths.
const KNOWN: [&str; 7] = [TITLE, LINK, LINK_PERIOD, PAUSED, MISSING, GUARD, DEFAULTS];
/// The paths of an empty mask.
const ALL: [&str; 6] = [TITLE, LINK, PAUSED, MISSING, GUARD, DEFAULTS];

/// The paths of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FeedMask(Vec<&'static str>);

impl FeedMask {
    /// An empty mask means all fields that callers set.
    pub(super) fn parse(mask: Option<&FieldMask>) -> Result<Self, Refusal> {
        let paths = mask.map(|mask| &*mask.paths).unwrap_or_default();
        count("update_mask", paths.len(), FEED_MASK_PATHS_MAX)?;
        if paths.is_empty() {
            return Ok(Self(ALL.to_vec()));
        }
        let known =
            |path: &String| KNOWN.into_iter().find(|known| known == path).ok_or_else(|| unknown(path));
        paths.iter().map(known).collect::<Result<_, _>>().map(Self)
    }

    /// Applies a change. A password that is empty or masked stays, unless the link changes to
    /// another server.
    pub(super) fn apply(&self, wanted: &Feed, feed: &mut Feed) -> feeds::Result<()> {
        for path in &self.0 {
            match *path {
                TITLE => wanted.title.clone_into(&mut feed.title),
                LINK => {
                    let link = wanted.link.as_option().map(|link| with_password(link, feed.link.as_option()));
                    feed.link = link.transpose()?.into();
                }
                LINK_PERIOD => {
                    let Some(link) = feed.link.as_option_mut() else {
                        let text = "this feed has no link: give it one".to_owned();
                        return Err(Error::Invalid { field: LINK_PERIOD.to_owned(), text });
                    };
                    let period = wanted.link.as_option().and_then(|link| link.period.as_option());
                    link.period = period.cloned().into();
                }
                PAUSED => feed.paused = wanted.paused,
                MISSING => feed.missing = wanted.missing,
                GUARD => feed.guard = wanted.guard.clone(),
                _ => feed.defaults = wanted.defaults.clone(),
            }
        }
        Ok(())
    }
}

fn with_password(wanted: &Link, before: Option<&Link>) -> feeds::Result<Link> {
    let mut link = wanted.clone();
    let is_kept = wanted.password.is_empty() || wanted.password == HIDDEN;
    if wanted.user.is_empty() {
        // Without a user there is no password.
        link.password.clear();
    } else if is_kept {
        let kept = before.filter(|link| !link.password.is_empty());
        if kept.is_some_and(|before| server(&before.url) != server(&wanted.url)) {
            // A caller could otherwise send the stored password to a server of their own.
            let text = "the link changes to another server, which must not get the stored password: give a password, or omit the user".to_owned();
            return Err(Error::Invalid { field: "link.password".to_owned(), text });
        }
        link.password = kept.map(|link| link.password.clone()).unwrap_or_default();
    }
    Ok(link)
}

/// Scheme, host and port of a URL in lower case; the whole URL if it has no host.
fn server(url: &str) -> String {
    let host = url.find("://").map_or(url.len(), |place| place + 3);
    let end = url[host..].find(['/', '?', '#']).filter(|end| *end > 0).map_or(url.len(), |end| host + end);
    url[..end].to_lowercase()
}

fn unknown(path: &str) -> Refusal {
    let text = format!("{path:?} cannot be changed: the paths are {}", KNOWN.join(", "));
    Refusal::wrong("WRONG_FIELD_MASK", vec![FieldFault::new("update_mask", "UNKNOWN_PATH", text)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(paths: &[&str]) -> Result<FeedMask, Refusal> {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        FeedMask::parse(Some(&FieldMask { paths, ..FieldMask::default() }))
    }

    fn linked(user: &str, password: &str) -> Feed {
        let (url, user, password) = ("https://a.example/f".into(), user.into(), password.into());
        let link = Link { url, user, password, ..Link::default() };
        Feed { title: "t".into(), paused: true, link: Some(link).into(), ..Feed::default() }
    }

    #[test]
    fn an_unknown_path_is_refused_with_those_that_are_known() {
        for path in ["keeping", "version", "guard.confirmed", "seller", "parsed", ""] {
            let refusal = mask(&["title", path]).unwrap_err();
            assert_eq!(refusal.fields()[0].reason, "UNKNOWN_PATH", "{path}");
            assert!(refusal.text().contains("title, link, link.period, paused"), "{}", refusal.text());
        }
        assert_eq!(mask(&[]), Ok(FeedMask(ALL.to_vec())));
    }

    #[test]
    fn only_what_is_named_changes() {
        let mut feed = linked("u", "old");
        mask(&["title"]).unwrap().apply(&Feed::default(), &mut feed).unwrap();
        assert_eq!(feed, Feed { title: String::new(), ..linked("u", "old") });
        mask(&[]).unwrap().apply(&Feed::default(), &mut feed).unwrap();
        assert_eq!(feed, Feed::default());
        let wrong = mask(&["link.period"]).unwrap().apply(&linked("", ""), &mut feed);
        assert!(matches!(wrong, Err(Error::Invalid { field, .. }) if field == "link.period"));
    }

    #[test]
    fn a_password_stays_unless_it_is_replaced_or_the_user_is_removed() {
        let after = |user: &str, password: &str| {
            let mut feed = linked("u", "old");
            mask(&["link"]).unwrap().apply(&linked(user, password), &mut feed).unwrap();
            feed.link.as_option().unwrap().password.clone()
        };
        assert_eq!((after("u", ""), after("u", "***")), ("old".into(), "old".into()));
        assert_eq!((after("u", "new"), after("", "")), ("new".into(), String::new()));
    }

    #[test]
    fn a_password_does_not_go_to_another_server() {
        let to = |url: &str, user: &str, password: &str| {
            let mut feed = linked("u", "old");
            let mut wanted = linked(user, password);
            url.clone_into(&mut wanted.link.get_or_insert_default().url);
            let outcome = mask(&["link"]).unwrap().apply(&wanted, &mut feed);
            outcome.map(|()| feed.link.as_option().unwrap().password.clone())
        };
        for same in ["https://a.example/other.xml", "https://A.example?x=1", "https://a.example"] {
            assert_eq!(to(same, "u", "").unwrap(), "old", "{same}");
        }
        let others = [
            "https://b.example/f",
            "http://a.example/f",
            "https://a.example:8443/f",
            "https://a.example.evil.example/f",
            "https://a.example@evil.example/f",
            "https://a.example\\@evil.example/f",
            "https:////evil.example/f",
        ];
        for other in others {
            for password in ["", HIDDEN] {
                let refused = to(other, "u", password);
                assert!(
                    matches!(refused, Err(Error::Invalid { field, .. }) if field == "link.password"),
                    "{other}"
                );
            }
            assert_eq!(
                (to(other, "u", "new").unwrap(), to(other, "", "").unwrap()),
                ("new".into(), String::new())
            );
        }
    }
}
