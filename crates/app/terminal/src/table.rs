//! Text tables.

use super::clean::{Breaks, clean};
use super::colour::{Colour, on_stdout, paint, width};

/// Spaces between two columns.
const GAP: usize = 2;

/// The lines of a table whose columns fit their content; the first row is the head. Cells may be
/// coloured. Each row stays on one line, whatever its cells contain.
pub fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> Vec<String> {
    lines(rows, on_stdout())
}

fn lines<const COLUMNS: usize>(rows: &[[String; COLUMNS]], colours: bool) -> Vec<String> {
    let cleaned =
        |row: &[String; COLUMNS]| row.each_ref().map(|cell| clean(cell, Breaks::AreBlanks, colours));
    let rows: Vec<[String; COLUMNS]> = rows.iter().map(cleaned).collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(widest);
    rows.iter().enumerate().map(|(number, row)| line(row, &widths, number == 0)).collect()
}

fn line<const COLUMNS: usize>(row: &[String; COLUMNS], widths: &[usize; COLUMNS], is_head: bool) -> String {
    let (mut line, mut owed) = (String::new(), 0);
    for (cell, widest) in row.iter().zip(widths) {
        let taken = width(cell);
        if taken > 0 {
            // Spaces are written only before a non-empty cell, so that no line ends in spaces.
            line.push_str(&" ".repeat(owed));
            owed = 0;
            line.push_str(&if is_head { paint(Colour::Head, cell) } else { cell.clone() });
        }
        owed += widest - taken + GAP;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_colours_do_not_count() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned);
        let rows = [
            row(["STAGE", "STATE", ""]),
            row(["a", "\x1b[32mwell\x1b[0m", "x"]),
            row(["längste", "", "y"]),
            row(["b", "down", ""]),
        ];
        assert_eq!(
            lines(&rows, true),
            ["STAGE    STATE", "a        \x1b[32mwell\x1b[0m   x", "längste         y", "b        down"]
        );
        assert_eq!(table::<2>(&[]), Vec::<String>::new());
    }

    #[test]
    fn a_row_is_one_line_and_what_others_wrote_into_it_does_nothing_to_the_terminal() {
        let rows = [["STAGE", "STATE"], ["a", "down: \x1b[2J\nb  well"]].map(|row| row.map(str::to_owned));
        for colours in [false, true] {
            assert_eq!(lines(&rows, colours), ["STAGE  STATE", "a      down: \\u{1b}[2J b  well"]);
        }
    }
}
