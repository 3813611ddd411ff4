// The engine: a class around the exports of the module that `crates/wasm` makes.

const KINDS = { float64: Float64Array, int64: Int32Array, int32: Int32Array, bool: Uint8Array };

class Engine {
  static async of(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Engine(instance.exports);
  }

  constructor(exports) {
    this.exports = exports;
  }

  // Does something; what only a fault of the engine can end comes out as an error with its words.
  guarded(act) {
    try {
      return act(this.exports);
    } catch (error) {
      const { fault, fault_length: length, memory } = this.exports;
      const words = new TextDecoder().decode(new Uint8Array(memory.buffer, fault(), length()));
      throw new Error(words ? `a fault of the engine: ${words}` : error.message);
    }
  }

  ask(act) {
    return this.guarded((exports) => {
      act(exports);
      const at = exports.answer();
      const bytes = new Uint8Array(exports.memory.buffer, at, exports.answer_length());
      return JSON.parse(new TextDecoder().decode(bytes));
    });
  }

  // What is wrong with a text, and what is probably not meant: `{problems, warnings}`.
  read(text) {
    const bytes = new TextEncoder().encode(text);
    return this.ask((exports) => {
      const at = exports.input(bytes.length);
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
      exports.read();
    });
  }

  // The values of the text that was read: `[path, line, column, value]`.
  outline() {
    return this.ask((exports) => exports.outline());
  }

  model() {
    return this.ask((exports) => exports.model());
  }

  // Begins a run. Answers 0, or the intervals of which only extremes are recorded, seconds.
  start(recorded, mostBytes = 0) {
    return this.guarded((exports) => exports.start(recorded ? 1 : 0, mostBytes));
  }

  // Goes on; true if the run is over.
  advance(until, events) {
    return this.guarded((exports) => exports.advance(until, events)) === 1;
  }

  setWindow(segments) {
    this.exports.set_window(segments);
  }

  get now() {
    return this.exports.now();
  }

  get stop() {
    return this.exports.stop();
  }

  get events() {
    return this.exports.events();
  }

  // What was recorded since the last time, as views of the engine's memory: good until the next call.
  takeRecords() {
    return this.views(this.ask((exports) => exports.take_records()));
  }

  finish() {
    const done = this.ask((exports) => exports.finish());
    return { ...done, tables: this.views(done.tables) };
  }

  views(tables) {
    const { buffer } = this.exports.memory;
    const view = ([kind, at, length]) =>
      kind === "int64"
        ? wide(new Int32Array(buffer, at, 2 * length))
        : new KINDS[kind](buffer, at, length);
    const each = (act) => (object) =>
      Object.fromEntries(Object.entries(object).map(([name, value]) => [name, act(value)]));
    return each(each(view))(tables);
  }
}

// Whole numbers of 64 bits, exact up to 2^53.
const wide = (halves) =>
  Float64Array.from(
    { length: halves.length / 2 },
    (_, i) => halves[2 * i + 1] * 2 ** 32 + (halves[2 * i] >>> 0),
  );
