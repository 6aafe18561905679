import { el, icon, safeUrl } from "./dom.js";
import { strings } from "./strings.js";

const LONG_QUOTE = 220;

/**
 * A source under an answer; `number` is how the text calls it. The browser follows the link by itself, so that every
 * way of opening it works; `count` is told of it. Without an address the server may know one: then `ask` is called.
 */
export function sourceCard(citation, number, { count, ask }) {
  const place = isExternal(citation.url) ? hostOf(citation.url) : citation.source_system;
  const title = safeUrl(citation.url)
    ? sourceLink(citation, count)
    : el("button", { type: "button", className: "source-title", onclick: ask }, citation.title, icon("open"));
  return el(
    "li",
    { className: "source", value: String(number) },
    el("span", { className: "source-number", "aria-hidden": "true" }, String(number)),
    el(
      "div",
      { className: "source-text" },
      title,
      el("span", { className: "source-system" }, place),
      quote(citation),
    ),
  );
}

/** A page of the web that was found and that no sentence rests on. Null if a browser should not open it. */
export function webCard(page) {
  if (!safeUrl(page.url)) return null;
  const text = el("div", { className: "source-text" }, sourceLink(page, () => {}));
  text.append(el("span", { className: "source-system" }, hostOf(page.url)));
  return el("li", { className: "source" }, el("span", { className: "source-number" }, icon("external")), text);
}

function sourceLink({ url, title }, count) {
  const external = isExternal(url);
  const label = external ? strings.openExternalLabel(title, hostOf(url)) : strings.openSourceLabel(title);
  const link = el("a", { className: "source-title", href: safeUrl(url), target: "_blank", "aria-label": label });
  link.rel = external ? "noopener noreferrer external" : "noopener noreferrer";
  link.append(el("bdi", {}, title), icon(external ? "external" : "open"));
  link.addEventListener("click", count);
  // The middle button opens it as well.
  link.addEventListener("auxclick", (event) => event.button === 1 && count());
  return link;
}

const isExternal = (address) => new URL(safeUrl(address) ?? location.href).origin !== location.origin;
const hostOf = (address) => new URL(safeUrl(address)).host;

/** A long quote shows its beginning, and the rest below it when opened. */
function quote({ quote: text }) {
  if (!text) return null;
  if (text.length <= LONG_QUOTE) return el("blockquote", {}, text);
  const space = text.lastIndexOf(" ", LONG_QUOTE) + 1;
  // Chinese has no spaces to cut at: then the length alone decides.
  const cut = space > LONG_QUOTE / 2 ? space : LONG_QUOTE;
  const more = el("span", { className: "more" }, " …");
  return el(
    "details",
    {},
    el("summary", {}, text.slice(0, cut).trimEnd(), more),
    el("blockquote", {}, text.slice(cut)),
  );
}

/** What exists but is hidden: where it lives and whom to ask. The sentence stands only where the list says nothing. */
export function renderHint(hint, said) {
  const text = hint.text || strings.hintDefault;
  const places = (hint.withheld ?? []).map((place) =>
    el("li", {}, el("strong", {}, place.source_system), ...contact(place.contact)),
  );
  return [
    el("h3", {}, icon("withheld"), strings.hintTitle),
    ...(places.length ? [el("ul", {}, ...places)] : said.includes(text) ? [] : [el("p", {}, text)]),
  ];
}

function contact(address) {
  if (!address) return [];
  const isMail = /^[^\s@:/?#]+@[^\s@:/?#]+$/.test(address);
  return [` · ${strings.hintContact} `, isMail ? el("a", { href: `mailto:${address}` }, address) : address];
}
