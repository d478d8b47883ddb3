//! How a slug from a file is put together.

use std::fmt::Write;

/// The tokens a pattern may hold.
const TOKENS: [&str; 5] = ["year", "month", "day", "dir", "stem"];

/// How a slug from a file is put together: tokens `{year}` `{month}` `{day}` `{dir}` `{stem}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlugPattern(String);

impl SlugPattern {
    /// Checks that every token is known and that `{stem}` or `{dir}` is in it: without them the files of
    /// one day would share a slug. The error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text;
        let mut has_name = false;
        while let Some(at) = rest.find(['{', '}']) {
            let (_, from_brace) = rest.split_at_checked(at).unwrap_or((rest, ""));
            let Some((token, after)) = from_brace.strip_prefix('{').and_then(|inside| inside.split_once('}'))
            else {
                return Err(format!("a brace of slug_pattern \"{text}\" has no partner"));
            };
            if !TOKENS.contains(&token) {
                let known = TOKENS.map(|token| format!("{{{token}}}")).join(" ");
                let near = crate::diagnostic::nearest(token, TOKENS)
                    .map_or_else(String::new, |near| format!("; {{{near}}} is near"));
                return Err(format!(
                    "slug_pattern \"{text}\" has an unknown token {{{token}}}: known are {known}{near}"
                ));
            }
            has_name |= matches!(token, "stem" | "dir");
            rest = after;
        }
        if !has_name {
            return Err(format!(
                "slug_pattern \"{text}\" has neither {{stem}} nor {{dir}}: files of one day would share a slug"
            ));
        }
        let sample = SlugPattern(text.to_owned()).expand((2024, 5, 22), "folder", "stem");
        super::Slug::parse(&sample).map_err(|(message, _)| format!("slug_pattern \"{text}\": {message}"))?;
        Ok(SlugPattern(text.to_owned()))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Puts year (four digits), month and day (two each), folder and stem in. Where there is no folder,
    /// the `/` after its token goes too.
    pub fn expand(&self, day: (i16, i8, i8), dir: &str, stem: &str) -> String {
        let (year, month, number) = day;
        let mut out = String::with_capacity(self.0.len() + dir.len() + stem.len());
        let mut rest = self.0.as_str();
        while let Some((literal, from_token)) = rest.split_once('{') {
            out.push_str(literal);
            let (token, after) = from_token.split_once('}').unwrap_or((from_token, ""));
            rest = after;
            match token {
                "year" => {
                    let _ = write!(out, "{year:04}");
                }
                "month" => {
                    let _ = write!(out, "{month:02}");
                }
                "day" => {
                    let _ = write!(out, "{number:02}");
                }
                "dir" if dir.is_empty() => rest = after.strip_prefix('/').unwrap_or(after),
                "dir" => out.push_str(dir),
                _ => out.push_str(stem),
            }
        }
        out.push_str(rest);
        out
    }
}

impl Default for SlugPattern {
    fn default() -> Self {
        SlugPattern("{stem}".to_owned())
    }
}
