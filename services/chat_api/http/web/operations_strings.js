import { language } from "./strings.js";

const all = {
  en: {
    title: "Operations",
    overall: { green: "Everything works.", amber: "Something wants attention.", red: "Something has stopped." },
    states: { green: "works", amber: "attention", red: "stopped" },
    legs: { ledger: "Ledger", canaries: "Test events", consumer: "Worker", dead_letters: "Dead letters" },
    checked: (time) => `Looked at ${time}. This page looks again by itself.`,
    unreachable: "The server cannot be reached.",
  },
  de: {
    title: "Betrieb",
    overall: { green: "Alles läuft.", amber: "Etwas braucht Aufmerksamkeit.", red: "Etwas steht still." },
    states: { green: "läuft", amber: "beachten", red: "steht" },
    legs: { ledger: "Ledger", canaries: "Testereignisse", consumer: "Worker", dead_letters: "Aufgegebene Ereignisse" },
    checked: (time) => `Stand ${time}. Diese Seite sieht von selbst wieder nach.`,
    unreachable: "Der Server ist nicht erreichbar.",
  },
  ru: {
    title: "Эксплуатация",
    overall: { green: "Всё работает.", amber: "Нужно внимание.", red: "Что-то остановилось." },
    states: { green: "работает", amber: "внимание", red: "стоит" },
    legs: { ledger: "Журнал событий", canaries: "Проверочные события", consumer: "Обработчик", dead_letters: "Отложенные события" },
    checked: (time) => `Проверено в ${time}. Страница обновляется сама.`,
    unreachable: "Сервер недоступен.",
  },
  zh: {
    title: "运行状况",
    overall: { green: "一切正常。", amber: "有需要注意之处。", red: "有部分已停止。" },
    states: { green: "正常", amber: "注意", red: "停止" },
    legs: { ledger: "事件账本", canaries: "测试事件", consumer: "工作进程", dead_letters: "未能处理的事件" },
    checked: (time) => `检查时间 ${time}。本页会自动刷新。`,
    unreachable: "无法连接服务器。",
  },
};

export const strings = all[language];
