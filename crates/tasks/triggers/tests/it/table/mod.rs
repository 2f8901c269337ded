//! The one table of cases: the test runs it, and the page `docs/triggers.md` shows it.

mod aggregates;
mod case;
mod chunk_delay;
mod chunk_delta;
mod chunk_delta_days;
mod chunk_ref_delay;
mod delay;
mod delta;
mod page;
mod ref_delay;

pub(crate) use aggregates::{Joined, joined};
pub(crate) use case::Section;
pub(crate) use page::page;

/// All cases of one type of trigger.
pub(crate) struct Chapter {
    pub(crate) title: &'static str,
    /// What the type means.
    pub(crate) about: &'static str,
    pub(crate) sections: Vec<Section>,
}

pub(crate) fn chapters() -> Vec<Chapter> {
    let mut chunk_delta = chunk_delta_days::chapter();
    chunk_delta.sections.extend(chunk_delta::sections());
    vec![
        delta::chapter(),
        delay::chapter(),
        ref_delay::chapter(),
        chunk_delta,
        chunk_delay::chapter(),
        chunk_ref_delay::chapter(),
    ]
}
