// Refreshes pages, uploads files, and handles shortcuts. Everything else works without this script.
"use strict";

// Elements with `data-live` and an id are refreshed by requesting the page again. Unchanged nodes
// stay, and with them scroll position, focus and selection.
const main = document.getElementById("main");
const notices = ["lost", "stale", "changed", "out"].map((id) => document.getElementById(id)).filter(Boolean);
const every = Number(main?.dataset.every || 0);

// A form is being sent: it must not be interrupted or sent twice. Torg answers within 30 s; a form
// that the user stopped gets no answer.
const ANSWERED_MS = 35000;
let leaving = 0;

function leave(form) {
  form.setAttribute("aria-busy", "true");
  leaving = setTimeout(stay, ANSWERED_MS);
}

function stay() {
  clearTimeout(leaving);
  leaving = 0;
  for (const form of document.querySelectorAll("form[aria-busy]:not([data-drop])")) form.removeAttribute("aria-busy");
}

// Shows one of the notices above the page, or none.
function tell(id) {
  for (const notice of notices) notice.hidden = notice.id !== id;
}

function isChanged(field) {
  if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
  if (!field.matches("select")) return field.value !== field.defaultValue;
  return field.selectedOptions[0] !== (field.querySelector("option[selected]") ?? field.options[0]);
}

// Whether an update would lose state: a focused field, an unfolded form, unsent input. A search is
// not worth keeping.
function inUse(element) {
  const active = document.activeElement;
  if (element.contains(active) && active.matches("input, select, textarea")) return true;
  if (element.querySelector("details[open] form, dialog[open]")) return true;
  return [...element.querySelectorAll("form[method=post] :is(input, select, textarea)")].some(isChanged);
}

function becomeAttributes(old, now) {
  // Folds and form messages keep their state.
  const own = (name) => (name === "open" && old.matches("details")) || (name === "hidden" && old.matches("[data-say]"));
  for (const { name, value } of now.attributes) if (!own(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!own(name) && !now.hasAttribute(name)) old.removeAttribute(name);
}

function become(old, now) {
  if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName || old.id !== now.id) return old.replaceWith(now);
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== now.data) old.data = now.data;
    return;
  }
  if (old.isEqualNode(now)) return;
  becomeAttributes(old, now);
  becomeChildren(old, now);
}

// The key of a node across updates: its id, or its link.
function key(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return "";
  const link = node.matches("a") ? node : node.matches("li, tr") ? node.querySelector("a") : null;
  return node.id || link?.getAttribute("href") || "";
}

// Children with the same key are merged; the others in order.
function becomeChildren(old, now) {
  const keys = new Set([...now.children].map(key));
  for (const child of [...old.children]) if (key(child) && !keys.has(key(child))) child.remove();
  const before = [...old.childNodes];
  for (const node of [...now.childNodes]) {
    const place = before.findIndex((child) => key(child) === key(node));
    if (place < 0 || (place > 0 && !key(node))) {
      old.insertBefore(node, before[0] ?? null);
      continue;
    }
    const [child] = before.splice(place, 1);
    // Moving a focused element would blur it: move the others.
    if (child.contains(document.activeElement)) for (const other of before.splice(0, place)) other.remove();
    else if (place > 0) old.insertBefore(child, before[0]);
    become(child, node);
  }
  for (const gone of before) gone.remove();
}

// The action of a button. Links are identified by it.
const deed = (element) => element.form ? JSON.stringify([element.name, element.value, which(element.form)]) : "";

function refresh(old, now) {
  if (inUse(old)) return;
  const active = document.activeElement, before = deed(active);
  become(old, now);
  // The target of a pointer must not change under it.
  if (active.isConnected && deed(active) !== before) active.replaceWith(active.cloneNode(true));
}

// The person this page was rendered for.
const who = () => document.getElementById("unchecked")?.dataset.who ?? "";

// Unsent input is more important than a fresh page: only show a notice. Use a new request:
// reloading could send a form again.
function reload(told) {
  if (inUse(main)) tell(told);
  else location.replace(location.pathname + location.search);
}

// A page with one message waits for another page.
function renewAlone(alone, status) {
  if (alone) return become(main, alone);
  // The address of a form's answer has no page: go back to the form.
  location.replace(status === 404 && document.referrer ? document.referrer : location.pathname + location.search);
}

