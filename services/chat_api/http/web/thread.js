import { AnswerView } from "./answer.js";
import { el } from "./dom.js";
import { strings } from "./strings.js";
import { storedTurn } from "./turn.js";

const NEAR = 120;
const MARGIN = 16;

/** The scrolling column: the welcome page, or questions and answers. */
export class Thread {
  #actions;
  #list = el("div", { className: "messages" });

  constructor(actions) {
    this.#actions = actions;
    this.node = el("section", { className: "thread", tabindex: "0", "aria-label": strings.conversation }, this.#list);
  }

  showWelcome(name, ask) {
    const examples = strings.examples.map((text) =>
      el("li", {}, el("button", { type: "button", className: "example", onclick: () => ask(text) }, text)),
    );
    this.#list.replaceChildren(
      el(
        "div",
        { className: "welcome" },
        el("h1", {}, strings.welcomeTitle),
        el("p", {}, strings.welcomeText(name)),
        el("h2", {}, strings.examplesTitle),
        el("ul", { className: "examples" }, ...examples),
      ),
    );
  }

  showStored(messages) {
    this.clear();
    for (const message of messages) {
      if (message.role === "user") this.addQuestion(message.content);
      else if (message.role === "assistant") this.addAnswer(storedTurn(message));
    }
    this.scrollToEnd();
  }

  clear() {
    this.#list.replaceChildren();
  }

  addQuestion(text) {
    this.#list.querySelector(".welcome")?.remove();
    const speaker = el("span", { className: "visually-hidden" }, `${strings.you}: `);
    this.#list.append(el("div", { className: "question" }, speaker, text));
  }

  addAnswer(turn) {
    const view = new AnswerView(turn, this.#actions, (paint) => this.following(paint));
    this.#list.append(view.node);
    return view;
  }

  /** Runs a change and keeps the end in sight, but only if the reader has not scrolled away before. */
  following(change) {
    const isFollowing = Math.abs(this.node.scrollTop - this.#restingPlace()) < NEAR;
    change();
    if (isFollowing) this.scrollToEnd();
  }

  scrollToEnd() {
    this.node.scrollTop = this.#restingPlace();
  }

  /** The end of the thread, or less: the latest question stays in view, for an answer is read from its beginning. */
  #restingPlace() {
    const end = this.node.scrollHeight - this.node.clientHeight;
    const question = [...this.#list.querySelectorAll(".question")].at(-1);
    return question ? Math.min(end, question.offsetTop - this.#list.offsetTop - MARGIN) : end;
  }
}
