//! Where a verb's results and messages go: standard output, `--out`, the pager, the files of GitHub's runner; and
//! what becomes of an error of the stream. The only place, beside `commands`, that knows standard output.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::watch::Voice;
use super::{pager, saved};
use crate::cli::{Cli, Format, ViewFlags};
use crate::config::Settings;
use crate::config::layers::Environment;
use crate::error::{Exit, Failure};
use crate::report::event::{End, Event};
use crate::report::paint::Paint;
use crate::report::runner::NoCommands;
use crate::report::{Detail, Output, Purpose, Renderer, Stream, View, renderer};

/// The result of writing. A reader that went away (`| head`) is no failure.
pub fn written(result: io::Result<()>) -> Result<Exit, Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Failed, format!("the output cannot be written: {error}")))
        }
        _ => Ok(Exit::Done),
    }
}

/// A file that GitHub's runner names and reads at the end of the step, where its format was asked for.
pub(super) fn runner_file(cli: &Cli, env: &Environment, variable: &str) -> Option<Stream> {
    let path =
        env.get(variable).filter(|path| cli.global.format == Some(Format::Github) && !path.is_empty())?;
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path).ok()?;
    Some(Box::new(file))
}

impl Voice for Rendering {
    fn event(&self, event: &Event<'_>) {
        Rendering::event(self, event);
    }

    fn finish(&self, end: &End<'_>) -> Result<(), Failure> {
        Rendering::finish(self, end)
    }
}

/// A renderer that several batches tell at once.
pub(super) struct Rendering(Mutex<Box<dyn Renderer>>);

impl Rendering {
    /// What this renderer tells.
    pub(super) fn of(renderer: Box<dyn Renderer>) -> Self {
        Rendering(Mutex::new(renderer))
    }

    /// A line that cannot be written now (a closed pipe) must not stop a run half way; the end tells.
    pub(super) fn event(&self, event: &Event<'_>) {
        let mut renderer = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = renderer.event(event);
    }

    pub(super) fn finish(&self, end: &End<'_>) -> Result<(), Failure> {
        let mut renderer = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        told(renderer.finish(end))
    }
}

pub(super) fn rendering(
    cli: &Cli,
    env: &Environment,
    settings: &Settings,
    purpose: Purpose,
) -> Result<Rendering, Failure> {
    let mut output = output(cli, env, &settings.content.here, purpose)?;
    if purpose == Purpose::Look && cli.global.out.is_some() {
        output.saves = Some(saved::flags(settings));
    }
    let rendering = Rendering::of(renderer(settings.format, output));
    if settings.format == Format::Human {
        for warning in &settings.warnings {
            rendering.event(&Event::Note(warning));
        }
    }
    Ok(rendering)
}

pub(super) fn output(cli: &Cli, env: &Environment, root: &str, purpose: Purpose) -> Result<Output, Failure> {
    let out_terminal = cli.global.out.is_none() && std::io::stdout().is_terminal();
    let view = cli.verb.view();
    let out: Stream = match &cli.global.out {
        Some(path) => Box::new(OutFile::new(path)?),
        None if out_terminal && cli.format() == Format::Human => pager::stream(view, env),
        // The other formats are read by programs, and what that for GitHub says are commands.
        None if matches!(cli.format(), Format::Human | Format::Markdown) => console(env, std::io::stdout()),
        None => Box::new(std::io::stdout()),
    };
    let err_terminal = std::io::stderr().is_terminal();
    Ok(Output {
        out,
        err: console(env, std::io::stderr()),
        paint_out: Paint::choose(cli.global.color, out_terminal, env),
        paint_err: Paint::choose(cli.global.color, err_terminal, env),
        quiet: cli.global.quiet,
        verbose: cli.global.verbose,
        progress: err_terminal && !cli.global.no_progress,
        root: root.to_owned(),
        purpose,
        summary: runner_file(cli, env, "GITHUB_STEP_SUMMARY"),
        outputs: runner_file(cli, env, "GITHUB_OUTPUT"),
        saves: None,
        view: View {
            detail: view.map_or_else(Detail::default, detail),
            columns: if out_terminal { columns(env) } else { None },
        },
    })
}

fn detail(view: &ViewFlags) -> Detail {
    match (view.stat, view.fields, view.no_body) {
        (true, ..) => Detail::Stat,
        (_, true, _) => Detail::Names,
        (.., true) => Detail::Fields,
        _ => Detail::Full,
    }
}

/// Columns of the terminal: `COLUMNS`, else what it says of itself.
fn columns(env: &Environment) -> Option<usize> {
    let told = env.get("COLUMNS").and_then(|text| text.parse().ok()).filter(|columns| *columns > 0);
    told.or_else(|| terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0)))
}

/// `--out`: written beside its name and put in place at the end, so that a reader never sees half.
struct OutFile {
    path: PathBuf,
    part: PathBuf,
    file: std::fs::File,
}

impl OutFile {
    fn new(path: &Path) -> Result<Self, Failure> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        let file = std::fs::File::create(&part)
            .map_err(|error| Failure::usage(format!("--out {}: {error}", path.display())))?;
        Ok(OutFile { path: path.to_owned(), part, file })
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutFile {
    fn drop(&mut self) {
        let _ = std::fs::rename(&self.part, &self.path);
    }
}

/// A stream that GitHub's runner may be reading: nothing of a post becomes a command to it.
fn console(env: &Environment, stream: impl Write + Send + 'static) -> Stream {
    if env.get("GITHUB_ACTIONS").is_some_and(|text| text == "true") {
        return Box::new(NoCommands::new(stream));
    }
    Box::new(stream)
}

/// [`with_out`] for what tells of posts.
pub(super) fn with_posts(
    cli: &Cli,
    env: &Environment,
    work: impl FnOnce(&mut dyn Write) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    match &cli.global.out {
        None if cli.format() == Format::Human => work(&mut console(env, std::io::stdout())),
        _ => with_out(cli, work),
    }
}

/// Runs what writes plain text to standard output or `--out`.
pub(super) fn with_out(
    cli: &Cli,
    work: impl FnOnce(&mut dyn Write) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    match &cli.global.out {
        Some(path) => work(&mut OutFile::new(path)?),
        None => work(&mut std::io::stdout().lock()),
    }
}

/// The reader that has gone (`| head`) has what it wanted.
pub(super) fn told(result: std::io::Result<()>) -> Result<(), Failure> {
    written(result).map(|_| ())
}
