"use strict";
(() => {
  const calls = [...document.querySelectorAll("#calls > li")];
  const buttons = [...document.querySelectorAll("nav button[data-kind]")];
  const search = document.getElementById("search");
  const nothing = document.getElementById("nothing");
  const fold = document.getElementById("fold");
  const texts = new Map();
  let kind = "";

  // Read once: while nothing else is to do, or when somebody searches.
  const text = (call) => {
    let known = texts.get(call);
    if (known === undefined) texts.set(call, (known = call.textContent.toLowerCase()));
    return known;
  };
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const call of calls) {
      const fits =
        (!kind || call.dataset.kinds.split(" ").includes(kind)) && words.every((word) => text(call).includes(word));
      call.hidden = !fits;
      shown += fits;
    }
    nothing.hidden = shown > 0;
  };
  const openTarget = () => {
    const call = /^#c\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (!call) return;
    call.hidden = false;
    call.querySelector("details").open = true;
    call.scrollIntoView();
  };

  for (const button of buttons) {
    button.addEventListener("click", () => {
      kind = button.dataset.kind;
      for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
      show();
    });
  }
  const idle = window.requestIdleCallback || ((work) => setTimeout(() => work({ timeRemaining: () => 5 }), 50));
  let read = 0;
  const readOn = (deadline) => {
    while (read < calls.length && deadline.timeRemaining() > 1) text(calls[read++]);
    if (read < calls.length) idle(readOn);
  };
  idle(readOn);

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 80);
  });
  const all = (open) => {
    for (const call of calls) if (!call.hidden) call.querySelector("details").open = open;
  };
  fold.addEventListener("click", () => {
    const open = fold.textContent === "Open all";
    all(open);
    fold.textContent = open ? "Close all" : "Open all";
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      show();
      search.blur();
    }
  });
  addEventListener("beforeprint", () => all(true));
  addEventListener("hashchange", openTarget);
  document.querySelector("nav").hidden = false;
  openTarget();
})();
