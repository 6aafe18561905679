import { strings } from "./strings.js";

const NOT_SAVED = "not_saved";

/** What the page knows about one answer. A turn is changed only by `applyPart`, `cutOff` and `fail`. */
export function newTurn() {
  return {
    messageId: null,
    conversationId: null,
    model: null,
    running: true,
    stage: "starting",
    outcome: null,
    notices: [],
    text: "",
    textId: null,
    citations: [],
    webLinks: [],
    hint: null,
    feedback: null,
    tokensUsed: null,
    fault: null,
    stoppedByUser: false,
    // What it answers, where that is known: then it can be asked again.
    question: null,
    // True once the server has said how the turn ended, and has stored that end.
    closed: false,
  };
}

/** A turn as the server stored it. */
export function storedTurn(message) {
  return {
    ...newTurn(),
    messageId: message.id,
    model: message.model ?? null,
    running: false,
    closed: true,
    outcome: message.outcome ?? null,
    text: message.content ?? "",
    citations: message.citations ?? [],
    hint: typeof message.hint === "string" ? { text: message.hint, withheld: [] } : (message.hint ?? null),
    feedback: message.feedback ?? null,
    notices: storedNotices(message),
    tokensUsed: message.tokens_used ?? null,
    stoppedByUser: Boolean(message.stopped),
  };
}

function storedNotices({ model, citations, notices }) {
  if (notices?.length) return notices;
  return model === "quotes" && citations?.length ? [{ code: "quoted", text: strings.quoted }] : [];
}

const handlers = {
  start(turn, part) {
    turn.messageId = part.messageId ?? turn.messageId;
    turn.conversationId = part.messageMetadata?.conversation_id ?? turn.conversationId;
    applyMetadata(turn, part.messageMetadata);
  },
  "data-status": (turn, part) => (turn.stage = part.data.stage),
  "data-notice": (turn, part) => turn.notices.push(part.data),
  "text-delta"(turn, part) {
    const newBlock = turn.text && turn.textId !== null && part.id !== turn.textId;
    turn.text += (newBlock ? "\n\n" : "") + part.delta;
    turn.textId = part.id;
  },
  "data-citation": (turn, part) => turn.citations.push(part.data),
  "source-url": (turn, part) => turn.webLinks.push({ url: part.url, title: part.title || part.url }),
  "data-hint": (turn, part) => (turn.hint = part.data),
  "message-metadata": (turn, part) => applyMetadata(turn, part.messageMetadata),
  "data-error": (turn, part) =>
    (turn.fault = { text: "", retryable: Boolean(part.data.retryable), code: part.data.code }),
  error(turn, part) {
    turn.fault = { retryable: true, code: "", ...turn.fault, text: part.errorText ?? "" };
    close(turn, "failed");
    // The server may yet store this end: then the same message tells it, and is not asked a second time.
    turn.closed = turn.fault.code !== NOT_SAVED;
  },
  abort(turn) {
    close(turn, "interrupted");
    if (!turn.stoppedByUser) turn.fault = { text: strings.errorEnded, retryable: true };
  },
  finish(turn, part) {
    applyMetadata(turn, part.messageMetadata);
    close(turn, turn.outcome ?? "grounded");
  },
};

/** Folds one part of the stream into the turn. Parts of unknown type are left alone. */
export function applyPart(turn, part) {
  handlers[part.type]?.(turn, part);
}

function applyMetadata(turn, metadata) {
  if (!metadata) return;
  turn.model = metadata.model ?? turn.model;
  turn.outcome = metadata.outcome ?? turn.outcome;
  turn.tokensUsed = metadata.tokens_used ?? turn.tokensUsed;
}

function close(turn, outcome) {
  turn.outcome = outcome;
  turn.running = false;
  turn.closed = true;
}

/** The stream ended. Without a closing part the turn counts as interrupted, whatever was announced before. */
export function cutOff(turn, text) {
  if (!turn.running) return;
  turn.running = false;
  turn.outcome = "interrupted";
  if (!turn.stoppedByUser) turn.fault = { text, retryable: true };
}

/** The server refused the turn before its first byte. */
export function fail(turn, text, retryable) {
  turn.running = false;
  turn.outcome = "failed";
  turn.fault = { text, retryable };
}

/** The word that chooses label, icon and colour. */
export function stateOf(turn) {
  if (turn.running)
    return turn.notices.some((notice) => notice.code === "conversational") ? "conversational" : "running";
  if (turn.outcome === "interrupted" && turn.stoppedByUser) return "stopped";
  return turn.outcome ?? "grounded";
}
