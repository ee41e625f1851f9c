// What a transcript's messages do: code can be copied, long replies fold, and the newest stays in sight.
"use strict";
(() => {
  const FOLDED = 420;  // pixels; as in the style sheet
  let codes = 0;
  const code = (root) => {
    if (!navigator.clipboard) return;
    for (const block of root.querySelectorAll(".transcript .reply pre:not([id])")) {
      block.id = `code-${codes += 1}`;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copies";
      button.dataset.copy = `#${block.id}`;
      button.textContent = "Copy";
      const frame = document.createElement("div");
      frame.className = "code";
      block.replaceWith(frame);
      frame.append(block, button);
    }
  };
  const fold = (root) => {
    for (const text of root.querySelectorAll(".transcript [data-folds]:not(.is-folded, .was-folded)")) {
      if (text.scrollHeight <= FOLDED * 1.25) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "link unfold";
      button.textContent = "Show all of it";
      button.setAttribute("aria-expanded", "false");
      text.classList.add("is-folded");
      text.after(button);
    }
  };
  const dress = (root) => { code(root); fold(root); };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".unfold");
    if (!button) return;
    const text = button.previousElementSibling, folded = text.classList.toggle("is-folded");
    text.classList.add("was-folded");
    button.textContent = folded ? "Show all of it" : "Fold";
    button.setAttribute("aria-expanded", String(!folded));
    if (folded) button.closest(".message").scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("DOMContentLoaded", () => dress(document));
  document.addEventListener("htmx:afterSwap", () => dress(document));
})();
