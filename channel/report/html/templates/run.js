"use strict";
// Steps through each run on the page: forward, back, to a test, to what decides.
for (const run of document.querySelectorAll(".run")) {
  const lines = [...run.querySelectorAll(".trace li")], steps = lines.filter((line) => line.dataset.kind);
  if (!steps.length) continue;
  const trace = run.querySelector(".trace"), now = run.querySelector("output");
  const tests = steps.map((step, place) => (step.dataset.kind === "test" ? place : -1)).filter((place) => place >= 0);
  const deciding = steps.findIndex((step) => step.dataset.decides !== undefined);
  const decision = deciding >= 0 ? deciding : tests.length ? tests[tests.length - 1] : steps.length - 1;
  let at = -1;

  // Scroll a pane, and not the page, until an element of it is in sight.
  function reveal(pane, element) {
    const box = pane.getBoundingClientRect(), place = element.getBoundingClientRect();
    if (place.top < box.top || place.bottom > box.bottom) {
      pane.scrollTop += place.top - box.top - pane.clientHeight / 3;
    }
  }

  function go(place) {
    at = Math.min(Math.max(place, 0), steps.length - 1);
    for (const old of run.querySelectorAll("[aria-current]")) old.removeAttribute("aria-current");
    const step = steps[at], link = step.querySelector("a");
    const folded = step.closest("details");
    if (folded) folded.open = true;
    step.setAttribute("aria-current", "step");
    reveal(trace, step);
    const line = link && document.getElementById(link.hash.slice(1));
    if (line) {
      line.setAttribute("aria-current", "location");
      reveal(line.closest(".source"), line);
    }
    const where = link ? `, ${link.title}` : "";
    now.textContent = `step ${at + 1} of ${steps.length}${at === decision ? ", which decides" : ""}${where}`;
  }

  const ways = {
    start: () => go(0),
    back: () => go(at - 1),
    step: () => go(at + 1),
    untest: () => go(tests.findLast((place) => place < at) ?? 0),
    test: () => go(tests.find((place) => place > at) ?? steps.length - 1),
    decision: () => go(decision),
    end: () => go(steps.length - 1),
  };
  const letters = { b: "back", s: "step", u: "untest", t: "test", d: "decision" };
  const arrows = { ArrowUp: "back", ArrowDown: "step", Home: "start", End: "end" };

  run.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const way = letters[event.key] || (event.target === trace && arrows[event.key]);
    if (!way) return;
    event.preventDefault();
    ways[way]();
  });
  for (const button of run.querySelectorAll("[data-way]")) {
    button.addEventListener("click", () => ways[button.dataset.way]());
  }
  steps.forEach((step, place) => step.addEventListener("click", () => go(place)));
  // What needs this script is not shown without it.
  run.querySelector(".stepping").hidden = false;
  go(decision);
}
