// How a test and its script talk: one JSON document in, one out.
export async function readInput() {
  const pieces = [];
  for await (const piece of process.stdin) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString("utf8"));
}

export function writeOutput(result) {
  process.stdout.write(JSON.stringify(result));
}
