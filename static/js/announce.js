// Speaks status changes of loops, and nothing else, through the one polite live region.
"use strict";
(() => {
  const known = new Map();
  const look = (speak) => {
    const said = [];
    for (const one of document.querySelectorAll("[data-says]")) {
      const before = known.get(one.id);
      if (speak && before !== undefined && before !== one.dataset.status) said.push(one.dataset.says);
      known.set(one.id, one.dataset.status);
    }
    if (said.length) document.getElementById("announcer").textContent = said.join(". ");
  };
  document.addEventListener("DOMContentLoaded", () => look(false));
  document.addEventListener("htmx:afterSwap", () => look(true));
})();
