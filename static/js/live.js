// Keeps an open page up to date: hears what moved and to which version, and lets the fragments that show it be read
// again. The sockets carry no text; whatever they missed, reading again makes good.
"use strict";
(() => {
  const COALESCE = 250, SLOW = 1000, POLL = 12000, BEAT = 25000, SILENT = 10000, GIVEN_UP = 8000;
  const root = document.documentElement, all = (selector) => document.querySelectorAll(selector);
  let lines = [], downSince = 0, readAt = null, over = false;
  const turns = new WeakMap();  // fragment → when it was read last, and whether it will be again

  // --- reading again -----------------------------------------------------------------------------------------
  const every = (element) => (element.dataset.live === "loop" ? COALESCE : Number(element.dataset.every || SLOW));
  const refresh = (element, version = Infinity) => {
    if (document.hidden) return;  // read again when somebody looks
    const turn = turns.get(element) || { last: -Infinity, timer: 0, version: 0 };
    turns.set(element, turn);
    turn.version = Math.max(turn.version, version);
    if (turn.timer) return;
    const wait = Math.max(0, turn.last + every(element) - performance.now());
    turn.timer = setTimeout(() => {
      turn.timer = 0;
      const upTo = turn.version;
      turn.version = 0;
      if (!element.isConnected || Number(element.dataset.version ?? -1) >= upTo) return;
      if (acting.size) { held.set(element, Math.max(upTo, held.get(element) ?? 0)); return; }
      turn.last = performance.now();
      htmx.trigger(element, "refresh");
    }, wait);
  };

  // What the reader does goes first: a fragment that was asked for before a click must not undo it afterwards.
  const acting = new Set(), held = new Map();
  let acts = 0;
  const isAct = (element) => !element.dataset.live && (element.matches("form") || element.closest("[data-live]"));
  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (detail.elt.dataset.live) { const turn = turns.get(detail.elt); if (turn) turn.begun = acts; }
    else if (isAct(detail.elt)) { acts += 1; acting.add(detail.xhr); }
  });
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (!acting.delete(detail.xhr)) return;
    acts += 1;
    const waiting = [...held];
    held.clear();
    waiting.forEach(([element, version]) => refresh(element, version));
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const element = event.detail.requestConfig.elt, turn = turns.get(element);
    if (!element.dataset.live || !turn || turn.begun === acts) return;
    event.detail.shouldSwap = false;
    refresh(element);
  });
  // What a list only appends to (data-appends), it does not read again with itself.
  const outermost = (one) => {
    const around = one.parentElement?.closest("[data-live]:not([data-appends])");
    return around ? outermost(around) : one;
  };
  const resync = () => { new Set([...all("[data-live]")].map(outermost)).forEach((one) => refresh(one)); };

  const heardOfLoop = (event) => {
    const shown = [...all("[data-version]")].filter((one) => (one.dataset.loop || one.id) === event.loop_id);
    for (const one of shown) {
      if (Number(one.dataset.version) < event.version) refresh(one.closest("[data-live]"), event.version);
    }
    const filtered = document.querySelector("[data-filtered]");
    for (const list of all('[data-live="rows"]')) {
      if (filtered || !shown.some((one) => list.contains(one))) refresh(list);
    }
  };
  const heard = (event) => {
    if (event.loop_id) heardOfLoop(event);
    for (const one of all("[data-hears]")) {
      const its = !one.dataset.room || one.dataset.room === event.room_id;
      if (its && one.dataset.hears.split(" ").includes(event.type)) refresh(one);
    }
    if (!event.loop_id && event.room_id) return;
    if (!event.loop_id && !event.execution_id) { resync(); return; }  // an agent changed, or who may see it
    all('[data-live="any"]').forEach((one) => refresh(one));
    all('[data-live="execution"]').forEach((one) => { if (one.dataset.execution === event.execution_id) refresh(one); });
    // Whoever waits stands in a line that others move, too.
    new Set([...all("[data-waits]")].map(outermost)).forEach((one) => refresh(one));
  };

  // --- how live the page is ----------------------------------------------------------------------------------
  const allOpen = () => lines.every((one) => one.isOpen());
  const serverTime = () => new Date(Date.now() + Number(document.body.dataset.clockOffset || 0));
  const show = (state, text) => {
    root.dataset.connection = state;
    const words = document.getElementById("connection");
    if (!words) return;
    words.hidden = false;
    words.dataset.state = state;
    if (words.textContent !== text) words.textContent = text;
  };
  const dataFrom = () => {
    const at = readAt || new Date(document.body.dataset.now);
    return at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  };
  const say = () => {
    if (over) return;
    if (allOpen()) show("live", "Live");
    else if (!navigator.onLine || (downSince && performance.now() - downSince > GIVEN_UP)) show("offline", `Offline, data from ${dataFrom()}`);
    else show("reconnecting", "Reconnecting");
  };

  // --- the sockets -------------------------------------------------------------------------------------------
  const ends = { 4401: "Logged out", 4404: "Not live: you have no access any more" };
  const end = (words) => { over = true; lines.forEach((one) => one.close()); show("ended", words); };
  const lineTo = (address) => {
    let socket = null, attempts = 0, retry = 0, silence = 0;
    const isOpen = () => socket?.readyState === WebSocket.OPEN;
    const connect = () => {
      clearTimeout(retry);
      if (over || socket?.readyState === WebSocket.CONNECTING || isOpen()) return;
      const scheme = location.protocol === "https:" ? "wss:" : "ws:";
      const mine = new WebSocket(`${scheme}//${location.host}${address}`);
      socket = mine;
      mine.onopen = () => {
        attempts = 0;
        if (allOpen()) { downSince = 0; readAt = null; }
        say();
        resync();
      };
      mine.onmessage = (message) => {
        clearTimeout(silence);
        const event = JSON.parse(message.data);
        if (event.type !== "beat") heard(event);
      };
      mine.onclose = (closed) => {
        if (mine !== socket) return;
        clearTimeout(silence);
        if (ends[closed.code]) { end(ends[closed.code]); return; }
        if (!downSince) { downSince = performance.now(); readAt = serverTime(); }
        say();
        attempts += 1;
        const pause = Math.min(30000, 1000 * 2 ** Math.min(attempts - 1, 5));
        retry = setTimeout(connect, pause / 2 + Math.random() * pause / 2);
      };
    };
    const drop = () => { const old = socket; socket = null; old?.close(); attempts = 0; connect(); };
    const beat = () => {  // a socket may die without a word, as in a sleep
      if (!isOpen()) return;
      socket.send("beat");
      clearTimeout(silence);
      silence = setTimeout(drop, SILENT);
    };
    return { isOpen, connect, beat, afresh: () => { attempts = 0; connect(); }, close: () => socket?.close() };
  };

  const begin = () => {
    const addresses = (document.body.dataset.socket || "").split(" ").filter(Boolean);
    if (!addresses.length) return;
    lines = addresses.map(lineTo);
    const each = (act) => () => lines.forEach((one) => one[act]());
    const connect = each("connect"), beat = each("beat"), afresh = each("afresh");
    connect();
    say();
    setInterval(say, 1000);
    setInterval(beat, BEAT);
    setInterval(() => {
      if (!document.hidden && navigator.onLine && document.querySelector("[data-active]")) resync();
    }, POLL);
    addEventListener("online", () => { afresh(); resync(); });
    addEventListener("offline", beat);
    addEventListener("pageshow", (event) => { if (event.persisted) { connect(); resync(); } });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      connect();
      resync();
    });
    addEventListener("trinity:logged-out", () => end("Logged out"));
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin); else begin();
})();
