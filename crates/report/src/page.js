"use strict";
(() => {
  const calls = [...document.querySelectorAll("#calls li[id]")];
  const days = [...document.querySelectorAll("#calls > section")];
  const buttons = [...document.querySelectorAll("nav button[data-kind]")];
  const search = document.getElementById("search");
  const nothing = document.getElementById("nothing");
  const count = document.getElementById("count");
  const fold = document.getElementById("fold");
  const texts = new Map();
  let kind = "";
  let shown = calls;
  let current = null;

  // Read once: while nothing else is to do, or when the user searches.
  const text = (call) => {
    let known = texts.get(call);
    if (known === undefined) texts.set(call, (known = call.textContent.toLowerCase()));
    return known;
  };
  // Words, and what is between quotation marks as it is.
  const wanted = () =>
    [...search.value.toLowerCase().matchAll(/["“”]([^"“”]+)["“”]?|[^\s"“”]+/g)].map((found) => found[1] ?? found[0]);
  const details = (call) => call.firstElementChild;

  const tell = () => {
    const scope = [buttons.find((one) => one.dataset.kind === kind)?.dataset.label, search.value.trim()].filter(Boolean);
    const all = `${calls.length} ${calls.length === 1 ? "call" : "calls"}`;
    const place = current ? `, now at number ${shown.indexOf(current) + 1}` : "";
    count.textContent = scope.length ? `${shown.length} of ${all}: ${scope.join(" · ")}${place}` : `${all}${place}`;
    const open = shown.every((call) => details(call).open);
    fold.dataset.open = String(!open);
    fold.textContent = `${open && shown.length ? "Close" : "Open"} ${scope.length ? `these ${shown.length}` : "all"}`;
    fold.disabled = !shown.length;
  };
  const show = () => {
    const words = wanted();
    shown = calls.filter((call) => {
      const fits =
        (!kind || call.dataset.kinds.split(" ").includes(kind)) && words.every((word) => text(call).includes(word));
      call.hidden = !fits;
      return fits;
    });
    for (const day of days) day.hidden = !day.querySelector("li[id]:not([hidden])");
    nothing.hidden = shown.length > 0 || !calls.length;
    select(null);
    tell();
  };
  // What was searched for is marked in one call at a time: in that which is looked at.
  const mark = (call) => {
    if (!CSS.highlights) return;
    CSS.highlights.delete("found");
    const words = wanted();
    if (!call || !words.length) return;
    const ranges = [];
    const walk = document.createTreeWalker(call, NodeFilter.SHOW_TEXT);
    while (walk.nextNode() && ranges.length < 1000) {
      const lower = walk.currentNode.data.toLowerCase();
      if (lower.length !== walk.currentNode.data.length) continue;
      for (const word of words)
        for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length)) {
          const range = new Range();
          range.setStart(walk.currentNode, at);
          range.setEnd(walk.currentNode, at + word.length);
          ranges.push(range);
        }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  };
  const select = (call) => {
    current?.classList.remove("current");
    current = call;
    current?.classList.add("current");
    mark(call);
  };
  const go = (step) => {
    if (!shown.length) return;
    const from = shown.indexOf(current);
    const at = from < 0 ? (step > 0 ? 0 : shown.length - 1) : (from + step + shown.length) % shown.length;
    const call = shown[at];
    details(call).open = true;
    select(call);
    call.scrollIntoView({ block: "start" });
    tell();
  };
  // A text that is cut at the height of its box says so, and unfolds. Only what comes into view is measured.
  const unfold = (box, whole) => {
    box.classList.toggle("whole", whole);
    const lines = Number(box.dataset.lines).toLocaleString("en");
    box.lastElementChild.textContent = `${lines} ${lines === "1" ? "line" : "lines"} · show ${whole ? "less" : "all"}`;
    box.lastElementChild.setAttribute("aria-expanded", String(whole));
  };
  const cut = (pre) => {
    if (pre.scrollHeight <= pre.clientHeight + 1 || pre.parentElement.classList.contains("long")) return;
    const box = document.createElement("div");
    box.className = "long";
    // What is on paper in the place of the middle is a line, too.
    const lines = pre.textContent.replace(/\n$/, "").split("\n").length;
    box.dataset.lines = lines - pre.querySelectorAll(".paper").length;
    pre.replaceWith(box);
    const foot = document.createElement("button");
    foot.type = "button";
    foot.className = "foot";
    pre.tabIndex = 0;
    box.append(pre, foot);
    unfold(box, false);
    foot.addEventListener("click", () => {
      const whole = !box.classList.contains("whole");
      unfold(box, whole);
      if (!whole) box.scrollIntoView({ block: "nearest" });
    });
    pre.addEventListener("scroll", () =>
      box.classList.toggle("end", pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 2));
  };
  const inView = new IntersectionObserver((changes) => {
    for (const change of changes)
      if (change.isIntersecting) {
        inView.unobserve(change.target);
        cut(change.target);
      }
  });
  const opened = (details) => {
    if (!details.open) return;
    for (const pre of details.querySelectorAll("pre")) inView.observe(pre);
  };
  const openTarget = () => {
    const call = /^#c\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (!call) return;
    call.hidden = false;
    call.closest("section").hidden = false;
    details(call).open = true;
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
  const searchNow = () => {
    if (waiting) show();
    clearTimeout(waiting);
    waiting = 0;
  };
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(searchNow, 80);
  });
  fold.addEventListener("click", () => {
    const open = fold.dataset.open === "true";
    for (const call of shown) details(call).open = open;
    tell();
  });
  // Opening all of them is told once, not once a call.
  let toggled = 0;
  document.getElementById("calls").addEventListener("toggle", (event) => opened(event.target), true);
  document.getElementById("calls").addEventListener("toggle", () => (toggled ||= requestAnimationFrame(() => ((toggled = 0), tell()))), true);
  document.getElementById("next").addEventListener("click", () => go(1));
  document.getElementById("previous").addEventListener("click", () => go(-1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Enter") {
        searchNow();
        go(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") {
        search.value = "";
        show();
        search.blur();
      }
    } else if (event.key === "/") {
      event.preventDefault();
      search.focus();
    } else if (event.key === "n") go(1);
    else if (event.key === "N") go(-1);
  });
  // On paper everything is open but the books of git; afterwards it is as it was.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = shown.flatMap((call) => [...call.querySelectorAll("details:not([open], .git, .git *)")]);
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
    closed = [];
  });
  addEventListener("hashchange", openTarget);
  document.querySelector("nav").hidden = !calls.length;
  tell();
  openTarget();
})();
