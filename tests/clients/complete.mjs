// One turn through the provider `@ai-sdk/openai-compatible`, streamed.
// In: {url, cookie, question}. Out: {text, finishReason, usage, error}.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import { readInput, writeOutput } from "./exchange.mjs";

const { url, cookie, question } = await readInput();
const provider = createOpenAICompatible({
  name: "achilles",
  baseURL: `${url}/v1`,
  headers: { cookie },
  includeUsage: true,
});
let error = null;
const answer = streamText({
  model: provider("achilles"),
  prompt: question,
  maxRetries: 0,
  onError: (event) => {
    error = String(event.error?.message ?? event.error);
  },
});
let text = "";
for await (const piece of answer.textStream) text += piece;
const told = error ? {} : { finishReason: await answer.finishReason, usage: await answer.usage };
writeOutput({ text, error, ...told });
