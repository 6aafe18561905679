const SVG = "http://www.w3.org/2000/svg";

/** Creates an element. `on…` properties become listeners, the rest attributes; children are nodes or plain text. */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Each icon is drawn on a 24 by 24 grid with a stroke in the colour of the text.
const ICONS = {
  grounded: ["M12 3 5 6v5c0 4.6 2.9 8.2 7 10 4.1-1.8 7-5.4 7-10V6z", "m9 12 2.2 2.2L15.2 10"],
  partial: ["M12 3 5 6v5c0 4.6 2.9 8.2 7 10 4.1-1.8 7-5.4 7-10V6z", "M12 8v8"],
  withheld: ["M6 11h12v9H6z", "M8.5 11V8a3.5 3.5 0 0 1 7 0v3", "M12 14.5v2"],
  not_found: ["M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z", "m15.5 15.5 5 5", "M8 10.5h5"],
  conversational: ["M4 5h16v11h-9l-4.5 4v-4H4z", "M8 9h8", "M8 12h5"],
  clarify: ["M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z", "M9.6 9.6a2.4 2.4 0 1 1 3.3 2.3c-.6.3-.9.7-.9 1.5", "M12 16.6v.1"],
  refused: ["M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z", "m6 6 12 12"],
  failed: ["M12 4 2.8 20h18.4z", "M12 10v4.5", "M12 17.3v.1"],
  interrupted: ["M4 12h5", "M15 12h5", "m10.5 8 3 8"],
  stopped: ["M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z", "M9 9h6v6H9z"],
  info: ["M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z", "M12 11v5.5", "M12 7.6v.1"],
  up: [
    "M7 11v9H4v-9z",
    "M7 11l4-7.5c1.4 0 2.3 1.2 2 2.6L12.4 9.5H18c1.3 0 2.2 1.2 1.9 2.5l-1.4 6.2c-.2 1-1 1.8-2.1 1.8H7",
  ],
  down: [
    "M17 13V4h3v9z",
    "M17 13l-4 7.5c-1.4 0-2.3-1.2-2-2.6l.6-3.4H6c-1.3 0-2.2-1.2-1.9-2.5l1.4-6.2C5.7 4.8 6.5 4 7.6 4H17",
  ],
  send: ["M12 19V5", "m6 11 6-6 6 6"],
  stop: ["M7 7h10v10H7z"],
  plus: ["M12 5v14", "M5 12h14"],
  menu: ["M4 7h16", "M4 12h16", "M4 17h16"],
  close: ["m6 6 12 12", "M18 6 6 18"],
  open: ["M14 4h6v6", "m20 4-9 9", "M18 14v6H4V6h6"],
  swap: ["M4 8h14", "m15 5 3 3-3 3", "M20 16H6", "m9 13-3 3 3 3"],
  leave: ["M10 4H5v16h5", "M9 12h11", "m16 8 4 4-4 4"],
  rename: ["M5 19l1-4L16.5 4.5l3 3L9 18z", "m14 7 3 3"],
  delete: ["M5 7h14", "M10 7V4h4v3", "M7 7l1 13h8l1-13", "M10.5 11v5.5", "M13.5 11v5.5"],
  external: ["M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z", "M3 12h18", "M12 3c3 2.7 3 15.3 0 18", "M12 3c-3 2.7-3 15.3 0 18"],
  usage: ["M5 20V11", "M12 20V4", "M19 20v-6", "M3 20h18"],
  retry: ["M20 12a8 8 0 1 1-2.6-5.9L20 8", "M20 4v4h-4"],
};

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  for (const d of ICONS[name] ?? ICONS.info) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

export function brandMark() {
  return el("img", { className: "brand-mark", src: "/static/favicon.svg", alt: "", width: "28", height: "28" });
}

/** Two letters at most, for the round badge of a person. */
export function initials(name) {
  return name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? "")
    .join("")
    .toUpperCase();
}

/** Moves the focus without being asked to, but not where that would raise a keyboard or a ring on a touch screen. */
export function focusUnasked(node) {
  if (matchMedia("(pointer: fine)").matches) node?.focus({ preventScroll: true });
}

/** The address if a browser may open it (http or https, relative ones included), else null. */
export function safeUrl(address) {
  if (!address) return null;
  try {
    const url = new URL(address, location.href);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}
