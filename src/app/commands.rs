//! From a typed verb to its output and exit. Where the output goes is in [`super::output`].

use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::files::Unsaved;
use super::host::Host;
use super::operation::Ended;
use super::output::{Rendering, output, rendering, runner_file, told, with_out, with_posts};
use super::watch::{self, Voice};
use super::{check, diff, explain, ingest, runs, saved};
use crate::apply::Clock;
use crate::apply::verify::Depth;
use crate::cli::{self, ByHand, Cli, Format, RunsVerb, Verb};
use crate::config::layers::Environment;
use crate::config::{self, Settings};
use crate::error::{Exit, Failure};
use crate::plan::compose::Composer;
use crate::plan::lifecycle::By;
use crate::plan::saved::Saved;
use crate::report::event::{Checked, End, Event, Verified};
use crate::report::paint::Paint;
use crate::report::watching::Watching;
use crate::report::{Purpose, renderer};

/// Runs the program: arguments (the program's name first) and environment to exit code.
pub fn main(args: impl IntoIterator<Item = OsString>, env: &Environment) -> Exit {
    let cli = match cli::parse(args.into_iter().collect::<Vec<OsString>>()) {
        Ok(cli) => cli,
        Err(told) => return tell(&told, env),
    };
    super::log::start(cli.global.log_format.unwrap_or_default(), cli.global.verbose, env);
    let cwd = match std::env::current_dir() {
        Ok(cwd) => cwd,
        Err(error) => {
            let failure = Failure::usage(format!("the working directory is gone or not readable: {error}"));
            return fail(&cli, env, &failure);
        }
    };
    let exit = match run(&cli, env, &cwd) {
        Ok(exit) => exit,
        Err(failure) => fail(&cli, env, &failure),
    };
    if let Some(mut outputs) = runner_file(&cli, env, "GITHUB_OUTPUT") {
        // The exit itself says it too.
        let _ = outputs.write_all(format!("exit={}\n", exit.code()).as_bytes());
    }
    exit
}

/// Help, version and usage errors.
fn tell(told: &cli::Told, env: &Environment) -> Exit {
    let terminal =
        if told.to_stderr { std::io::stderr().is_terminal() } else { std::io::stdout().is_terminal() };
    let paint = Paint::choose(cli::ColorWhen::Auto, terminal, env);
    let text = if paint.is_on() { &told.ansi } else { &told.plain };
    // A closed pipe is nobody to tell.
    let _ = if told.to_stderr {
        std::io::stderr().write_all(text.as_bytes())
    } else {
        std::io::stdout().write_all(text.as_bytes())
    };
    told.exit
}

/// A failure before there was a result, in the format that was asked for.
fn fail(cli: &Cli, env: &Environment, failure: &Failure) -> Exit {
    // A format that the verb does not offer is what is being told: a person reads that.
    let format = Some(cli.format()).filter(|format| cli.verb.formats().contains(format)).unwrap_or_default();
    let told = if let Ok(output) = output(cli, env, "", Purpose::Check) {
        renderer(format, output).finish(&End::Failed(failure))
    } else {
        // It is --out itself that cannot be written: what went wrong is told on standard error.
        let text = crate::report::human::failure_text(failure, Paint::OFF);
        std::io::stderr().write_all(text.as_bytes())
    };
    // A closed pipe is nobody to tell.
    let _ = told;
    failure.exit
}

