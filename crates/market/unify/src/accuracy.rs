//! How well categories are recognised: over a set of titles that people have labelled.

use crate::error::{Error, Result};
use crate::input::Input;
use crate::output::Reason;
use crate::tables::lines;
use crate::unifier::Unifier;

/// The set that comes with the crate: part, title, path, category, others that are right too.
pub const LABELLED: &str = include_str!("../data/labelled.tsv");

/// Which part of the set a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What words and weights were chosen by.
    Train,
    /// What was kept away from that.
    Test,
}

/// A line of the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled<'t> {
    /// Its part.
    pub part: Part,
    /// The title.
    pub title: &'t str,
    /// The feed's category.
    pub path: Vec<&'t str>,
    /// The categories that are right, the best first.
    pub right: Vec<&'t str>,
}

impl<'t> Labelled<'t> {
    /// Reads a set.
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

/// How many were right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Score {
    /// Of so many.
    pub lines: usize,
    /// The first answer was right.
    pub first: usize,
    /// The first or the second was.
    pub first_two: usize,
}

impl Score {
    /// In hundred, the first answer.
    #[must_use]
    pub fn top1(&self) -> f64 {
        100.0 * self.first as f64 / self.lines.max(1) as f64
    }

    /// In hundred, the first two.
    #[must_use]
    pub fn top2(&self) -> f64 {
        100.0 * self.first_two as f64 / self.lines.max(1) as f64
    }
}

/// A line whose first answer was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss<'t> {
    /// The line.
    pub labelled: Labelled<'t>,
    /// What was answered, with its points and by what; `None` if nothing was.
    pub answer: Option<(String, u16, Reason)>,
    /// The second answer.
    pub second: Option<String>,
}

/// What came of a whole set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accuracy<'t> {
    /// The part that was tuned on.
    pub train: Score,
    /// The part that was not.
    pub test: Score,
    /// The errors.
    pub misses: Vec<Miss<'t>>,
}

impl<'t> Accuracy<'t> {
    /// Recognises every line of a set by title and path.
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

    /// Both parts together.
    #[must_use]
    pub fn whole(&self) -> Score {
        Score {
            lines: self.train.lines + self.test.lines,
            first: self.train.first + self.test.first,
            first_two: self.train.first_two + self.test.first_two,
        }
    }
}
