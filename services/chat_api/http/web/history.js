import * as api from "./api.js";
import { el } from "./dom.js";
import { HistoryRow } from "./history_row.js";
import { strings } from "./strings.js";

const AT_ONCE = 30;
const TYPING_PAUSE_MS = 250;

/** Past chats: the newest first, or those that hold what is searched for. */
export class History {
  #actions;
  #chats = [];
  #cursor = null;
  #current = null;
  #asked = 0;
  #pause = 0;
  #list = el("ul", { className: "history-list" });
  #found = el("p", { className: "history-empty", role: "status" });
  #more = el("button", { type: "button", className: "button quiet", hidden: true, onclick: () => this.#loadMore() });
  #field = el("input", {
    type: "search",
    className: "history-search",
    placeholder: strings.historySearch,
    "aria-label": strings.historySearch,
    maxlength: "200",
    autocomplete: "off",
    spellcheck: "false",
  });

  /** `actions`: open(id), rename(chat, title), remove(chat), problem(fault); the two in the middle return promises. */
  constructor(actions) {
    this.#actions = actions;
    this.#more.append(strings.historyMore);
    this.node = el(
      "nav",
      { className: "history", "aria-label": strings.history },
      el("h2", {}, strings.history),
      this.#field,
      this.#found,
      this.#list,
      this.#more,
    );
    this.#field.addEventListener("input", () => this.#typed());
    this.#field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.#field.value) return;
      event.stopPropagation();
      this.#field.value = "";
      this.#typed();
    });
  }

  /** Looks again, and marks the chat in view. Rows that were loaded further down stay. */
  async refresh(currentId = this.#current) {
    this.#current = currentId;
    await this.#load(undefined, (fresh, hasMore) => {
      const last = fresh.at(-1);
      const ids = new Set(fresh.map((chat) => chat.id));
      const older = this.#chats.filter((chat) => !ids.has(chat.id) && chat.updated_at < last?.updated_at);
      return hasMore && older.length ? [...fresh, ...older] : fresh;
    });
  }

  focus() {
    this.#field.focus();
  }

  get #search() {
    return this.#field.value.trim();
  }

  #typed() {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#load(undefined, (fresh) => fresh), TYPING_PAUSE_MS);
  }

  #loadMore() {
    return this.#load(this.#cursor, (fresh) => [...this.#chats, ...fresh]);
  }

  /** Answers may overtake each other: only the one that was asked for last is shown. */
  async #load(after, combine) {
    const asked = (this.#asked += 1);
    try {
      const page = await api.listConversations({ limit: AT_ONCE, after, q: this.#search });
      if (asked !== this.#asked) return;
      const known = this.#chats.length;
      this.#chats = combine(page.data, page.has_more);
      const keepsTail = after === undefined && this.#chats.length > page.data.length;
      if (!keepsTail) {
        this.#cursor = page.last_id;
        this.#more.hidden = !page.has_more;
      }
      this.#paint(after === undefined ? 0 : known);
    } catch (fault) {
      this.#actions.problem(fault);
    }
  }

  #paint(kept) {
    const busy = this.#list.querySelector("form");
    // A name that is being typed is not painted over; the next refresh comes.
    if (busy && kept === 0) return;
    const rows = this.#chats.slice(kept).map((chat) => new HistoryRow(chat, chat.id === this.#current, this.#actions));
    if (kept === 0) this.#replaceRows(rows);
    else this.#list.append(...rows.map((row) => row.node));
    const count = this.#chats.length;
    const empty = this.#search ? strings.historyNothing : strings.historyEmpty;
    this.#found.textContent = count ? (this.#search ? strings.historyFound(count, !this.#more.hidden) : "") : empty;
  }

  /** The focus stays on the row that had it, though the row is a new one. */
  #replaceRows(rows) {
    const focused = document.activeElement?.closest(".history-item");
    const within = focused ? [...focused.querySelectorAll("button")].indexOf(document.activeElement) : -1;
    this.#list.replaceChildren(...rows.map((row) => row.node));
    if (!focused || within < 0) return;
    const again = rows.find((row) => row.node.dataset.id === focused.dataset.id);
    again?.node.querySelectorAll("button")[within]?.focus({ preventScroll: true });
  }
}
