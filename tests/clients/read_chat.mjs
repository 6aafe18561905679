// One turn through the chat transport of the `ai` client, which validates every chunk of the stream.
// In: {url, cookie, body, leave} on standard input. Out: {types, errors, message}.
import { DefaultChatTransport, readUIMessageStream, safeValidateUIMessages } from "ai";
import { readInput, writeOutput } from "./exchange.mjs";

const { url, cookie, body, leave } = await readInput();
const leaving = new AbortController();
const types = [];
const errors = [];
let message = null;

const transport = new DefaultChatTransport({
  api: `${url}/api/v1/chat`,
  headers: { cookie },
  prepareSendMessagesRequest: () => ({ body }),
});

const noted = new TransformStream({
  transform(chunk, controller) {
    types.push(chunk.type);
    controller.enqueue(chunk);
    if (leave && chunk.type === "text-delta") leaving.abort();
  },
});

const failed = (fault) => errors.push({ name: fault.name, message: String(fault.message) });
try {
  const chunks = await transport.sendMessages({
    chatId: "chat",
    messages: [],
    trigger: "submit-message",
    abortSignal: leaving.signal,
  });
  const states = readUIMessageStream({ stream: chunks.pipeThrough(noted), onError: failed, terminateOnError: true });
  for await (const state of states) message = state;
} catch (fault) {
  if (errors.every((error) => error.message !== String(fault.message))) failed(fault);
}

if (message && message.parts.length > 0) {
  const validated = await safeValidateUIMessages({ messages: [message] });
  if (!validated.success) failed(validated.error);
}
writeOutput({ types, errors, message });
