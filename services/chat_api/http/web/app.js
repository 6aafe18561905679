import * as api from "./api.js";
import { ChatPage } from "./chat_page.js";
import { addressOf } from "./address.js";
import { focusUnasked } from "./dom.js";
import { problemText } from "./problems.js";
import { signInView } from "./sign_in.js";
import { language, strings } from "./strings.js";

const root = document.getElementById("app");
// What somebody had written when their session ended: theirs again when they come back.
let draft = { userId: null, text: "" };

/** Shows who is chosen from; afterwards the chat of that person. */
async function showSignIn({ message = "", back = null } = {}) {
  let people = [];
  try {
    people = (await api.listPeople()).data;
  } catch (fault) {
    if (fault.status !== 404) message ||= problemText(fault);
  }
  const choose = async (userId) => {
    try {
      const session = await api.signIn(userId);
      history.replaceState(null, "", addressOf(null));
      showChat(session);
    } catch (fault) {
      showSignIn({ message: problemText(fault), back });
    }
  };
  root.replaceChildren(signInView(people, { choose, cancel: back, message }));
  focusUnasked(root.querySelector("button"));
}

function showChat(session) {
  const page = new ChatPage(root, session, {
    switchPerson: () => showSignIn({ back: () => showChat(session) }),
    ended(message, text) {
      draft = { userId: session.user.user_id, text };
      showSignIn({ message });
    },
  });
  if (draft.userId === session.user.user_id) page.composer.setText(draft.text);
  draft = { userId: null, text: "" };
  return page.show();
}

async function start() {
  document.documentElement.lang = language;
  api.onSessionChangedElsewhere(() => {
    history.replaceState(null, "", addressOf(null));
    location.reload();
  });
  try {
    await showChat(await api.getSession());
  } catch (fault) {
    if (!(fault instanceof api.ApiProblem)) throw fault;
    await showSignIn({ message: fault.status === 401 ? "" : problemText(fault) });
  }
}

start();
