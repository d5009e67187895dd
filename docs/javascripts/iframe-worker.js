// A page that is opened from a folder may not start a worker, which the search runs in. There the
// worker's script runs in a hidden frame instead, with the same messages.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    this.ready = new Promise((resolve) => this.frame.addEventListener("load", resolve));
    const script = document.createElement("script");
    script.src = new URL(url, document.baseURI).href;
    const start = "var postMessage = (data) => parent.postMessage({fromFrame: data}, '*');" +
      "var importScripts = (...urls) => urls.forEach((url) => document.write(" +
      "`<script src=\"${url}\"><\\/script>`));";
    this.frame.srcdoc = `<script>${start}</script>${script.outerHTML}`;
    this.heard = (event) => {
      if (event.source === this.frame.contentWindow && event.data && "fromFrame" in event.data) {
        this.dispatchEvent(new MessageEvent("message", { data: event.data.fromFrame }));
      }
    };
    window.addEventListener("message", this.heard);
    document.body.append(this.frame);
  }

  postMessage(data) {
    this.ready.then(() => {
      const { contentWindow } = this.frame;
      contentWindow.dispatchEvent(new contentWindow.MessageEvent("message", { data }));
    });
  }

  terminate() {
    window.removeEventListener("message", this.heard);
    this.frame.remove();
  }
}

if (location.protocol === "file:") {
  window.Worker = FrameWorker;
}
