import { el, icon } from "./dom.js";
import { strings } from "./strings.js";

const SHOWN_MS = 8000;

/** Says for a while what was done, and offers to take it back. One at a time; it waits while it is pointed at. */
export class Toast {
  #timer = 0;

  constructor() {
    this.node = el("div", { className: "toast", role: "status" });
    const held = () => clearTimeout(this.#timer);
    const released = () => this.#count();
    for (const name of ["pointerenter", "focusin"]) this.node.addEventListener(name, held);
    for (const name of ["pointerleave", "focusout"]) this.node.addEventListener(name, released);
  }

  /** `undo` is called at most once; without it there is nothing to take back. */
  show(text, undo = null) {
    const take = () => {
      this.clear();
      undo();
    };
    const close = el("button", { type: "button", className: "icon-button", "aria-label": strings.dismiss });
    close.append(icon("close"));
    close.addEventListener("click", () => this.clear());
    this.node.replaceChildren(
      el("p", {}, text),
      ...(undo ? [el("button", { type: "button", className: "button", onclick: take }, strings.undo)] : []),
      close,
    );
    this.#count();
  }

  clear() {
    clearTimeout(this.#timer);
    this.node.replaceChildren();
  }

  #count() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.clear(), SHOWN_MS);
  }
}
