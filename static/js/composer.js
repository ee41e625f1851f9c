// The composer: Enter sends, Shift+Enter breaks the line; what is not sent yet is kept per room, with the key that
// makes a message one message however often a bad line lets it be sent.
"use strict";
(() => {
  const form = () => document.getElementById("composer");
  const field = () => document.getElementById("composer-text");
  const kept = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const keep = (name, value) => {
    try { if (value) localStorage.setItem(name, value); else localStorage.removeItem(name); } catch { /* not kept */ }
  };
  const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
  const fit = () => {  // as high as its text, up to what the style sheet allows
    const text = field();
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight + 2}px`;
  };
  const draft = () => `draft:${field().dataset.draft}`;
  const save = () => keep(draft(), field().value ? JSON.stringify({ text: field().value, key: form().elements.key.value }) : "");

  const begin = () => {
    if (!field()) return;
    const found = kept(draft());
    if (found && !field().value) {
      try {
        const { text, key } = JSON.parse(found);
        field().value = text;
        form().elements.key.value = key;
      } catch { keep(draft(), ""); }
    }
    fit();
    if (matchMedia("(hover: hover)").matches && !location.hash) field().focus({ preventScroll: true });
  };

  document.addEventListener("input", (event) => {
    if (event.target !== field()) return;
    form().elements.key.value = newKey();  // another text is another message
    fit();
    save();
  });
  document.addEventListener("keydown", (event) => {
    if (event.target !== field() || event.key !== "Enter" || event.shiftKey || event.isComposing || event.defaultPrevented) return;
    if (matchMedia("(hover: none)").matches) return;  // a phone's Enter breaks the line; its button sends
    event.preventDefault();
    if (field().value.trim()) form().requestSubmit();
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt !== form()) return;
    if (!event.detail.successful) { field().focus(); return; }
    // What was typed while it was under way is the next message.
    const sent = event.detail.requestConfig.parameters.text ?? event.detail.requestConfig.formData?.get("text") ?? "";
    const now = field().value;
    field().value = now.startsWith(sent) ? now.slice(sent.length).trimStart() : now;
    form().elements.key.value = newKey();
    save();
    fit();
  });
  document.addEventListener("DOMContentLoaded", begin);
})();
