import { ApiProblem, getLoopHealth } from "./api.js";
import { brandMark, el } from "./dom.js";
import { strings } from "./operations_strings.js";
import { language, locale } from "./strings.js";

const REFRESH_MS = 10_000;
const root = document.getElementById("operations");
document.documentElement.lang = language;

function leg({ name, state, text }) {
  const mark = el("span", { className: `leg-mark is-${state}`, "aria-hidden": "true" });
  const label = el("span", { className: "leg-name" }, strings.legs[name.split(":")[0]] ?? name, " ");
  if (name.includes(":")) label.append(el("code", {}, name.split(":")[1]));
  return el(
    "li",
    { className: "leg" },
    mark,
    el("div", {}, label, el("span", { className: "leg-state" }, strings.states[state]), el("p", {}, text)),
  );
}

function heading() {
  return el("header", {}, el("a", { href: "/", className: "brand" }, brandMark(), "Achilles"), el("h1", {}, strings.title));
}

function show(health) {
  const checked = new Intl.DateTimeFormat(locale, { timeStyle: "medium" }).format(new Date());
  root.replaceChildren(
    heading(),
    el("p", { className: `overall is-${health.state}` }, strings.overall[health.state]),
    el("ul", { className: "legs" }, ...health.legs.map(leg)),
    el("p", { className: "checked" }, strings.checked(checked)),
  );
}

function showProblem(fault) {
  const text = fault instanceof ApiProblem && fault.status ? fault.message : strings.unreachable;
  root.replaceChildren(heading(), el("p", { className: "overall is-red", role: "alert" }, text));
}

async function refresh() {
  try {
    show(await getLoopHealth());
  } catch (fault) {
    showProblem(fault);
  }
  setTimeout(refresh, REFRESH_MS);
}

refresh();
