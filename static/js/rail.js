// The rail at the side of a room: open or shut, how wide, which tab, kept per browser; and what it signals while shut.
// Loaded before the first paint, so that nothing jumps.
"use strict";
(() => {
  const root = document.documentElement;
  const LEAST = 304, MOST = 640, USUAL = 384, STEP = 16;
  const wide = matchMedia("(min-width: 900px)");
  const kept = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* private mode: it holds for this page */ } };

  let open = wide.matches && kept("rail-open") !== "no";
  let tab = kept("rail-tab") === "loops" ? "loops" : "work";
  let width = USUAL;
  const widen = (to) => {
    width = Math.min(MOST, Math.max(LEAST, Math.round(to) || USUAL));
    root.style.setProperty("--rail-width", `${width}px`);
  };
  widen(Number(kept("rail-width") || USUAL));

  // News is what ended since this tab of the rail was looked at last: asked anew each time, never remembered as such.
  const signal = (button) => {
    const room = document.getElementById("rail").dataset.room;
    const name = `rail-seen:${room}:${button.dataset.railTab}`, newest = button.dataset.newest || "", seen = kept(name);
    const looking = open && button.dataset.railTab === tab && !document.hidden;
    if (looking || seen === null) keep(name, newest);
    button.classList.toggle("has-news", !looking && seen !== null && newest > seen);
  };

  const show = () => {
    root.dataset.rail = open ? "open" : "shut";
    root.dataset.railShows = tab;
    for (const button of document.querySelectorAll("[data-rail-tab]")) {
      const mine = button.dataset.railTab === tab;
      button.setAttribute("aria-selected", String(open && mine));
      button.tabIndex = mine ? 0 : -1;
      signal(button);
    }
    const edge = document.getElementById("rail-edge");
    if (edge) {
      for (const [name, value] of [["now", width], ["min", LEAST], ["max", MOST]]) edge.setAttribute(`aria-value${name}`, value);
    }
  };
  const set = (opened, chosen) => {
    open = opened;
    tab = chosen;
    if (wide.matches) keep("rail-open", open ? "yes" : "no");
    keep("rail-tab", tab);
    show();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-rail-tab]");
    if (button) set(!open || tab !== button.dataset.railTab, button.dataset.railTab);
    else if (event.target.closest?.("[data-rail-shut]")) set(false, tab);
  });
  document.addEventListener("keydown", (event) => {
    const chosen = event.target.closest?.("[data-rail-tab]");
    if (chosen && ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key)) {
      event.preventDefault();
      set(open, tab === "work" ? "loops" : "work");
      document.getElementById(`rail-tab-${tab}`).focus();
    } else if (event.target.id === "rail-edge" && ["ArrowLeft", "ArrowRight"].includes(event.key)) {
      event.preventDefault();
      widen(width + (event.key === "ArrowLeft" ? STEP : -STEP));
      keep("rail-width", String(width));
      show();
    } else if (event.key === "Escape" && open && !wide.matches && event.target.closest?.("#rail")) {
      set(false, tab);
      document.getElementById(`rail-tab-${tab}`).focus();
    }
  });
  document.addEventListener("pointerdown", (event) => {
    if (event.target.id !== "rail-edge") return;
    event.preventDefault();
    const edge = event.target, right = edge.parentElement.getBoundingClientRect().right;
    edge.setPointerCapture(event.pointerId);
    const move = (moved) => widen(right - moved.clientX);
    edge.addEventListener("pointermove", move);
    edge.addEventListener("lostpointercapture", () => {
      edge.removeEventListener("pointermove", move);
      keep("rail-width", String(width));
      show();
    }, { once: true });
  });
  wide.addEventListener("change", () => { open = wide.matches && kept("rail-open") !== "no"; show(); });
  document.addEventListener("visibilitychange", show);
  document.addEventListener("htmx:afterSwap", show);
  document.addEventListener("DOMContentLoaded", show);
  show();
})();
