// What all parts of the page share: the span that is shown, the time that is looked at, what is
// hidden. Parts listen to `span`, `time` and `shown`.

class View extends EventTarget {
  constructor(runs) {
    super();
    this.runs = runs;
    this.end = Math.max(...runs.map((run) => run.end));
    [this.from, this.to] = [0, this.end];
    this.time = null;
    this.hidden = new Set();
    for (const run of runs) {
      for (const lane of run.lanes) if (!lane.shown) this.hidden.add(lane.key);
      for (const flow of run.flows) if (flow.shown === false) this.hidden.add(flow.key);
    }
    this.idle = new Set(this.hidden);
  }

  notify(what) {
    this.dispatchEvent(new Event(what));
  }

  on(what, listener) {
    this.addEventListener(what, listener);
  }

  get span() {
    return this.to - this.from;
  }

  // Width of the windows for rates: a round number of bins, some hundred on the screen.
  bins(width) {
    return Math.max(1, Math.round(roundStep(this.span / 300) / width));
  }

  show(from, to) {
    const least = this.end * 1e-6;
    const span = Math.min(this.end, Math.max(least, to - from));
    this.from = Math.max(0, Math.min(from, this.end - span));
    this.to = this.from + span;
    this.notify("span");
  }

  reset() {
    this.show(0, this.end);
  }

  // Zoom by a factor, so that what is looked at stays where it is.
  zoom(factor) {
    const seen = this.time !== null && this.time >= this.from && this.time <= this.to;
    const fixed = seen ? this.time : (this.from + this.to) / 2;
    this.show(fixed - (fixed - this.from) * factor, fixed + (this.to - fixed) * factor);
  }

  look(time) {
    this.time = Math.max(0, Math.min(time, this.end));
    this.notify("time");
  }

  // Look at a time, and bring it onto the screen if it is not there.
  follow(time) {
    if (time < this.from || time > this.to) {
      this.show(time - this.span * 0.3, time + this.span * 0.7);
    }
    this.look(time);
  }

  toggle(key, alone, keys) {
    if (alone) {
      const others = keys.filter((other) => other !== key);
      const only = others.every((other) => this.hidden.has(other));
      for (const other of others) this.hidden[only ? "delete" : "add"](other);
      this.hidden.delete(key);
    } else if (!this.hidden.delete(key)) this.hidden.add(key);
    this.notify("shown");
  }

  visible(entry) {
    const owner = entry.flow ?? entry.lane;
    return !owner || !this.hidden.has(owner.key);
  }

  // The first event after the time that is looked at, or the last one before it.
  neighbour(forward) {
    const now = this.time ?? (forward ? -1 : Infinity);
    const near = this.runs
      .flatMap((run) => run.events)
      .filter((event) => this.visible(event) && (forward ? event.t > now : event.t < now))
      .map((event) => event.t);
    if (!near.length) return null;
    return near.reduce((one, other) => (one < other === forward ? one : other));
  }
}
