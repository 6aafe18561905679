import { el } from "./dom.js";

const INLINE =
  /(`[^`\n]+`)|\*\*([^*\n](?:[^\n]*?[^*\n])?)\*\*|\*([^*\s](?:[^*\n]*[^*\s])?)\*|\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/g;
const BULLET = /^\s{0,8}[-*+•]\s+(.*)$/;
const NUMBER = /^\s{0,8}(\d{1,3})[.)]\s+(.*)$/;
const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;
const RULE_ROW = /^\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*:?-*:?\s*\|?\s*$/;

/**
 * Splits Markdown into blocks, each the raw text of a paragraph, list, quote, table, heading or code fence.
 * A block never changes once the next one has begun, so a stream repaints only its last block.
 */
export function splitBlocks(text) {
  const blocks = [];
  let lines = [];
  let fenced = false;
  const flush = () => {
    if (lines.length) blocks.push(lines.join("\n"));
    lines = [];
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (/^\s*```/.test(line)) {
      if (!fenced) flush();
      lines.push(line);
      if (fenced) flush();
      fenced = !fenced;
    } else if (!fenced && (line.trim() === "" || HEADING.test(line))) {
      flush();
      if (line.trim()) blocks.push(line);
    } else {
      lines.push(line);
    }
  }
  flush();
  return blocks;
}

/** Renders one block. `marker(n)` gives the node for a citation number. Links and images stay the text they are. */
export function renderBlock(block, marker) {
  const lines = block.split("\n");
  if (/^\s*```/.test(lines[0])) return renderCode(lines);
  if (HEADING.test(block)) return el("h3", {}, ...inline(block.match(HEADING)[1], marker));
  if (lines.every((line) => /^\s*>/.test(line))) return renderQuote(lines, marker);
  if (lines.length > 1 && lines[0].includes("|") && RULE_ROW.test(lines[1])) return renderTable(lines, marker);
  return renderText(lines, marker);
}

function renderCode(lines) {
  const last = /^\s*```\s*$/.test(lines.at(-1)) && lines.length > 1 ? -1 : undefined;
  return el("pre", { tabindex: "0" }, el("code", {}, lines.slice(1, last).join("\n")));
}

function renderQuote(lines, marker) {
  const inner = lines.map((line) => line.replace(/^\s*>\s?/, "")).join("\n");
  return el("blockquote", {}, ...splitBlocks(inner).map((block) => renderBlock(block, marker)));
}

function renderTable([head, , ...body], marker) {
  const cells = (line) =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => cell.trim());
  const row = (line, tag) => el("tr", {}, ...cells(line).map((cell) => el(tag, {}, ...inline(cell, marker))));
  const table = el(
    "table",
    {},
    el("thead", {}, row(head, "th")),
    el("tbody", {}, ...body.map((line) => row(line, "td"))),
  );
  return el("div", { className: "table-scroll", tabindex: "0" }, table);
}

/** Paragraph lines and list items as they come; neighbouring items share one list. */
function renderText(lines, marker) {
  const parts = [];
  for (const line of lines) {
    const number = line.match(NUMBER);
    const item = number?.[2] ?? line.match(BULLET)?.[1];
    if (item === undefined) appendLine(parts, line, marker);
    else appendItem(parts, number ? "ol" : "ul", item, number?.[1], marker);
  }
  return parts.length === 1 ? parts[0] : el("div", { className: "block" }, ...parts);
}

function appendLine(parts, line, marker) {
  const last = parts.at(-1);
  if (last?.tagName === "P") last.append(el("br"), ...inline(line, marker));
  else if (last && /^\s{2,}\S/.test(line)) last.lastElementChild.append(" ", ...inline(line.trim(), marker));
  else parts.push(el("p", {}, ...inline(line, marker)));
}

function appendItem(parts, tag, item, start, marker) {
  if (parts.at(-1)?.tagName !== tag.toUpperCase()) parts.push(el(tag, { start: start === "1" ? null : start }));
  parts.at(-1).append(el("li", {}, ...inline(item, marker)));
}

/** Bold, emphasis, code and citation markers; everything else is text. */
function inline(text, marker) {
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > at) nodes.push(text.slice(at, match.index));
    nodes.push(...inlineNodes(match, marker));
    at = match.index + match[0].length;
  }
  if (at < text.length) nodes.push(text.slice(at));
  return nodes;
}

function inlineNodes([, code, bold, emphasis, numbers], marker) {
  if (code) return [el("code", {}, code.slice(1, -1))];
  if (bold) return [el("strong", {}, ...inline(bold, marker))];
  if (emphasis) return [el("em", {}, ...inline(emphasis, marker))];
  return numbers.split(",").map((n) => marker(Number(n)));
}
