// What pages of the console do by themselves. Without it everything works but the updates, dropping files, and the keys.
"use strict";

// Elements with `data-live` and an id are brought up to date from the page itself, asked for again. What did not change stays as it is, and with it where
// somebody has scrolled to, what has the focus and what is marked.
const main = document.getElementById("main");
const notices = ["lost", "out"].map((id) => document.getElementById(id)).filter(Boolean);
const every = Number(main?.dataset.every || 0);
// A form is on its way: nothing may come between.
let leaving = false;

// Shows one of the lines above the page, or none.
function tell(id) {
  for (const notice of notices) notice.hidden = notice.id !== id;
}

function isChanged(field) {
  if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
  if (!field.matches("select")) return field.value !== field.defaultValue;
  return field.selectedOptions[0] !== (field.querySelector("option[selected]") ?? field.options[0]);
}

// Whether somebody would lose something here: the place where they type, a form that they unfolded, what they typed and did not send. A search is quickly
// typed again.
function inUse(element) {
  const active = document.activeElement;
  if (element.contains(active) && active.matches("input, select, textarea")) return true;
  if (element.querySelector("details[open] form, dialog[open]")) return true;
  return [...element.querySelectorAll("form[method=post] :is(input, select, textarea)")].some(isChanged);
}

function becomeAttributes(old, now) {
  // What somebody has folded or unfolded stays so.
  const own = (name) => name === "open" && old.matches("details");
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

// A child with an id becomes the one with the same id, the others become each other in their order.
function becomeChildren(old, now) {
  const ids = new Set([...now.children].map((child) => child.id));
  for (const child of [...old.children]) if (child.id && !ids.has(child.id)) child.remove();
  const before = [...old.childNodes];
  for (const node of [...now.childNodes]) {
    const place = before.findIndex((child) => (child.id || "") === (node.id || ""));
    if (place < 0 || (place > 0 && !node.id)) old.insertBefore(node, before[0] ?? null);
    else {
      for (const gone of before.splice(0, place)) gone.remove();
      become(before.shift(), node);
    }
  }
  for (const gone of before) gone.remove();
}

// What can be pressed in a part of the page, and what it would do.
const pressed = (part) => [...part.querySelectorAll("a, button, form, input")].map((element) => element.cloneNode(false).outerHTML).join();

// While a link or a button has the focus, no other takes its place.
function refresh(old, now) {
  const active = document.activeElement;
  const chosen = old.contains(active) && active.matches("a, button");
  if (!inUse(old) && !(chosen && pressed(old) !== pressed(now))) become(old, now);
}

// What somebody is typing is worth more than a page that is up to date: then it is only told. It is asked for anew: reloading would send a form again.
function reload(told) {
  if (inUse(main)) tell(told);
  else location.replace(location.pathname + location.search);
}

function renew(text, status) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const alone = fresh.querySelector("main.alone");
  if (alone && main.matches(".alone")) return become(main, alone);
  // The answer to a form has an address that nobody can look at: back to the form.
  if (main.matches(".alone") && status === 404 && document.referrer) return location.replace(document.referrer);
  if (alone || main.matches(".alone")) return reload("lost");
  if (!fresh.querySelector("h1")) throw new Error("this is no page");
  // After another sign-in the forms of this page are those of the new session.
  const token = fresh.querySelector("[name=form_token]")?.value;
  if (token) for (const field of document.querySelectorAll("[name=form_token]")) field.value = token;
  const ids = (place) => [...place.querySelectorAll("[data-live]")].map((part) => part.id).sort().join();
  // Another page by now: it could not be shown before, or cannot any more.
  const isOther = ids(main) !== ids(fresh), stays = isOther && inUse(main);
  if (isOther && !stays) main.replaceChildren(...fresh.body.childNodes);
  else for (const now of fresh.querySelectorAll("[data-live]")) {
    const old = document.getElementById(now.id);
    if (old) refresh(old, now);
  }
  tell(stays ? "lost" : "");
}

