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

  /** The newest messages. `earlier`, if there are older ones, gets the id of the first shown and returns a page. */
  showStored(messages, earlier = null) {
    this.clear();
    this.#list.append(...this.#stored(messages, true));
    if (earlier && messages.length) this.#offerEarlier(messages[0].id, earlier);
    this.scrollToEnd();
  }

  #stored(messages, areLast) {
    let question = null;
    return messages.map((message, at) => {
      if (message.role === "user") {
        question = message.content;
        return questionNode(question);
      }
      const turn = storedTurn(message);
      turn.question = question;
      // Only what stands last can be asked again without tearing the thread apart.
      const isLast = areLast && at === messages.length - 1;
      if (isLast && question && brokeOff(turn)) turn.fault = { text: "", retryable: true };
      return this.#answer(turn).node;
    });
  }

  #offerEarlier(firstId, earlier) {
    const button = el("button", { type: "button", className: "button earlier" }, strings.earlier);
    button.addEventListener("click", async () => {
      button.disabled = true;
      const page = await earlier(firstId);
      button.disabled = false;
      if (page && button.isConnected) this.#showEarlier(button, page, earlier);
    });
    this.#list.prepend(button);
  }

  /** What is in view stays where it is. The focus goes to the thread, for the button is gone. */
  #showEarlier(button, { data, has_more: hasMore }, earlier) {
    const fromEnd = this.node.scrollHeight - this.node.scrollTop;
    const nodes = this.#stored(data, false);
    button.replaceWith(...nodes);
    if (hasMore) this.#offerEarlier(data[0].id, earlier);
    this.node.scrollTop = this.node.scrollHeight - fromEnd;
    this.node.focus({ preventScroll: true });
  }

  clear() {
    this.#list.replaceChildren();
  }

  addQuestion(text) {
    this.#list.querySelector(".welcome")?.remove();
    const node = questionNode(text);
    this.#list.append(node);
    return node;
  }

  addAnswer(turn) {
    const view = this.#answer(turn);
    this.#list.append(view.node);
    return view;
  }

  get isEmpty() {
    return this.#list.childElementCount === 0;
  }

  #answer(turn) {
    return new AnswerView(turn, this.#actions, (paint) => this.following(paint));
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

function questionNode(text) {
  const speaker = el("span", { className: "visually-hidden" }, `${strings.you}: `);
  return el("div", { className: "question" }, speaker, text);
}

const brokeOff = (turn) => turn.outcome === "failed" || (turn.outcome === "interrupted" && !turn.stoppedByUser);
