import { el } from "./dom.js";
import { strings } from "./strings.js";

/** Asks before something that cannot be taken back. Resolves to whether it shall be done. */
export function confirmed({ title, text, action }) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const dialog = el("dialog", { className: "confirm", "aria-labelledby": "confirm-title" });
    const end = (answer) => {
      dialog.remove();
      if (before?.isConnected) before.focus({ preventScroll: true });
      resolve(answer);
    };
    const cancel = el("button", { type: "button", className: "button", onclick: () => end(false) }, strings.cancel);
    dialog.append(
      el("h2", { id: "confirm-title" }, title),
      el("p", {}, text),
      el(
        "div",
        { className: "confirm-buttons" },
        cancel,
        el("button", { type: "button", className: "button danger", onclick: () => end(true) }, action),
      ),
    );
    dialog.addEventListener("cancel", () => end(false));
    // The page has a meaning of its own for Escape.
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    document.body.append(dialog);
    dialog.showModal();
    cancel.focus();
  });
}
