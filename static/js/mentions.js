// Completes @names in the composer from the list that the page holds.
"use strict";
(() => {
  const MOST = 8;
  const field = () => document.getElementById("composer-text");
  const list = () => document.getElementById("mentions");
  const names = () => [...document.querySelectorAll("#mentionable [data-name]")];
  let begins = -1, chosen = 0, shown = [];

  const shut = () => {
    begins = -1;
    shown = [];
    if (!list()) return;
    list().hidden = true;
    list().replaceChildren();
    field().removeAttribute("aria-activedescendant");
  };
  const look = () => {
    const text = field(), before = text.value.slice(0, text.selectionStart);
    const found = /(?:^|[\s(])@([a-z0-9-]*)$/i.exec(before);
    if (!found || text.selectionStart !== text.selectionEnd) { shut(); return; }
    const typed = found[1].toLowerCase();
    begins = before.length - found[1].length;
    shown = names().filter((one) => one.dataset.name.startsWith(typed)).slice(0, MOST);
    if (!shown.length || (shown.length === 1 && shown[0].dataset.name === typed)) { shut(); return; }
    chosen = Math.min(chosen, shown.length - 1);
    draw();
  };
  const draw = () => {
    list().replaceChildren(...shown.map((one, place) => {
      const option = document.createElement("li");
      option.id = `mention-${place}`;
      option.role = "option";
      option.dataset.place = place;
      option.setAttribute("aria-selected", String(place === chosen));
      const name = document.createElement("b");
      name.textContent = `@${one.dataset.name}`;
      option.append(name, ` ${one.dataset.note || ""}`);
      return option;
    }));
    list().hidden = false;
    field().setAttribute("aria-activedescendant", `mention-${chosen}`);
  };
  const take = (place) => {
    const text = field();
    text.setRangeText(`${shown[place].dataset.name} `, begins, text.selectionStart, "end");
    shut();
    text.focus();
    text.dispatchEvent(new Event("input", { bubbles: true }));
  };

  document.addEventListener("input", (event) => {
    if (event.target === field()) { chosen = 0; look(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.target !== field() || !shown.length) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { chosen = (chosen + step + shown.length) % shown.length; draw(); }
    else if (event.key === "Enter" || event.key === "Tab") take(chosen);
    else if (event.key === "Escape") shut();
    else return;
    event.preventDefault();
  }, true);
  document.addEventListener("pointerdown", (event) => {
    const option = event.target.closest?.("#mentions [data-place]");
    if (!option) { if (shown.length) shut(); return; }
    event.preventDefault();
    take(Number(option.dataset.place));
  });
})();
