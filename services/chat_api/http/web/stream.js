/**
 * The text of each event of a server-sent event stream.
 *
 * `chunks` is an async iterable of Uint8Array. Chunk borders may fall anywhere, also inside a character or between
 * CR and LF. Comments are skipped; an event that the end of the stream cuts off is dropped, as the standard says.
 */
export async function* readEvents(chunks) {
  const decoder = new TextDecoder();
  let buffer = "";
  let data = [];
  for await (const chunk of chunks) {
    buffer += decoder.decode(chunk, { stream: true });
    const { lines, rest } = takeLines(buffer);
    buffer = rest;
    for (const line of lines) {
      if (line === "") {
        if (data.length) yield data.join("\n");
        data = [];
      } else if (line === "data" || line.startsWith("data:")) {
        data.push(line.slice(5).replace(/^ /, ""));
      }
    }
  }
}

function takeLines(buffer) {
  const lines = [];
  let start = 0;
  for (let at = 0; at < buffer.length; at += 1) {
    const char = buffer[at];
    if (char !== "\n" && char !== "\r") continue;
    // A CR that ends the buffer may be half of a CRLF: it waits for the next chunk.
    if (char === "\r" && at + 1 === buffer.length) break;
    lines.push(buffer.slice(start, at));
    if (char === "\r" && buffer[at + 1] === "\n") at += 1;
    start = at + 1;
  }
  return { lines, rest: buffer.slice(start) };
}

/** The bytes of a response body; a plain loop, because not every browser can iterate a stream. */
async function* bytesOf(body) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}

/** The parts of a UI message stream, as objects, up to `[DONE]` or the end of the body. */
export async function* readParts(body) {
  for await (const data of readEvents(bytesOf(body))) {
    if (data === "[DONE]") return;
    if (data) yield JSON.parse(data);
  }
}
