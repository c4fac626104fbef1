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

  // Caches the text of a call. The browser reads the texts while it is idle; a search reads the missing ones.
  const text = (call) => {
    let known = texts.get(call);
    if (known === undefined) texts.set(call, (known = call.textContent.toLowerCase()));
    return known;
  };
  // The searched words, and phrases in quotation marks.
  const wanted = () =>
    [...search.value.toLowerCase().matchAll(/["“”]([^"“”]+)["“”]?|[^\s"“”]+/g)].map((found) => found[1] ?? found[0]);
  const details = (call) => call.firstElementChild;

  const updateStatus = () => {
    const scope = [buttons.find((button) => button.dataset.kind === kind)?.dataset.label, search.value.trim()].filter(Boolean);
    const all = `${calls.length} ${calls.length === 1 ? "call" : "calls"}`;
    const position = current ? `, now at number ${shown.indexOf(current) + 1}` : "";
    count.textContent = scope.length ? `${shown.length} of ${all}: ${scope.join(" · ")}${position}` : `${all}${position}`;
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
    updateStatus();
  };
  // Highlights the searched words in the current call only.
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
    const before = shown.indexOf(current);
    const next = before < 0 ? (step > 0 ? 0 : shown.length - 1) : (before + step + shown.length) % shown.length;
    const call = shown[next];
    details(call).open = true;
    select(call);
    call.scrollIntoView({ block: "start" });
    updateStatus();
  };
  // A text that is higher than its box gets a button that unfolds it. Only texts in view are measured.
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
    // The line that replaces the middle on paper is in the text, too; it does not count.
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
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
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
    updateStatus();
  });
  // If several calls open or close at once, the status is updated once.
  let toggled = 0;
  document.getElementById("calls").addEventListener("toggle", (event) => opened(event.target), true);
  document.getElementById("calls").addEventListener("toggle", () => (toggled ||= requestAnimationFrame(() => ((toggled = 0), updateStatus()))), true);
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
  // On paper, all folded parts are open except the files of .git. Afterwards they are folded again.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = shown.flatMap((call) => [...call.querySelectorAll("details:not([open], .git, .git *)")]);
    for (const folded of closed) folded.open = true;
  });
  addEventListener("afterprint", () => {
    for (const folded of closed) folded.open = false;
    closed = [];
  });
  addEventListener("hashchange", openTarget);
  document.querySelector("nav").hidden = !calls.length;
  updateStatus();
  openTarget();
})();
