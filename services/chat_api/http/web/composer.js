import { el, focusUnasked, icon } from "./dom.js";
import { strings } from "./strings.js";

/** The question field with its one button, which sends or, while an answer runs, stops. */
export class Composer {
  #field = el("textarea", {
    id: "question",
    rows: "1",
    placeholder: strings.questionPlaceholder,
    "aria-describedby": "composer-hint",
    autocomplete: "off",
    enterkeyhint: "send",
  });
  #button = el("button", { type: "submit", className: "send" });
  #busy = false;

  /** `choice` is a node that stands under the field, such as the choice of a model. */
  constructor({ send, stop, choice }) {
    this.node = el(
      "form",
      { className: "composer" },
      el("label", { for: "question", className: "visually-hidden" }, strings.questionLabel),
      el("div", { className: "composer-box" }, this.#field, this.#button),
      el(
        "div",
        { className: "composer-foot" },
        choice,
        el("p", { id: "composer-hint", className: "composer-hint" }, strings.composerHint),
      ),
    );
    const submit = () => {
      const text = this.#field.value.trim();
      if (this.#busy || !text) return;
      this.setText("");
      send(text);
    };
    this.node.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.#busy) return submit();
      stop();
      // The button changes its meaning under the finger and may be switched off: the focus goes back to the field.
      this.focus();
    });
    this.#field.addEventListener("keydown", (event) => this.#onKey(event, submit));
    this.#field.addEventListener("input", () => this.#fit());
    this.setBusy(false);
  }

  #onKey(event, submit) {
    // While an input method composes, Enter picks a character; 229 is how older browsers say so.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  }

  #fit() {
    if (!CSS.supports("field-sizing", "content") && this.node.isConnected) {
      this.#field.style.height = "auto";
      this.#field.style.height = `${this.#field.scrollHeight}px`;
    }
    this.#button.disabled = !this.#busy && !this.#field.value.trim();
  }

  setBusy(busy) {
    this.#busy = busy;
    const label = busy ? strings.stop : strings.send;
    this.#button.replaceChildren(icon(busy ? "stop" : "send"));
    this.#button.setAttribute("aria-label", label);
    this.#button.title = label;
    this.#fit();
  }

  setText(text) {
    this.#field.value = text;
    this.#fit();
  }

  get text() {
    return this.#field.value;
  }

  /** Gives a message back that could not be sent, before whatever was typed meanwhile. */
  giveBack(message) {
    this.setText([message, this.#field.value].filter(Boolean).join("\n"));
    this.focus();
  }

  focus() {
    this.#field.focus({ preventScroll: true });
  }

  focusUnasked() {
    focusUnasked(this.#field);
  }
}
