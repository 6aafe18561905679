import * as api from "./api.js";
import { el } from "./dom.js";
import { strings } from "./usage_strings.js";

const FORMATS = [
  ["csv", "CSV"],
  ["parquet", "Parquet"],
];
const FOCUS_FORMATS = [
  ["focus-csv", "FOCUS CSV"],
  ["focus-parquet", "FOCUS Parquet"],
];

/** Buttons that save what is shown. `question()` is what the table asked for; `problem(fault)` tells of a failure. */
export function downloads(question, problem) {
  const said = el("p", { className: "said", role: "status" });
  const button = ([format, text]) => {
    const node = el("button", { type: "button", className: "button" }, text);
    node.addEventListener("click", async () => {
      node.disabled = true;
      said.replaceChildren(strings.saving);
      try {
        said.replaceChildren(strings.saved(await save(new URLSearchParams([...question(), ["format", format]]))));
      } catch (fault) {
        said.replaceChildren();
        problem(fault);
      } finally {
        node.disabled = false;
      }
    });
    return node;
  };
  const row = (text, formats) =>
    el("div", { className: "file-row" }, el("span", {}, text), ...formats.map((format) => button(format)));
  return el(
    "section",
    { className: "files", "aria-labelledby": "files-title" },
    el("h2", { id: "files-title" }, strings.download),
    row(strings.asShown, FORMATS),
    row(strings.forTools, FOCUS_FORMATS),
    said,
  );
}

/** Read to its end before it is saved, so that a file that broke off is a fault and not half a file. */
async function save(parameters) {
  const { name, content } = await api.readUsageFile(parameters);
  const address = URL.createObjectURL(content);
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  return name;
}
