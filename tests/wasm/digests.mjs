// Runs scenarios by the engine of the playground. Takes {name: text}, prints {name: {digest, problems}}.

import { fresh, input } from "./engine.mjs";

const done = {};
for (const [name, text] of Object.entries(input)) {
  const engine = await fresh();
  const { problems } = engine.read(text);
  done[name] = { problems };
  if (problems.length) continue;
  engine.start(false);
  // In slices, as a page does.
  while (!engine.advance(Infinity, 100_000));
  done[name].digest = engine.finish().summary.digest;
}
console.log(JSON.stringify(done));
