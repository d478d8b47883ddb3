//! Which addresses may stand in sanitised HTML.

/// Where an address stands: what is allowed differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UrlUse {
    /// `href` and `cite`.
    Link,
    /// `src` of an image.
    Image,
}

/// Whether an address may stand in a page whose raw HTML is trusted: what runs is refused all the same
/// (`javascript:`, `vbscript:`, `data:` but pictures), any other scheme is the author's business.
pub(super) fn is_harmless(address: &str, used: UrlUse) -> bool {
    match scheme(address).as_deref() {
        Some("javascript" | "vbscript") => false,
        Some("data") => is_allowed(address, used),
        _ => true,
    }
}

/// Kinds of picture that `data:` may hold. SVG is not among them: it is a document.
const DATA_IMAGES: [&str; 6] = ["png", "gif", "jpeg", "jpg", "webp", "avif"];

/// Whether an address (entities resolved) has no scheme, or `http`, `https`, `mailto`, `tel`, or is a
/// `data:` picture where a picture is wanted. An `http` address that no parser of addresses
/// accepts is refused: the sanitiser refuses it too.
pub(super) fn is_allowed(address: &str, used: UrlUse) -> bool {
    match scheme(address).as_deref() {
        None | Some("mailto" | "tel") => true,
        Some("http" | "https") => has_plain_host(address) || ::url::Url::parse(address).is_ok(),
        Some("data") => used == UrlUse::Image && is_data_image(address),
        Some(_) => false,
    }
}

/// The scheme that a browser would see, lower case. Browsers drop blanks and control characters in
/// front, tabs and line ends anywhere; to be on the safe side all of them are dropped anywhere.
fn scheme(address: &str) -> Option<String> {
    let mut scheme = String::new();
    for c in address.chars().filter(|c| *c > ' ' && !c.is_control()) {
        match c {
            ':' if scheme.is_empty() => return None,
            ':' => return Some(scheme),
            'a'..='z' | 'A'..='Z' => scheme.push(c.to_ascii_lowercase()),
            '0'..='9' | '+' | '-' | '.' if !scheme.is_empty() => scheme.push(c),
            _ => return None,
        }
    }
    None
}

/// A quick yes for nearly all addresses: lower-case scheme, then a host of ASCII letters, digits,
/// dots and hyphens that cannot be read as a number or as Punycode, then a path or nothing.
fn has_plain_host(address: &str) -> bool {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    let Some(rest) = rest else {
        return false;
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest.get(..end).unwrap_or_default();
    let last_label = host.rsplit('.').next().unwrap_or_default();
    host.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-')
        && last_label.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && !host.contains("--")
}

fn is_data_image(address: &str) -> bool {
    let Some((head, payload)) = address.trim().split_once(',') else {
        return false;
    };
    let head = head.to_ascii_lowercase();
    let kind = head.strip_prefix("data:image/").and_then(|head| head.strip_suffix(";base64"));
    kind.is_some_and(|kind| DATA_IMAGES.contains(&kind))
        && payload.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_seen_as_a_browser_sees_them() {
        for (address, allowed) in [
            ("https://example.org/a?b#c", true),
            ("HTTP://example.org", true),
            ("//example.org/x", true),
            ("/root", true),
            ("./a:b", true),
            ("a/b:c", true),
            ("10:30.html", true),
            ("#top", true),
            ("", true),
            ("mailto:me@example.org", true),
            ("tel:+82-2-1234", true),
            ("https://例え.jp/ぺーじ", true),
            ("https://", false),
            ("https://exa mple.org/", false),
            ("ftp://example.org", false),
            ("file:///etc/hosts", false),
            ("C:/notes/a.md", false),
            ("javascript:x", false),
            ("\u{1}java\tscr\nipt:x", false),
            ("  VBScript:x", false),
            ("data:text/html;base64,AAAA", false),
            ("data:image/png;base64,AAAA", false),
            ("blob:https://example.org/1", false),
            ("view-source:https://example.org", false),
        ] {
            assert_eq!(is_allowed(address, UrlUse::Link), allowed, "{address:?}");
        }
        for (address, allowed) in [
            ("data:image/png;base64,iVBORw0KGgo=", true),
            ("DATA:image/WebP;base64,UklGRg==", true),
            ("data:image/svg+xml;base64,PHN2Zz4=", false),
            ("data:image/png,raw", false),
            ("data:image/png;base64,<script>", false),
            ("data:text/html;base64,AAAA", false),
            ("pictures/a.png", true),
            ("javascript:x", false),
        ] {
            assert_eq!(is_allowed(address, UrlUse::Image), allowed, "{address:?}");
        }
    }

    #[test]
    fn trusted_pages_may_have_any_scheme_that_does_not_run() {
        for address in ["irc://example.org/room", "localhost:5001/x", "https://exa mple", "ftp://a", "/x"] {
            assert!(is_harmless(address, UrlUse::Link), "{address}");
        }
        for address in ["javascript:x", "VB\tScript:x", "data:text/html,x"] {
            assert!(!is_harmless(address, UrlUse::Link), "{address}");
        }
    }

    #[test]
    fn the_quick_yes_is_never_wrong() {
        for address in ["http://a", "https://a.b-c.d1/x", "http://1.2.3.a/", "https://EXAMPLE.org?x"] {
            assert!(has_plain_host(address) && ::url::Url::parse(address).is_ok(), "{address}");
        }
        for address in
            ["http://1.2.3.4", "http://xn--zz/", "http://a:80/", "http://", "http://a..", "HTTP://a"]
        {
            assert!(!has_plain_host(address), "{address}");
        }
    }
}
