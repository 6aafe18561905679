import * as api from "./api.js";
import { addressOf, conversationInAddress } from "./address.js";
import { Announcer } from "./announcer.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { confirmed } from "./confirm.js";
import { el, icon } from "./dom.js";
import { History } from "./history.js";
import { ModelPicker } from "./model_picker.js";
import { problemText } from "./problems.js";
import { Sidebar } from "./sidebar.js";
import { strings } from "./strings.js";
import { Thread } from "./thread.js";
import { Toast } from "./toast.js";

const EARLIER_AT_ONCE = 50;
const POLL_MS = 1500;

/** The chat of one signed-in person: wires the parts of the page to each other. */
export class ChatPage {
  #root;
  #session;
  #leaving;
  #alert = el("div", { className: "alert", role: "alert" });
  #waiting = el("div", { className: "waiting", role: "status" });
  #onAddress = () => this.#follow();
  #ended = false;
  #onKey = (event) => event.key === "Escape" && !this.sidebar.isOpen && this.chat.stop();

  /** `leaving`: switchPerson(), and ended(message, draft) when the session is over. */
  constructor(root, session, leaving) {
    this.#root = root;
    this.#session = session;
    this.#leaving = leaving;
    this.toast = new Toast();
    this.announcer = new Announcer();
    this.chat = new Chat(this);
    this.models = new ModelPicker((model) => this.#selectModel(model));
    this.composer = new Composer({
      send: (text) => {
        this.#clearAlert();
        this.toast.clear();
        this.chat.ask(text);
      },
      stop: () => this.chat.stop(),
      choice: this.models.node,
    });
    this.thread = new Thread({
      rate: (turn, value, repaint) => this.chat.rate(turn, value, repaint),
      count: (turn, citation) => this.chat.countSource(turn, citation),
      open: (turn, citation) => this.chat.openSource(turn, citation),
      retry: (turn, view) => this.chat.retry(turn, view),
    });
    this.history = new History({
      open: (id) => this.#go(id),
      rename: (chat, title) => this.#rename(chat, title),
      remove: (chat) => this.#remove(chat),
      problem: (fault) => this.problem(fault),
    });
    this.sidebar = new Sidebar(session, this.history.node, {
      newChat: () => this.#go(null),
      switchPerson: () => this.#switchPerson(),
      signOut: () => this.#signOut(),
    });
  }

  async show() {
    const { sidebar, thread, composer, announcer, toast } = this;
    const toQuestion = (event) => {
      event.preventDefault();
      composer.focus();
    };
    const skip = el("a", { className: "skip", href: "#question", onclick: toQuestion }, strings.skipToQuestion);
    const main = el("main", { className: "chat" });
    main.append(sidebar.topBar, thread.node, this.#waiting, this.#alert, toast.node, composer.node, announcer.node);
    sidebar.covered = main;
    this.#root.replaceChildren(el("div", { className: "frame" }, skip, sidebar.node, sidebar.shade, main));
    addEventListener("popstate", this.#onAddress);
    addEventListener("keydown", this.#onKey);
    await Promise.all([this.#follow(), this.history.refresh(conversationInAddress()), this.models.load()]);
  }

  #leavePage() {
    this.#ended = true;
    this.toast.clear();
    removeEventListener("popstate", this.#onAddress);
    removeEventListener("keydown", this.#onKey);
  }

  /** Shows the conversation that the address names. */
  async #follow() {
    const id = conversationInAddress();
    if (id && id === this.chat.conversationId) return;
    this.#clearAlert();
    this.#waiting.replaceChildren();
    this.chat.leave(id);
    if (!id) {
      this.models.show(null);
      return this.#welcome();
    }
    try {
      await this.#showStored(id);
    } catch (fault) {
      history.replaceState(null, "", addressOf(null));
      this.chat.leave();
      this.#welcome();
      this.problem(fault);
    }
    this.composer.focusUnasked();
  }

  /** A thread as it is stored. An answer that is being written elsewhere is waited for, and can be stopped. */
  async #showStored(id, awaited = null) {
    const stored = await api.getConversation(id);
    if (this.#ended || this.chat.conversationId !== id) return;
    const running = stored.running_message_id;
    if (!awaited || running !== awaited) {
      this.models.show(stored.selected_model);
      this.thread.showStored(stored.messages, stored.has_more ? (first) => this.#earlier(id, first) : null);
      this.#showWaiting(running);
    }
    if (running) {
      setTimeout(() => this.chat.conversationId === id && this.#showStored(id, running).catch(() => {}), POLL_MS);
    }
  }

  #showWaiting(running) {
    if (!running) return this.#waiting.replaceChildren();
    const stop = el("button", { type: "button" }, strings.stop);
    stop.addEventListener("click", () => api.stopTurn(running).catch((fault) => this.problem(fault)));
    this.#waiting.replaceChildren(el("p", {}, strings.beingWritten), stop);
  }

  /** Null if they cannot be read. */
  async #earlier(id, first) {
    try {
      return await api.listMessages(id, { order: "asc", before: first, limit: EARLIER_AT_ONCE });
    } catch (fault) {
      this.problem(fault);
      return null;
    }
  }

  #welcome() {
    const name = this.#session.user.display_name;
    this.thread.showWelcome(name, (text) => this.chat.ask(text));
    this.composer.focusUnasked();
  }

  async #go(id) {
    this.sidebar.toggle(false);
    if (id !== conversationInAddress()) history.pushState(null, "", addressOf(id));
    await Promise.all([this.#follow(), this.history.refresh(id)]);
  }

  turnStarted() {
    history.pushState(null, "", addressOf(this.chat.conversationId));
    this.history.refresh(this.chat.conversationId);
  }

  turnEnded() {
    this.history.refresh(this.chat.conversationId);
  }

  turnRefused(fault) {
    if (this.thread.isEmpty) this.#welcome();
    this.problem(fault);
  }

  /** A new chat takes the choice along with its first message. */
  async #selectModel(model) {
    const id = this.chat.conversationId;
    if (!id) return;
    try {
      await api.selectModel(id, model);
      this.toast.show(strings.modelSelected);
    } catch (fault) {
      this.problem(fault);
    }
  }

  async #rename(chat, title) {
    try {
      await api.renameConversation(chat.id, title);
      this.toast.show(strings.renamed, () => this.#rename({ ...chat, title }, chat.title));
    } catch (fault) {
      this.problem(fault);
    }
    await this.history.refresh();
  }

  async #remove(chat) {
    const title = chat.title || strings.newChat;
    const asked = { title: strings.deleteTitle, text: strings.deleteText(title), action: strings.deleteAction };
    if (!(await confirmed(asked))) return;
    try {
      await api.deleteConversation(chat.id);
    } catch (fault) {
      // Deleted in another tab: then it is as it was asked to be.
      if (fault.status !== 404) return this.problem(fault);
    }
    this.toast.show(strings.deleted);
    if (chat.id === this.chat.conversationId) {
      history.replaceState(null, "", addressOf(null));
      await this.#follow();
    }
    await this.history.refresh(conversationInAddress());
    this.history.focus();
  }

  #switchPerson() {
    this.chat.abort();
    this.#leavePage();
    this.#leaving.switchPerson();
  }

  async #signOut() {
    try {
      await api.signOut();
    } catch (fault) {
      if (fault.status !== 401) return this.problem(fault);
    }
    this.#end("", "");
  }

  #end(message, draft) {
    this.chat.abort();
    this.#leavePage();
    history.replaceState(null, "", addressOf(null));
    this.#leaving.ended(message, draft);
  }

  /** Shows a fault that belongs to no answer; an ended session leads to the sign-in page. */
  problem(fault) {
    if (!(fault instanceof api.ApiProblem)) throw fault;
    // Answers to requests of the person before may still arrive.
    if (this.#ended) return;
    if (fault.status === 401) return this.#end(strings.signInExpired, this.composer.text);
    const close = el("button", { type: "button", className: "icon-button", "aria-label": strings.dismiss });
    close.append(icon("close"));
    close.addEventListener("click", () => this.#clearAlert());
    const text = el("p", {}, el("strong", {}, strings.errorTitle), ". ", problemText(fault));
    this.#alert.replaceChildren(icon("failed"), text, close);
  }

  #clearAlert() {
    this.#alert.replaceChildren();
  }
}
