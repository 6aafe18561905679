import { brandMark, el, initials } from "./dom.js";
import { strings } from "./strings.js";

/**
 * The page where a demo person is chosen. `choose(userId)` returns a promise; `cancel` is null where there is
 * nobody to go back to; `message` says why the page is shown, if there is a reason.
 */
export function signInView(people, { choose, cancel = null, message = "" }) {
  const card = el(
    "main",
    { className: "sign-in" },
    el("div", { className: "brand" }, brandMark(), el("span", {}, "Achilles")),
    el("h1", {}, strings.signInTitle),
    message ? el("p", { className: "sign-in-message", role: "alert" }, message) : null,
    people.length ? el("p", { className: "sign-in-note" }, strings.signInDemo) : el("p", {}, strings.signInNone),
    people.length ? personList(people, choose) : null,
    cancel ? el("button", { type: "button", className: "button", onclick: cancel }, strings.cancel) : null,
  );
  return el("div", { className: "sign-in-page" }, card);
}

function personList(people, choose) {
  const list = el("ul", { className: "people" }, ...people.map((person) => el("li", {}, personButton(person, pick))));
  const buttons = () => list.querySelectorAll("button");
  async function pick(userId) {
    buttons().forEach((button) => (button.disabled = true));
    try {
      await choose(userId);
    } finally {
      buttons().forEach((button) => (button.disabled = false));
    }
  }
  return el("section", { "aria-label": strings.signInChoose }, el("h2", {}, strings.signInChoose), list);
}

function personButton(person, pick) {
  return el(
    "button",
    { type: "button", className: "person", onclick: () => pick(person.user_id) },
    el("span", { className: "avatar", "aria-hidden": "true" }, initials(person.display_name)),
    el(
      "span",
      { className: "person-text" },
      el("span", { className: "person-name" }, person.display_name),
      el("span", { className: "person-department" }, person.department ?? ""),
      person.description ? el("span", { className: "person-description" }, person.description) : null,
    ),
  );
}
