import * as api from "./api.js";
import { brandMark, el } from "./dom.js";
import { problemText } from "./problems.js";
import { language } from "./strings.js";
import { dayChart } from "./usage_chart.js";
import { choice, filterChips, metricName, periodPicker, startPeriod } from "./usage_controls.js";
import { entriesOf, inFull, measure, metricsOf, totalOf } from "./usage_figures.js";
import { downloads } from "./usage_files.js";
import { comparedWith, daysBetween, isDay } from "./usage_period.js";
import { strings } from "./usage_strings.js";
import { remarks, summary } from "./usage_summary.js";
import { usageTable } from "./usage_table.js";

const DAYS_AT_MOST = 400;
const FILTERS = ["user", "department", "model"];
const root = document.getElementById("usage");

/** The page of one person: what is asked for stands in the address, so that it can be kept and sent on. */
class UsagePage {
  #scope;
  #state;
  #asked = 0;
  #controls = el("div", { className: "controls" });
  #alert = el("div", { role: "alert" });
  #content = el("div", { className: "content" });

  constructor(scope) {
    this.#scope = scope;
    this.#state = this.#fromAddress();
    const title = scope.everyone ? strings.title : strings.ownTitle;
    document.title = `Achilles · ${title}`;
    root.replaceChildren(heading(title), this.#controls, this.#alert, this.#content);
  }

  get #groupings() {
    return this.#scope.everyone ? ["day", "user", "department", "model"] : ["day", "model"];
  }

  #fromAddress() {
    const given = new URLSearchParams(location.search);
    const [from, to, grouping] = [given.get("from"), given.get("to"), given.get("group_by")];
    const period = isDay(from) && isDay(to) && from <= to ? { from, to } : startPeriod(this.#scope.today);
    const filters = Object.fromEntries(FILTERS.filter((name) => given.has(name)).map((name) => [name, given.get(name)]));
    return { period, filters, grouping: this.#groupings.includes(grouping) ? grouping : "day", metric: null };
  }

  /** What the table shows, as the API and the files are asked for it. */
  #question(period = this.#state.period, grouping = this.#state.grouping) {
    const { filters } = this.#state;
    const groups = grouping === null || grouping === "day" ? [] : [["group_by", grouping]];
    const bucket = grouping === "day" ? "day" : "total";
    return [["from", period.from], ["to", period.to], ["bucket", bucket], ...groups, ...Object.entries(filters)];
  }

