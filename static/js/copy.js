// Copies a text of the page on a click; the button shows only where copying works.
"use strict";
(() => {
  const reveal = (root) => {
    if (!navigator.clipboard) return;
    for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
  };
  document.addEventListener("DOMContentLoaded", () => reveal(document));
  document.addEventListener("htmx:afterSwap", () => reveal(document));
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (!button) return;
    const source = document.querySelector(button.dataset.copy);
    if (!source) return;
    const said = button.dataset.said || button.textContent;
    button.dataset.said = said;
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied: select it by hand";
    }
    setTimeout(() => { button.textContent = said; }, 2000);
  });
})();
