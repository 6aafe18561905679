import { el } from "./dom.js";
import { bar } from "./usage_chart.js";
import { dayText, inFull, inShort, measure, money, shareText } from "./usage_figures.js";
import { strings } from "./usage_strings.js";

const SHOWN_AT_FIRST = 50;

/** What a group is called. */
export function nameOf(grouping, key) {
  if (grouping === "day") return dayText(key);
  return key === "" ? strings.noDepartment : key;
}

/** `entries` in the order in which they are shown; `narrow(key)` asks for one group only. */
export function usageTable(entries, { grouping, metric, narrow }) {
  const most = Math.max(...entries.map((entry) => measure(entry, metric)), 0);
  const body = el("tbody", {}, ...entries.slice(0, SHOWN_AT_FIRST).map((entry) => line(entry)));
  function line(entry) {
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, heading(entry), bar(measure(entry, metric), most)),
      cell(strings.cost, costs(entry)),
      cell(strings.answers, count(entry.answers)),
      cell(strings.calls, count(entry.calls)),
      cell(strings.inputTokens, count(entry.input_tokens)),
      cell(strings.cachedShare, shareText(entry)),
      cell(strings.outputTokens, count(entry.output_tokens)),
    );
  }
  function heading({ key }) {
    const name = nameOf(grouping, key);
    if (grouping === "day") return el("span", {}, name);
    const ask = () => narrow(key);
    return el("button", { type: "button", className: "narrow", title: strings.onlyThis(name), onclick: ask }, name);
  }
  const table = el("table", {}, head(grouping), body);
  const frame = el("div", { className: "table-frame" }, table);
  if (entries.length > SHOWN_AT_FIRST) frame.append(rest(entries, body, line));
  return frame;
}

function head(grouping) {
  const names = [strings.cost, strings.answers, strings.calls, strings.inputTokens, strings.cachedShare];
  const cells = [strings.groups[grouping], ...names, strings.outputTokens];
  return el("thead", {}, el("tr", {}, ...cells.map((name) => el("th", { scope: "col" }, name))));
}

function rest(entries, body, line) {
  const showAll = () => {
    const first = SHOWN_AT_FIRST;
    body.append(...entries.slice(first).map((entry) => line(entry)));
    button.remove();
    body.rows[first].querySelector("button")?.focus();
  };
  const text = strings.showAll(inFull(entries.length));
  const button = el("button", { type: "button", className: "button", onclick: showAll }, text);
  return button;
}

// On a narrow screen each row is a card, and its cells name themselves.
const cell = (label, content) => el("td", { "data-label": label }, content);
const count = (value) => el("span", { title: inFull(value) }, inShort(value));

/** A line for each currency, and one for the calls without a known price. */
export function costs(entry) {
  const lines = [...entry.costs].map(([currency, amount]) =>
    el("span", { className: "cost", title: `${amount} ${currency}` }, money(amount, currency)),
  );
  if (entry.unpriced_calls) {
    const text = lines.length ? strings.unknownCost(inFull(entry.unpriced_calls)) : strings.unknown;
    lines.push(el("span", { className: "cost is-unknown", title: strings.unknownNote }, text));
  }
  return el("span", { className: "costs" }, ...(lines.length ? lines : ["–"]));
}
