import { el, icon } from "./dom.js";
import { locale, strings } from "./strings.js";

/** One past chat: open it, rename it in place, delete it. */
export class HistoryRow {
  #chat;
  #actions;
  #isCurrent;

  constructor(chat, isCurrent, actions) {
    this.#chat = chat;
    this.#actions = actions;
    this.#isCurrent = isCurrent;
    this.node = el("li", { className: "history-item" });
    this.node.dataset.id = chat.id;
    this.#show();
  }

  get #title() {
    return this.#chat.title || strings.newChat;
  }

  #show() {
    const open = el("button", {
      type: "button",
      className: "history-row",
      title: this.#title,
      "aria-current": this.#isCurrent ? "page" : null,
      onclick: () => this.#actions.open(this.#chat.id),
    });
    open.append(el("bdi", { className: "history-title" }, this.#title), dateOf(this.#chat.updated_at));
    this.node.replaceChildren(
      open,
      this.#button("rename", strings.rename(this.#title), () => this.#edit()),
      this.#button("delete", strings.delete(this.#title), () => this.#actions.remove(this.#chat)),
    );
  }

  #button(name, label, onclick) {
    const button = el("button", { type: "button", className: "icon-button", "aria-label": label, title: label });
    button.addEventListener("click", onclick);
    button.append(icon(name));
    return button;
  }

  /** Enter and leaving the field keep the new name, Escape the old one. */
  #edit() {
    const field = el("input", { className: "history-name", maxlength: "200", "aria-label": strings.renameField });
    field.value = this.#chat.title;
    const form = el("form", {}, field);
    let ended = false;
    const end = (keep, refocus) => {
      if (ended) return;
      ended = true;
      const title = field.value.trim();
      this.#show();
      if (refocus) this.node.querySelectorAll("button")[1].focus();
      if (keep && title && title !== this.#chat.title) this.#actions.rename(this.#chat, title);
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      end(true, true);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      end(false, true);
    });
    field.addEventListener("blur", () => end(true, false));
    this.node.replaceChildren(form);
    field.select();
    field.focus();
  }
}

function dateOf(value) {
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return "";
  const today = time.toDateString() === new Date().toDateString();
  const format = today ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" };
  return el("time", { datetime: time.toISOString() }, time.toLocaleString(locale, format));
}
