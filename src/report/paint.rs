//! Colours: whether there are any, and which stands for what.

use std::collections::BTreeMap;
use std::fmt;

use anstyle::{AnsiColor, Style};

use super::format::ColorWhen;

/// Whether a stream is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paint {
    on: bool,
}

/// Something wrong.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Something doubtful.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// What to do.
pub const HELP: Style = AnsiColor::Cyan.on_default();
/// Something new.
pub const NEW: Style = AnsiColor::Green.on_default();
/// Something changed.
pub const CHANGED: Style = AnsiColor::Yellow.on_default();
/// Something that goes.
pub const GONE: Style = AnsiColor::Red.on_default();
/// What goes within a line that stays.
pub const GOES_MARKED: Style = AnsiColor::Red.on_default().bold().invert();
/// What comes within a line that stays.
pub const COMES_MARKED: Style = AnsiColor::Green.on_default().bold().invert();
/// Something beside the point.
pub const FAINT: Style = Style::new().dimmed();
/// The main thing.
pub const STRONG: Style = Style::new().bold();

impl Paint {
    /// Without colours.
    pub const OFF: Paint = Paint { on: false };
    /// With colours.
    pub const ON: Paint = Paint { on: true };

    /// Decides for a stream: `--color` first; else `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR` and
    /// `TERM=dumb`; else whether it is a terminal.
    pub fn choose(when: ColorWhen, is_terminal: bool, env: &BTreeMap<String, String>) -> Self {
        let set = |name: &str| env.get(name).is_some_and(|text| !text.is_empty());
        let is = |name: &str, value: &str| env.get(name).is_some_and(|text| text == value);
        let on = match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto if set("NO_COLOR") => false,
            ColorWhen::Auto if set("CLICOLOR_FORCE") && !is("CLICOLOR_FORCE", "0") => true,
            ColorWhen::Auto => is_terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb"),
        };
        Paint { on }
    }

    /// Whether there are colours.
    pub fn is_on(self) -> bool {
        self.on
    }

    /// The text in a style.
    pub fn style(self, style: Style, text: impl fmt::Display) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_then_the_environment_then_the_terminal() {
        let env = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let on = |when, terminal, pairs: &[(&str, &str)]| Paint::choose(when, terminal, &env(pairs)).is_on();
        assert!(on(ColorWhen::Auto, true, &[]));
        assert!(!on(ColorWhen::Auto, false, &[]));
        assert!(!on(ColorWhen::Auto, true, &[("NO_COLOR", "1")]));
        assert!(on(ColorWhen::Auto, true, &[("NO_COLOR", "")]));
        assert!(on(ColorWhen::Auto, false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!on(ColorWhen::Auto, true, &[("CLICOLOR", "0")]));
        assert!(!on(ColorWhen::Auto, true, &[("TERM", "dumb")]));
        assert!(on(ColorWhen::Always, false, &[("NO_COLOR", "1")]));
        assert!(!on(ColorWhen::Never, true, &[("CLICOLOR_FORCE", "1")]));
    }
}
