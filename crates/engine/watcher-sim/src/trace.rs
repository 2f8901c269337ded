//! The trace: everything that happens, line by line, with the simulated time. Two runs of one seed
//! have the same trace.

use std::collections::VecDeque;
use std::fmt;

use store::{Batch, Write};
use xxhash_rust::xxh3::Xxh3;

/// The lines that are shown with a failure.
const LAST_LINES: usize = 300;

pub(crate) struct Trace {
    hash: Xxh3,
    events: u64,
    last: VecDeque<String>,
    /// Every line, if they are kept.
    all: Option<Vec<String>>,
    /// Nothing is recorded after the end.
    ended: bool,
}

impl Trace {
    pub(crate) fn new(keep: bool) -> Self {
        let all = keep.then(Vec::new);
        Self { hash: Xxh3::new(), events: 0, last: VecDeque::new(), all, ended: false }
    }

    pub(crate) fn note(&mut self, now_ms: u64, event: fmt::Arguments<'_>) {
        if self.ended {
            return;
        }
        let line = format!("{now_ms:>7} {event}");
        self.hash.update(line.as_bytes());
        self.hash.update(b"\n");
        self.events += 1;
        if let Some(all) = &mut self.all {
            all.push(line.clone());
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash.digest()
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    pub(crate) fn last(&self) -> Vec<String> {
        self.last.iter().cloned().collect()
    }

    pub(crate) fn take_all(&mut self) -> Option<Vec<String>> {
        self.all.take()
    }
}

pub(crate) struct Shown<'a>(pub(crate) &'a Batch);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, version) in self.0.checks() {
            write!(f, " {key} is v{version};")?;
        }
        for (key, write) in self.0.writes() {
            match write {
                Write::Put { version, value } => write!(f, " {key} = v{version} {value:?};")?,
                Write::Delete => write!(f, " {key} deleted;")?,
                Write::Add(delta) => write!(f, " {key} += {delta};")?,
            }
        }
        Ok(())
    }
}
