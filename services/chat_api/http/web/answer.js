import { el, icon } from "./dom.js";
import { renderBlock, splitBlocks } from "./markdown.js";
import { renderHint, sourceCard, webCard } from "./sources.js";
import { strings } from "./strings.js";
import { stateOf } from "./turn.js";

/**
 * One answer on the page. `update()` shows the turn as it is now and may be called as often as wanted.
 *
 * Actions: `rate(turn, value, repaint)`, `count(turn, citation)`, `open(turn, citation)` and `retry(turn)`.
 * `paintWith(paint)` runs each painting, for whoever has to look after the scroll position around it.
 */
export class AnswerView {
  #turn;
  #actions;
  #blocks = [];
  #parts = {};
  #cards = new Map();
  #numbers = new Map();
  #frame = 0;
  #ended = false;
  #paintWith;

  constructor(turn, actions, paintWith = (paint) => paint()) {
    this.#turn = turn;
    this.#actions = actions;
    this.#paintWith = paintWith;
    const parts = {
      status: "div",
      notices: "div",
      body: "div",
      fault: "div",
      hint: "div",
      sources: "section",
      footer: "div",
    };
    for (const [name, tag] of Object.entries(parts)) {
      this.#parts[name] = el(tag, { className: `answer-${name}`, hidden: name !== "status" });
    }
    this.node = el("article", { className: "answer" }, ...Object.values(this.#parts));
    this.paint();
  }

  /** Paints on the next frame; many calls within a frame paint once. */
  update() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#paintWith(() => this.paint()));
  }

  paint() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.node.dataset.state = stateOf(this.#turn);
    this.node.setAttribute("aria-busy", String(this.#turn.running));
    this.#paintStatus();
    this.#paintNotices();
    this.#paintBody();
    this.#paintEnd();
  }

  #fill(name, ...children) {
    this.#parts[name].replaceChildren(...children);
    this.#parts[name].hidden = children.length === 0;
  }

  #paintStatus() {
    const state = stateOf(this.#turn);
    const label = statusLabel(this.#turn);
    if (this.#parts.status.dataset.label === label) return;
    this.#parts.status.dataset.label = label;
    const sign = state === "running" ? el("span", { className: "spinner", "aria-hidden": "true" }) : icon(state);
    this.#fill("status", sign, el("span", {}, label));
  }

  #paintNotices() {
    // "Conversational" is what the status line says already.
    const notices = this.#turn.notices.filter((notice) => notice.text && notice.code !== "conversational");
    if (notices.length === this.#parts.notices.childElementCount) return;
    this.#fill(
      "notices",
      ...notices.map((notice) => el("p", { className: "notice" }, icon("info"), el("span", {}, notice.text))),
    );
  }

  #paintBody() {
    const blocks = splitBlocks(this.#turn.text);
    let same = 0;
    while (same < blocks.length && blocks[same] === this.#blocks[same]) same += 1;
    const body = this.#parts.body;
    // Blocks that did not change keep their nodes, and with them the reader's focus and selection.
    while (body.childElementCount > same) body.lastElementChild.remove();
    body.append(...blocks.slice(same).map((block) => renderBlock(block, (n) => this.#marker(n))));
    body.hidden = blocks.length === 0;
    this.#blocks = blocks;
  }

  #marker(n) {
    const button = el("button", { type: "button", className: "marker", onclick: () => this.#showSource(n) });
    button.dataset.n = n;
    this.#nameMarker(button);
    return button;
  }

  /** Sources are numbered as the reader meets them; the server's numbers have gaps. */
  #numberOf(n) {
    if (!this.#numbers.has(n)) this.#numbers.set(n, this.#numbers.size + 1);
    return this.#numbers.get(n);
  }

  #nameMarker(button) {
    const n = Number(button.dataset.n);
    const citation = this.#turn.citations.find((one) => one.n === n);
    button.textContent = this.#numberOf(n);
    button.setAttribute("aria-label", strings.sourceMarker(this.#numberOf(n), citation?.title ?? "…"));
    if (citation) button.title = citation.title;
    button.toggleAttribute("data-open", Boolean(citation));
  }

  #showSource(n) {
    const card = this.#cards.get(n);
    if (!card) return;
    for (const other of this.#cards.values()) other.classList.remove("is-shown");
    card.classList.add("is-shown");
    card.querySelector("details")?.setAttribute("open", "");
    card.scrollIntoView({ block: "nearest" });
    card.querySelector(".source-title").focus({ preventScroll: true });
  }

  /** Once, when the text is complete: in the order of the text, then what is listed without standing in it. */
  #paintSources() {
    const { citations, webLinks } = this.#turn;
    const known = new Set(citations.map((citation) => citation.n));
    this.#dropDeadMarkers(known);
    this.#numbers.clear();
    this.#parts.body.querySelectorAll(".marker").forEach((button) => this.#nameMarker(button));
    citations.forEach((citation) => this.#numberOf(citation.n));
    const ordered = [...citations].sort((a, b) => this.#numberOf(a.n) - this.#numberOf(b.n));
    this.#cards = new Map(ordered.map((citation) => [citation.n, this.#card(citation)]));
    const cited = new Set(citations.map((citation) => citation.url));
    const further = webLinks.filter((page) => !cited.has(page.url)).map(webCard);
    const cards = [...this.#cards.values(), ...further.filter(Boolean)];
    if (cards.length) this.#fill("sources", el("h3", {}, strings.sources), el("ol", {}, ...cards));
  }

  #card(citation) {
    return sourceCard(citation, this.#numberOf(citation.n), {
      count: () => this.#actions.count(this.#turn, citation),
      ask: () => this.#actions.open(this.#turn, citation),
    });
  }

  #paintEnd() {
    const { hint, fault, running } = this.#turn;
    if (hint && this.#parts.hint.hidden) this.#fill("hint", ...renderHint(hint, this.#turn.text));
    if (running) return;
    if (fault && this.#parts.fault.hidden) this.#fill("fault", ...this.#faultLines(fault));
    if (!this.#ended) this.#paintSources();
    if (!this.#ended) this.#fill("footer", ...this.#footer());
    this.#ended = true;
  }

  /** A number in brackets that no citation stands behind is text, not a button that does nothing. */
  #dropDeadMarkers(known) {
    for (const button of this.#parts.body.querySelectorAll(".marker")) {
      if (!known.has(Number(button.dataset.n))) button.replaceWith(`[${button.dataset.n}]`);
    }
  }

  /** It has been asked again below: this one is what it is. */
  dropRetry() {
    this.#parts.fault.querySelector("button")?.remove();
    if (!this.#parts.fault.textContent) this.#parts.fault.hidden = true;
  }

  #faultLines({ text, retryable }) {
    const again = () => this.#actions.retry(this.#turn, this);
    const retry = el("button", { type: "button", className: "button", onclick: again });
    retry.append(icon("retry"), strings.retry);
    return [...(text ? [el("p", {}, text)] : []), ...(retryable ? [retry] : [])];
  }

  #footer() {
    const turn = this.#turn;
    if (!turn.messageId) return [];
    const facts = [turn.model, turn.tokensUsed ? strings.tokens(turn.tokensUsed) : null].filter(Boolean).join(" · ");
    const rate = [this.#rateButton("up", 1, strings.rateUp), this.#rateButton("down", -1, strings.rateDown)];
    return [...(turn.closed ? rate : []), el("span", { className: "facts" }, facts)];
  }

  #rateButton(name, value, label) {
    const press = () =>
      this.#actions.rate(this.#turn, this.#turn.feedback === value ? null : value, () => this.#paintRating());
    const button = el(
      "button",
      { type: "button", className: "icon-button", "aria-label": label, title: label },
      icon(name),
    );
    button.dataset.value = value;
    button.setAttribute("aria-pressed", String(this.#turn.feedback === value));
    button.addEventListener("click", press);
    return button;
  }

  #paintRating() {
    for (const button of this.#parts.footer.querySelectorAll("[data-value]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.value) === this.#turn.feedback));
    }
  }
}

/** What the status line says: the stage while the turn runs, its outcome afterwards. */
export function statusLabel(turn) {
  const state = stateOf(turn);
  if (state === "running") return strings[`stage_${turn.stage}`] ?? strings.stage_starting;
  return strings[`outcome_${state}`] ?? state;
}
