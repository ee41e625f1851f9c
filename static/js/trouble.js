// The red line on top: what the server refused, or that it broke, with the id under which its log has it.
"use strict";
(() => {
  const say = (text) => {
    const line = document.getElementById("trouble");
    line.textContent = text;
    line.hidden = !text;
  };
  addEventListener("trinity:refused", (event) => say(event.detail.sentence));
  addEventListener("trinity:logged-out", () => {
    say("You are logged out. ");
    const link = document.createElement("a");
    link.href = `/login/?next=${encodeURIComponent(location.pathname + location.search)}`;
    link.textContent = "Log in again";
    document.getElementById("trouble").append(link);
  });
  document.addEventListener("htmx:responseError", (event) => {
    const answer = event.detail.xhr;
    if (answer.getResponseHeader("HX-Trigger")) return;  // it spoke for itself
    const id = answer.getResponseHeader("X-Request-ID");
    say(`The server answered ${answer.status}${id ? ` (request ${id})` : ""}. What you see may be old.`);
  });
  document.addEventListener("htmx:sendError", (event) => {
    if (!event.detail.elt.dataset.live) say("The server was not reached. What you typed is still here: try again once the page is live.");
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful) say("");
  });
  // A refused form: to the first field at fault.
  document.addEventListener("htmx:afterSettle", (event) => {
    event.target.querySelector?.("[aria-invalid]")?.focus();
  });
  // A click that asks for a new tab or window is the link's own.
  document.addEventListener("click", (event) => {
    if ((event.ctrlKey || event.metaKey || event.shiftKey) && event.target.closest?.("a[hx-get]")) event.stopImmediatePropagation();
  }, true);
})();
