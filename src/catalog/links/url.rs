//! Addresses of posts on the website.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::post::{Post, Rules};

/// What is kept as it is in a part of an address (RFC 3986, 2.3).
const URL_PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The URL of a post by `url_pattern`: tokens `{lang}` `{slug}` `{year}` `{month}` `{day}`; each part
/// of the slug percent-encoded. The day is the one in the configured timezone. What is no token stays.
pub fn post_url(pattern: &str, post: &Post, rules: &Rules) -> String {
    let mut url = String::with_capacity(pattern.len() + post.slug.as_str().len());
    let mut rest = pattern;
    while let Some((before, token, after)) = next_token(rest) {
        url.push_str(before);
        match token {
            "{lang}" => url.push_str(post.lang.as_str()),
            "{slug}" => push_slug(post.slug.as_str(), &mut url),
            _ => url.push_str(&date_part(token, post, rules).unwrap_or_else(|| token.to_owned())),
        }
        rest = after;
    }
    url.push_str(rest);
    url
}

/// Splits a pattern round its first `{…}`, braces included.
fn next_token(pattern: &str) -> Option<(&str, &str, &str)> {
    let open = pattern.find('{')?;
    let length = pattern.get(open..)?.find('}')? + 1;
    Some((pattern.get(..open)?, pattern.get(open..open + length)?, pattern.get(open + length..)?))
}

fn push_slug(slug: &str, url: &mut String) {
    for (number, part) in slug.split('/').enumerate() {
        if number > 0 {
            url.push('/');
        }
        url.extend(utf8_percent_encode(part, URL_PART));
    }
}

fn date_part(token: &str, post: &Post, rules: &Rules) -> Option<String> {
    let instant = jiff::Timestamp::from_millisecond(post.published_at.unix_millis()).ok()?;
    let day = instant.to_zoned_datetime(rules.timezone.clone());
    match token {
        "{year}" => Some(format!("{:04}", day.year())),
        "{month}" => Some(format!("{:02}", day.month())),
        "{day}" => Some(format!("{:02}", day.day())),
        _ => None,
    }
}
