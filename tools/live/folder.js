"use strict";
/* Loads the page again when the folders have changed; its place and its theme are kept. */
{
  const kept = JSON.parse(sessionStorage.getItem("adamb-place") || "null");
  if (kept) {
    if (kept.theme) document.documentElement.dataset.theme = kept.theme;
    addEventListener("load", () => scrollTo({ top: kept.top, behavior: "instant" }));
    sessionStorage.removeItem("adamb-place");
  }
  const look = async () => {
    try {
      const { stamp } = await (await fetch("stamp.json", { cache: "no-store" })).json();
      if (stamp !== STAMP) {
        const place = { top: scrollY, theme: document.documentElement.dataset.theme || null };
        sessionStorage.setItem("adamb-place", JSON.stringify(place));
        location.reload();
        return;
      }
    } catch {
      document.title = `(no longer followed) ${document.title}`;
      return;
    }
    setTimeout(look, 1000);
  };
  setTimeout(look, 1000);
}
