// Runs scenarios by the engine of the playground: node digests.mjs WASM.GZ ENGINE.JS SCENARIOS.JSON
// Reads {name: text}, prints {name: {digest, events, problems}}.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const [wasm, script, scenarios] = process.argv.slice(2);
const Engine = new Function(`${readFileSync(script, "utf8")}; return Engine;`)();
const bytes = gunzipSync(readFileSync(wasm));
const done = {};
for (const [name, text] of Object.entries(JSON.parse(readFileSync(scenarios, "utf8")))) {
  const engine = await Engine.of(bytes);
  const { problems } = engine.read(text);
  if (problems.length) {
    done[name] = { problems };
    continue;
  }
  engine.start(false);
  // In slices, as a page does.
  while (!engine.advance(Infinity, 100_000));
  const { summary } = engine.finish();
  done[name] = { digest: summary.digest, events: summary.events, problems };
}
console.log(JSON.stringify(done));
