import { el } from "./dom.js";

const SENTENCE = /^[\s\S]*?(?:[.!?…](?=\s)|[。！？]|\n)/;

/**
 * Reads an answer out while it streams. Whole sentences are added to a log that only screen readers notice:
 * a live region around the visible text would repeat itself at every delta.
 */
export class Announcer {
  #pending = "";
  #seen = 0;

  constructor() {
    this.node = el("div", { className: "visually-hidden", role: "log", "aria-live": "polite", "aria-atomic": "false" });
  }

  begin() {
    this.node.replaceChildren();
    this.#pending = "";
    this.#seen = 0;
  }

  say(text) {
    if (text.trim()) this.node.append(el("p", {}, text.trim()));
  }

  /** Takes the text so far and says the sentences that are complete and were not said yet. */
  follow(text) {
    this.#pending += text.slice(this.#seen);
    this.#seen = text.length;
    for (let match = this.#pending.match(SENTENCE); match; match = this.#pending.match(SENTENCE)) {
      this.say(plain(match[0]));
      this.#pending = this.#pending.slice(match[0].length);
    }
  }

  finish(text) {
    this.follow(text);
    this.say(plain(this.#pending));
    this.#pending = "";
  }
}

const plain = (markdown) => markdown.replace(/[*`#>]+/g, "").replace(/\s*\[\d+(?:\s*,\s*\d+)*\]/g, "");
