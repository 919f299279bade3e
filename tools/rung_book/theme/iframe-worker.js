// Search runs in a Worker, which browsers refuse to pages opened as files. There a hidden frame runs the same script.
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...urls) => Promise.all(urls.map((u) => this.load(inner, u)));
      inner.__index = window.__index;
      this.inner = inner;
      this.load(inner, url).then(() => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      });
    }

    load(inner, url) {
      return new Promise((resolve, reject) => {
        const script = inner.document.createElement("script");
        script.src = new URL(url, location);
        script.onload = resolve;
        script.onerror = reject;
        inner.document.head.append(script);
      });
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
    }
  };
}
