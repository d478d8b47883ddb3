//! The table of known fields: names, precedence, types; front matter to [`super::Meta`].
