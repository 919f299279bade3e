// One query's attention, tile by tile, with the online softmax: running maximum, running sum, running output.
"use strict";

(() => {
  const { element } = Player;
  const root = document.getElementById("attention");
  const record = Player.recording("attention");
  const fixed = (x) => (x === -Infinity ? "−∞" : x.toFixed(3).replace("-", "−"));
  const choice = (label, options, chosen) => {
    const select = element("select", { "aria-label": label }, ...options.map((o) => element("option", o === chosen ? { value: o, selected: "" } : { value: o }, String(o))));
    return [element("label", {}, `${label} `, select), select];
  };

  // States after 0, 1, … tiles. The output keeps the first components of the values that the recording holds.
  function states(head, tile) {
    const { scores, values } = head;
    const width = values[0].length;
    const all = [{ end: 0, m: -Infinity, l: 0, a: Array(width).fill(0), factor: 1 }];
    for (let first = 0; first < scores.length; first += tile) {
      const last = all[all.length - 1];
      const end = Math.min(first + tile, scores.length);
      const m = Math.max(last.m, ...scores.slice(first, end));
      const factor = Math.exp(last.m - m);
      let l = last.l * factor;
      const a = last.a.map((x) => x * factor);
      for (let j = first; j < end; ++j) {
        const p = Math.exp(scores[j] - m);
        l += p;
        for (let d = 0; d < width; ++d) a[d] += p * values[j][d];
      }
      all.push({ first, end, m, l, a, factor });
    }
    return all;
  }

  function box(label, value, note) {
    return element("div", {}, label, element("b", {}, value), note);
  }

  function draw(all, head, at, stage) {
    const now = all[Math.min(at, all.length - 1)];
    const done = at === all.length;
    const rows = head.scores.map((score, j) => {
      const seen = j < now.end;
      const p = seen ? Math.exp(score - now.m) / (done ? now.l : 1) : 0;
      const fresh = !done && at > 0 && j >= now.first && seen;
      return element("tr", { class: fresh ? "tile" : seen ? "" : "later" }, element("td", { class: "number" }, String(j)), element("td", {}, record.pieces[j]),
        element("td", { class: "number" }, fixed(score)), element("td", { class: "number" }, seen ? p.toFixed(3) : ""),
        element("td", { style: "width:40%" }, element("span", { class: "bar", style: `width:${(100 * p).toFixed(1)}%` })));
    });
    const output = (o, by) => o.map((x) => fixed(x / by)).join("  ");
    const heads = ["j", "Key", "Score", done ? "Weight" : "exp(score − m)", ""];
    stage.replaceChildren(
      element("div", { class: "state" },
        box("running maximum m", fixed(now.m), at && !done ? `old values count ${now.factor.toFixed(3)} times` : ""),
        box("running sum l", fixed(now.l), ""),
        box(done ? "output a / l" : "running sum of values a", output(now.a, done ? now.l : 1), `the first ${now.a.length} of ${record.head_dim} components`)),
      element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((h, i) => element("th", [0, 2, 3].includes(i) ? { class: "number" } : {}, h)))),
        element("tbody", {}, ...rows))));
    if (at === 0) return "Nothing has been read: the maximum is −∞, both sums 0.";
    if (done) return `Only now is divided: each exp(score − m) by l = ${now.l.toFixed(3)} gives the softmax, and a / l the result. No row of scores was ever kept.`;
    const before = all[at - 1];
    const change = now.m > before.m && before.m > -Infinity
      ? `The maximum grew from ${fixed(before.m)} to ${fixed(now.m)}, so what was summed before is multiplied by exp(${fixed(before.m)} − ${fixed(now.m)}) = ${now.factor.toFixed(3)}.`
      : before.m === -Infinity ? `Its largest score is the first maximum, ${fixed(now.m)}.` : "No score is larger than the maximum so far: the factor is 1.";
    return `Tile ${at}: keys ${now.first} to ${now.end - 1}. ${change}`;
  }

  const [headLabel, headChoice] = choice("Head", record.heads.map((h) => h.head), record.heads[0].head);
  const [tileLabel, tileChoice] = choice("Keys in a tile", [1, 2, 4, 8], 4);
  const player = element("div");
  root.append(element("p", { class: "controls" }, headLabel, tileLabel), player);
  function restart() {
    const head = record.heads.find((h) => h.head === Number(headChoice.value));
    const all = states(head, Number(tileChoice.value));
    const fresh = element("div");
    player.replaceChildren(fresh);
    Player.start(fresh, all.length + 1, (at, stage) => draw(all, head, at, stage));
  }
  headChoice.addEventListener("change", restart);
  tileChoice.addEventListener("change", restart);
  restart();
})();
