/** The chat that the address of the page names; null for a new one. */
export function conversationInAddress() {
  const found = location.hash.match(/^#\/c\/(.+)$/)?.[1] ?? "";
  try {
    return decodeURIComponent(found) || null;
  } catch {
    return found;
  }
}

export const addressOf = (id) => (id ? `#/c/${encodeURIComponent(id)}` : location.pathname);