fn run(cli: &Cli, env: &Environment, cwd: &Path) -> Result<Exit, Failure> {
    match &cli.verb {
        Verb::Id(verb) => {
            let clock = super::host::SystemClock;
            let mut now = || clock.now();
            let mut sources = super::id::Sources { now: &mut now, rng: &mut rand::rng() };
            let format = cli.format();
            return with_out(cli, |out| super::id::run(verb, format, &mut sources, out));
        }
        Verb::Schema(verb) => return with_out(cli, |out| super::schema::run(verb.name, out)),
        Verb::Completions(verb) => {
            return with_out(cli, |out| super::completions::completions(verb.shell, out));
        }
        Verb::Man => return super::completions::man(cli.global.out.as_deref(), &mut std::io::stdout()),
        Verb::Show(verb) => return show(cli, env, &verb.plan),
        Verb::Init(verb) => return with_out(cli, |out| super::init::run(verb, cwd, out)),
        _ => {}
    }
    let settings = config::load(cli, env, cwd)?;
    if let Verb::Config(_) = &cli.verb {
        return with_out(cli, |out| super::config::run(&settings, settings.format, out));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start: {error}")))?;
    let exit = runtime.block_on(async {
        let host = Host::system();
        host.listen();
        verb(cli, env, cwd, &settings, &host).await
    });
    // A command that hangs in the driver must not keep the process.
    runtime.shutdown_background();
    exit
}

async fn verb(
    cli: &Cli,
    env: &Environment,
    cwd: &Path,
    settings: &Settings,
    host: &Host,
) -> Result<Exit, Failure> {
    match &cli.verb {
        Verb::Ingest(typed) if typed.dry_run => look(cli, env, settings, host, false).await,
        Verb::Ingest(_) => apply(cli, env, settings, host).await,
        Verb::Diff(typed) => look(cli, env, settings, host, typed.exit_code).await,
        Verb::Verify(typed) => {
            let depth = if typed.render { Depth::Rendered } else { Depth::Digests };
            verify(cli, env, settings, host, depth).await
        }
        Verb::Archive(typed) => by_hand(cli, env, cwd, settings, host, By::Archive, typed).await,
        Verb::Restore(typed) => by_hand(cli, env, cwd, settings, host, By::Restore, typed).await,
        Verb::Undo(typed) => undo(cli, env, settings, host, typed).await,
        Verb::Watch(_) => watch(cli, env, settings, host).await,
        Verb::Check(typed) => {
            let rendering = rendering(cli, env, settings, Purpose::Check)?;
            let unsaved = unsaved(settings, cwd, typed.stdin_filepath.as_deref())?;
            let outcome = check::run(settings, host, typed.no_render, unsaved)?;
            rendering.finish(&End::Check(&Checked {
                summary: &outcome.summary,
                skipped: &outcome.skipped,
                diagnostics: &outcome.diagnostics,
            }))?;
            Ok(outcome.exit)
        }
        Verb::Explain(typed) if typed.all => {
            let objects = explain::all(settings, host)?;
            with_out(cli, |out| {
                for object in &objects {
                    told(writeln!(out, "{object}"))?;
                }
                Ok(Exit::Done)
            })
        }
        Verb::Explain(typed) => {
            let subject = match unsaved(settings, cwd, typed.stdin_filepath.as_deref())? {
                Some(unsaved) => explain::Subject::Unsaved(unsaved),
                None => explain::Subject::Named(typed.subject.clone().unwrap_or_default()),
            };
            let explained = explain::run(settings, host, &subject, cwd, !typed.no_store).await?;
            with_posts(cli, env, |out| {
                told(explain::print(&explained, &settings.content.here, settings.format, out))?;
                Ok(explained.exit)
            })
        }
        Verb::Export(typed) => {
            let report = super::export::run(settings, host, typed, cwd).await?;
            with_posts(cli, env, |out| {
                let voice =
                    super::export::told::Voice { quiet: cli.global.quiet, verbose: cli.global.verbose };
                told(super::export::told::print(&report, voice, settings.format, out))?;
                Ok(report.exit)
            })
        }
        Verb::Assets(typed) => {
            let report = super::sweep::run(settings, host, typed.gc()).await?;
            with_out(cli, |out| {
                told(super::sweep::print(&report, settings.format, out))?;
                Ok(report.exit)
            })
        }
        Verb::Runs(typed) => {
            if let Some(RunsVerb::ResetRevision { next }) = &typed.verb {
                let moved = runs::reset_revision(settings, host, *next).await?;
                return with_out(cli, |out| {
                    told(runs::print_reset(&moved, settings.format, out))?;
                    Ok(Exit::Done)
                });
            }
            let id = match &typed.verb {
                Some(RunsVerb::Show { id }) => Some(id.as_str()),
                Some(RunsVerb::List | RunsVerb::ResetRevision { .. }) | None => None,
            };
            let rows = runs::run(settings, host, id, &|_| {}).await?;
            with_posts(cli, env, |out| {
                told(runs::print(&rows, id.is_some(), settings.format, out))?;
                Ok(Exit::Done)
            })
        }
        Verb::Doctor(_) => {
            let report = super::doctor::run(settings, host).await?;
            with_out(cli, |out| {
                told(super::doctor::print(&report, settings.format, out))?;
                Ok(report.exit)
            })
        }
        Verb::Id(_)
        | Verb::Config(_)
        | Verb::Show(_)
        | Verb::Schema(_)
        | Verb::Init(_)
        | Verb::Completions(_)
        | Verb::Man => Ok(Exit::Done),
    }
}

/// The file that an editor hands over on standard input, if one is named.
fn unsaved(settings: &Settings, cwd: &Path, path: Option<&Path>) -> Result<Option<Unsaved>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let below = settings.content.below_root(cwd, path).ok_or_else(|| {
        Failure::usage(format!(
            "--stdin-filepath {} lies outside of the content root {}",
            path.display(),
            settings.content.shown
        ))
        .help("name the path under which the text would be saved; it need not be there yet")
    })?;
    // One byte more than a file may have tells that it is too large.
    let most = settings.limits.file_bytes.value.saturating_add(1);
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(Exit::Failed, format!("standard input cannot be read: {error}")))?;
    Ok(Some(Unsaved { path: below, bytes }))
}

