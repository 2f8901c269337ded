//! Problems of an offer, stored with positions relative to its beginning. While the offer stays the
//! same they are reported again at its current position in the file, without judging the offer
//! again.

use wire::torg::feeds::v1::{LoadedOffer, OfferNotes, Problem};

/// The notes of a loaded offer; `None` if a problem lies outside of the offer, which then has to be
/// compared each time.
pub(super) fn note(loaded: &LoadedOffer) -> Option<OfferNotes> {
    let relative = |problem: &Problem| {
        let mut problem = problem.clone();
        if problem.line > 0 {
            let line = problem.line.checked_sub(loaded.line)?;
            if line == 0 {
                problem.column = problem.column.checked_sub(loaded.column)? + 1;
            }
            problem.line = line + 1;
        }
        Some(problem)
    };
    let problems = loaded.problems.iter().map(relative).collect::<Option<Vec<_>>>()?;
    Some(OfferNotes { problems, ..OfferNotes::default() })
}

/// The problems of notes, at the position of this offer.
pub(super) fn recall(notes: &OfferNotes, loaded: &LoadedOffer) -> Vec<Problem> {
    let absolute = |problem: &Problem| {
        let mut problem = problem.clone();
        if problem.line > 0 {
            if problem.line == 1 {
                problem.column = (problem.column + loaded.column).saturating_sub(1);
            }
            problem.line = (problem.line + loaded.line).saturating_sub(1);
        }
        problem
    };
    notes.problems.iter().map(absolute).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Problem {
        Problem { line, column, ..Problem::default() }
    }

    fn loaded(line: u32, column: u32, problems: Vec<Problem>) -> LoadedOffer {
        LoadedOffer { line, column, problems, ..LoadedOffer::default() }
    }

    #[test]
    fn positions_move_with_the_offer_and_columns_only_in_its_first_line() {
        let before = loaded(10, 5, vec![at(10, 8), at(12, 3), at(0, 0)]);
        let notes = note(&before).unwrap();
        assert_eq!(recall(&notes, &before), before.problems);
        let after = loaded(2, 1, Vec::new());
        assert_eq!(recall(&notes, &after), [at(2, 4), at(4, 3), at(0, 0)]);
    }

    #[test]
    fn a_position_before_the_offer_cannot_be_noted() {
        assert_eq!(note(&loaded(10, 5, vec![at(9, 8)])), None);
        assert_eq!(note(&loaded(10, 5, vec![at(10, 4)])), None);
        assert_eq!(note(&loaded(10, 5, Vec::new())), Some(OfferNotes::default()));
    }
}
