//! The stream of values: the current ones, then changes.
//!
//! It remembers the sent version of each parameter and after each wake-up sends those that differ.
//! Values are read at that moment, so a slow reader misses intermediate values but never the last
//! one. Wake-ups are subscribed to before the first read.

use std::collections::{BTreeMap, VecDeque};

use access::{Action, Caller};
use connectrpc::ConnectError;
use ctl::{Ctl, Current, Watch};
use futures::Stream;
use tokio::time::{Instant, sleep_until};
use triggers::Parameter;
use wire::torg::tasks::v1 as proto;

use super::prefix::NamePrefix;
use super::{CtlCalls, messages, parameters};
use crate::caller::require;
use crate::errors::Refusal;
use crate::limits::{VALUES_PORTION, VALUES_REST, VALUES_WATCHED_MAX};
use crate::streams::until_stopped;

impl CtlCalls {
    /// Sends the current values, then every change, until the process stops.
    pub(super) async fn watch(
        &self,
        caller: &Caller,
        request: proto::WatchValuesRequest,
    ) -> Result<impl Stream<Item = Result<proto::WatchValuesResponse, ConnectError>> + Send + 'static, Refusal>
    {
        require(caller, Action::SeeProcess)?;
        let mut stream = ValueStream {
            wakes: self.ctl.watch(),
            ctl: self.ctl.clone(),
            about: About::of(&request)?,
            sent: BTreeMap::new(),
            scans: 0,
            rest_until: Instant::now(),
            pending: VecDeque::new(),
            caught_up: false,
        };
        stream.scan().await?;
        let sent = futures::stream::try_unfold(stream, |mut stream| async move {
            let next = stream.next().await.map_err(ConnectError::from)?;
            Ok(next.map(|next| (next, stream)))
        });
        let text = "this process is stopping: start again with another one";
        Ok(until_stopped(sent, self.closing.clone(), text))
    }
}

/// The parameters of a stream.
enum About {
    Named(Vec<Parameter>),
    NamePrefix(NamePrefix),
}

impl About {
    fn of(request: &proto::WatchValuesRequest) -> Result<Self, Refusal> {
        if request.parameters.is_empty() {
            return NamePrefix::of("prefix", &request.prefix).map(Self::NamePrefix);
        }
        if !request.prefix.is_empty() {
            let text = "give a prefix or names, not both";
            return Err(Refusal::wrong_field("prefix", "NOT_ALLOWED", text));
        }
        let mut named = parameters("parameters", &request.parameters)?;
        named.sort();
        named.dedup();
        Ok(Self::Named(named))
    }
}

/// The state of a stream.
struct ValueStream {
    ctl: Ctl,
    wakes: Watch,
    about: About,
    /// The sent version of each parameter, and the scan in which it was last seen.
    sent: BTreeMap<Parameter, Sent>,
    scans: u64,
    rest_until: Instant,
    pending: VecDeque<proto::CtlCurrent>,
    caught_up: bool,
}

struct Sent {
    /// Zero: no value.
    version: u64,
    scan: u64,
}

impl ValueStream {
    /// The next message; `None` when the store is closed.
    async fn next(&mut self) -> Result<Option<proto::WatchValuesResponse>, Refusal> {
        while self.caught_up && self.pending.is_empty() {
            if !self.wakes.next().await {
                return Ok(None);
            }
            sleep_until(self.rest_until).await;
            self.scan().await?;
        }
        let portion = self.pending.len().min(VALUES_PORTION);
        let values = self.pending.drain(..portion).collect();
        let caught_up = !self.caught_up && self.pending.is_empty();
        self.caught_up |= caught_up;
        Ok(Some(proto::WatchValuesResponse { values, caught_up, ..Default::default() }))
    }

    /// Reads all values of the stream and queues what has changed.
    async fn scan(&mut self) -> Result<(), Refusal> {
        let began = Instant::now();
        self.scans += 1;
        match &self.about {
            About::Named(named) => {
                let (named, values) = (named.clone(), self.ctl.get_many(named).await?);
                for (parameter, current) in named.into_iter().zip(values) {
                    self.update(parameter, current.as_ref()).await?;
                }
            }
            About::NamePrefix(prefix) => {
                let (prefix, mut after) = (prefix.clone(), None);
                loop {
                    let page = prefix.values(&self.ctl, after, VALUES_PORTION).await?;
                    let last = page.len() < VALUES_PORTION;
                    after = page.last().map(|(parameter, _)| parameter.clone());
                    for (parameter, current) in page {
                        self.update(parameter, Some(&current)).await?;
                    }
                    if last {
                        break;
                    }
                }
                self.remove_missing().await?;
            }
        }
        self.rest_until = Instant::now() + began.elapsed() * VALUES_REST;
        Ok(())
    }

    /// Records the current value of a parameter.
    async fn update(&mut self, parameter: Parameter, current: Option<&Current>) -> Result<(), Refusal> {
        let (version, scan) = (current.map_or(0, |current| current.version), self.scans);
        let known = self.sent.get_mut(&parameter);
        if let Some(known) = known.filter(|known| known.version == version) {
            known.scan = scan;
            return Ok(());
        }
        let sent = match current {
            Some(_) => messages::current(&parameter, current),
            None => self.without_value(&parameter).await?,
        };
        self.sent.insert(parameter, Sent { version: sent.version, scan });
        self.pending.push_back(sent);
        if self.sent.len() > VALUES_WATCHED_MAX {
            let text = format!("more than {VALUES_WATCHED_MAX} values match: give a longer prefix");
            return Err(Refusal::wrong_field("prefix", "TOO_MANY", text));
        }
        Ok(())
    }

    /// Parameters that this scan did not see have no value any more.
    async fn remove_missing(&mut self) -> Result<(), Refusal> {
        let gone = self.sent.iter().filter(|(_, sent)| sent.scan != self.scans);
        let gone: Vec<Parameter> = gone.map(|(parameter, _)| parameter.clone()).collect();
        for parameter in gone {
            let sent = self.without_value(&parameter).await?;
            if sent.version == 0 {
                self.sent.remove(&parameter);
            } else {
                // It was set again meanwhile.
                self.sent.insert(parameter, Sent { version: sent.version, scan: self.scans });
            }
            self.pending.push_back(sent);
        }
        Ok(())
    }

    /// The state of a deleted parameter, from its history.
    async fn without_value(&self, parameter: &Parameter) -> Result<proto::CtlCurrent, Refusal> {
        let last = self.ctl.history(parameter, None, 1).await?.pop();
        Ok(last.map_or_else(|| messages::current(parameter, None), |last| messages::left(parameter, last)))
    }
}
