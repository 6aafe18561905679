import { el, icon, safeUrl } from "./dom.js";
import { strings } from "./strings.js";

const LONG_QUOTE = 220;

/** A source under an answer. `open` is called instead of plain navigation, so that the click is counted. */
export function sourceCard(citation, open) {
  const href = safeUrl(citation.url);
  const follow = (event) => {
    event.preventDefault();
    open();
  };
  const link = { className: "source-title", href, target: "_blank", rel: "noopener noreferrer", onclick: follow };
  // Without an address of its own the title still asks the server, which may know one.
  const title = href
    ? el("a", { ...link, "aria-label": strings.openSourceLabel(citation.title) }, citation.title, icon("open"))
    : el("button", { type: "button", className: "source-title", onclick: follow }, citation.title, icon("open"));
  return el(
    "li",
    { className: "source", value: String(citation.n) },
    el("span", { className: "source-number", "aria-hidden": "true" }, String(citation.n)),
    el(
      "div",
      { className: "source-text" },
      title,
      el("span", { className: "source-system" }, citation.source_system),
      quote(citation),
    ),
  );
}

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
