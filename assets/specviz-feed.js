// Messages in: parses them, keeps them in order, asks for those that were missed.

const SV_SILENCE = 2000; // ms without news after which a running run is asked for

class SvFeed {
  // `host` is told: opened() for a new run, changed() after news, notice(error) for a sentence.
  constructor(host) {
    this.host = host;
    this.run = svNewRun("");
    this.asking = false;
    this.waiting = null; // texts that came in while the feed was held
    this.fresh = []; // times of the oldest records in messages that are not drawn yet
    this.heard = 0; // when the last news came
    setInterval(() => this.watch(), SV_SILENCE);
    this.stats = { messages: 0, bytes: 0, biggest: 0, gaps: 0, lags: [], frames: 0, frameMs: [], drawMs: 0 };
  }

  // While the lesson is on screen, messages wait.
  hold() {
    this.waiting = [];
  }

  release() {
    const texts = this.waiting || [];
    this.waiting = null;
    for (const text of texts) this.receive(text);
  }

  receive(text) {
    if (this.waiting) {
      this.waiting.push(text);
      return;
    }
    let message;
    try { message = JSON.parse(text || "null"); } catch { return; }
    if (!message || !Array.isArray(message.ev)) return;
    if (message.run === "") {
      if (message.error) this.host.notice(message.error);
      return;
    }
    this.heard = Date.now();
    this.stats.messages++;
    this.stats.bytes += text.length;
    this.stats.biggest = Math.max(this.stats.biggest, text.length);
    if (message.run !== this.run.id) {
      this.run = svNewRun(message.run);
      this.host.opened();
    }
    const result = svApply(this.run, message);
    if (result === "gap") {
      this.stats.gaps++;
      this.resync();
    } else if (result === "ok" && message.at) this.fresh.push(message.at);
    this.host.changed();
  }

  // A run that fell silent may have ended without a word, as when its page was cancelled.
  watch() {
    const { run } = this;
    const running = run.kind === "live" && run.lanes.length && !run.end;
    if (running && Date.now() - this.heard > SV_SILENCE) this.resync();
  }

  // Fetch messages that were missed; the server keeps them for a while.
  async resync() {
    if (this.asking) return;
    this.asking = true;
    const { run } = this;
    try {
      for (;;) {
        const missed = await server.resync([run.id, run.seq]);
        if (!Array.isArray(missed) || !missed.length || run !== this.run) break;
        for (const text of missed) svApply(run, JSON.parse(text));
        this.host.changed();
      }
    } finally {
      this.asking = false;
    }
  }

  // What came in is on screen now.
  drawn(ms) {
    for (const at of this.fresh) this.stats.lags.push(Date.now() - at);
    this.fresh = [];
    this.stats.frames++;
    this.stats.frameMs.push(ms);
  }
}
