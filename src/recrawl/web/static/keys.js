// The keyboard: "/" goes to the box, j and k (or the arrows) go through the hits.
"use strict";
(() => {
  const links = () => [...document.querySelectorAll(".hits h2 a")];
  const step = (by) => {
    const all = links();
    if (!all.length) return false;
    const at = all.indexOf(document.activeElement);
    const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
    next.focus();
    return true;
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const box = document.getElementById("q");
    const writing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
    if (event.key === "Escape" && writing) document.activeElement.blur();
    if (event.key === "ArrowDown" && document.activeElement === box && step(1)) event.preventDefault();
    if (writing) return;
    if (event.key === "/" && box) {
      event.preventDefault();
      box.focus();
      box.select();
    } else if (event.key === "j" || (event.key === "ArrowDown" && links().includes(document.activeElement))) {
      if (step(1)) event.preventDefault();
    } else if (event.key === "k" || (event.key === "ArrowUp" && links().includes(document.activeElement))) {
      if (step(-1)) event.preventDefault();
    }
  });
})();
