import { asDate } from "./usage_period.js";
import { locale } from "./strings.js";

const COUNTS = [
  "calls",
  "unpriced_calls",
  "estimated_calls",
  "answers",
  "input_tokens",
  "cached_input_tokens",
  "output_tokens",
];
export const TOKENS = "tokens";
export const ANSWERS = "answers";
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat(locale);
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const change = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1, signDisplay: "exceptZero" });

/** Rows of one group are one entry, whose costs stay apart by currency: there is no sum over currencies. */
export function entriesOf(rows, keyOf) {
  const entries = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    if (!entries.has(key)) entries.set(key, { key, costs: new Map(), ...zeros() });
    const entry = entries.get(key);
    for (const name of COUNTS) entry[name] += row[name];
    if (row.currency !== null) entry.costs.set(row.currency, row.cost);
  }
  return [...entries.values()];
}

const zeros = () => Object.fromEntries(COUNTS.map((name) => [name, 0]));

/** What all rows of a total are together. */
export const totalOf = (rows) => entriesOf(rows, () => "")[0] ?? { key: "", costs: new Map(), ...zeros() };

/** For lengths and orders only; a metric is a currency, TOKENS or ANSWERS. */
export function measure(entry, metric) {
  if (metric === ANSWERS) return entry.answers;
  return metric === TOKENS ? entry.input_tokens + entry.output_tokens : Number(entry.costs.get(metric) ?? 0);
}

/** What can be looked at, currencies first, the dearest of them at the front. */
export function metricsOf(total) {
  const currencies = [...total.costs.keys()].sort((a, b) => Number(total.costs.get(b)) - Number(total.costs.get(a)));
  return [...currencies, TOKENS, ANSWERS];
}

/** `amount` is the server's exact text. Small amounts keep two digits that say something. */
export function money(amount, currency) {
  const size = Math.abs(Number(amount));
  const digits = size > 0 && size < 0.01 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 };
  return new Intl.NumberFormat(locale, { style: "currency", currency, ...digits }).format(amount);
}

export const inShort = (count) => compact.format(count);
export const inFull = (count) => whole.format(count);
export const shareText = (entry) =>
  entry.input_tokens ? percent.format(entry.cached_input_tokens / entry.input_tokens) : "–";
export const metricText = (value, metric) =>
  metric === TOKENS || metric === ANSWERS ? inShort(value) : money(value, metric);

/** By how much something grew, as text; null where there was nothing before. */
export const growth = (now, before) => (before > 0 ? change.format(now / before - 1) : null);

const options = { timeZone: "UTC" };
export const dayText = (day) =>
  new Intl.DateTimeFormat(locale, { ...options, weekday: "short", day: "numeric", month: "short" }).format(asDate(day));
export const fullDay = (day) => new Intl.DateTimeFormat(locale, { ...options, dateStyle: "long" }).format(asDate(day));
export const daysText = ({ from, to }) =>
  new Intl.DateTimeFormat(locale, { ...options, dateStyle: "medium" }).formatRange(asDate(from), asDate(to));
export const monthText = (month) =>
  new Intl.DateTimeFormat(locale, { ...options, month: "long", year: "numeric" }).format(asDate(`${month}-01`));
