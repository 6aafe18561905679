import { language } from "./strings.js";
import de from "./usage_strings.de.js";
import en from "./usage_strings.en.js";
import ru from "./usage_strings.ru.js";
import zh from "./usage_strings.zh.js";

export const strings = { de, en, ru, zh }[language];
