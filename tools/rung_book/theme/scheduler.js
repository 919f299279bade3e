// The scheduler and the paged KV cache, step by step, as `generate --record` wrote them.
"use strict";

(() => {
  const { element } = Player;
  const record = Player.recording("scheduler");
  const ids = [...new Set(record.steps.flatMap((s) => [...s.waiting, ...s.running.map((r) => r.id)]))].sort((a, b) => a - b);
  const colour = (id) => `var(--c${ids.indexOf(id) % 6})`;
  const name = (id) => String.fromCharCode(65 + ids.indexOf(id));
  const chip = (id) => element("span", { class: "chip", style: `color:${colour(id)}` }, name(id));
  const list = (values) => (values.length < 2 ? values.join("") : values.slice(0, -1).join(", ") + " and " + values[values.length - 1]);

  function says(step, before) {
    const parts = [];
    for (const r of step.running) {
      const was = before && before.running.find((other) => other.id === r.id);
      if (was && before.preempted && step.preempted.includes(r.id)) continue;
      if (!was) parts.push(`${name(r.id)} starts${r.cached ? `, with ${r.cached} tokens found in the cache` : ""}.`);
    }
    if (step.preempted.length) parts.push(`No block is free: ${list(step.preempted.map(name))} must give its blocks back and wait.`);
    for (const c of step.copies) parts.push(`Block ${c.from} is copied to ${c.to}, since one of its holders writes into it.`);
    for (const f of step.finished) parts.push(`With this step ${name(f.id)} ends (${f.reason}).`);
    if (!step.running.length) return "All requests are answered. Blocks whose prompt may come again stay cached until they are needed.";
    const scheduled = step.running.filter((r) => r.scheduled > 0);
    parts.push(`Computed: ${scheduled.map((r) => `${name(r.id)} ${r.scheduled}`).join(", ")}, ${scheduled.reduce((sum, r) => sum + r.scheduled, 0)} tokens together.`);
    return parts.join(" ");
  }

  function block(b, index, before) {
    const isNew = before && b.by.some((id) => !before.blocks[index].by.includes(id));
    const label = b.by.length ? b.by.map(chip) : [b.state];
    const border = b.by.length ? `border-color:${colour(b.by[0])}` : "";
    return element("li", { class: b.state + (isNew ? " new" : ""), style: border, title: `block ${index}: ${b.state}${b.by.length ? ", held by " + list(b.by.map(name)) : ""}` },
      String(index), element("br"), ...label);
  }

  function row(id, step, past) {
    const r = step.running.find((other) => other.id === id);
    const ended = past.some((s) => s.finished.some((f) => f.id === id));
    const state = r ? (r.computed + r.scheduled < r.tokens || r.scheduled > 1 ? "prefill" : "decode") : ended ? "ended" : step.preempted.includes(id) ? "preempted" : "waiting";
    const cells = r ? [r.tokens, r.computed, r.scheduled, r.blocks.join(" ")] : ["", "", "", ""];
    const prompt = record.prompts?.[ids.indexOf(id)] ?? "";
    return element("tr", {}, element("td", { title: prompt }, chip(id)), element("td", { class: "is" }, state),
      ...cells.slice(0, 3).map((c) => element("td", { class: "number" }, String(c))), element("td", {}, cells[3]));
  }

  Player.start(document.getElementById("scheduler"), record.steps.length, (at, stage) => {
    const step = record.steps[at];
    const before = at ? record.steps[at - 1] : null;
    const head = element("tr", {}, ...["Request", "Is", "Tokens", "Computed", "Now", "Its block table"].map((h, i) => element("th", i > 1 && i < 5 ? { class: "number" } : {}, h)));
    stage.replaceChildren(
      element("div", { class: "scroll" }, element("table", { class: "requests" }, element("thead", {}, head),
        element("tbody", {}, ...ids.map((id) => row(id, step, record.steps.slice(0, at)))))),
      element("ol", { class: "blocks", "aria-label": "The pool of blocks" }, ...step.blocks.map((b, i) => block(b, i, before))));
    return says(step, before);
  });

  const prompts = element("dl", {});
  ids.forEach((id, i) => record.prompts?.[i] && prompts.append(element("dt", {}, chip(id)), element("dd", {}, record.prompts[i])));
  document.getElementById("scheduler").append(element("details", {}, element("summary", {}, `The ${ids.length} prompts`), prompts));
})();
