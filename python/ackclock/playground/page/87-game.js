// "You are the congestion control": the reader sets a window, live, against CUBIC on one bottleneck.

const LENGTH = 40;
const LINK_BPS = 10e6;
const BASE_RTT = 0.044;
const SEGMENT = 1448;
const MOST_SEGMENTS = 160;
const STEP = 0.05;
const RECENT = 1;

class Game {
  constructor(page, send) {
    Object.assign(this, { page, send, playing: false });
    this.slider = element("input", {
      type: "range",
      id: "window",
      min: 1,
      max: MOST_SEGMENTS,
      value: 10,
      "aria-label": "Your congestion window, segments",
      oninput: () => this.setWindow(Number(this.slider.value)),
    });
    this.windowText = element("output", { class: "big" }, "10 segments");
    this.button = element(
      "button",
      { type: "button", id: "play", class: "main", onclick: () => this.toggle() },
      "Start",
    );
    this.clock = element("output", { class: "now" });
    this.scores = Object.fromEntries(
      ["score", "goodput", "share", "delay", "lost"].map((name) => [
        name,
        element("output", { id: `game-${name}` }, "–"),
      ]),
    );
    const score = (name, title, what) =>
      element(
        "div",
        { class: "score", title: what },
        element("span", { class: "faint" }, title),
        this.scores[name],
      );
    this.charts = [
      "Goodput, Mbps",
      "Window, segments",
      "Your round-trip time, ms",
      "Queue, packets",
    ].map((title) => ({
      title,
      place: element("div", { class: "plot" }),
    }));
    this.result = element("p", { class: "verdict", role: "status" });
    this.element = element(
      "section",
      { class: "card game", "aria-label": "You are the congestion control" },
      element("h2", {}, "You are the congestion control"),
      element(
        "p",
        {},
        "You and a CUBIC flow share 10 Mbps; without a queue a round trip takes 44 ms, and the buffer holds 60 packets. Your slider is your ",
        element("b", {}, "congestion window"),
        ": how many segments may be on their way. Too small, and CUBIC takes the link; too large, and the queue delays everything and drops packets. ",
        element("kbd", {}, "←"),
        " ",
        element("kbd", {}, "→"),
        " change it by 1, ",
        element("kbd", {}, "↑"),
        " ",
        element("kbd", {}, "↓"),
        " by 10.",
      ),
      element("div", { class: "desk" }, this.button, this.clock, this.slider, this.windowText),
      element(
        "div",
        { class: "scores" },
        score(
          "score",
          "Score",
          "100 × your share of the link × minimum round-trip time / your mean round-trip time",
        ),
        score("goodput", "Your goodput", "Data of yours that have arrived, by the time so far"),
        score("share", "Your share", "Of what both flows received, since CUBIC started"),
        score("delay", "Your mean RTT", "Mean of your round-trip times"),
        score("lost", "You lost", "Packets of yours that the queue has dropped"),
      ),
      this.result,
      element(
        "p",
        { class: "chip-row" },
        ...this.flows().map(({ label, light, dark }) =>
          element(
            "span",
            { class: "chip", style: `--light:${light};--dark:${dark}` },
            element("i"),
            label,
          ),
        ),
      ),
      element(
        "div",
        { class: "charts" },
        ...this.charts.map(({ title, place }) =>
          element("div", {}, element("h3", {}, title), place),
        ),
      ),
      element(
        "p",
        { class: "faint" },
        "The score is the power of your flow (throughput over delay; Kleinrock 1979): 100 × your goodput / 10 Mbps × 44 ms / your mean round-trip time. CUBIC starts after 2 s. Losses are retransmitted, but your window stays where you put it.",
      ),
    );
    this.reset();
  }

  flows() {
    const { light, dark } = this.page.flows;
    return ["You", "CUBIC"].map((label, i) => ({ label, light: light[i], dark: dark[i] }));
  }

  reset() {
    this.time = [];
    this.series = this.charts.map((_, i) => (i < 2 ? [[], []] : [[]]));
    this.total = { received: [0, 0], together: [0, 0], rtt: 0, samples: 0, lost: 0 };
    this.recent = [];
    this.last = { cwnd: [null, null], rtt: null, waiting: 0 };
  }

