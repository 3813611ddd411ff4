// Rows and sum of each column of the records. Takes {text, way}, prints {table: {column: [rows, sum]}}.

import { fresh, input } from "./engine.mjs";

const engine = await fresh();
engine.read(input.text);
engine.start(true, 1e9);
const found = {};
const add = (tables) => {
  for (const [table, columns] of Object.entries(tables)) {
    found[table] ??= {};
    for (const [name, values] of Object.entries(columns)) {
      const [rows, sum] = found[table][name] ?? [0, 0];
      found[table][name] = [
        rows + values.length,
        values.reduce((one, other) => one + Number(other), sum),
      ];
    }
  }
};
if (input.way === "whole") while (!engine.advance(Infinity, 5000));
else
  for (let until = 0.05; !engine.advance(until, 1e9); until += 0.05) {
    if (engine.now < until - 0.05) throw new Error("a step went back");
    add(engine.takeRecords());
  }
add(engine.finish().tables);
console.log(JSON.stringify(found));
