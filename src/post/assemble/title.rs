//! The title of a post that names none: the text of its first level-one heading.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The text of the first level-one heading that has any, `# One` or `One` over `===`.
pub fn first_heading(body: &str) -> Option<String> {
    // Such a heading needs one of these two characters; looking for them spares most parses.
    if !body.contains(['#', '=']) {
        return None;
    }
    let mut inside = false;
    let mut text = String::new();
    for event in Parser::new_ext(body, Options::ENABLE_HEADING_ATTRIBUTES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => inside = true,
            Event::End(TagEnd::Heading(HeadingLevel::H1)) if text.trim().is_empty() => inside = false,
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => break,
            Event::Text(piece) | Event::Code(piece) if inside => text.push_str(&piece),
            Event::SoftBreak | Event::HardBreak if inside => text.push(' '),
            _ => {}
        }
    }
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::first_heading;

    #[test]
    fn both_kinds_of_heading_give_a_title() {
        for (body, title) in [
            ("# Plum jam\n\nText", Some("Plum jam")),
            ("Text\n\n## Not this\n\n# Plum *jam* and `code`\n", Some("Plum jam and code")),
            ("Plum jam\nat home\n===\n", Some("Plum jam at home")),
            ("# Plum jam {#plum}\n", Some("Plum jam")),
            ("# [Plum](https://example.org) jam #\n", Some("Plum jam")),
            ("```\n# comment\n```\n", None),
            ("## Only a second level\n", None),
            ("#\n\n# Second\n", Some("Second")),
            ("#hashtag\n", None),
            ("", None),
        ] {
            assert_eq!(first_heading(body).as_deref(), title, "{body:?}");
        }
    }
}
