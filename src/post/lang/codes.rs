//! Codes that were replaced (IANA language subtag registry), and what people write for a language
//! when they mean another: country codes, names, codes of three letters.

/// Language codes with a preferred value in the registry.
const REPLACED: [(&str, &str); 9] = [
    ("in", "id"),
    ("iw", "he"),
    ("ji", "yi"),
    ("jw", "jv"),
    ("mo", "ro"),
    ("aue", "ktz"),
    ("mnt", "wnn"),
    ("tne", "kak"),
    ("thx", "oyb"),
];

/// Whole tags with a preferred value in the registry ("grandfathered" and "redundant" ones).
const REPLACED_TAGS: [(&str, &str); 14] = [
    ("art-lojban", "jbo"),
    ("en-GB-oed", "en-GB-oxendict"),
    ("no-bok", "nb"),
    ("no-nyn", "nn"),
    ("zh-guoyu", "cmn"),
    ("zh-hakka", "hak"),
    ("zh-min-nan", "nan"),
    ("zh-xiang", "hsn"),
    ("zh-cmn", "cmn"),
    ("zh-yue", "yue"),
    ("zh-gan", "gan"),
    ("zh-wuu", "wuu"),
    ("zh-cmn-Hans", "cmn-Hans"),
    ("zh-cmn-Hant", "cmn-Hant"),
];

/// For each code: the countries, names and codes of three letters that are written for it. A country's
/// code stands here only where it is not the code of a language that blogs are written in.
const MEANT: [(&str, &[&str]); 34] = [
    ("ar", &["arabic", "ara", "العربية"]),
    ("bg", &["bulgarian", "bul"]),
    ("bn", &["bengali", "bangla", "ben"]),
    ("cs", &["cz", "czech", "ces", "cze", "čeština"]),
    ("da", &["dk", "danish", "dan", "dansk"]),
    ("de", &["german", "deu", "ger", "deutsch"]),
    ("el", &["gr", "greek", "ell", "gre", "ελληνικά"]),
    ("en", &["english", "eng", "us", "gb", "en-uk"]),
    ("es", &["spanish", "spa", "español", "espanol", "castellano"]),
    ("et", &["estonian", "est"]),
    ("fa", &["persian", "farsi", "fas", "per", "فارسی"]),
    ("fi", &["finnish", "fin", "suomi"]),
    ("fr", &["french", "fra", "fre", "français", "francais"]),
    ("he", &["hebrew", "heb", "עברית"]),
    ("hi", &["hindi", "hin", "हिन्दी"]),
    ("hu", &["hungarian", "hun", "magyar"]),
    ("id", &["indonesian", "ind", "bahasa"]),
    ("it", &["italian", "ita", "italiano"]),
    ("ja", &["jp", "japanese", "jpn", "日本語"]),
    ("ko", &["kr", "korean", "kor", "hangul", "한국어", "한글"]),
    ("nb", &["norwegian", "nor", "nob", "norsk", "bokmål"]),
    ("nl", &["dutch", "nld", "dut", "nederlands"]),
    ("pl", &["polish", "pol", "polski"]),
    ("pt", &["portuguese", "por", "português", "portugues"]),
    ("pt-BR", &["brazilian", "pt-pt-br"]),
    ("ro", &["romanian", "ron", "rum"]),
    ("ru", &["russian", "rus", "русский"]),
    ("sk", &["slovak", "slk", "slo"]),
    ("sv", &["se", "swedish", "swe", "svenska"]),
    ("th", &["thai", "tha", "ไทย"]),
    ("tr", &["turkish", "tur", "türkçe", "turkce"]),
    ("uk", &["ua", "ukrainian", "ukr", "українська"]),
    ("vi", &["vn", "vietnamese", "vie", "tiếng việt"]),
    ("zh", &["cn", "chinese", "zho", "chi", "mandarin", "中文", "汉语", "漢語"]),
];

/// The code that replaced `code`.
pub(super) fn replaced_code(code: &str) -> Option<&'static str> {
    REPLACED.iter().find(|(old, _)| *old == code).map(|(_, new)| *new)
}

/// The tag that replaced the whole canonical `tag`.
pub(super) fn replaced_tag(tag: &str) -> Option<&'static str> {
    REPLACED_TAGS.iter().find(|(old, _)| *old == tag).map(|(_, new)| *new)
}

/// The code that `text` (lower case, `-`) likely means.
pub(super) fn meant(text: &str) -> Option<&'static str> {
    if text == "tw" || text == "zh-traditional" {
        return Some("zh-TW");
    }
    MEANT.iter().find(|(_, written)| written.contains(&text)).map(|(code, _)| *code)
}