/// A saved plan, told as `diff` tells one. No configuration, tree or store is looked at.
fn show(cli: &Cli, env: &Environment, file: &Path) -> Result<Exit, Failure> {
    let Saved { plan, changes, tool_version, .. } = saved::read(file)?.saved;
    let mut renderer = renderer(cli.format(), output(cli, env, &plan.source.root, Purpose::Look)?);
    told(renderer.event(&Event::Target(&plan.target)))?;
    let version = env!("CARGO_PKG_VERSION");
    if tool_version != version {
        let note =
            format!("made by idempost {tool_version}; this is {version}, which would have to plan again");
        told(renderer.event(&Event::Note(&note)))?;
    }
    told(renderer.event(&Event::Planned(&plan)))?;
    let composer = Composer::of_given();
    told(renderer.finish(&End::Plan { plan: &plan, changes: &changes, composer: &composer }))?;
    Ok(Exit::Done)
}

async fn look(
    cli: &Cli,
    env: &Environment,
    settings: &Settings,
    host: &Host,
    exit_code: bool,
) -> Result<Exit, Failure> {
    let rendering = rendering(cli, env, settings, Purpose::Look)?;
    let events = |event: &Event<'_>| rendering.event(event);
    let outcome = diff::run(settings, host, exit_code, &events).await?;
    let diff::Outcome { plan, changes, composer, exit } = &outcome;
    rendering.finish(&End::Plan { plan, changes, composer })?;
    if let Some(file) = cli.global.out.as_deref().filter(|_| settings.format == Format::Json) {
        let file = file.display();
        rendering.event(&Event::Note(&format!(
            "the plan is saved: `idempost show {file}` tells it, `idempost ingest --plan {file}` applies it"
        )));
    }
    Ok(*exit)
}

