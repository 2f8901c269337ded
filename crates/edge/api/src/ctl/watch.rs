//! The stream of values: the current ones, then those that changed.
//!
//! It remembers the version that it has told of each parameter, and after every wake-up tells those that have another one. What it tells is read at that
//! moment, so a slow reader misses values in between and never the last. Wake-ups are heard from before the first look on.

use std::collections::{BTreeMap, VecDeque};

use access::Caller;
use connectrpc::{ConnectError, ErrorCode};
use ctl::{Ctl, Current, Watch};
use futures::{Stream, StreamExt as _};
use tokio::time::{Instant, sleep_until};
use triggers::Parameter;
use wire::torg::tasks::v1 as proto;

use super::beginning::Beginning;
use super::{CtlCalls, may_look, parameters, shown};
use crate::errors::Refusal;
use crate::limits::{VALUES_PORTION, VALUES_REST, VALUES_WATCHED_MAX};

impl CtlCalls {
    /// The current values, then every change, until the process stops.
    pub(super) async fn watch(
        &self,
        caller: &Caller,
        request: proto::WatchValuesRequest,
    ) -> Result<impl Stream<Item = Result<proto::WatchValuesResponse, ConnectError>> + Send + 'static, Refusal>
    {
        may_look(caller)?;
        let mut watching = Watching {
            wakes: self.ctl.watch(),
            ctl: self.ctl.clone(),
            about: About::of(&request)?,
            told: BTreeMap::new(),
            looks: 0,
            rest_until: Instant::now(),
            to_tell: VecDeque::new(),
            caught_up: false,
        };
        watching.look().await?;
        let told = futures::stream::try_unfold(watching, |mut watching| async move {
            let next = watching.next().await.map_err(ConnectError::from)?;
            Ok(next.map(|next| (next, watching)))
        });
        let mut closing = self.closing.clone();
        let closed = async move {
            // The sender is gone at the end, too.
            let _ = closing.wait_for(|closing| *closing).await;
        };
        let farewell = async { Err(ConnectError::from(stopping())) };
        Ok(until_error(told.take_until(closed).chain(futures::stream::once(farewell))))
    }
}

fn stopping() -> Refusal {
    let text = "this process is stopping: begin again elsewhere";
    Refusal::new(ErrorCode::Unavailable, "STOPPING", text).passing()
}

/// A stream that ends with its first error.
fn until_error<T: Send + 'static>(
    stream: impl Stream<Item = Result<T, ConnectError>> + Send + 'static,
) -> impl Stream<Item = Result<T, ConnectError>> + Send + 'static {
    stream.scan(false, |failed, item| {
        let over = *failed;
        *failed = item.is_err();
        futures::future::ready((!over).then_some(item))
    })
}

/// Which parameters a stream is about.
enum About {
    Named(Vec<Parameter>),
    Beginning(Beginning),
}

impl About {
    fn of(request: &proto::WatchValuesRequest) -> Result<Self, Refusal> {
        if request.parameters.is_empty() {
            return Beginning::of("prefix", &request.prefix).map(Self::Beginning);
        }
        if !request.prefix.is_empty() {
            let text = "either how names begin, or the names themselves";
            return Err(Refusal::wrong_field("prefix", "NOT_ALLOWED", text));
        }
        let mut named = parameters("parameters", &request.parameters)?;
        named.sort();
        named.dedup();
        Ok(Self::Named(named))
    }
}

/// A stream as it stands.
struct Watching {
    ctl: Ctl,
    wakes: Watch,
    about: About,
    /// What was told of each parameter, and at which look it was seen last.
    told: BTreeMap<Parameter, Told>,
    looks: u64,
    rest_until: Instant,
    to_tell: VecDeque<proto::CtlCurrent>,
    caught_up: bool,
}

struct Told {
    /// Zero: it has no value.
    version: u64,
    look: u64,
}

impl Watching {
    /// The next message, as soon as there is something to tell; `None` when the store is closed.
    async fn next(&mut self) -> Result<Option<proto::WatchValuesResponse>, Refusal> {
        while self.caught_up && self.to_tell.is_empty() {
            if !self.wakes.next().await {
                return Ok(None);
            }
            sleep_until(self.rest_until).await;
            self.look().await?;
        }
        let portion = self.to_tell.len().min(VALUES_PORTION);
        let values = self.to_tell.drain(..portion).collect();
        let caught_up = !self.caught_up && self.to_tell.is_empty();
        self.caught_up |= caught_up;
        Ok(Some(proto::WatchValuesResponse { values, caught_up, ..Default::default() }))
    }

    /// Looks at all values of the stream, and finds what has to be told.
    async fn look(&mut self) -> Result<(), Refusal> {
        let began = Instant::now();
        self.looks += 1;
        match &self.about {
            About::Named(named) => {
                let (named, values) = (named.clone(), self.ctl.get_many(named).await?);
                for (parameter, current) in named.into_iter().zip(values) {
                    self.saw(parameter, current.as_ref()).await?;
                }
            }
            About::Beginning(beginning) => {
                let (beginning, mut after) = (beginning.clone(), None);
                loop {
                    let page = beginning.values(&self.ctl, after, VALUES_PORTION).await?;
                    let last = page.len() < VALUES_PORTION;
                    after = page.last().map(|(parameter, _)| parameter.clone());
                    for (parameter, current) in page {
                        self.saw(parameter, Some(&current)).await?;
                    }
                    if last {
                        break;
                    }
                }
                self.miss().await?;
            }
        }
        self.rest_until = Instant::now() + began.elapsed() * VALUES_REST;
        Ok(())
    }

    /// A parameter is this now.
    async fn saw(&mut self, parameter: Parameter, current: Option<&Current>) -> Result<(), Refusal> {
        let (version, look) = (current.map_or(0, |current| current.version), self.looks);
        let known = self.told.get_mut(&parameter);
        if let Some(known) = known.filter(|known| known.version == version) {
            known.look = look;
            return Ok(());
        }
        let told = match current {
            Some(_) => shown::current(&parameter, current),
            None => self.without_value(&parameter).await?,
        };
        self.told.insert(parameter, Told { version: told.version, look });
        self.to_tell.push_back(told);
        if self.told.len() > VALUES_WATCHED_MAX {
            let text = format!("more than {VALUES_WATCHED_MAX} values begin so: give a longer beginning");
            return Err(Refusal::wrong_field("prefix", "TOO_MANY", text));
        }
        Ok(())
    }

    /// Parameters that were not seen at this look have no value any more.
    async fn miss(&mut self) -> Result<(), Refusal> {
        let gone = self.told.iter().filter(|(_, told)| told.look != self.looks);
        let gone: Vec<Parameter> = gone.map(|(parameter, _)| parameter.clone()).collect();
        for parameter in gone {
            let told = self.without_value(&parameter).await?;
            if told.version == 0 {
                self.told.remove(&parameter);
            } else {
                // It was set again since.
                self.told.insert(parameter, Told { version: told.version, look: self.looks });
            }
            self.to_tell.push_back(told);
        }
        Ok(())
    }

    /// A parameter that has no value: who has deleted it, and when, stands in its history.
    async fn without_value(&self, parameter: &Parameter) -> Result<proto::CtlCurrent, Refusal> {
        let last = self.ctl.history(parameter, None, 1).await?.pop();
        Ok(last.map_or_else(|| shown::current(parameter, None), |last| shown::left(parameter, last)))
    }
}
