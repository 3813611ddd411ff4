// Changes values in texts as the controls do. Takes [[text, path, value]], prints the new texts.

import { fresh, input, load } from "./engine.mjs";

const { Outline, withValue } = load("page", /text/, "Outline", "withValue");
const engine = await fresh();
const changed = input.map(([text, path, value]) => {
  engine.read(text);
  return withValue(text, new Outline(engine.outline()), path, value);
});
console.log(JSON.stringify(changed));