function renew(text, status) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const alone = fresh.querySelector("main.alone"), unchecked = fresh.getElementById("unchecked");
  if (!alone && !unchecked) throw new Error("this is no page of Torg");
  if (main.matches(".alone")) return renewAlone(alone, status);
  // Keep what is on the screen while it cannot be refreshed.
  const isAway = (status === 429 || status >= 500) && !document.getElementById("failure");
  if (alone) return isAway ? tell("lost") : reload("lost");
  // Another person has signed in: this page and its input are not theirs.
  if (!alone && who() && unchecked.dataset.who !== who()) {
    sessionStorage.removeItem(KEPT);
    return reload("changed");
  }
  // After another sign-in the forms belong to the new session.
  const token = fresh.querySelector("[name=form_token]")?.value;
  if (token) for (const field of document.querySelectorAll("[name=form_token]")) field.value = token;
  if (isAway) {
    refresh(document.getElementById("unchecked"), unchecked);
    return tell("stale");
  }
  const ids = (place) => [...place.querySelectorAll("[data-live]")].map((part) => part.id).sort().join();
  // The page has changed: it failed before, or fails now.
  const isOther = ids(main) !== ids(fresh), stays = isOther && inUse(main);
  if (isOther && !stays) main.replaceChildren(...fresh.body.childNodes);
  else for (const now of fresh.querySelectorAll("[data-live]")) {
    const old = document.getElementById(now.id);
    if (old) refresh(old, now);
  }
  tell(stays ? "changed" : "");
}

async function lookNow() {
  try {
    const headers = { "torg-live": "1" };
    const answer = await fetch(location.href, { headers, signal: AbortSignal.timeout(8000) });
    const text = await answer.text();
    if (leaving) return;
    if (answer.status === 401) return reload("out");
    // The wanted element exists now.
    if (answer.redirected && !inUse(main)) return location.replace(answer.url);
    renew(text, answer.status);
  } catch {
    if (!leaving) tell("lost");
  }
}

// One request at a time: of two, the older answer might arrive last.
let looking = null;
function look() {
  if (!document.hidden && !leaving) looking ??= lookNow().finally(() => { looking = null; });
  return looking;
}

async function follow() {
  await look();
  setTimeout(follow, every);
}

if (every > 0) {
  setTimeout(follow, every);
  document.addEventListener("visibilitychange", look);
}
// Going back finds the page as it was left.
addEventListener("pageshow", stay);

const sheet = () => document.querySelector("details.person[open]");

// `/` focuses the search, also where its key types a dot, as in Russian. Escape, or a click
// elsewhere, closes menus.
document.addEventListener("keydown", (event) => {
  const open = sheet(), find = document.getElementById("find");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && open) {
    open.open = false;
    open.querySelector("summary").focus();
  }
  if (event.key !== "/" && !(event.code === "Slash" && event.key === ".")) return;
  if (!find || event.target.matches("input, select, textarea") || event.target.isContentEditable) return;
  event.preventDefault();
  find.focus();
});
document.addEventListener("click", (event) => {
  const open = sheet();
  if (open && !open.contains(event.target)) open.open = false;
});

// Opens all folds around an element.
function unfold(element) {
  for (let outer = element; outer; outer = outer.parentElement) if (outer.matches("details")) outer.open = true;
}

// A link to a folded element opens it.
function unfoldTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target?.closest("details:not([open])")) return;
  unfold(target);
  target.scrollIntoView();
}

unfoldTarget();
addEventListener("hashchange", unfoldTarget);

// A refused form keeps its changed input, also across a new sign-in. Secrets and files are not
// kept.
const KEPT = "torg-form";
const kept = (form) => [...form.elements].filter((field) => field.name && !["hidden", "password", "file", "submit"].includes(field.type));
// The identity of a form: several forms may share an address and differ in hidden fields.
const which = (form) => JSON.stringify([form.getAttribute("action"), ...[...form.elements]
  .filter((field) => field.type === "hidden" && field.name !== "form_token" && !field.name.startsWith("before-")).map((field) => [field.name, field.value])]);

