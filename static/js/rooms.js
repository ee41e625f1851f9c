// Keys of the Workspace: Alt and the arrows go up and down the rooms, a slash goes to the composer.
"use strict";
(() => {
  const typing = (element) => element.matches?.("input, textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.altKey && !event.ctrlKey && !event.metaKey && step) {
      const rooms = [...document.querySelectorAll("#rooms a[data-room]")];
      if (!rooms.length) return;
      const here = rooms.findIndex((one) => one.getAttribute("aria-current"));
      event.preventDefault();
      rooms[here < 0 ? 0 : (here + step + rooms.length) % rooms.length].click();
    } else if (event.key === "/" && !event.altKey && !event.ctrlKey && !event.metaKey && !typing(event.target)) {
      const composer = document.getElementById("composer-text");
      if (!composer) return;
      event.preventDefault();
      composer.focus();
    }
  });
})();
