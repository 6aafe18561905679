import { brandMark, el, icon, initials } from "./dom.js";
import { strings } from "./strings.js";

const NARROW = matchMedia("(max-width: 860px)");

/** The column with new chat, past chats and the person. On a narrow screen it is a drawer over the page. */
export class Sidebar {
  #menuButton;

  /** What the drawer lies over and makes unreachable while it is open. */
  covered = null;

  /** `history` is the node of the past chats. `actions`: newChat(), switchPerson(), signOut(). */
  constructor(session, history, actions) {
    this.#menuButton = this.#iconButton("menu", strings.openMenu, () => this.toggle(true));
    this.#menuButton.setAttribute("aria-expanded", "false");
    this.topBar = el(
      "header",
      { className: "top-bar" },
      this.#menuButton,
      brand(),
      this.#iconButton("plus", strings.newChat, actions.newChat),
    );
    this.shade = el("div", { className: "shade", onclick: () => this.toggle(false) });
    this.node = el("aside", { className: "sidebar" }, this.#head(actions), history, person(session, actions));
    this.node.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.isOpen) this.toggle(false);
    });
    NARROW.addEventListener("change", () => this.toggle(false));
    this.toggle(false);
  }

  get isOpen() {
    return this.node.classList.contains("is-open");
  }

  toggle(open) {
    const wasOpen = this.isOpen;
    this.node.classList.toggle("is-open", open);
    this.shade.classList.toggle("is-open", open);
    this.#menuButton.setAttribute("aria-expanded", String(open));
    this.node.inert = NARROW.matches && !open;
    if (this.covered) this.covered.inert = open;
    if (open) this.node.querySelector("button").focus();
    else if (wasOpen) this.#menuButton.focus();
  }

  #head({ newChat }) {
    const close = this.#iconButton("close", strings.closeMenu, () => this.toggle(false));
    close.classList.add("only-narrow");
    const start = el(
      "button",
      { type: "button", className: "button primary-quiet", onclick: newChat },
      icon("plus"),
      strings.newChat,
    );
    return el("div", { className: "sidebar-head" }, el("div", { className: "sidebar-brand" }, brand(), close), start);
  }

  #iconButton(name, label, onclick) {
    return el(
      "button",
      { type: "button", className: "icon-button", "aria-label": label, title: label, onclick },
      icon(name),
    );
  }
}

function brand() {
  return el("div", { className: "brand" }, brandMark(), el("span", {}, "Achilles"));
}

function person({ user, mode, anonymous }, { switchPerson, signOut }) {
  const isDemo = mode === "demo";
  return el(
    "div",
    { className: "sidebar-foot" },
    el(
      "div",
      { className: "signed-in" },
      el("span", { className: "avatar", "aria-hidden": "true" }, initials(user.display_name)),
      el(
        "span",
        { className: "person-text" },
        el("span", { className: "person-name" }, user.display_name),
        el("span", { className: "person-department" }, user.department ?? ""),
      ),
    ),
    isDemo ? el("p", { className: "demo-badge" }, strings.demoBadge) : null,
    anonymous ? null : el("a", { className: "button quiet usage-link", href: "/usage" }, icon("usage"), strings.usage),
    el(
      "div",
      { className: "sidebar-actions" },
      isDemo
        ? el(
            "button",
            { type: "button", className: "button quiet", onclick: switchPerson },
            icon("swap"),
            strings.switchPerson,
          )
        : null,
      el("button", { type: "button", className: "button quiet", onclick: signOut }, icon("leave"), strings.signOut),
    ),
  );
}