  // The charts need a place on the screen to know their width.
  shown() {
    if (this.charts[0].chart) return;
    const axis = (size) => ({
      stroke: () => ink("faint"),
      font: "11px system-ui, sans-serif",
      grid: { stroke: () => ink("grid"), width: 1 },
      ticks: { show: false },
      size,
    });
    this.charts.forEach((made, i) => {
      const one = (flow) => ({ stroke: () => colorOf(flow), width: 1.5, points: { show: false } });
      const flows = this.flows().map((flow) => ({ ...flow, key: "game" }));
      const queue = { light: this.page.links.light[0], dark: this.page.links.dark[0], key: "game" };
      made.chart = new uPlot(
        {
          width: made.place.clientWidth,
          height: 150,
          legend: { show: false },
          cursor: { show: false },
          series: [{}, ...[flows, flows, flows.slice(0, 1), [queue]][i].map(one)],
          scales: {
            x: { time: false, range: [0, LENGTH] },
            y: { range: (_, __, max) => [0, Math.max(1, (max ?? 1) * 1.1)] },
          },
          axes: [axis(28), axis(40)],
        },
        [[], ...this.series[i]],
        made.place,
      );
    });
    document.addEventListener("recolor", () =>
      this.charts.forEach(({ chart }) => chart.redraw(false)),
    );
    new ResizeObserver(() => {
      for (const { chart, place } of this.charts) {
        if (place.clientWidth) chart.setSize({ width: place.clientWidth, height: 150 });
      }
    }).observe(this.charts[0].place);
  }

  setWindow(segments) {
    this.window = Math.max(1, Math.min(MOST_SEGMENTS, segments));
    this.slider.value = this.window;
    this.windowText.value = `${this.window} segment${this.window === 1 ? "" : "s"}`;
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 10, ArrowDown: -10 }[event.key];
    if (event.key === " " && !event.target.matches("button")) this.toggle();
    else if (step) this.setWindow((this.window ?? 10) + step);
    else return false;
    return true;
  }

  toggle() {
    if (this.playing) this.stop();
    else this.begin();
  }

  begin() {
    this.reset();
    this.shown();
    this.setWindow(Number(this.slider.value));
    this.result.textContent = "";
    this.playing = true;
    this.button.textContent = "Stop";
    this.send({ kind: "begin", text: this.page.game });
    this.started = performance.now();
    this.next(0);
  }

  // One step of simulated time for one of real time; a slow machine plays slower, it leaves nothing out.
  next(now) {
    const due = this.started + (now + STEP) * 1000 - performance.now();
    if (due < -500) this.started -= due;
    this.timer = setTimeout(
      () => {
        if (this.playing) this.send({ kind: "advance", until: now + STEP, segments: this.window });
      },
      Math.max(0, due),
    );
  }

  stop() {
    this.playing = false;
    clearTimeout(this.timer);
    this.button.textContent = "Start again";
  }

  played(turn) {
    if (!this.playing) return;
    const { total, last, recent } = this;
    const now = turn.now;
    const both = now > 2;
    turn.received.forEach((bytes, i) => {
      total.received[i] += bytes;
      if (both) total.together[i] += bytes;
    });
    recent.push([now, turn.received]);
    while (recent[0][0] < now - RECENT) recent.shift();
    if (turn.rtt[0] !== null) {
      total.rtt += turn.rtt[0];
      total.samples += 1;
      last.rtt = turn.rtt[0];
    }
    total.lost += turn.lost[0];
    turn.cwnd.forEach((bytes, i) => {
      if (bytes !== null) last.cwnd[i] = bytes / SEGMENT;
    });
    if (turn.waiting !== null) last.waiting = turn.waiting;
    const span = Math.max(STEP, Math.min(RECENT, now));
    const rates = [0, 1].map(
      (i) => (recent.reduce((sum, [, bytes]) => sum + bytes[i], 0) * 8) / span / 1e6,
    );
    this.time.push(now);
    [rates, last.cwnd, [last.rtt === null ? null : last.rtt * 1e3], [last.waiting]].forEach(
      (values, i) => values.forEach((value, of) => this.series[i][of].push(value)),
    );
    this.draw(now);
    if (turn.over || now >= LENGTH - STEP / 2) this.finish();
    else this.next(now);
  }

  figures(now) {
    const { total } = this;
    const goodput = (total.received[0] * 8) / now;
    const rtt = total.samples ? total.rtt / total.samples : null;
    const together = total.together[0] + total.together[1];
    return {
      goodput,
      rtt,
      share: together ? total.together[0] / together : null,
      score: rtt ? 100 * (goodput / LINK_BPS) * Math.min(1, BASE_RTT / rtt) : 0,
    };
  }

  draw(now) {
    this.charts.forEach(({ chart }, i) => chart.setData([this.time, ...this.series[i]]));
    const { goodput, rtt, share, score } = this.figures(now);
    this.scores.score.value = score.toFixed(1);
    this.scores.goodput.value = rateText(goodput);
    this.scores.share.value = share === null ? "–" : `${Math.round(100 * share)} %`;
    this.scores.delay.value = rtt === null ? "–" : duration(rtt);
    this.scores.lost.value = String(this.total.lost);
    this.clock.value = `${now.toFixed(1)} of ${LENGTH} s`;
  }

  finish() {
    this.stop();
    const { score, share } = this.figures(this.time.at(-1));
    const percent = Math.round(100 * (share ?? 0));
    const words =
      percent > 60
        ? "CUBIC got less than its share"
        : percent < 40
          ? "CUBIC took more than its share"
          : "you and CUBIC shared fairly";
    this.result.textContent = `Score ${score.toFixed(1)}, with ${percent} % of the data: ${words}.`;
  }
}
