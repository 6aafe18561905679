import { el } from "./dom.js";
import { daysText, growth, inFull, inShort, measure, shareText, TOKENS } from "./usage_figures.js";
import { costs } from "./usage_table.js";
import { strings } from "./usage_strings.js";

/** The figures of the whole period; `before` are those that they are compared with, null where there is nothing to. */
export function summary(total, before) {
  const tokens = total.input_tokens + total.output_tokens;
  return el(
    "dl",
    { className: "tiles" },
    tile(strings.cost, costs(total), ...costChanges(total, before)),
    tile(strings.tokens, full(tokens), changed(tokens, before, (entry) => measure(entry, TOKENS))),
    tile(strings.answers, full(total.answers), changed(total.answers, before, (entry) => entry.answers)),
    tile(strings.cachedShare, shareText(total)),
  );
}

const full = (value) => el("span", { title: inFull(value) }, inShort(value));

function tile(name, content, ...notes) {
  const lines = notes.filter(Boolean).map((text) => el("span", { className: "tile-note" }, text));
  return el("div", { className: "tile" }, el("dt", {}, name), el("dd", {}, content, ...lines));
}

function costChanges(total, before) {
  const currencies = [...total.costs.keys()];
  return currencies.map((currency) => {
    const note = changed(measure(total, currency), before, (entry) => measure(entry, currency));
    return note && currencies.length > 1 ? `${currency}: ${note}` : note;
  });
}

function changed(now, before, of) {
  if (!before) return null;
  const grown = growth(now, of(before.total));
  const days = daysText(before.period);
  return grown === null ? strings.comparedNothing(days) : strings.compared(grown, days);
}

/** What a reader has to know about the figures, in whole sentences. */
export function remarks(total, zone) {
  const lines = [];
  if (total.unpriced_calls) lines.push(`${strings.unknownCost(inFull(total.unpriced_calls))}. ${strings.unknownNote}`);
  if (total.estimated_calls) lines.push(strings.estimatedNote(inFull(total.estimated_calls)));
  lines.push(strings.zone(zone));
  return el("ul", { className: "remarks" }, ...lines.map((line) => el("li", {}, capital(line))));
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
