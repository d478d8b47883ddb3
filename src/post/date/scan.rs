//! A cursor over a text: takes what it is asked for or nothing, and never cuts a character.

/// What is left of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Scan { rest: text }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Takes one of `wanted`, if it is next.
    pub(super) fn eat(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|next| wanted.contains(next))?;
        self.rest = self.rest.get(next.len_utf8()..).unwrap_or("");
        Some(next)
    }

    /// Takes the longest run of characters that `wanted` accepts; may be empty.
    pub(super) fn run(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|next| !wanted(next)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Takes a run of ASCII digits; may be empty.
    pub(super) fn digits(&mut self) -> &'a str {
        self.run(|next| next.is_ascii_digit())
    }

    /// Takes blanks; tells whether there were any.
    pub(super) fn blanks(&mut self) -> bool {
        !self.run(|next| next == ' ' || next == '\t').is_empty()
    }

    /// Takes a word of ASCII letters; may be empty.
    pub(super) fn letters(&mut self) -> &'a str {
        self.run(|next| next.is_ascii_alphabetic())
    }
}
