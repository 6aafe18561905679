import * as api from "./api.js";
import { Announcer } from "./announcer.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { el, focusUnasked, icon } from "./dom.js";
import { Sidebar } from "./sidebar.js";
import { signInView } from "./sign_in.js";
import { language, strings } from "./strings.js";
import { Thread } from "./thread.js";

const PAGE_OF_HISTORY = 20;
const MOST_HISTORY = 100;
const POLL_MS = 1500;
const root = document.getElementById("app");

/** Shows who is chosen from; afterwards the chat of that person. */
async function showSignIn({ message = "", back = null } = {}) {
  let people = [];
  try {
    people = (await api.listPeople()).data;
  } catch (fault) {
    if (fault.status !== 404) message ||= faultText(fault);
  }
  const choose = async (userId) => {
    try {
      const session = await api.signIn(userId);
      history.replaceState(null, "", addressOf(null));
      showChat(session);
    } catch (fault) {
      showSignIn({ message: faultText(fault), back });
    }
  };
  root.replaceChildren(signInView(people, { choose, cancel: back, message }));
  focusUnasked(root.querySelector("button"));
}

const faultText = (fault) =>
  fault.status === 0 ? strings.errorNetwork : fault.detail || fault.title || strings.errorUnknown;
const conversationInAddress = () => decodeURIComponent(location.hash.match(/^#\/c\/(.+)$/)?.[1] ?? "") || null;
const addressOf = (id) => (id ? `#/c/${encodeURIComponent(id)}` : location.pathname);

/** The chat of one signed-in person: wires the parts of the page to each other. */
class ChatPage {
  #session;
  #limit = PAGE_OF_HISTORY;
  #alert = el("div", { className: "alert", role: "alert" });
  #waiting = el("div", { className: "waiting", role: "status" });
  #onAddress = () => this.#follow();
  #ended = false;
  #onKey = (event) => event.key === "Escape" && !this.sidebar.isOpen && this.chat.stop();

  constructor(session) {
    this.#session = session;
    this.announcer = new Announcer();
    this.chat = new Chat(this);
    this.composer = new Composer({ send: (text) => this.chat.ask(text), stop: () => this.chat.stop() });
    this.thread = new Thread({
      rate: (turn, value) => this.chat.rate(turn, value),
      open: (turn, citation) => this.chat.openSource(turn, citation),
      retry: (turn) => this.chat.retry(turn),
    });
    this.sidebar = new Sidebar(session, {
      newChat: () => this.#go(null),
      open: (id) => this.#go(id),
      more: () => this.#moreHistory(),
      switchPerson: () => this.#switchPerson(),
      signOut: () => this.#signOut(),
    });
  }

  async show() {
    const { sidebar, thread, composer, announcer } = this;
    const skip = el(
      "a",
      { className: "skip", href: "#question", onclick: (event) => this.#skip(event) },
      strings.skipToQuestion,
    );
    const main = el(
      "main",
      { className: "chat" },
      sidebar.topBar,
      thread.node,
      this.#waiting,
      this.#alert,
      composer.node,
      announcer.node,
    );
    sidebar.covered = main;
    root.replaceChildren(el("div", { className: "frame" }, skip, sidebar.node, sidebar.shade, main));
    addEventListener("popstate", this.#onAddress);
    addEventListener("keydown", this.#onKey);
    await Promise.all([this.#follow(), this.#loadHistory()]);
  }

  #leavePage() {
    this.#ended = true;
    removeEventListener("popstate", this.#onAddress);
    removeEventListener("keydown", this.#onKey);
  }

  #skip(event) {
    event.preventDefault();
    this.composer.focus();
  }

  /** Shows the conversation that the address names. */
  async #follow() {
    const id = conversationInAddress();
    if (id && id === this.chat.conversationId) return;
    this.#clearAlert();
    this.#waiting.replaceChildren();
    this.chat.leave(id);
    if (!id) return this.#welcome();
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
  async #showStored(id) {
    const { messages, running_message_id: running } = await api.getConversation(id);
    if (this.#ended || this.chat.conversationId !== id) return;
    this.thread.showStored(messages);
    if (!running) return this.#waiting.replaceChildren();
    const stop = el("button", { type: "button", onclick: () => api.stopTurn(running) }, strings.stop);
    this.#waiting.replaceChildren(el("p", {}, strings.beingWritten), stop);
    setTimeout(() => this.chat.conversationId === id && this.#showStored(id).catch(() => {}), POLL_MS);
  }

  #welcome() {
    const name = this.#session.user.display_name;
    this.thread.showWelcome(name, (text) => this.chat.ask(text));
    this.composer.focusUnasked();
  }

  async #go(id) {
    this.sidebar.toggle(false);
    if (id !== conversationInAddress()) history.pushState(null, "", addressOf(id));
    await Promise.all([this.#follow(), this.#loadHistory()]);
  }

  turnStarted() {
    history.pushState(null, "", addressOf(this.chat.conversationId));
    this.#loadHistory();
  }

  turnEnded() {
    this.#loadHistory();
  }

  async #loadHistory() {
    try {
      const { data, has_more: hasMore } = await api.listConversations(this.#limit);
      this.sidebar.showConversations(data, hasMore && this.#limit < MOST_HISTORY, conversationInAddress());
    } catch (fault) {
      this.problem(fault);
    }
  }

  #moreHistory() {
    this.#limit = Math.min(this.#limit * 2, MOST_HISTORY);
    this.#loadHistory();
  }

  #switchPerson() {
    this.chat.abort();
    this.#leavePage();
    showSignIn({ back: () => showChat(this.#session) });
  }

  async #signOut() {
    try {
      await api.signOut();
    } catch (fault) {
      if (fault.status !== 401) return this.problem(fault);
    }
    this.#end();
  }

  #end(message = "") {
    this.chat.abort();
    this.#leavePage();
    history.replaceState(null, "", addressOf(null));
    showSignIn({ message });
  }

  /** Shows a fault that belongs to no answer; an ended session leads to the sign-in page. */
  problem(fault) {
    if (!(fault instanceof api.ApiProblem)) throw fault;
    // Answers to requests of the person before may still arrive.
    if (this.#ended) return;
    if (fault.status === 401) return this.#end(strings.signInExpired);
    const close = el("button", {
      type: "button",
      className: "icon-button",
      "aria-label": strings.dismiss,
      onclick: () => this.#clearAlert(),
    });
    close.append(icon("close"));
    this.#alert.replaceChildren(
      icon("failed"),
      el("p", {}, el("strong", {}, strings.errorTitle), ". ", faultText(fault)),
      close,
    );
  }

  #clearAlert() {
    this.#alert.replaceChildren();
  }
}

function showChat(session) {
  return new ChatPage(session).show();
}

async function start() {
  document.documentElement.lang = language;
  api.onSessionChangedElsewhere(() => {
    history.replaceState(null, "", addressOf(null));
    location.reload();
  });
  try {
    await showChat(await api.getSession());
  } catch (fault) {
    if (!(fault instanceof api.ApiProblem)) throw fault;
    await showSignIn({ message: fault.status === 401 ? "" : faultText(fault) });
  }
}

start();
