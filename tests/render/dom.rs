//! Judges HTML by what a browser's parser makes of it, never by its text: an own list of what may be
//! there, knowing nothing of the sanitiser.

use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, QualName, local_name, ns};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

const ELEMENTS: &str = " a abbr acronym area article aside b bdi bdo big blockquote br caption center cite \
    code col colgroup data dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 \
    header hgroup hr i img input ins kbd li map mark nav ol p pre q rp rt rtc ruby s samp small span \
    strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr ";

const ATTRIBUTES: &str = " align alt char charoff checked cite class colspan datetime dir disabled headers \
    height href hreflang id lang loading name open reversed role rowspan scope size span src start \
    style summary title type value width ";

/// Everything in `html` that must not be there, under each way a browser may parse it.
pub fn dangers(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    for scripting in [true, false] {
        let dom = fragment(html, scripting);
        walk(&dom.document, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

fn fragment(html: &str, scripting_enabled: bool) -> RcDom {
    let opts = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled, ..TreeBuilderOpts::default() },
        ..ParseOpts::default()
    };
    let context = QualName::new(None, ns!(html), local_name!("div"));
    html5ever::parse_fragment(RcDom::default(), opts, context, Vec::new(), scripting_enabled).one(html)
}

/// All values of an attribute, in order of the document.
pub fn attribute_values(html: &str, attribute: &str) -> Vec<String> {
    let mut values = Vec::new();
    // A node that is dropped empties those below it, so the tree is held to the end.
    let dom = fragment(html, false);
    let mut nodes = vec![dom.document.clone()];
    while let Some(node) = nodes.pop() {
        if let NodeData::Element { attrs, .. } = &node.data {
            let attrs = attrs.borrow();
            let found = attrs.iter().filter(|attr| &*attr.name.local == attribute);
            values.extend(found.map(|attr| attr.value.to_string()));
        }
        nodes.extend(node.children.borrow().iter().rev().cloned());
    }
    values
}

/// The text a reader sees.
pub fn text(html: &str) -> String {
    let mut text = String::new();
    // A node that is dropped empties those below it, so the tree is held to the end.
    let dom = fragment(html, false);
    let mut nodes = vec![dom.document.clone()];
    while let Some(node) = nodes.pop() {
        if let NodeData::Text { contents } = &node.data {
            text.push_str(&contents.borrow());
        }
        nodes.extend(node.children.borrow().iter().rev().cloned());
    }
    text
}

const BLOCKS: &str = " blockquote body dd del details div dl dt fieldset form h1 h2 h3 h4 h5 h6 hr html iframe ins li \
    ol p pre script style table tbody td th thead tr ul ";

/// The page in one spelling, as the specification's own tests compare: attributes in order of name,
/// references resolved, no blanks round blocks outside `pre`, and no ids of headings, which are ours.
pub fn normalised(html: &str) -> String {
    let dom = fragment(html, false);
    let mut out = String::new();
    for child in dom.document.children.borrow().iter() {
        normalise(child, false, &mut out);
    }
    out
}

fn normalise(node: &Handle, in_pre: bool, out: &mut String) {
    match &node.data {
        NodeData::Text { contents } => {
            let contents = contents.borrow();
            if in_pre {
                out.push_str(&contents);
                return;
            }
            for c in contents.chars() {
                if !c.is_ascii_whitespace() {
                    out.push(c);
                } else if !out.ends_with([' ', '\u{1}']) {
                    out.push(' ');
                }
            }
        }
        NodeData::Comment { contents } => out.push_str(&format!("<!--{contents}-->")),
        NodeData::Element { name, attrs, .. } => {
            let tag = &*name.local;
            let is_block = BLOCKS.contains(&format!(" {tag} "));
            let is_heading = matches!(tag, "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
            let mut attributes: Vec<String> = attrs
                .borrow()
                .iter()
                .filter(|attr| !(is_heading && &*attr.name.local == "id"))
                .map(|attr| format!(" {}={:?}", attr.name.local, attr.value))
                .collect();
            attributes.sort();
            edge(is_block && !in_pre, out);
            out.push_str(&format!("<{tag}{}>", attributes.concat()));
            edge(is_block && tag != "pre", out);
            for child in node.children.borrow().iter() {
                normalise(child, in_pre || tag == "pre", out);
            }
            edge(is_block && tag != "pre", out);
            out.push_str(&format!("</{tag}>"));
            edge(is_block && !in_pre, out);
        }
        _ => {}
    }
}

/// Blanks at the edge of a block mean nothing; a mark says where one is.
fn edge(is_block: bool, out: &mut String) {
    if is_block {
        out.truncate(out.trim_end_matches(' ').len());
        if !out.ends_with('\u{1}') {
            out.push('\u{1}');
        }
    }
}

fn walk(root: &Handle, found: &mut Vec<String>) {
    let mut nodes: Vec<Handle> =
        root.children.borrow().iter().flat_map(|html| html.children.borrow().clone()).collect();
    while let Some(node) = nodes.pop() {
        if let NodeData::Element { name, attrs, .. } = &node.data {
            let element = &*name.local;
            if name.ns != ns!(html) || !ELEMENTS.contains(&format!(" {element} ")) {
                found.push(format!("element {element}"));
            }
            let attrs = attrs.borrow();
            for attr in attrs.iter() {
                attribute(element, &attr.name.local, &attr.value, found);
            }
            let has = |name: &str| attrs.iter().any(|attr| &*attr.name.local == name);
            if element == "input" && !has("disabled") {
                found.push("input that is not disabled".to_owned());
            }
        }
        nodes.extend(node.children.borrow().iter().cloned());
    }
}

fn attribute(element: &str, name: &str, value: &str, found: &mut Vec<String>) {
    let is_fine = match name {
        _ if name.starts_with("on") => false,
        "href" | "cite" => has_safe_scheme(value, false),
        "src" => element == "img" && has_safe_scheme(value, true),
        "style" => ["text-align: left", "text-align: center", "text-align: right"].contains(&value),
        "type" => value == "checkbox" || element == "ol",
        "name" => element == "a",
        _ => ATTRIBUTES.contains(&format!(" {name} ")),
    };
    if !is_fine {
        found.push(format!("{element} {name}={value:?}"));
    }
}

/// After removal of blanks, controls and characters that have no width, wherever they stand.
fn has_safe_scheme(value: &str, image: bool) -> bool {
    let invisible =
        |c: char| c <= ' ' || c.is_control() || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{feff}');
    let bare: String = value.chars().filter(|c| !invisible(*c)).collect::<String>().to_lowercase();
    let before_path = bare.split(['/', '?', '#']).next().unwrap();
    let Some((scheme, _)) = before_path.split_once(':') else {
        return true;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    match scheme {
        "http" | "https" | "mailto" | "tel" => true,
        "data" => {
            image
                && ["png", "gif", "jpeg", "jpg", "webp", "avif"]
                    .iter()
                    .any(|kind| bare.starts_with(&format!("data:image/{kind};base64,")))
        }
        _ => !is_scheme,
    }
}

#[test]
fn the_judge_sees_what_it_must() {
    for (html, danger) in [
        ("<script>x</script>", "element script"),
        ("<svg><a></a></svg>", "element svg"),
        ("<p onclick=x>", "p onclick=\"x\""),
        ("<a href='java&#10;script:x'>", "a href=\"java\\nscript:x\""),
        ("<a href='\u{200b}javascript:x'>", "a href=\"\\u{200b}javascript:x\""),
        ("<img src='data:image/svg+xml;base64,xx'>", "img src=\"data:image/svg+xml;base64,xx\""),
        ("<td><p style='color:red'>", "p style=\"color:red\""),
        ("<input type=checkbox>", "input that is not disabled"),
        ("<noscript><b onload=x></noscript>", "b onload=\"x\""),
    ] {
        let found = dangers(html);
        assert!(
            found.iter().any(|found| found.escape_debug().to_string() == danger.escape_debug().to_string()),
            "{html}: {found:?}"
        );
    }
    for harmless in
        ["<p>x", "<a href='/x:y'>", "<a href='10:30'>", "<img src='data:image/png;base64,xx'>", "<!-- x -->"]
    {
        assert_eq!(dangers(harmless), Vec::<String>::new(), "{harmless}");
    }
}
