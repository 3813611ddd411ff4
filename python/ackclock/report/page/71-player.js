// Controls of the animation: it moves the time that is looked at, and everything follows.

const STEPS = 2000;
const ICONS = {
  play: "M4 2l9 6-9 6z",
  pause: "M4 2h3v12H4zM9 2h3v12H9z",
  next: "M3 2l7 6-7 6zM11 2h2v12h-2z",
  previous: "M13 2L6 8l7 6zM3 2h2v12H3z",
};
const icon = (shape) =>
  drawn(
    "svg",
    { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" },
    drawn("path", { d: shape }),
  );

class Player {
  constructor(view, pictures) {
    Object.assign(this, { view, pictures, playing: false });
    const windows = view.runs.map((run) => run.packets).filter(Boolean);
    this.from = Math.min(...windows.map(({ from }) => from));
    this.to = Math.max(...windows.map(({ to }) => to));
    this.event = element("div", { class: "card event-card", "aria-live": "polite" });
    this.element = windows.length ? this.controls(windows) : this.absent();
    view.on("time", () => this.update());
  }

  absent() {
    const why = this.view.runs.map((run) => run.withoutPackets).find(Boolean);
    return element("p", { class: "faint" }, `No animation: ${why}`);
  }

  controls(windows) {
    const button = (label, keys, onclick, shape) =>
      element(
        "button",
        { type: "button", "aria-label": label, title: `${label} (${keys})`, onclick },
        icon(shape),
      );
    this.play = button("Play", "space", () => this.toggle(), ICONS.play);
    this.slider = element("input", {
      type: "range",
      min: 0,
      max: STEPS,
      value: 0,
      "aria-label": "Time in the animation",
      oninput: () =>
        this.view.follow(this.from + (this.slider.value / STEPS) * (this.to - this.from)),
    });
    const crossing = windows.flatMap(({ start, arrival }) =>
      Array.from(arrival.slice(0, 4000), (time, i) => time - start[i]).filter(Number.isFinite),
    );
    const usual = Math.log10(Math.max(...crossing, 1e-7) / 1.5);
    this.pace = element("input", {
      type: "range",
      min: usual - 2,
      max: Math.max(usual + 2, 0),
      step: 0.05,
      value: usual,
      "aria-label": "Speed",
      oninput: () => this.setSpeed(),
    });
    this.paceText = element("output", { class: "faint" });
    this.timeText = element("output", { class: "now" });
    this.setSpeed();
    return element(
      "div",
      { class: "player", role: "group", "aria-label": "Animation of packets" },
      element(
        "div",
        { class: "buttons" },
        button("Previous event", "p", () => this.step(false), ICONS.previous),
        this.play,
        button("Next event", "n", () => this.step(true), ICONS.next),
        this.timeText,
      ),
      this.slider,
      element(
        "label",
        { class: "pace" },
        element("span", { class: "faint" }, "Speed"),
        this.pace,
        this.paceText,
      ),
      windows.some(({ cut }) => cut)
        ? element(
            "p",
            { class: "faint" },
            "The animation ends early: it would hold too many packets.",
          )
        : "",
    );
  }

  setSpeed() {
    this.speed = 10 ** Number(this.pace.value);
    for (const picture of this.pictures) picture.speed = this.speed;
    this.paceText.value = `${duration(this.speed)} per second`;
  }

  toggle() {
    if (this.playing) this.stop();
    else this.begin();
  }

  begin() {
    if (!this.play) return;
    const { view } = this;
    const inside = view.time !== null && view.time >= this.from && view.time < this.to * 0.9999;
    if (view.span > 4 * (this.to - this.from)) view.show(this.from, this.to);
    view.follow(inside ? view.time : this.from);
    this.playing = true;
    this.setButton("Pause", ICONS.pause);
    let before = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      if (!still.matches || now - before >= 250) {
        const next = Math.min(this.to, view.time + ((now - before) / 1000) * this.speed);
        before = now;
        view.follow(next);
        if (next >= this.to) this.stop();
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  stop() {
    this.playing = false;
    if (this.play) this.setButton("Play", ICONS.play);
  }

  setButton(label, shape) {
    this.play.replaceChildren(icon(shape));
    this.play.setAttribute("aria-label", label);
    this.play.title = `${label} (space)`;
  }

  // Go to the next event, or to the one before, and say what it is.
  step(forward) {
    this.stop();
    const time = this.view.neighbour(forward);
    if (time !== null) this.view.follow(time);
  }

  update() {
    const { time } = this.view;
    if (time === null) return;
    if (this.slider) {
      this.slider.value = (STEPS * (time - this.from)) / (this.to - this.from);
      this.timeText.value = moment(time, Math.min(1, this.view.span, this.to - this.from));
    }
    const here = this.view.runs
      .flatMap((run) => run.events)
      .filter((event) => event.t === time && this.view.visible(event))
      .slice(0, 3);
    if (here.length)
      this.event.replaceChildren(...here.map((event) => eventText(event, this.view.span)));
    else if (!this.event.querySelector(".hint")) {
      this.event.replaceChildren(
        element(
          "p",
          { class: "faint hint" },
          "Step to an event (n) to read what happened and by which rule.",
        ),
      );
    }
  }
}
