// What can be taken away: the lane looked at as a trace, a page, a time line, or a link. The server
// writes them, the browser saves them; a host without a server says what it `offers`.

const SV_TAKE = {
  trace: ["application/json", ".json"],
  document: ["text/html", ".html"],
  timeline: ["application/json", "-events.json"],
};

class SvShare {
  constructor(parent, viewer) {
    this.viewer = viewer;
    this.box = svNode("div", "sv-share-row", parent);
    this.box.setAttribute("role", "group");
    this.lanes = svNode("select", "sv-share-lane", this.box);
    this.lanes.addEventListener("change", () => this.choose(Number(this.lanes.value)));
    this.buttons = new Map();
    const offers = server.offers instanceof Array ? server.offers : [...Object.keys(SV_TAKE), "link"];
    for (const name of offers) {
      const act = name === "link" ? () => this.link() : () => this.save(name);
      this.buttons.set(name, this.button(name, act));
    }
    this.address = svNode("input", "sv-share-address", this.box);
    this.address.readOnly = true;
    this.address.hidden = true;
    this.address.addEventListener("focus", () => this.address.select());
  }

  button(name, act) {
    const button = svNode("button", "sv-small-button sv-share-" + name, this.box);
    button.type = "button";
    button.addEventListener("click", act);
    return button;
  }

  say(key, values) {
    return this.viewer.say(key, values);
  }

  words() {
    this.box.setAttribute("aria-label", this.say("sv_share_label"));
    this.lanes.setAttribute("aria-label", this.say("sv_share_lane"));
    this.address.setAttribute("aria-label", this.say("sv_share_address"));
    for (const [name, button] of this.buttons) {
      button.textContent = this.say("sv_share_" + name);
      button.title = this.say("sv_share_" + name + "_info");
    }
  }

  draw(run, active) {
    const lane = run.lanes[active];
    const ready = Boolean(run.end && lane && lane.steps.length);
    if (this.box.hidden === Boolean(run.lanes.length)) this.box.hidden = !run.lanes.length;
    for (const button of this.buttons.values()) if (button.disabled === ready) button.disabled = !ready;
    const key = run.id + run.lanes.length;
    if (this.key !== key) this.opened(run, key);
    const place = active + "," + this.viewer.shown[active];
    if (!this.address.hidden && this.place !== place) this.forget();
    if (this.lanes.value !== String(active)) this.lanes.value = String(active);
  }

  // Another run came on screen.
  opened(run, key) {
    this.key = key;
    this.lanes.textContent = "";
    this.lanes.hidden = run.lanes.length < 2;
    run.lanes.forEach((lane, place) => {
      const option = svNode("option", "", this.lanes);
      option.value = String(place);
      option.textContent = this.viewer.said(lane.title);
    });
    this.forget();
  }

  // The link shown is not that of what is on screen any more.
  forget() {
    this.address.hidden = true;
    this.words();
  }

  choose(place) {
    const { viewer } = this;
    viewer.cursor.unpin(false);
    viewer.choose(place);
    viewer.draw();
  }

  async ask(name, ...more) {
    const { feed, active, figures } = this.viewer;
    const text = await server[name]([feed.run.id, active, ...more]);
    if (!text) figures.error(this.say("sv_error_gone"));
    return text;
  }

  async save(name) {
    const [type, end] = SV_TAKE[name];
    const { feed, active } = this.viewer;
    const key = feed.run.lanes[active].key.replace(/[^\w-]+/g, "-").slice(0, 40);
    const text = await this.ask(name);
    if (!text) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = "specviz-" + key + end;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  async link() {
    const { viewer } = this;
    const text = await this.ask("link", viewer.shown[viewer.active] || 0);
    if (!text) return;
    const { query, refused } = JSON.parse(text);
    if (refused) {
      viewer.notice(["", refused]);
      return;
    }
    const { origin, pathname } = window.location;
    this.place = viewer.active + "," + viewer.shown[viewer.active];
    this.address.value = origin + pathname + (query ? "?" + query : "");
    this.address.hidden = false;
    const told = this.say((await this.copy()) ? "sv_share_copied" : "sv_share_select");
    this.buttons.get("link").textContent = told;
    viewer.announce(told);
  }

  // Browsers without a clipboard, or pages without leave to use it, get the link selected.
  async copy() {
    try {
      await navigator.clipboard.writeText(this.address.value);
      return true;
    } catch {
      this.address.focus();
      return false;
    }
  }
}
