// Light, dark or as the system says, kept per browser. Loaded before the first paint, so that nothing flashes.
"use strict";
(() => {
  const root = document.documentElement;
  const order = ["system", "light", "dark"];
  const kept = () => {
    try { return localStorage.getItem("theme") || "system"; } catch { return "system"; }
  };
  const show = (theme) => {
    if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      button.hidden = false;
      button.textContent = `Theme: ${theme}`;
    }
  };
  show(kept());
  document.addEventListener("DOMContentLoaded", () => show(kept()));
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-theme-switch]")) return;
    const next = order[(order.indexOf(kept()) + 1) % order.length];
    try { localStorage.setItem("theme", next); } catch { /* private mode: it holds for this page */ }
    show(next);
  });
})();
