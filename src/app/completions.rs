//! `completions` and `man`: made from the command line's own definition.

use std::io::{self, Write};
use std::path::Path;

use super::output::written;
use crate::cli::Cli;
use crate::error::{Exit, Failure};

/// Writes the completion script of a shell.
pub fn completions(shell: clap_complete::Shell, out: &mut dyn Write) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "idempost", &mut script);
    written(out.write_all(&script))
}

/// Writes the manual page of the program; with a folder, one page for it and one for each verb.
pub fn man(folder: Option<&Path>, out: &mut dyn Write) -> Result<Exit, Failure> {
    let Some(folder) = folder else {
        return written(clap_mangen::Man::new(Cli::command()).render(out));
    };
    let failed = |error: io::Error| {
        Failure::new(
            Exit::Failed,
            format!("the manual pages cannot be written into {}: {error}", folder.display()),
        )
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_has_a_script_that_knows_the_verbs() {
        use clap_complete::Shell;
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
            let mut out = Vec::new();
            completions(shell, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.contains("ingest") && text.contains("slug-pattern"), "{shell}");
        }
    }

    #[test]
    fn manual_pages_are_one_a_verb_in_a_folder() {
        let mut out = Vec::new();
        man(None, &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains(".TH idempost 1"));
        let folder = tempfile::tempdir().unwrap();
        man(Some(&folder.path().join("man")), &mut Vec::new()).unwrap();
        assert!(folder.path().join("man/idempost-ingest.1").is_file());
    }
}
