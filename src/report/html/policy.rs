//! The content policy of the page: nothing but its own two sheets and its own script, by their digests.

use sha2::{Digest, Sha256};

/// The policy of the page. `styles` and `scripts` are the inline texts that are allowed, byte by byte;
/// those of the frame among them, since the frame inherits this policy beside its own.
pub(super) fn page(styles: &[&str], scripts: &[&str]) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types rendered",
        sources(scripts),
        sources(styles)
    )
}

/// The policy of the frame in which rendered bodies stand: it has no script.
pub(super) fn frame(style: &str) -> String {
    format!("default-src 'none'; style-src {}; base-uri 'none'; form-action 'none'", sources(&[style]))
}

fn sources(texts: &[&str]) -> String {
    let sources: Vec<String> =
        texts.iter().map(|text| format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())))).collect();
    sources.join(" ")
}

/// RFC 4648, section 4: the only spelling of a digest that a policy takes.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS.get((bits >> (18 - 6 * at) & 63) as usize).copied().unwrap_or(b'=');
            out.push(if at > three.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_rfc() {
        for (text, wanted) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text.as_bytes()), wanted);
        }
    }

    #[test]
    fn the_policy_names_a_digest_for_each_text() {
        // The digest of the empty text is known from FIPS 180-4's examples.
        let empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        assert_eq!(
            frame(""),
            format!("default-src 'none'; style-src {empty}; base-uri 'none'; form-action 'none'")
        );
        assert_eq!(page(&["", "a"], &[""]).matches("'sha256-").count(), 3);
    }
}
