import * as api from "./api.js";
import { statusLabel } from "./answer.js";
import { safeUrl } from "./dom.js";
import { problemText } from "./problems.js";
import { readParts } from "./stream.js";
import { strings } from "./strings.js";
import { applyPart, cutOff, fail, newTurn } from "./turn.js";

const STOP_PATIENCE_MS = 3000;

/** Runs turns against the server and shows them in the thread. At most one turn is in view and running. */
export class Chat {
  conversationId = null;
  #page;
  #current = null;

  /**
   * `page`: thread, composer, models, toast, announcer, and the callbacks turnStarted(), turnEnded(),
   * turnRefused(fault), problem(fault).
   */
  constructor(page) {
    this.#page = page;
  }

  /** Forgets the thread in view. A running turn goes on unseen and is found again under the past chats. */
  leave(conversationId = null) {
    this.#current = null;
    this.conversationId = conversationId;
    this.#page.composer.setBusy(false);
  }

  /** Ends a running turn at once, for another person is about to look at this screen. */
  abort() {
    this.#current?.abort.abort();
    this.leave();
  }

  async ask(message) {
    if (this.#current) return;
    const question = this.#page.thread.addQuestion(message);
    this.#page.composer.focusUnasked();
    await this.#run({ message, question, clientMessageId: api.newId() });
  }

  /** `asked`: message, the node of the question, and the id by which the server knows the message again. */
  async #run(asked) {
    const { thread, composer, announcer } = this.#page;
    const turn = { ...newTurn(), question: asked.message };
    const run = { ...asked, turn, abort: new AbortController(), view: thread.addAnswer(turn) };
    turn.run = run;
    this.#current = run;
    composer.setBusy(true);
    announcer.begin();
    thread.scrollToEnd();
    await this.#receive(run);
    thread.following(() => run.view.paint());
    if (this.#current !== run) return;
    this.#current = null;
    composer.setBusy(false);
    announcer.finish(turn.text);
    announcer.say(statusLabel(turn));
    this.#page.turnEnded();
  }

  async #receive(run) {
    const { turn } = run;
    const body = { message: run.message, client_message_id: run.clientMessageId };
    if (this.conversationId) body.conversation_id = this.conversationId;
    else if (this.#page.models.selected) body.model = this.#page.models.selected;
    try {
      const response = await api.startTurn(body, run.abort.signal);
      for await (const part of readParts(response.body)) this.#take(run, part);
      cutOff(turn, strings.errorCut);
    } catch (fault) {
      this.#broken(run, fault);
    }
  }

  #take(run, part) {
    const { announcer } = this.#page;
    const stage = statusLabel(run.turn);
    applyPart(run.turn, part);
    if (this.#current !== run) return;
    if (part.type === "start") this.#adopt(run.turn);
    if (statusLabel(run.turn) !== stage && run.turn.running) announcer.say(statusLabel(run.turn));
    announcer.follow(run.turn.text);
    run.view.update();
  }

  #adopt(turn) {
    if (!turn.conversationId || turn.conversationId === this.conversationId) return;
    this.conversationId = turn.conversationId;
    this.#page.turnStarted();
  }

  #broken(run, fault) {
    if (!(fault instanceof api.ApiProblem)) return cutOff(run.turn, strings.errorCut);
    fail(run.turn, problemText(fault), fault.retryable);
    if (!fault.retryable && this.#current === run) this.#refused(run, fault);
  }

  /** The server took nothing of it: the message goes back to where it can be mended. */
  #refused(run, fault) {
    run.question.remove();
    run.view.node.remove();
    this.#page.composer.giveBack(run.message);
    this.#page.turnRefused(fault);
  }

  /** Asks the server to end the turn; if it does not within a moment, the connection is closed. */
  async stop() {
    const run = this.#current;
    if (!run || run.turn.stoppedByUser) return;
    run.turn.stoppedByUser = true;
    setTimeout(() => run.turn.running && run.abort.abort(), STOP_PATIENCE_MS);
    if (!run.turn.messageId) return run.abort.abort();
    await api.stopTurn(run.turn.messageId).catch(() => run.abort.abort());
  }

  /**
   * Tries the question of a failed turn again. A turn whose end the server has told is asked anew, below it: with its
   * old id the server would only replay that end. One that broke off on the way keeps its id, and so is never asked
   * or stored twice.
   */
  async retry(turn, view) {
    if (this.#current || !turn.question) return;
    if (turn.closed) {
      view.dropRetry();
      return this.ask(turn.question);
    }
    view.node.remove();
    const { message, question, clientMessageId } = turn.run;
    await this.#run({ message, question, clientMessageId });
  }

  async rate(turn, value, repaint) {
    const before = turn.feedback;
    await this.#setRating(turn, value, repaint);
    if (turn.feedback !== value) return;
    const undo = () => this.#setRating(turn, before, repaint);
    this.#page.toast.show(value === null ? strings.ratingRemoved : strings.ratingSaved, undo);
  }

  async #setRating(turn, value, repaint) {
    const before = turn.feedback;
    turn.feedback = value;
    repaint();
    try {
      await api.rateMessage(turn.messageId, value);
    } catch (fault) {
      turn.feedback = before;
      repaint();
      this.#page.problem(fault);
    }
  }

  /** The source opens whatever becomes of the count. */
  countSource(turn, citation) {
    api.openCitation(turn.messageId, citation.n, api.newId()).catch(() => {});
  }

  async openSource(turn, citation) {
    try {
      const address = safeUrl(await api.openCitation(turn.messageId, citation.n, api.newId()));
      if (address) window.open(address, "_blank", "noopener,noreferrer");
      else this.#page.problem(new api.ApiProblem(-1, "", strings.errorSource));
    } catch (fault) {
      this.#page.problem(fault);
    }
  }
}
