// Times in the reader's own zone, and durations that tick from the server's clock.
"use strict";
(() => {
  const offset = () => Number(document.body.dataset.clockOffset || 0);
  const begin = () => {
    const now = Date.parse(document.body.dataset.now || "");
    document.body.dataset.clockOffset = Number.isNaN(now) ? "0" : String(now - Date.now());
    localise();
    tick();
    setInterval(tick, 1000);
  };

  const two = (number) => String(number).padStart(2, "0");
  const duration = (seconds) => {
    const whole = Math.max(0, Math.floor(seconds));
    if (whole < 60) return `${whole} s`;
    const minutes = Math.floor(whole / 60);
    if (minutes < 60) return `${minutes} m ${two(whole % 60)} s`;
    const hours = Math.floor(minutes / 60);
    if (hours < 48) return `${hours} h ${two(minutes % 60)} m`;
    return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  };
  const tick = () => {
    if (["offline", "ended"].includes(document.documentElement.dataset.connection)) return;
    const now = Date.now() + offset();
    for (const span of document.querySelectorAll("[data-since]")) {
      const text = duration((now - Date.parse(span.dataset.since)) / 1000);
      if (span.textContent !== text) span.textContent = text;
    }
  };

  const days = (at, now) => Math.round((new Date(now.toDateString()) - new Date(at.toDateString())) / 86400000);
  const near = (at, seconds) => {
    const now = new Date(Date.now() + offset());
    const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: seconds ? "2-digit" : undefined, hourCycle: "h23" });
    const away = days(at, now);
    if (away === 0) return time;
    if (away === 1) return `yesterday ${time}`;
    if (away === -1) return `tomorrow ${time}`;
    const year = at.getFullYear() === now.getFullYear() ? undefined : "numeric";
    return `${at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year })} ${time}`;
  };
  const localise = () => {
    for (const time of document.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.valueOf())) continue;
      time.textContent = near(at, "seconds" in time.dataset);
      time.title = at.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" });
    }
  };

  document.addEventListener("htmx:afterSwap", () => { localise(); tick(); });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin); else begin();
})();
