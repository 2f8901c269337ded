//! Helpers of the tests.

use feedfile::{Batch, Code, FeedOffer, Item, Options, Outcome, Reader, Severity, Summary};
use std::io::Read;
use std::ops::ControlFlow;

/// All items of a file, and its summary.
pub(crate) fn read(input: impl Read + Send) -> (Vec<Item>, Summary) {
    read_with(input, Options::default())
}

pub(crate) fn read_with(input: impl Read + Send, options: Options) -> (Vec<Item>, Summary) {
    let mut items = Vec::new();
    let reader = Reader::open(input, options).unwrap();
    let summary = reader.read(|batch: Batch| {
        items.extend(batch.items);
        ControlFlow::Continue(())
    });
    (items, summary)
}

/// The offers, all of which must be taken.
pub(crate) fn offers(text: &str) -> Vec<FeedOffer> {
    let (items, summary) = read(text.as_bytes());
    assert_eq!(summary.outcome, Outcome::Complete);
    let taken: Vec<FeedOffer> = items.iter().filter_map(|item| item.offer.clone()).collect();
    assert_eq!(taken.len(), items.len(), "{items:#?}");
    taken
}

/// Codes with their lines and columns, in the order of the file.
pub(crate) fn problems(items: &[Item]) -> Vec<(Code, u32, u32)> {
    let all = items.iter().flat_map(|item| &item.problems);
    all.map(|problem| (problem.code, problem.at.line, problem.at.column)).collect()
}

pub(crate) fn codes(items: &[Item], severity: Severity) -> Vec<Code> {
    let all = items.iter().flat_map(|item| &item.problems);
    all.filter(|problem| problem.severity == severity).map(|problem| problem.code).collect()
}

/// Where the file broke.
pub(crate) fn broken(summary: &Summary) -> (Code, u32, u32) {
    match &summary.outcome {
        Outcome::Broken(problem) => (problem.code, problem.at.line, problem.at.column),
        other => panic!("{other:?}"),
    }
}
