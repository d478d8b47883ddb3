
"use strict";
(() => {
  const PAGE = 200;
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("heads").textContent);
  const list = $("list");
  if (!list) return;
  const changes = data.changes.map(([action, file, slug, lang, id, reason, title, added, removed], at) => ({
    action, file, slug, lang, id, reason, title, added, removed, at,
    key: [file, slug, title, id, reason].join("\n").toLowerCase(),
  }));
  const markup = window.trustedTypes
    ? window.trustedTypes.createPolicy("rendered", { createHTML: (text) => text })
    : { createHTML: (text) => text };

  // Everything that is shown goes in as text.
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function count(values) {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
    return counts;
  }

  const ORDER = ["conflict", "create", "update", "restore", "archive", "restamp", "stale"];
  const actions = [...count(changes.map((change) => change.action))]
    .sort(([one], [other]) => ORDER.indexOf(one) - ORDER.indexOf(other));
  for (const [action, number] of actions) {
    const box = make("input", { type: "checkbox", name: "action", value: action });
    box.checked = true;
    $("actions").append(make("label", {}, box, `${action} (${number})`));
  }
  for (const [lang, number] of [...count(changes.map((change) => change.lang))].sort()) {
    $("lang").append(make("option", { value: lang }, `${lang} (${number})`));
  }

  let shown = [];
  let drawn = 0;

  function filter() {
    const wanted = new Set([...document.querySelectorAll("#actions input:checked")].map((box) => box.value));
    const lang = $("lang").value;
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = changes.filter((change) => wanted.has(change.action) && (!lang || change.lang === lang)
      && words.every((word) => change.key.includes(word)));
    list.replaceChildren();
    drawn = 0;
    more();
    const all = changes.length === 1 ? "1 change" : `${changes.length} changes`;
    $("status").textContent = changes.length === 0 ? "There are no changes."
      : shown.length === changes.length ? `${all}.` : `${shown.length} of ${all}.`;
  }

  function more() {
    list.append(...shown.slice(drawn, drawn + PAGE).map(row));
    drawn = Math.min(drawn + PAGE, shown.length);
    const rest = shown.length - drawn;
    $("more").hidden = rest === 0;
    $("more").textContent = `Show ${Math.min(rest, PAGE)} more of ${rest}`;
  }

  function row(change) {
    const summary = make("summary", {},
      make("span", { class: `action ${change.action}` }, change.action),
      make("bdi", { class: "title" }, change.title),
      make("span", { class: "faint" }, `${change.lang} · ${change.reason}`));
    if (change.added || change.removed) {
      summary.append(make("span", {},
        make("span", { class: "plus" }, `+${change.added}`), " ",
        make("span", { class: "minus" }, `−${change.removed}`)));
    }
    summary.append(make("bdi", { class: "file" }, change.file || `${change.slug} (${change.lang})`));
    const details = make("details", { "data-id": change.id }, summary);
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(detail(change));
    });
    return make("li", {}, details);
  }

  function detail(change) {
    const block = $(`d${change.at}`);
    if (!block) return make("p", { class: "faint" }, "still loading …");
    const { why, help, fields, text, rendered, leftOut } = JSON.parse(block.textContent);
    const out = make("div", { class: "detail" });
    out.append(make("p", { class: "faint" }, make("code", {}, change.id), " slug ", make("bdi", {}, change.slug)));
    if (why) out.append(make("p", {}, make("bdi", {}, why)));
    for (const line of help.split("\n").filter(Boolean)) out.append(make("p", { class: "help" }, line));
    if (fields.length) out.append(make("h3", {}, "Fields"), table(fields));
    if (text.length) out.append(make("h3", {}, "Text"), lines(text));
    if (rendered.length) out.append(make("h3", {}, "Rendered"), frame(rendered, change));
    for (const what of leftOut) out.append(make("p", { class: "faint" }, `Left out: ${what}.`));
    if (out.children.length === 1) out.append(make("p", { class: "faint" }, "No field that readers see differs."));
    return out;
  }

  function table(fields) {
    const side = (value, kind, name) => value === null
      ? make("td", { class: "faint", "data-side": name }, "—")
      : make("td", { class: kind, "data-side": name }, make("bdi", {}, value));
    const rows = fields.map(([path, before, after]) => make("tr", {},
      make("th", { scope: "row" }, path), side(before, "del", "before"), side(after, "add", "after")));
    const heads = ["field", "before", "after"].map((name) => make("th", { scope: "col" }, name));
    return make("table", { class: "fields" },
      make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
  }

  const KINDS = { "+": "add", "-": "del", " ": "same" };
  const MARKS = { "+": "ins", "-": "del" };

  function lines(hunks) {
    const out = make("div", { class: "text" });
    hunks.forEach((hunk, at) => {
      if (at > 0) out.append(make("div", { class: "gap" }, "⋯"));
      for (const line of hunk) {
        const [sign, ...pieces] = typeof line === "string" ? [line[0], line.slice(1)] : line;
        const marked = pieces.map((piece, place) =>
          place % 2 === 1 && MARKS[sign] ? make(MARKS[sign], {}, piece) : piece);
        out.append(make("div", { class: KINDS[sign] }, `${sign} `, ...marked));
      }
    });
    return out;
  }

  function frame(rows, change) {
    const compared = change.action !== "create";
    const cell = (kind, html) => `<div class="${kind}">${html}</div>`;
    const body = rows.map(([kind, one, other]) => {
      if (kind === "…") return `<div class="row gap">⋯ ${Number(one)} equal blocks</div>`;
      if (kind === "=") return `<div class="row same">${cell("before", one)}${cell("after", one)}</div>`;
      return compared
        ? `<div class="row">${cell("del", one)}${cell("add", other)}</div>`
        : `<div class="row one">${cell("new", other)}</div>`;
    }).join("");
    const heads = compared ? '<div class="row heads"><div>before</div><div>after</div></div>' : "";
    const out = make("iframe", { sandbox: "", title: `Rendered: ${change.title}`, loading: "eager" });
    out.srcdoc = markup.createHTML(data.frame + heads + body);
    return out;
  }

  let waiting = 0;
  $("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 80);
  });
  $("filter").addEventListener("change", filter);
  $("filter").addEventListener("submit", (event) => event.preventDefault());
  $("more").addEventListener("click", () => {
    const next = drawn;
    more();
    list.children[next]?.querySelector("summary").focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      $("search").focus();
    }
  });
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && !$("more").hidden) more();
  }, { rootMargin: "1000px" }).observe($("more"));

  filter();
  // `report.html#ID` opens one change, once its detail is there.
  const asked = changes.find((change) => change.id === location.hash.slice(1));
  if (asked) {
    $("search").value = asked.id;
    filter();
    document.addEventListener("DOMContentLoaded", () => { list.querySelector("details").open = true; });
  }
})();