async fn apply(cli: &Cli, env: &Environment, settings: &Settings, host: &Host) -> Result<Exit, Failure> {
    let rendering = rendering(cli, env, settings, Purpose::Apply)?;
    let events = |event: &Event<'_>| rendering.event(event);
    let outcome = ingest::run(settings, host, &events).await?;
    let (plan, composer, run) = (&outcome.plan, &outcome.composer, &outcome.report);
    rendering.finish(&End::Run { plan, changes: &[], composer, run })?;
    Ok(outcome.report.exit)
}

async fn verify(
    cli: &Cli,
    env: &Environment,
    settings: &Settings,
    host: &Host,
    depth: Depth,
) -> Result<Exit, Failure> {
    let purpose = if settings.policy.repair { Purpose::Apply } else { Purpose::Look };
    let rendering = rendering(cli, env, settings, purpose)?;
    let outcome = super::verify::run(settings, host, depth, &|event| rendering.event(event)).await?;
    rendering.finish(&End::Verified(&Verified {
        plan: &outcome.plan,
        findings: &outcome.findings,
        counts: outcome.counts,
        repaired: outcome.repaired.as_ref().map(|(plan, run)| (plan, run)),
        exit: outcome.exit,
    }))?;
    Ok(outcome.exit)
}

async fn by_hand(
    cli: &Cli,
    env: &Environment,
    cwd: &Path,
    settings: &Settings,
    host: &Host,
    by: By,
    typed: &ByHand,
) -> Result<Exit, Failure> {
    let purpose = if typed.treeless.dry_run { Purpose::Look } else { Purpose::Apply };
    let rendering = rendering(cli, env, settings, purpose)?;
    let asked = super::by_hand::Asked { by, posts: &typed.posts, dry_run: typed.treeless.dry_run };
    let ended = super::by_hand::run(settings, host, cwd, asked, &|event| rendering.event(event)).await?;
    told_operation(&rendering, &ended)
}

async fn undo(
    cli: &Cli,
    env: &Environment,
    settings: &Settings,
    host: &Host,
    typed: &cli::Undo,
) -> Result<Exit, Failure> {
    let purpose = if typed.treeless.dry_run { Purpose::Look } else { Purpose::Apply };
    let rendering = rendering(cli, env, settings, purpose)?;
    let (dry_run, keep_going) = (typed.treeless.dry_run, typed.keep_going);
    let asked = super::undo::Asked { run: &typed.run, dry_run, keep_going };
    let ended = super::undo::run(settings, host, asked, &|event| rendering.event(event)).await?;
    told_operation(&rendering, &ended)
}

/// Tells how a verb that writes ended, or what it would do.
fn told_operation(rendering: &Rendering, ended: &Ended) -> Result<Exit, Failure> {
    match ended {
        Ended::Looked { plan, changes, composer, exit } => {
            rendering.finish(&End::Plan { plan, changes, composer })?;
            Ok(*exit)
        }
        Ended::Ran(outcome) => {
            let (plan, composer, run) = (&outcome.plan, &outcome.composer, &outcome.report);
            rendering.finish(&End::Run { plan, changes: &[], composer, run })?;
            Ok(run.exit)
        }
    }
}

async fn watch(cli: &Cli, env: &Environment, settings: &Settings, host: &Host) -> Result<Exit, Failure> {
    if cli.global.out.is_some() {
        return Err(Failure::usage("--out does not go with watch, which has no end")
            .help("redirect its output: idempost watch --format ndjson > events.ndjson"));
    }
    if settings.format != Format::Human {
        // Every run is told whole.
        let voices = || Ok(Arc::new(rendering(cli, env, settings, Purpose::Apply)?) as Arc<dyn Voice>);
        return watch::run(settings, host, &voices).await;
    }
    let output = output(cli, env, &settings.content.here, Purpose::Apply)?;
    let voice = Arc::new(Rendering::of(Box::new(Watching::new(output))));
    for warning in &settings.warnings {
        voice.event(&Event::Note(warning));
    }
    watch::run(settings, host, &|| Ok(voice.clone() as Arc<dyn Voice>)).await
}
