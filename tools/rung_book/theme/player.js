// What the interactive pages share: reading a recording, building elements, and stepping with buttons, a slider or the keyboard.
"use strict";

const Player = {
  recording(name) {
    return JSON.parse(document.getElementById(name + "-recording").textContent);
  },

  // An element with attributes and children (elements or texts).
  element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  },

  // Fills `root` with controls, a line that says what happens, and a stage; show(step, stage) draws a step and returns that line.
  start(root, steps, show) {
    const { element } = Player;
    let step = 0;
    let timer = null;
    const button = (label, title, act) => {
      const made = element("button", { type: "button", title, "aria-label": title }, label);
      made.addEventListener("click", act);
      return made;
    };
    const slider = element("input", { type: "range", min: 0, max: steps - 1, value: 0, "aria-label": "Step" });
    const count = element("span", { class: "count" });
    const says = element("p", { class: "says", role: "status" });
    const stage = element("div");
    const stop = () => {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    };
    const go = (to) => {
      step = Math.max(0, Math.min(steps - 1, to));
      slider.value = step;
      count.textContent = `${step + 1} / ${steps}`;
      back.disabled = step === 0;
      next.disabled = step === steps - 1;
      says.textContent = show(step, stage);
      if (timer && step === steps - 1) stop();
    };
    const by = (change) => () => {
      stop();
      go(step + change);
    };
    const back = button("◀", "One step back", by(-1));
    const next = button("▶", "One step on", by(1));
    const play = button("Play", "Play or pause", () => {
      if (timer) return stop();
      if (step === steps - 1) go(0);
      timer = setInterval(() => go(step + 1), 1200);
      play.textContent = "Pause";
    });
    slider.addEventListener("input", () => {
      stop();
      go(Number(slider.value));
    });
    const keys = { ArrowRight: 1, ArrowLeft: -1, Home: -steps, End: steps };
    root.addEventListener("keydown", (event) => {
      if (!(event.key in keys) || event.target === slider || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      by(keys[event.key])();
    });
    root.tabIndex = 0;
    root.append(element("div", { class: "controls" }, back, next, play, slider, count), says, stage);
    go(0);
  },
};
