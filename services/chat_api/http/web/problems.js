import { strings } from "./strings.js";

/** What a person is told about a refusal. The server says it in the browser's language. */
export function problemText({ status, title, detail }) {
  if (status === 0) return strings.errorNetwork;
  const said = [title, detail].filter(Boolean);
  const sentences = new Set(said.map((one) => one.replace(/[.。]$/, "")));
  return sentences.size ? `${[...sentences].join(". ")}.` : strings.errorUnknown;
}
