//! Checks whether the linked video of an offer is available.

mod ask;
mod hosts;

use std::time::Duration;

use async_trait::async_trait;
use fetch::Client;
use offers::{StoredOffer, time};
use url::Url;
use watcher::{Answer, Fields, Interest, Schedule, Stage, StageError, Subject, Time};
use wire::torg::offers::v1::{Problem, Status, Video, video};

use crate::limits::{VIDEO_CHECK_AGAIN, VIDEO_CHECK_MISSING};
use crate::patch::patch;

use ask::Said;
pub use hosts::{Ask, VideoHost};

/// Configuration of checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VideoConfig {
    /// Videos of other hosts are not checked.
    pub hosts: Vec<VideoHost>,
    /// The interval of checks of an available video.
    pub check_again: Duration,
    /// The interval of checks of an unavailable video.
    pub check_missing: Duration,
}

impl Default for VideoConfig {
    fn default() -> Self {
        Self { hosts: VideoHost::known(), check_again: VIDEO_CHECK_AGAIN, check_missing: VIDEO_CHECK_MISSING }
    }
}

/// Sets `video.availability` of active offers, at once and at intervals.
///
/// A host that does not answer or is busy is a temporary failure of the visit: the offer stays
/// unchanged.
pub struct VideoCheck {
    client: Client,
    config: VideoConfig,
}

impl VideoCheck {
    #[must_use]
    pub fn new(client: Client, config: VideoConfig) -> Self {
        Self { client, config }
    }

    /// The current state of a video.
    async fn look(&self, url: &str, now: Time) -> Result<video::Availability, StageError> {
        let parsed = Url::parse(url.trim()).ok();
        let host = parsed.as_ref().and_then(|url| Some((url, self.host_of(url)?)));
        let said = match host {
            None => None,
            Some((url, host)) => {
                Some(ask::ask(&self.client, &host.ask, url).await.map_err(StageError::Passing)?)
            }
        };
        let now = time::from_time(now);
        Ok(match said {
            None => availability(video::State::STATE_UNKNOWN_HOST),
            Some(Said::Available(title)) => {
                let check_time = Some(now).into();
                video::Availability { title, check_time, ..availability(video::State::STATE_AVAILABLE) }
            }
            Some(Said::Unavailable(code, text)) => {
                let (check_time, time) = (Some(now.clone()).into(), Some(now).into());
                let problem = Problem { code, text, time, passing: true, ..Problem::default() };
                video::Availability {
                    check_time,
                    problem: Some(problem).into(),
                    ..availability(video::State::STATE_UNAVAILABLE)
                }
            }
        })
    }

    fn host_of(&self, url: &Url) -> Option<&VideoHost> {
        self.config.hosts.iter().find(|host| host.has(url))
    }

    /// The time of the next check; `None` if there is none.
    fn next(&self, found: &video::Availability) -> Option<Time> {
        let pause = match found.state.as_known()? {
            video::State::STATE_AVAILABLE => self.config.check_again,
            video::State::STATE_UNAVAILABLE => self.config.check_missing,
            _ => return None,
        };
        Some(Time::from_ms(time::to_ms(found.check_time.as_option()?)) + pause)
    }
}

#[async_trait]
impl Stage<StoredOffer> for VideoCheck {
    fn id(&self) -> &'static str {
        "video"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["video", "status"]))
    }

    fn visit_after_change(&self, offer: &StoredOffer, _now: Time) -> Schedule {
        let Some(video) = shown_video(offer) else { return Schedule::No };
        match video.availability.as_option() {
            None => Schedule::Now,
            Some(known) => self.next(known).map_or(Schedule::Now, Schedule::At),
        }
    }

    async fn should_process(&self, subject: &Subject<StoredOffer>) -> Result<Schedule, StageError> {
        Ok(self.visit_after_change(&subject.entity, subject.now))
    }

    async fn process(&self, subject: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        let (offer, now) = (&subject.entity, subject.now);
        let Some(video) = shown_video(offer) else { return Ok(Answer::untouched()) };
        let known = video.availability.as_option();
        if let Some(next) = known.and_then(|known| self.next(known)).filter(|next| now < *next) {
            return Ok(Answer::untouched().visit_at(next));
        }
        let found = self.look(&video.url, now).await?;
        let found = since_when(found, known);
        let next = self.next(&found);
        if known == Some(&found) {
            return Ok(Answer::untouched());
        }
        let mut seen = offer.clone();
        seen.offer.video.get_or_insert_default().availability = Some(found).into();
        let answer = patch(["video"], seen, now);
        Ok(match next {
            Some(next) => answer.visit_at(next),
            None => answer,
        })
    }
}

/// The video of an active offer.
fn shown_video(offer: &StoredOffer) -> Option<&Video> {
    let is_active = offer.status() == Status::Active;
    offer.offer.video.as_option().filter(|video| is_active && !video.url.is_empty())
}

/// A known problem keeps its time.
fn since_when(mut found: video::Availability, known: Option<&video::Availability>) -> video::Availability {
    let before = known.and_then(|known| known.problem.as_option());
    if let (Some(problem), Some(before)) = (found.problem.as_option_mut(), before)
        && problem.code == before.code
    {
        problem.time = before.time.clone();
    }
    found
}

fn availability(state: video::State) -> video::Availability {
    video::Availability { state: state.into(), ..video::Availability::default() }
}
