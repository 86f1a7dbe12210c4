"use strict";
/* The button that turns light into dark and back. */

function theme() {
  const button = document.getElementById("theme");
  button.addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    document.dispatchEvent(new Event("themechange"));
  });
}
