/** A refusal of the server (RFC 9457) or, with status 0, a server that cannot be reached. */
export class ApiProblem extends Error {
  constructor(status, title, detail, code = "") {
    super(detail || title || `HTTP ${status}`);
    this.name = "ApiProblem";
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
  }

  /** Whether sending the very same request again may succeed. */
  get retryable() {
    return this.status === 0 || this.status === 408 || this.status === 409 || this.status === 429 || this.status >= 500;
  }
}

async function problemOf(response) {
  try {
    const body = await response.json();
    return new ApiProblem(response.status, body.title ?? "", body.detail ?? "", body.code ?? "");
  } catch {
    return new ApiProblem(response.status, "", "");
  }
}

async function request(method, path, { body, signal, accept = "application/json", keepalive = false } = {}) {
  const headers = { accept };
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      signal,
      keepalive,
      body: body && JSON.stringify(body),
      cache: "no-store",
    });
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new ApiProblem(0, "", "");
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function json(method, path, body) {
  const response = await request(method, path, { body });
  return response.status === 204 ? null : response.json();
}

const segment = encodeURIComponent;

export const getSession = () => json("GET", "/api/v1/session");
export const listPeople = () => json("GET", "/api/v1/session/people?order=asc&limit=100");
export const signIn = (userId) => tellTabs(json("POST", "/api/v1/session", { user_id: userId }));
export const signOut = () => tellTabs(request("DELETE", "/api/v1/session"));

const tabs = new BroadcastChannel("achilles-session");

/** Tabs share one session: what another tab shows belongs to the person before, so it has to start anew. */
async function tellTabs(change) {
  const answer = await change;
  tabs.postMessage("changed");
  return answer;
}

export const onSessionChangedElsewhere = (react) => tabs.addEventListener("message", react);

const conversation = (id) => `/api/v1/conversations/${segment(id)}`;

/** Of a list: `limit`, `order`, `after`, `before`, and whatever else it takes. What is undefined is left out. */
function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  return new URLSearchParams(given).toString();
}

export const listConversations = (page) => json("GET", `/api/v1/conversations?${query(page)}`);
export const getConversation = (id) => json("GET", conversation(id));
export const listMessages = (id, page) => json("GET", `${conversation(id)}/messages?${query(page)}`);
export const renameConversation = (id, title) => json("PATCH", conversation(id), { title });
/** `model` null selects the default. */
export const selectModel = (id, model) => json("PATCH", conversation(id), { selected_model: model });
export const deleteConversation = (id) => json("DELETE", conversation(id));
export const listModels = () => json("GET", "/api/v1/models?order=asc&limit=100");

/** Resolves to the response whose body is the event stream; rejects with `ApiProblem` before the first byte. */
export const startTurn = (turn, signal) =>
  request("POST", "/api/v1/chat", { body: turn, signal, accept: "text/event-stream" });
export const stopTurn = (messageId) => request("POST", `/api/v1/turns/${segment(messageId)}/stop`);

export const rateMessage = (messageId, value) =>
  request("PUT", `/api/v1/messages/${segment(messageId)}/feedback`, { body: { value } });
/** Resolves to where the source can be read; the click is counted, also when this page is left at once. */
export async function openCitation(messageId, n, clickId) {
  const path = `/api/v1/messages/${segment(messageId)}/citations/${n}/open`;
  const response = await request("POST", path, { body: { click_id: clickId }, keepalive: true });
  return (await response.json()).url;
}

export const getUsageScope = () => json("GET", "/api/v1/usage/scope");

/** Every row that answers the question, which is pairs of names and values. */
export async function readUsage(question) {
  const rows = [];
  for (let after = null; ; ) {
    const asked = new URLSearchParams([...question, ["limit", "100"], ...(after ? [["after", after]] : [])]);
    const page = await json("GET", `/api/v1/usage?${asked}`);
    rows.push(...page.data);
    if (!page.has_more) return rows;
    after = page.last_id;
  }
}

/** The whole file; rejects with `ApiProblem` also when it breaks off in the middle. */
export async function readUsageFile(parameters) {
  const response = await request("GET", `/api/v1/usage/export?${parameters}`, { accept: "*/*" });
  const name = response.headers.get("content-disposition").match(/filename="(.+)"/)[1];
  try {
    return { name, content: await response.blob() };
  } catch {
    throw new ApiProblem(0, "", "");
  }
}

export const getLoopHealth = () => json("GET", "/api/v1/loop/health");

/** A version 4 UUID, also where `randomUUID` is missing because the page came over plain HTTP. */
export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