  async show(change = {}) {
    Object.assign(this.#state, change);
    const asked = ++this.#asked;
    this.#keepAddress();
    this.#alert.replaceChildren();
    this.#content.setAttribute("aria-busy", "true");
    if (!this.#content.hasChildNodes()) this.#content.replaceChildren(el("p", { role: "status" }, strings.loading));
    try {
      const figures = await this.#read();
      if (asked === this.#asked) this.#paint(figures);
    } catch (fault) {
      if (asked === this.#asked) this.#problem(fault);
    } finally {
      if (asked === this.#asked) this.#content.removeAttribute("aria-busy");
    }
  }

  #keepAddress() {
    const { period, grouping, filters } = this.#state;
    const kept = new URLSearchParams({ ...period, group_by: grouping, ...filters });
    history.replaceState(null, "", `?${kept}`);
  }

  async #read() {
    const { period, grouping } = this.#state;
    const earlier = comparedWith(period);
    const [total, before, byDay] = await Promise.all([
      api.readUsage(this.#question(period, null)),
      earlier ? api.readUsage(this.#question(earlier, null)) : null,
      api.readUsage(this.#question(period, "day")),
    ]);
    const rows = grouping === "day" ? byDay : await api.readUsage(this.#question());
    return {
      total: totalOf(total),
      before: before && { period: earlier, total: totalOf(before) },
      byDay: entriesOf(byDay, (row) => row.from),
      entries: entriesOf(rows, (row) => (grouping === "day" ? row.from : (row[grouping] ?? ""))),
    };
  }

  #paint({ total, before, byDay, entries }) {
    const { metric, period, grouping, filters } = this.#state;
    const metrics = metricsOf(total);
    const telling = metrics.find((one) => measure(total, one) > 0) ?? metrics[0];
    const shown = metrics.includes(metric) ? metric : telling;
    this.#paintControls(metrics, shown);
    if (!total.calls) {
      const text = this.#scope.first_day === null ? strings.emptyEver : strings.empty;
      this.#content.replaceChildren(...[filterChips(filters, (name) => this.#widen(name))].filter(Boolean));
      this.#content.append(el("p", { className: "empty" }, text));
      return;
    }
    const days = daysBetween(period.from, period.to, DAYS_AT_MOST + 1);
    const isLong = days.length > DAYS_AT_MOST;
    const chart = isLong ? el("p", {}, strings.tooLong) : dayChart(days, byDay, shown, metricName(shown));
    const ordered = grouping === "day" ? entries : entries.sort((a, b) => measure(b, shown) - measure(a, shown));
    this.#content.replaceChildren(
      ...[filterChips(filters, (name) => this.#widen(name))].filter(Boolean),
      summary(total, before),
      chart,
      el("p", { className: "row-count", role: "status" }, strings.rows(inFull(entries.length))),
      usageTable(ordered, { grouping, metric: shown, narrow: (key) => this.#narrow(key) }),
      remarks(total, this.#scope.time_zone),
      downloads(
        () => this.#question(),
        (fault) => this.#problem(fault),
      ),
    );
  }

  #paintControls(metrics, metric) {
    const focused = document.activeElement?.value;
    const name = document.activeElement?.name;
    const groups = this.#groupings.map((one) => [one, strings.groups[one]]);
    this.#controls.replaceChildren(
      periodPicker(this.#scope, this.#state.period, (period) => this.show({ period })),
      choice("group", strings.groupBy, groups, this.#state.grouping, (grouping) => this.show({ grouping })),
      ...(metrics.length < 2 ? [] : [this.#metricChoice(metrics, metric)]),
    );
    if (name) this.#controls.querySelector(`input[name="${name}"][value="${focused}"]`)?.focus();
  }

  #metricChoice(metrics, metric) {
    const options = metrics.map((one) => [one, metricName(one)]);
    return choice("metric", strings.metric, options, metric, (chosen) => this.show({ metric: chosen }));
  }

  #narrow(key) {
    const { grouping, filters } = this.#state;
    this.show({ filters: { ...filters, [grouping]: key }, grouping: "day" });
  }

  #widen(name) {
    const filters = { ...this.#state.filters };
    delete filters[name];
    this.show({ filters });
  }

  #problem(fault) {
    if (!(fault instanceof api.ApiProblem)) throw fault;
    this.#alert.replaceChildren(problemView(fault, () => this.show()));
    if (this.#content.querySelector("[role=status]")?.textContent === strings.loading) this.#content.replaceChildren();
    if (!this.#controls.hasChildNodes()) this.#paintControls(["tokens"], "tokens");
  }
}

function heading(title) {
  const brand = el("a", { href: "/", className: "brand", title: strings.back }, brandMark(), "Achilles");
  return el("header", {}, brand, el("h1", {}, title));
}

function problemView(fault, retry) {
  const text = fault.status === 401 ? strings.signIn : problemText(fault);
  const again = fault.retryable
    ? el("button", { type: "button", className: "button", onclick: retry }, strings.retry)
    : el("a", { href: "/" }, strings.back);
  return el("p", { className: "problem" }, text, " ", again);
}

async function start() {
  document.documentElement.lang = language;
  api.onSessionChangedElsewhere(() => location.reload());
  try {
    await new UsagePage(await api.getUsageScope()).show();
  } catch (fault) {
    if (!(fault instanceof api.ApiProblem)) throw fault;
    root.replaceChildren(heading(strings.title), el("div", { role: "alert" }, problemView(fault, start)));
  }
}

start();
