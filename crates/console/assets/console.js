// What pages of the console do by themselves. Without it everything works but the updates, dropping files, and the keys.
"use strict";

// Elements with `data-live` and an id are brought up to date from the page itself, asked for again. What did not change stays as it is, and with it where
// somebody has scrolled to, what has the focus and what is marked.
const main = document.getElementById("main");
const lost = document.getElementById("lost");
const every = Number(main?.dataset.every || 0);

function inUse(element) {
  const active = document.activeElement;
  const typing = active && element.contains(active) && active.matches("input, select, textarea");
  return typing || element.querySelector("details[open] form, dialog[open]");
}

function becomeAttributes(old, now) {
  for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) {
    // What somebody has unfolded stays so.
    if (!now.hasAttribute(name) && !(name === "open" && old.matches("details"))) old.removeAttribute(name);
  }
}

function become(old, now) {
  if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName || old.id !== now.id) return old.replaceWith(now);
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== now.data) old.data = now.data;
    return;
  }
  if (old.isEqualNode(now)) return;
  becomeAttributes(old, now);
  const before = [...old.childNodes], after = [...now.childNodes];
  after.forEach((node, place) => (place < before.length ? become(before[place], node) : old.append(node)));
  for (const node of before.slice(after.length)) node.remove();
}

// What somebody is typing is worth more than a page that is up to date.
function reload() {
  if (!inUse(main)) return location.reload();
  if (lost) lost.hidden = false;
}

function renew(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  if (main.classList.contains("alone") || fresh.querySelector("main.alone")) return reload();
  if (!fresh.querySelector("h1")) throw new Error("this is no page");
  const parts = (place) => [...place.querySelectorAll("[data-live]")].map((part) => part.id).sort().join();
  if (parts(main) !== parts(fresh)) {
    // Another page by now: it could not be shown before, or cannot any more.
    if (!inUse(main)) main.replaceChildren(...fresh.body.childNodes);
    return;
  }
  for (const old of main.querySelectorAll("[data-live]")) if (!inUse(old)) become(old, fresh.getElementById(old.id));
}

async function look() {
  if (document.hidden) return;
  try {
    const headers = { "torg-live": "1" };
    const answer = await fetch(location.href, { headers, redirect: "error", signal: AbortSignal.timeout(8000) });
    if (answer.status === 401) return reload();
    const text = await answer.text();
    if (lost) lost.hidden = true;
    renew(text);
  } catch {
    if (lost) lost.hidden = false;
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

// `/` goes to the search.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) return;
  event.preventDefault();
  document.getElementById("find")?.focus();
});

// A form with `data-confirm` asks before it is sent.
document.addEventListener("submit", (event) => {
  const text = event.submitter?.dataset.confirm || event.target.dataset.confirm;
  if (text && !confirm(text)) event.preventDefault();
});

// A form that was refused has what was typed in it again. Secrets and files are not kept.
const KEPT = "torg-form";
const kept = (form) => [...form.elements].filter((field) => field.name && !["hidden", "password", "file", "submit"].includes(field.type));

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  const fields = kept(form).map((field) => [field.name, field.value, field.checked]);
  sessionStorage.setItem(KEPT, JSON.stringify({ action: form.getAttribute("action"), fields }));
});

function restore() {
  const sent = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  sessionStorage.removeItem(KEPT);
  if (!sent || !document.querySelector(".notice.bad[role=status]")) return;
  const form = [...document.forms].find((form) => form.getAttribute("action") === sent.action);
  if (!form) return;
  for (const field of kept(form)) {
    const place = sent.fields.findIndex(([name]) => name === field.name);
    if (place < 0) continue;
    const [[, value, checked]] = sent.fields.splice(place, 1);
    if (["checkbox", "radio"].includes(field.type)) field.checked = checked;
    else field.value = value;
  }
  for (let outer = form.parentElement; outer; outer = outer.parentElement) if (outer.matches("details")) outer.open = true;
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

// A click elsewhere closes what was unfolded over the page.
document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("details.person[open]")) {
    if (!open.contains(event.target)) open.removeAttribute("open");
  }
});
