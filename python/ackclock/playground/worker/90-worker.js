// The worker: checks texts, runs them in slices so that Stop is heard, and plays.

const SLICE = 4000;
const MOST_BYTES = 400e6;
const PAUSE_MS = 60;

const serve = (scope) => {
  let engine = null;
  let bytes = null;
  let texts = null;
  let present = 0;
  let stopped = false;
  const pause = () => new Promise((resume) => setTimeout(resume, 0));

  const run = async (text, number) => {
    present = number;
    stopped = false;
    const { problems, warnings } = engine.read(text);
    scope.postMessage({ kind: "checked", number, problems, warnings });
    if (problems.length) return;
    const model = engine.model();
    const interval = engine.start(true, MOST_BYTES);
    const end = engine.stop;
    let over = false;
    while (!over && !stopped && present === number) {
      const began = performance.now();
      while (!over && performance.now() - began < PAUSE_MS) over = engine.advance(Infinity, SLICE);
      scope.postMessage({ kind: "progress", number, now: engine.now, end, events: engine.events });
      await pause();
    }
    if (present !== number) return;
    const result = collect(engine.finish(), model, texts);
    scope.postMessage({ kind: "done", number, run: result, stopped: !over, interval }, [
      ...buffersOf(result),
    ]);
  };

  const game = {
    begin: (text) => {
      const { problems } = engine.read(text);
      if (problems.length) throw new Error(problems[0].message);
      present = -1;
      engine.start(true, MOST_BYTES);
    },
    // Goes on to a time, with the window the reader has set; answers what happened since.
    advance: (until, segments) => {
      engine.setWindow(segments);
      const over = engine.advance(until, 1e6);
      const tables = engine.takeRecords();
      scope.postMessage({ kind: "played", now: engine.now, over, ...playedOf(tables) });
    },
  };

  scope.onmessage = async ({ data }) => {
    try {
      if (data.kind === "engine") {
        ({ bytes, texts } = data);
        engine = await Engine.of(bytes);
        scope.postMessage({ kind: "ready" });
      } else if (data.kind === "run") await run(data.text, data.number);
      else if (data.kind === "stop") stopped = true;
      else if (data.kind === "begin") game.begin(data.text);
      else if (data.kind === "advance") game.advance(data.until, data.segments);
    } catch (error) {
      // After a fault a module is of no use any more.
      engine = await Engine.of(bytes);
      scope.postMessage({ kind: "fault", number: data.number, message: error.message });
    }
  };
};

// What a player sees of the records since the last step.
const playedOf = ({ packets, rtt, cwnd, queue, drops }) => {
  const received = [0, 0];
  packets?.time_s.forEach((_, row) => {
    if (packets.event[row] === 1 && packets.kind[row] === 0)
      received[packets.flow[row]] += packets.bytes[row];
  });
  const lost = [0, 0];
  drops?.time_s.forEach((_, row) => {
    if (drops.flow[row] >= 0) lost[drops.flow[row]] += 1;
  });
  const lastOf = (table, column) => {
    const found = [null, null];
    table?.time_s.forEach((_, row) => {
      found[table.flow[row]] = table[column][row];
    });
    return found;
  };
  const rtts = [[], []];
  rtt?.time_s.forEach((_, row) => rtts[rtt.flow[row]].push(rtt.rtt_s[row]));
  const mean = (values) =>
    values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  // The bottleneck is the only link with a queue worth the name.
  let waiting = null;
  queue?.time_s.forEach((_, row) => {
    if (queue.link[row] === 0 && queue.direction[row] === 1) waiting = queue.queue_packets[row];
  });
  return { received, lost, rtt: rtts.map(mean), cwnd: lastOf(cwnd, "cwnd_bytes"), waiting };
};

if (typeof WorkerGlobalScope !== "undefined") serve(self);
