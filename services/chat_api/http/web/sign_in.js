import { brandMark, el, initials } from "./dom.js";
import { language, strings } from "./strings.js";

const TEXTS = {
  en: {
    logIn: "Sign in with your organisation",
    goIn: "Continue without signing in",
    failed: "The sign-in was not completed. Please try again.",
    unavailable: "The login service cannot be reached right now. Please try again later.",
    identity_unusable:
      "Your login was accepted, but what it says about you cannot be used here. Please ask your administrators.",
  },
  de: {
    logIn: "Über Ihre Organisation anmelden",
    goIn: "Ohne Anmeldung fortfahren",
    failed: "Die Anmeldung wurde nicht abgeschlossen. Bitte versuchen Sie es erneut.",
    unavailable: "Der Anmeldedienst ist gerade nicht erreichbar. Bitte versuchen Sie es später erneut.",
    identity_unusable:
      "Ihre Anmeldung wurde angenommen, ihre Angaben zu Ihrer Person sind hier aber nicht verwendbar. Bitte wenden Sie sich an Ihre Administratoren.",
  },
  ru: {
    logIn: "Войти через вашу организацию",
    goIn: "Продолжить без входа",
    failed: "Вход не был завершён. Попробуйте ещё раз.",
    unavailable: "Служба входа сейчас недоступна. Попробуйте позже.",
    identity_unusable: "Вход выполнен, но полученные данные о вас здесь не подходят. Обратитесь к администраторам.",
  },
  zh: {
    logIn: "通过您的组织登录",
    goIn: "不登录继续",
    failed: "登录未完成，请重试。",
    unavailable: "目前无法连接登录服务，请稍后再试。",
    identity_unusable: "登录已被接受，但其中关于您的信息无法在此使用。请联系管理员。",
  },
};
const texts = TEXTS[language];

/**
 * The page where a demo person is chosen. `choose(userId)` returns a promise; `cancel` is null where there is
 * nobody to go back to; `message` says why the page is shown, if there is a reason.
 */
export function signInView(people, { choose, cancel = null, message = "" }) {
  const card = el(
    "main",
    { className: "sign-in" },
    el("div", { className: "brand" }, brandMark(), el("span", {}, "Achilles")),
    el("h1", {}, strings.signInTitle),
    ...[message, loginFault()].filter(Boolean).map(alertText),
    people.length ? el("p", { className: "sign-in-note" }, strings.signInDemo) : el("p", {}, strings.signInNone),
    people.length ? personList(people, choose) : null,
    otherWays(),
    cancel ? el("button", { type: "button", className: "button", onclick: cancel }, strings.cancel) : null,
  );
  return el("div", { className: "sign-in-page" }, card);
}

const alertText = (text) => el("p", { className: "sign-in-message", role: "alert" }, text);

/** Why the way through the issuer ended here, as the address says; said once. */
function loginFault() {
  const reason = new URLSearchParams(location.search).get("sign_in");
  if (!reason) return null;
  history.replaceState(null, "", location.pathname + location.hash);
  return texts[reason] ?? texts.failed;
}

/** What the server offers besides demo people: a login at an issuer, or none at all. */
function otherWays() {
  const place = el("div", { className: "sign-in-ways" });
  const goIn = async () => {
    const response = await fetch("/api/v1/session/anonymous", { method: "POST" });
    if (response.ok) location.replace("/");
  };
  const show = ({ login_url: loginUrl, anonymous }) => {
    if (loginUrl) place.append(el("a", { className: "button", href: loginUrl }, texts.logIn));
    if (anonymous === "allowed")
      place.append(el("button", { type: "button", className: "button", onclick: goIn }, texts.goIn));
  };
  fetch("/api/v1/session", { cache: "no-store" })
    .then((response) => response.json())
    .then(show)
    .catch(() => {});
  return place;
}

function personList(people, choose) {
  const list = el("ul", { className: "people" }, ...people.map((person) => el("li", {}, personButton(person, pick))));
  const buttons = () => list.querySelectorAll("button");
  async function pick(userId) {
    buttons().forEach((button) => (button.disabled = true));
    try {
      await choose(userId);
    } finally {
      buttons().forEach((button) => (button.disabled = false));
    }
  }
  return el("section", { "aria-label": strings.signInChoose }, el("h2", {}, strings.signInChoose), list);
}

function personButton(person, pick) {
  return el(
    "button",
    { type: "button", className: "person", onclick: () => pick(person.user_id) },
    el("span", { className: "avatar", "aria-hidden": "true" }, initials(person.display_name)),
    el(
      "span",
      { className: "person-text" },
      el("span", { className: "person-name" }, person.display_name),
      el("span", { className: "person-department" }, person.department ?? ""),
      person.description ? el("span", { className: "person-description" }, person.description) : null,
    ),
  );
}
