import { el } from "./dom.js";
import { dayText, fullDay, measure, metricText } from "./usage_figures.js";
import { strings } from "./usage_strings.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 720;
const HEIGHT = 180;
const FLOOR = HEIGHT - 1;

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/**
 * A column for each day. The chart is one stop of the keyboard, whose arrow keys move through the days and say each
 * one; the same figures stand in a table.
 */
export function dayChart(days, entries, metric, name) {
  const byDay = new Map(entries.map((entry) => [entry.key, entry]));
  const values = days.map((day) => (byDay.has(day) ? measure(byDay.get(day), metric) : 0));
  const most = Math.max(...values, 0);
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", preserveAspectRatio: "none" });
  const columns = draw(svg, values, most);
  svg.append(shape("line", { class: "floor", x1: 0, x2: WIDTH, y1: FLOOR, y2: FLOOR }));
  const said = el("output", { className: "chart-said" }, highest(days, values, most, metric));
  const label = strings.chart(name, fullDay(days[0]), fullDay(days.at(-1)));
  const figure = el(
    "div",
    { className: "chart-frame", tabindex: "0", role: "group", "aria-label": `${label}. ${strings.chartHint}` },
    el("div", { className: "chart-text", "aria-hidden": "true" }, most ? metricText(most, metric) : ""),
    svg,
    el(
      "div",
      { className: "chart-text", "aria-hidden": "true" },
      el("span", {}, dayText(days[0])),
      days.length > 1 ? el("span", {}, dayText(days.at(-1))) : null,
    ),
  );
  let chosen = -1;
  const choose = (place) => {
    columns[chosen]?.classList.remove("is-chosen");
    chosen = Math.min(Math.max(place, 0), days.length - 1);
    columns[chosen].classList.add("is-chosen");
    said.replaceChildren(strings.onDay(fullDay(days[chosen]), metricText(values[chosen], metric)));
  };
  figure.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: chosen - 1, ArrowRight: chosen + 1, Home: 0, End: days.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    choose(steps[event.key]);
  });
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    choose(Math.floor(((event.clientX - box.left) / box.width) * days.length));
  });
  return el("figure", {}, el("figcaption", {}, label), figure, said);
}

function draw(svg, values, most) {
  const step = WIDTH / values.length;
  const gap = Math.min(step * 0.25, 6);
  return values.map((value, place) => {
    const height = most ? (value / most) * FLOOR : 0;
    // The whole height answers to the pointer, the column shows the value.
    const column = shape("g", { class: "column" });
    column.append(
      shape("rect", { class: "column-ground", x: place * step, y: 0, width: step, height: FLOOR }),
      shape("rect", {
        class: "column-bar",
        x: place * step + gap / 2,
        y: FLOOR - height,
        width: Math.max(step - gap, 0.5),
        height,
      }),
    );
    svg.append(column);
    return column;
  });
}

function highest(days, values, most, metric) {
  return most ? strings.highest(metricText(most, metric), fullDay(days[values.indexOf(most)])) : "";
}

/** How long the bar of one row is beside the longest: for the eye only, the figure stands beside it. */
export function bar(value, most) {
  const svg = shape("svg", { viewBox: "0 0 100 6", class: "bar", "aria-hidden": "true", preserveAspectRatio: "none" });
  svg.append(shape("rect", { class: "column-bar", x: 0, y: 0, width: most ? (value / most) * 100 : 0, height: 6 }));
  return svg;
}
