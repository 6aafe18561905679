import * as api from "./api.js";
import { statusLabel } from "./answer.js";
import { safeUrl } from "./dom.js";
import { readParts } from "./stream.js";
import { strings } from "./strings.js";
import { applyPart, cutOff, fail, newTurn } from "./turn.js";

const STOP_PATIENCE_MS = 3000;

/** Runs turns against the server and shows them in the thread. At most one turn is in view and running. */
export class Chat {
  conversationId = null;
  #page;
  #current = null;

  /** `page`: thread, composer, announcer, and the callbacks turnStarted(), turnEnded(), problem(fault). */
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

  async ask(message, clientMessageId = api.newId()) {
    if (this.#current) return;
    this.#page.thread.addQuestion(message);
    this.#page.composer.focusUnasked();
    await this.#run(message, clientMessageId);
  }

  async #run(message, clientMessageId) {
    const { thread, composer, announcer } = this.#page;
    const turn = newTurn();
    const run = { turn, message, clientMessageId, abort: new AbortController(), view: thread.addAnswer(turn) };
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
    try {
      const response = await api.startTurn(body, run.abort.signal);
      for await (const part of readParts(response.body)) this.#take(run, part);
      cutOff(turn, strings.errorCut);
    } catch (fault) {
      this.#broken(turn, fault);
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

  #broken(turn, fault) {
    if (fault instanceof api.ApiProblem) {
      fail(turn, fault.status === 0 ? strings.errorNetwork : fault.detail || fault.title, fault.retryable);
      if (fault.status === 401) this.#page.problem(fault);
    } else {
      cutOff(turn, strings.errorCut);
    }
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
   * Tries the question of a failed turn again. Only a turn whose end the server has told gets a new id: with the
   * old one the server would replay that end, while for a broken connection the old id keeps the question from
   * being asked twice.
   */
  async retry(turn) {
    if (this.#current || !turn.run) return;
    turn.run.view.node.remove();
    await this.#run(turn.run.message, turn.closed ? api.newId() : turn.run.clientMessageId);
  }

  async rate(turn, value) {
    const before = turn.feedback;
    turn.feedback = value;
    try {
      await api.rateMessage(turn.messageId, value);
      this.#page.announcer.say(value === null ? strings.ratingRemoved : strings.ratingSaved);
    } catch (fault) {
      turn.feedback = before;
      this.#page.problem(fault);
    }
  }

  async openSource(turn, citation) {
    try {
      const { url } = await api.openCitation(turn.messageId, citation.n, api.newId());
      const address = safeUrl(url);
      if (address) window.open(address, "_blank", "noopener,noreferrer");
      else this.#page.problem(new api.ApiProblem(-1, "", strings.errorSource));
    } catch (fault) {
      this.#page.problem(fault);
    }
  }
}
