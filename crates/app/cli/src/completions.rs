//! `torg completions` and `torg man`: shell completion scripts and manual pages.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use terminal::errors::advised;
use terminal::print;

/// Where the manual goes.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Writes a page for every command into this folder, which is made if it is not there; without
    /// it torg.1 goes to stdout.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn script(shell: Shell, mut command: Command) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut command, "torg", &mut bytes);
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}

/// Prints one manual page, or writes all of them to a folder.
pub(crate) fn man(man: &Man, command: Command) -> anyhow::Result<()> {
    let Some(folder) = &man.out else {
        let mut bytes = Vec::new();
        clap_mangen::Man::new(command.disable_help_subcommand(true)).render(&mut bytes)?;
        return print(&[String::from_utf8_lossy(&bytes).trim_end()]);
    };
    let unwritable = |error: std::io::Error| {
        let hint = "give a folder that this user can write to with --out";
        advised(format!("{}: {error}", folder.display()), hint)
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let pages = pages(&command);
    clap_mangen::generate_to(command, folder).map_err(unwritable)?;
    print(&[format!("{pages} pages in {}: man -l {}", folder.display(), folder.join("torg.1").display())])
}

/// Counts the pages of a command and of its subcommands.
fn pages(command: &Command) -> usize {
    1 + command.get_subcommands().filter(|below| !below.is_hide_set()).map(pages).sum::<usize>()
}