async function look() {
  if (document.hidden || leaving) return;
  try {
    const headers = { "torg-live": "1" };
    const answer = await fetch(location.href, { headers, signal: AbortSignal.timeout(8000) });
    const text = await answer.text();
    if (leaving) return;
    if (answer.status === 401) return reload("out");
    // What was looked for is there by now.
    if (answer.redirected && !inUse(main)) return location.replace(answer.url);
    renew(text, answer.status);
  } catch {
    if (!leaving) tell("lost");
  }
}

async function follow() {
  await look();
  setTimeout(follow, every);
}

if (every > 0) {
  setTimeout(follow, every);
  document.addEventListener("visibilitychange", look);
}
// Whoever goes back finds the page as they left it.
addEventListener("pageshow", () => { leaving = false; });

const sheet = () => document.querySelector("details.person[open]");

// `/` goes to the search, also where its key writes a dot, as in Russian. Escape, or a click elsewhere, closes what was unfolded over the page.
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

// Opens everything that hides an element.
function unfold(element) {
  for (let outer = element; outer; outer = outer.parentElement) if (outer.matches("details")) outer.open = true;
}

// A link to something that is folded opens it.
function unfoldTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target?.closest("details:not([open])")) return;
  unfold(target);
  target.scrollIntoView();
}

unfoldTarget();
addEventListener("hashchange", unfoldTarget);

// A form that was refused has what was typed in it again, also after signing in anew. Secrets and files are not kept.
const KEPT = "torg-form";
const kept = (form) => [...form.elements].filter((field) => field.name && !["hidden", "password", "file", "submit"].includes(field.type));
// Which form it is: several of a page may go to one address, and differ in what they carry unseen.
const which = (form) => JSON.stringify([form.getAttribute("action"), ...[...form.elements]
  .filter((field) => field.type === "hidden" && field.name !== "form_token" && !field.name.startsWith("before-")).map((field) => [field.name, field.value])]);

// A form with `data-confirm` asks before it is sent.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const text = event.submitter?.dataset.confirm || form.dataset.confirm;
  if (text && !confirm(text)) return event.preventDefault();
  if (form.method !== "post") return;
  leaving = true;
  // Signing in stands between a form and its being filled in again.
  if (form.getAttribute("action") === "/console/sign-in") return;
  const fields = kept(form).map((field) => [field.name, field.value, field.checked]);
  sessionStorage.setItem(KEPT, JSON.stringify({ form: which(form), fields }));
});

function restore() {
  const sent = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  if (!sent) return;
  if (document.querySelector(".notice.good[role=status]")) return sessionStorage.removeItem(KEPT);
  sent.refused ||= document.querySelector(".notice.bad[role=status], #failure, main.alone") !== null;
  const form = sent.refused && [...document.forms].find((form) => which(form) === sent.form);
  // Whoever has to sign in first, or to open the page again, comes back.
  if (!form) return sessionStorage.setItem(KEPT, JSON.stringify(sent));
  sessionStorage.removeItem(KEPT);
  for (const field of kept(form)) {
    const place = sent.fields.findIndex(([name]) => name === field.name);
    if (place < 0) continue;
    const [[, value, checked]] = sent.fields.splice(place, 1);
    if (["checkbox", "radio"].includes(field.type)) field.checked = checked;
    else field.value = value;
  }
  unfold(form);
}

restore();

// A file that is dropped on a form is what the form sends.
function overZone(event, on) {
  const zone = event.target.closest?.("[data-drop]");
  if (!zone) return null;
  event.preventDefault();
  zone.classList.toggle("over", on);
  return zone;
}

document.addEventListener("dragover", (event) => overZone(event, true));
document.addEventListener("dragleave", (event) => overZone(event, false));
document.addEventListener("drop", (event) => {
  const zone = overZone(event, false);
  if (!zone || !event.dataTransfer.files.length) return;
  zone.querySelector("input[type=file]").files = event.dataTransfer.files;
  zone.requestSubmit();
});
