// The swap style "morph": brings a fragment up to date in place, so that focus, selection, scroll, typed text and
// what the reader has folded open survive. Elements are told apart by id, else by their place. A form that somebody
// fills (data-kept) stays as it is for as long as it is there.
"use strict";
(() => {
  const kept = (element, name) =>
    (name === "open" && element.tagName === "DETAILS") || (name === "value" && element === document.activeElement);

  const attributes = (old, fresh) => {
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !kept(old, name)) old.removeAttribute(name);
    }
    for (const { name, value } of [...fresh.attributes]) {
      if (old.getAttribute(name) !== value && !kept(old, name)) old.setAttribute(name, value);
    }
  };

  const node = (old, fresh) => {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    if (old.isEqualNode(fresh) || ("kept" in old.dataset && old.id)) return;
    attributes(old, fresh);
    children(old, fresh);
  };

  const alike = (old, fresh) => old && old.nodeName === fresh.nodeName && !old.id && !fresh.id;

  const children = (old, fresh) => {
    const byId = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
    const wanted = new Set([...fresh.children].map((child) => child.id).filter(Boolean));
    let here = old.firstChild;
    const skipGone = () => {  // removed first, so that those that stay need not move (a move loses focus)
      while (here && here.id && !wanted.has(here.id)) { const next = here.nextSibling; here.remove(); here = next; }
    };
    for (const next of [...fresh.childNodes]) {
      skipGone();
      const match = (next.id && byId.get(next.id)) || (alike(here, next) && here);
      if (!match || match.nodeName !== next.nodeName) { old.insertBefore(next, here); continue; }
      if (match === here) here = here.nextSibling; else old.insertBefore(match, here);
      node(match, next);
    }
    while (here) { const next = here.nextSibling; here.remove(); here = next; }
  };

  htmx.defineExtension("morph", {
    isInlineSwap: (style) => style === "morph",
    handleSwap: (style, target, fragment) => {
      if (style !== "morph") return false;
      const fresh = [...fragment.children].find((child) => child.id === target.id) || fragment.firstElementChild;
      if (!fresh) return false;
      node(target, fresh);
      return [target];
    },
  });
})();
