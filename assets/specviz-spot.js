// A light on one part of the page and a card that talks about it: everything else is dimmed.

const SV_GAP = 12; // pixels between the lit part and its card
const SV_HALO = 6; // pixels around the lit part

// Where the card goes: under the lit part, else above it, else beside it, else at the bottom of the
// window over it. All arguments are {left, top, width, height}-like; `view` has width and height.
function svCardPlace(lit, card, view) {
  const edge = SV_GAP;
  const keep = (at, size, all) => Math.max(edge, Math.min(at, all - size - edge));
  const left = keep(lit.left, card.width, view.width);
  const below = lit.top + lit.height + SV_GAP;
  if (below + card.height + edge <= view.height) return { left, top: below };
  const above = lit.top - SV_GAP - card.height;
  if (above >= edge) return { left, top: above };
  const top = keep(lit.top, card.height, view.height);
  const right = lit.left + lit.width + SV_GAP;
  if (right + card.width + edge <= view.width) return { left: right, top };
  const before = lit.left - SV_GAP - card.width;
  if (before >= edge) return { left: before, top };
  return { left, top: view.height - card.height - edge };
}

// How far the page must be scrolled so that the lit part and the card under it are both seen; the
// lit part's top wins where there is not enough room.
function svScrollBy(lit, card, view) {
  const need = lit.height + SV_GAP + card.height + 2 * SV_GAP;
  const spare = Math.max(0, view.height - need);
  return Math.round(lit.top - SV_GAP - spare / 2);
}

class SvSpot {
  // `inert` is what is out of reach while the light is on.
  constructor(inert) {
    this.inert = inert;
    this.box = document.createElement("div");
    this.box.className = "sv-spot";
    this.hole = svNode("div", "sv-spot-hole", this.box);
    this.hole.setAttribute("aria-hidden", "true");
    this.card = svNode("section", "sv-lesson", this.box);
    this.follow = () => this.place();
    this.watcher = new ResizeObserver(this.follow);
  }

  get on() {
    return this.box.isConnected;
  }

  open() {
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.box.classList.toggle("sv-calm", calm); // Gradio ties media rules to its own box
    document.body.appendChild(this.box);
    this.inert.inert = true;
    window.addEventListener("scroll", this.follow, true);
    window.addEventListener("resize", this.follow);
    this.watcher.observe(this.inert);
  }

  close() {
    this.box.remove();
    this.inert.inert = false;
    window.removeEventListener("scroll", this.follow, true);
    window.removeEventListener("resize", this.follow);
    this.watcher.disconnect();
  }

  // Light a part; `find` looks it up anew whenever the page is laid out again.
  light(find) {
    this.find = find;
    const node = find();
    if (node) {
      const by = svScrollBy(node.getBoundingClientRect(), this.size(), this.view());
      window.scrollBy({ top: by, behavior: "instant" });
    }
    this.place();
  }

  view() {
    return { width: document.documentElement.clientWidth, height: window.innerHeight };
  }

  size() {
    return { width: this.card.offsetWidth, height: this.card.offsetHeight };
  }

  place() {
    const node = this.find && this.find();
    this.hole.hidden = !node;
    if (!node) return;
    const { left, top, width, height } = node.getBoundingClientRect();
    const [x, y, more] = [left - SV_HALO, top - SV_HALO, 2 * SV_HALO];
    const lit = { left: x, top: y, width: width + more, height: height + more };
    this.put(this.hole, lit);
    const spot = svCardPlace(lit, this.size(), this.view());
    this.card.style.left = spot.left + "px";
    this.card.style.top = spot.top + "px";
  }

  put(node, { left, top, width, height }) {
    Object.assign(node.style, {
      left: left + "px", top: top + "px", width: width + "px", height: height + "px",
    });
  }
}

if (typeof module !== "undefined") module.exports = { svCardPlace, svScrollBy };
