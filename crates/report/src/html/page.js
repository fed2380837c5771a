// Search, sort, filter, unfold and deep links for a page that is complete without them. No text becomes markup here.
"use strict";
// The first view does not wait for it.
setTimeout(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const one = (selector, from = document) => from.querySelector(selector);

  // What the script brings is hidden until it runs.
  document.documentElement.classList.add("js");
  all(".js, [data-js]").forEach((part) => { part.hidden = false; });

  const table = one("table.costs");
  const tools = (name) => one(`[data-do="${name}"]`);

  // The costs in the order of the page: each is a tbody with its group.
  const groups = [];
  const costs = [];
  if (table) {
    let group = null;
    for (const body of table.tBodies) {
      if (body.classList.contains("g")) {
        group = { body, name: body.textContent, costs: [] };
        groups.push(group);
      } else {
        const cost = { body, group, cells: [...body.rows[0].cells], text: body.rows[0].textContent.toLowerCase() };
        costs.push(cost);
        if (group) group.costs.push(cost);
      }
    }
  }

  // A figure as a number: "1.23 µs", "38.0 to 90.1 µs", "14 994", "+3 %", "at most 5 ns". NaN if there is none.
  const units = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, min: 6e10 };
  const figure = (text) => {
    const found = /([-+]?[\d][\d\s\u2009\u202f\u00a0]*(?:\.\d+)?)\s*(ns|µs|ms|s|min)?\b[^\d]*$/.exec(text.trim());
    return found ? parseFloat(found[1].replace(/[^\d.+-]/g, "")) * (units[found[2]] ?? 1) : NaN;
  };

  // Search, group and doubts: what does not fit is hidden, and the groups that became empty.
  const filter = () => {
    const words = tools("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const group = tools("group").value;
    const doubts = tools("doubts").value;
    let shown = 0;
    for (const cost of costs) {
      const doubted = cost.cells[cost.cells.length - 1].textContent.trim() !== "";
      const fits = words.every((word) => cost.text.includes(word)) && (!group || cost.group?.name === group) &&
        (!doubts || doubted === (doubts === "yes"));
      cost.body.hidden = !fits;
      shown += fits;
    }
    for (const group of groups) group.body.hidden = sorted !== null || group.costs.every((cost) => cost.body.hidden);
    tools("count").textContent = shown === costs.length ? `${shown} costs` : `${shown} of ${costs.length} costs`;
  };

  // Sorting: a click sorts upwards, the next one downwards, the third restores the groups.
  let sorted = null;
  const sort = (column, heads) => {
    const next = sorted?.column !== column ? 1 : sorted.way === 1 ? -1 : 0;
    sorted = next === 0 ? null : { column, way: next };
    heads.forEach((head, place) => head.setAttribute("aria-sort", sorted && place === column ? (next > 0 ? "ascending" : "descending") : "none"));
    let order = costs.slice();
    if (sorted) {
      const text = (cost) => cost.cells[column].textContent.trim();
      const keys = new Map(costs.map((cost) => [cost, figure(text(cost))]));
      const numbers = [...keys.values()].some((key) => !Number.isNaN(key)) && column > 0 && column < heads.length - 1;
      order.sort((a, b) => {
        if (!numbers) return next * text(a).localeCompare(text(b));
        const [x, y] = [keys.get(a), keys.get(b)];
        // What has no figure comes last, either way.
        return Number.isNaN(x) - Number.isNaN(y) || next * (x - y);
      });
      table.append(...order.map((cost) => cost.body));
    } else {
      table.append(...groups.flatMap((group) => [group.body, ...group.costs.map((cost) => cost.body)]));
    }
    filter();
  };

  if (table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(place, heads));
    });
    for (const name of ["search", "group", "doubts"]) tools(name).addEventListener("input", filter);
    tools("unfold")?.addEventListener("click", (event) => {
      const shown = costs.filter((cost) => !cost.body.hidden).map((cost) => one("details", cost.body)).filter(Boolean);
      const open = shown.some((details) => !details.open);
      shown.forEach((details) => { details.open = open; });
      event.target.textContent = open ? "Fold all" : "Unfold all";
    });
    filter();
  }

  // Deep links: #pipe.roundtrip@size=26 names a cost, #pipe.roundtrip the first of its points; sizes may have a B.
  const target = () => {
    let hash = location.hash.slice(1);
    try { hash = decodeURIComponent(hash); } catch { /* It is taken as it is. */ }
    if (!hash || !table) return null;
    const bare = hash.replace(/(\d)B(?=,|$)/g, "$1");
    return costs.find(({ body }) => body.id === hash) ?? costs.find(({ body }) => body.id === bare) ??
      costs.find(({ body }) => body.id.split("@")[0] === hash) ?? null;
  };
  const follow = () => {
    const cost = target();
    if (!cost) return;
    if (cost.body.hidden) {
      ["search", "group", "doubts"].forEach((name) => { tools(name).value = ""; });
      filter();
    }
    const details = one("details", cost.body);
    if (details) details.open = true;
    cost.body.scrollIntoView({ block: "start" });
    one("summary", cost.body)?.focus({ preventScroll: true });
  };
  addEventListener("hashchange", follow);
  if (location.hash) follow();

  // The ladder: hover, focus or tap tells what the table knows of a cost.
  let tip = null;
  const hide = () => { tip?.remove(); tip = null; };
  const show = (link) => {
    hide();
    const body = document.getElementById(link.getAttribute("href").slice(1));
    if (!body?.rows) return;
    tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "tooltip");
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const cells = [...body.rows[0].cells].map((cell, place) => [heads[place], cell.textContent.trim()]);
    const line = document.createElement("p");
    const name = document.createElement("b");
    name.textContent = cells[0][1];
    const figures = cells.slice(1).filter(([, value]) => value && value !== "-").map(([head, value]) => `${head} ${value}`);
    line.append(name, ` · ${figures.join(" · ")}`);
    tip.append(line);
    if (body.rows[1]) tip.append(...[...body.rows[1].cells[0].cloneNode(true).childNodes]);
    document.body.append(tip);
    const box = link.getBoundingClientRect();
    const below = box.bottom + tip.offsetHeight + 12 < innerHeight || box.top < tip.offsetHeight;
    tip.style.top = `${scrollY + (below ? box.bottom + 6 : box.top - tip.offsetHeight - 6)}px`;
    tip.style.left = `${Math.max(8, Math.min(scrollX + box.left + 40, innerWidth - tip.offsetWidth - 12))}px`;
  };
  for (const link of all(".rungs a")) {
    link.addEventListener("mouseenter", () => show(link));
    link.addEventListener("mouseleave", hide);
    link.addEventListener("focus", () => show(link));
    link.addEventListener("blur", hide);
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("hashchange", hide);

  tools("copy")?.addEventListener("click", async (event) => {
    const text = one("pre code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      event.target.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(one("pre code"));
      event.target.textContent = "Selected";
    }
  });

  // The run that the page holds, as the JSON document that it was made from.
  tools("save")?.addEventListener("click", async () => {
    const script = one("script[type='application/vnd.howslow.run+gzip']");
    const bytes = Uint8Array.from(atob(script.textContent.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await new Response(stream).blob());
    link.download = "run.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
});
