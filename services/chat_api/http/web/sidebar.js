import { brandMark, el, icon, initials } from "./dom.js";
import { locale, strings } from "./strings.js";

const NARROW = matchMedia("(max-width: 860px)");

/** The column with new chat, past chats and the person. On a narrow screen it is a drawer over the page. */
export class Sidebar {
  #list = el("ul", { className: "history-list" });
  #more;
  #menuButton;
  #open;

  /** What the drawer lies over and makes unreachable while it is open. */
  covered = null;

  /** `actions`: newChat(), open(id), more(), switchPerson(), signOut(). */
  constructor(session, actions) {
    this.#open = actions.open;
    this.#more = el(
      "button",
      { type: "button", className: "button quiet", hidden: true, onclick: actions.more },
      strings.historyMore,
    );
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
    this.node = el("aside", { className: "sidebar" }, this.#head(actions), this.#history(), person(session, actions));
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

  showConversations(conversations, hasMore, currentId) {
    const rows = conversations.map((one) => this.#row(one, one.id === currentId));
    this.#list.replaceChildren(
      ...(rows.length ? rows : [el("li", { className: "history-empty" }, strings.historyEmpty)]),
    );
    this.#more.hidden = !hasMore;
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

  #history() {
    return el(
      "nav",
      { className: "history", "aria-label": strings.history },
      el("h2", {}, strings.history),
      this.#list,
      this.#more,
    );
  }

  #row(conversation, isCurrent) {
    const open = () => this.#open(conversation.id);
    const current = isCurrent ? "page" : null;
    const row = el("button", { type: "button", className: "history-row", "aria-current": current, onclick: open });
    row.append(
      el("span", { className: "history-title" }, conversation.title || strings.newChat),
      dateOf(conversation.updated_at),
    );
    return el("li", {}, row);
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

function person({ user, mode }, { switchPerson, signOut }) {
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

function dateOf(value) {
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return "";
  const today = time.toDateString() === new Date().toDateString();
  const format = today ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" };
  return el("time", { datetime: time.toISOString() }, time.toLocaleString(locale, format));
}
