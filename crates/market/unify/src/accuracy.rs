//! Measures the recognition of categories on a set of labelled titles.

use crate::error::{Error, Result};
use crate::input::Input;
use crate::output::Reason;
use crate::tables::lines;
use crate::unifier::Unifier;

/// The bundled set: part, title, path, category, further correct categories.
pub const LABELLED: &str = include_str!("../data/labelled.tsv");

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Used to tune words and weights.
    Train,
    /// Not used for tuning.
    Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled<'t> {
    pub part: Part,
    pub title: &'t str,
    /// The category of the feed.
    pub path: Vec<&'t str>,
    /// The correct categories, the best first.
    pub right: Vec<&'t str>,
}

impl<'t> Labelled<'t> {
    pub fn read(text: &'t str) -> Result<Vec<Self>> {
        lines(text)
            .map(|(line, text)| Self::of(text).ok_or(Error::Table { table: "labelled", line }))
            .collect()
    }

    fn of(line: &'t str) -> Option<Self> {
        let mut fields = line.split('\t');
        let part = match fields.next()? {
            "train" => Part::Train,
            "test" => Part::Test,
            _ => return None,
        };
        let title = fields.next().filter(|title| !title.is_empty())?;
        let path = fields.next()?.split(" > ").filter(|part| !part.is_empty()).collect();
        let first = fields.next().filter(|id| !id.is_empty())?;
        let right =
            std::iter::once(first).chain(fields.next().into_iter().flat_map(str::split_whitespace)).collect();
        Some(Self { part, title, path, right })
    }
}

/// Counts of correct answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Score {
    pub lines: usize,
    pub first: usize,
    /// The first or the second answer was correct.
    pub first_two: usize,
}

impl Score {
    /// Correct first answers in percent.
    #[must_use]
    pub fn top1(&self) -> f64 {
        100.0 * self.first as f64 / self.lines.max(1) as f64
    }

    /// Correct among the first two answers in percent.
    #[must_use]
    pub fn top2(&self) -> f64 {
        100.0 * self.first_two as f64 / self.lines.max(1) as f64
    }
}

/// A line with a wrong first answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss<'t> {
    pub labelled: Labelled<'t>,
    /// The answer with its confidence and reason.
    pub answer: Option<(String, u16, Reason)>,
    pub second: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accuracy<'t> {
    pub train: Score,
    pub test: Score,
    pub misses: Vec<Miss<'t>>,
}

impl<'t> Accuracy<'t> {
    pub fn measure(unifier: &Unifier, set: &[Labelled<'t>]) -> Result<Self> {
        let mut accuracy = Self::default();
        let mut session = unifier.session();
        for (number, labelled) in set.iter().enumerate() {
            if let Some(id) = labelled.right.iter().find(|id| unifier.catalogue.category(id).is_none()) {
                return Err(Error::Label { line: number + 1, id: (*id).to_owned() });
            }
            let input = Input { title: labelled.title, path: &labelled.path, ..Input::default() };
            let answer = session.unify_goods(&input).category;
            let is_right = |id: &str| labelled.right.contains(&id);
            let first = answer.as_ref().is_some_and(|answer| is_right(&answer.id));
            let second = answer.as_ref().and_then(|answer| answer.second.clone()).map(|(id, _)| id);
            let score = if labelled.part == Part::Train { &mut accuracy.train } else { &mut accuracy.test };
            score.lines += 1;
            score.first += usize::from(first);
            score.first_two += usize::from(first || second.as_deref().is_some_and(is_right));
            if !first {
                let answer = answer.map(|answer| (answer.id, answer.points, answer.reason));
                accuracy.misses.push(Miss { labelled: labelled.clone(), answer, second });
            }
        }
        Ok(accuracy)
    }

    #[must_use]
    pub fn whole(&self) -> Score {
        Score {
            lines: self.train.lines + self.test.lines,
            first: self.train.first + self.test.first,
            first_two: self.train.first_two + self.test.first_two,
        }
    }
}
