// Puts the playground together.

const WAIT_MS = 250;

const start = async () => {
  const { page, arrays } = await unpack(document.getElementById("data").textContent);
  const [at, length] = page.engine;
  const byId = (id) => document.getElementById(id);
  const [stage, status, bar] = ["stage", "status", "bar"].map(byId);
  const bytes = arrays.slice(at, at + length);
  // Beside the worker's engine one that reads at once, whatever runs.
  const reader = await Engine.of(bytes);
  const read = () => {
    reader.read(editor.text);
    return { text: editor.text, outline: new Outline(reader.outline()) };
  };
  const controls = new Controls(read, (text) => {
    editor.text = text;
    run();
  });
  const editor = new Editor(() => run());
  byId("editor").append(editor.element);
  byId("controls").append(controls.element);

  let worker = null;
  let game = null;
  let number = 0;
  let timer = 0;
  let began = 0;
  let last = null;
  let shown = new AbortController();

  const send = (message) => worker.postMessage(message);
  const say = (words, wrong = false) => {
    status.textContent = words;
    status.classList.toggle("wrong", wrong);
  };
  // What is shown belongs to an earlier text.
  const stale = (on) => document.documentElement.toggleAttribute("data-stale", on);
  const busy = (on) => {
    byId("stop").disabled = !on;
    bar.hidden = !on;
    if (on) bar.removeAttribute("value");
  };

  // Every change is run; a run that goes on is given up for the newer text.
  const run = (wait = WAIT_MS) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      number += 1;
      began = performance.now();
      busy(true);
      delete document.documentElement.dataset.done;
      send({ kind: "run", text: editor.text, number });
    }, wait);
  };

  const draw = (about, stopped, interval) => {
    shown.abort();
    shown = new AbortController();
    last = assembled(about, page);
    stale(false);
    const took = (performance.now() - began) / 1000;
    const events = about.summary.events.toLocaleString("en");
    showFigures(
      byId("figures"),
      last,
      `${events} events, ${duration(about.end)} simulated in ${duration(took)} in this page.`,
    );
    makeStage(stage, [last], unitsOf(about), shown.signal);
    controls.show(last);
    const { stop_reason: reason } = about.summary;
    const coarse = `A long run: of round-trip times, queues and data in flight the extremes of each ${duration(interval)} are shown.`;
    if (stopped) say(`Stopped at ${moment(about.summary.end_s, 1)}.`);
    else if (reason === "record-limit") say("The records were full: the run ended early.", true);
    else say(interval ? coarse : "");
    document.documentElement.dataset.done = number;
  };

  const handlers = {
    ready: async () => {
      const shared = await fromFragment(location.hash).catch((error) => {
        say(error.message, true);
        return null;
      });
      choose(shared ?? page.gallery[0].text);
      document.documentElement.dataset.ready = "";
    },
    checked: ({ number: of, problems, warnings }) => {
      if (of !== number) return;
      editor.show(problems, warnings);
      if (!problems.length) return;
      busy(false);
      stale(true);
      const [first] = problems;
      const count = problems.length === 1 ? "One error" : `${problems.length} errors`;
      say(
        `${count} in the scenario. ${first.line ? `Line ${first.line}: ` : ""}${first.message}`,
        true,
      );
      document.documentElement.dataset.done = number;
    },
    progress: ({ number: of, now, end, events }) => {
      if (of !== number) return;
      bar.value = now / end;
      say(`${moment(now, 1)} of at most ${moment(end, 1)}, ${events.toLocaleString("en")} events`);
    },
    done: ({ number: of, run: about, stopped, interval }) => {
      if (of !== number) return;
      busy(false);
      draw(about, stopped, interval);
    },
    played: (turn) => game.played(turn),
    fault: ({ message }) => {
      busy(false);
      game?.stop();
      say(`${message}. Please report it with the scenario.`, true);
      document.documentElement.dataset.done = number;
    },
  };

  const source = new Blob([byId("worker").textContent], { type: "text/javascript" });
  worker = new Worker(URL.createObjectURL(source));
  worker.onmessage = ({ data }) => handlers[data.kind](data);
  worker.onerror = ({ message }) => handlers.fault({ message });
  const { marks, rules, factors } = page;
  send({ kind: "engine", bytes, texts: { marks, rules, factors } });

  const choose = (chosen) => {
    controls.forget();
    editor.text = chosen;
    const entry = page.gallery.find((one) => one.text === chosen);
    byId("question").textContent = entry?.question ?? "";
    byId("expectation").hidden = !entry?.expectation;
    byId("expected").textContent = entry?.expectation ?? "";
    byId("gallery").value = entry?.name ?? "";
    run(0);
  };

  fillGallery(byId("gallery"), page.gallery);
  byId("gallery").onchange = ({ target }) =>
    choose(page.gallery.find(({ name }) => name === target.value).text);
  byId("edit").onclick = () => editor.focus();
  byId("stop").onclick = () => send({ kind: "stop" });
  byId("share").onclick = async () => {
    history.replaceState(null, "", await toFragment(editor.text));
    const copied = await navigator.clipboard?.writeText(location.href).then(
      () => true,
      () => false,
    );
    say(
      copied
        ? "The link is in the clipboard."
        : "The address of this page now holds the scenario: copy it.",
    );
  };
  addEventListener("hashchange", async () => {
    const shared = await fromFragment(location.hash).catch((error) => say(error.message, true));
    if (shared && shared !== editor.text) choose(shared);
  });

  game = new Game(page, send);
  byId("game").append(game.element);
  const switchTo = (playing) => {
    byId("lab").hidden = playing;
    byId("game").hidden = !playing;
    byId("to-lab").setAttribute("aria-pressed", !playing);
    byId("to-game").setAttribute("aria-pressed", playing);
    if (playing) {
      send({ kind: "stop" });
      shown.abort();
      game.shown();
    } else {
      game.stop();
      run(0);
    }
  };
  byId("to-lab").onclick = () => switchTo(false);
  byId("to-game").onclick = () => switchTo(true);
  document.addEventListener(
    "keydown",
    (event) => {
      if (byId("game").hidden || event.ctrlKey || event.metaKey || event.altKey) return;
      if (game.key(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    },
    true,
  );
};

// The scenarios of the package by the part of their name before the slash.
const fillGallery = (select, gallery) => {
  const groups = new Map();
  for (const { name, title, group } of gallery) {
    if (!groups.has(group)) groups.set(group, element("optgroup", { label: group }));
    groups.get(group).append(element("option", { value: name }, title));
  }
  select.append(...groups.values());
};

addThemes();
start().catch((error) => {
  const words = `The playground could not start: ${error.message}. It needs a browser of 2023 or later.`;
  document.getElementById("status").textContent = words;
});
