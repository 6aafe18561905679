import { el, icon } from "./dom.js";
import { ANSWERS, monthText, TOKENS } from "./usage_figures.js";
import { firstOf, isDay, monthBefore, monthOf, monthsBetween, periodOf } from "./usage_period.js";
import { nameOf } from "./usage_table.js";
import { strings } from "./usage_strings.js";

const OWN = "own";

/** Which days: a month by its name, or any other days. `choose({from, to})` asks for them. */
export function periodPicker(scope, period, choose) {
  const current = monthOf(scope.today);
  const months = monthsBetween(monthOf(scope.first_day ?? scope.today), current);
  if (months.length < 2) months.push(monthBefore(current));
  const known = months.find((month) => sameDays(periodOf(month, scope.today), period));
  const pick = el(
    "select",
    { id: "month" },
    ...months.map((month) => option(month, monthName(month, current), month === known)),
    option(OWN, strings.ownPeriod, !known),
  );
  const own = ownDays(period, choose);
  own.hidden = Boolean(known);
  pick.addEventListener("change", () => {
    own.hidden = pick.value !== OWN;
    if (own.hidden) choose(periodOf(pick.value, scope.today));
    else own.querySelector("input").focus();
  });
  return el("div", { className: "period" }, labelled("month", strings.period, pick), own);
}

function ownDays(period, choose) {
  const first = el("input", { type: "date", id: "from", value: period.from, required: true });
  const last = el("input", { type: "date", id: "to", value: period.to, required: true });
  const ask = (event) => {
    event.preventDefault();
    last.setCustomValidity(first.value > last.value ? strings.reversed : "");
    if (form.reportValidity() && isDay(first.value) && isDay(last.value)) choose({ from: first.value, to: last.value });
  };
  for (const field of [first, last]) field.addEventListener("input", () => last.setCustomValidity(""));
  const form = el(
    "form",
    { className: "own-days" },
    labelled("from", strings.from, first),
    labelled("to", strings.to, last),
    el("button", { type: "submit", className: "button" }, strings.show),
  );
  form.noValidate = true;
  form.addEventListener("submit", ask);
  return form;
}

/** One of a few, as a row of radio buttons. */
export function choice(name, legend, options, chosen, choose) {
  const button = ([value, text]) => {
    const input = el("input", { type: "radio", name, value, checked: value === chosen, onchange: () => choose(value) });
    return el("label", { className: "choice" }, input, el("span", {}, text));
  };
  return el("fieldset", { className: "choices" }, el("legend", {}, legend), ...options.map(button));
}

export const metricName = (metric) =>
  ({ [TOKENS]: strings.tokens, [ANSWERS]: strings.answers })[metric] ?? strings.costIn(metric);

/** What the page is narrowed to; each can be taken away. */
export function filterChips(filters, remove) {
  const given = Object.entries(filters);
  if (!given.length) return null;
  const chips = given.map(([grouping, key]) => {
    const name = nameOf(grouping, key);
    const attributes = { type: "button", className: "chip", "aria-label": strings.removeFilter(name) };
    return el("button", { ...attributes, onclick: () => remove(grouping) }, name, icon("close"));
  });
  return el("div", { className: "chips" }, el("span", {}, strings.filter), ...chips);
}

const monthName = (month, current) => {
  if (month === current) return strings.thisMonth(monthText(month));
  return month === monthBefore(current) ? strings.lastMonth(monthText(month)) : monthText(month);
};
const option = (value, text, selected) => el("option", { value, selected }, text);
const labelled = (id, text, field) => el("div", { className: "field" }, el("label", { for: id }, text), field);
const sameDays = (one, other) => one.from === other.from && one.to === other.to;

/** Where somebody begins who asked for nothing. */
export const startPeriod = (today) => ({ from: firstOf(monthOf(today)), to: today });