// A form with `data-confirm` asks before it is sent.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const text = event.submitter?.dataset.confirm || form.dataset.confirm;
  if (form.method === "post" && (leaving || form.matches("[aria-busy]"))) return event.preventDefault();
  if (text && !confirm(text)) return event.preventDefault();
  if (form.method !== "post") return;
  if (form.matches("[data-drop]")) {
    event.preventDefault();
    return upload(form);
  }
  leave(form);
  // A sign-in may come between a form and its refill.
  if (form.getAttribute("action") === "/console/sign-in") return;
  const fields = kept(form).map((field) => [field.name, field.value, field.checked, isChanged(field)]);
  sessionStorage.setItem(KEPT, JSON.stringify({ form: which(form), who: who(), fields }));
});

function restore() {
  const sent = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  if (!sent) return;
  if (document.querySelector(".notice[role=status]:not(.bad)")) return sessionStorage.removeItem(KEPT);
  // Another person has signed in.
  if (who() && sent.who && sent.who !== who()) return sessionStorage.removeItem(KEPT);
  sent.refused ||= document.querySelector(".notice.bad[role=status], #failure, main.alone") !== null;
  const form = sent.refused && [...document.forms].find((form) => which(form) === sent.form);
  // A sign-in or a reload returns here.
  if (!form) return sessionStorage.setItem(KEPT, JSON.stringify(sent));
  sessionStorage.removeItem(KEPT);
  for (const field of kept(form)) {
    const place = sent.fields.findIndex(([name]) => name === field.name);
    if (place < 0) continue;
    const [[, value, checked, changed]] = sent.fields.splice(place, 1);
    if (!changed) continue;
    if (["checkbox", "radio"].includes(field.type)) field.checked = checked;
    else field.value = value;
  }
  unfold(form);
}

restore();

// Shows one message of an upload form, or none.
function say(form, line) {
  for (const place of form.querySelectorAll("[data-say]")) place.hidden = place.dataset.say !== line;
}

function size(bytes) {
  const [unit, one] = bytes < 1e6 ? ["kilobyte", 1e3] : ["megabyte", 1e6];
  return new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit, maximumFractionDigits: 1 }).format(bytes / one);
}

// The answer to an upload: the page to go to, or the reason of a refusal.
function answered(form, answer) {
  form.removeAttribute("aria-busy");
  if (answer.status < 400) return location.assign(answer.responseURL);
  if (answer.status === 401) tell("out");
  const why = new DOMParser().parseFromString(answer.responseText, "text/html").querySelector("#failure, main.alone p");
  if (!why) return say(form, "broken");
  form.querySelector("[data-say=refused]").replaceChildren(...why.childNodes);
  say(form, "refused");
}

// Uploads a file in the background and shows the progress.
function upload(form) {
  const [file] = form.querySelector("input[type=file]").files, bar = form.querySelector("progress"), request = new XMLHttpRequest();
  form.querySelector("[data-say=going] span").textContent = `${file.name}, ${size(file.size)}`;
  bar.removeAttribute("value");
  say(form, "going");
  form.setAttribute("aria-busy", "true");
  request.upload.onprogress = ({ loaded, total }) => { bar.max = total; bar.value = loaded; };
  request.onload = () => answered(form, request);
  request.onerror = () => {
    form.removeAttribute("aria-busy");
    say(form, "broken");
  };
  request.open("POST", form.action);
  // The notice belongs to the page of the answer, not to a refresh.
  request.setRequestHeader("torg-live", "1");
  request.send(new FormData(form));
}

// Leaving the page would abort an upload.
addEventListener("beforeunload", (event) => {
  if (document.querySelector("[data-drop][aria-busy]")) event.preventDefault();
});

// A file dropped on a form is uploaded. Elsewhere the browser would open it in place of the page.
function overZone(event, on) {
  if (!document.querySelector("[data-drop]") || !event.dataTransfer?.types.includes("Files")) return null;
  event.preventDefault();
  const zone = event.target.closest?.("[data-drop]");
  zone?.classList.toggle("over", on);
  return zone;
}

document.addEventListener("dragover", (event) => overZone(event, true));
document.addEventListener("dragleave", (event) => overZone(event, false));
document.addEventListener("drop", (event) => {
  const zone = overZone(event, false), files = event.dataTransfer?.files;
  if (!zone || !files.length || zone.matches("[aria-busy]")) return;
  if (files.length > 1) return say(zone, "many");
  zone.querySelector("input[type=file]").files = files;
  zone.requestSubmit();
});
