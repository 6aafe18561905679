import de from "./strings.de.js";
import en from "./strings.en.js";
import ru from "./strings.ru.js";
import zh from "./strings.zh.js";

const languages = { de, en, ru, zh };

/** The first of the browser's languages that we speak, as a two-letter code; else "en". */
export function pickLanguage(preferred) {
  const known = preferred.map((tag) => tag.toLowerCase().split("-")[0]).find((code) => code in languages);
  return known ?? "en";
}

export const language = pickLanguage(navigator.languages ?? [navigator.language ?? "en"]);
/** The browser's own variant of that language, for dates and times. */
export const locale = (navigator.languages ?? []).find((tag) => tag.toLowerCase().startsWith(language)) ?? language;
export const strings = { ...en, ...languages[language] };
