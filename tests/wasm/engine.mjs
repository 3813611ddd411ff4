// What the tests share: the scripts of the playground, and its engine in node.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const [wasm, folder, given] = process.argv.slice(2);

export const input = JSON.parse(readFileSync(given, "utf8"));

// Names of some scripts of a folder.
export const load = (part, pattern, ...names) => {
  const files = readdirSync(join(folder, part)).filter((file) => pattern.test(file));
  const text = files.sort().map((file) => readFileSync(join(folder, part, file), "utf8"));
  return new Function(`${text.join("\n")}; return { ${names.join(", ")} };`)();
};

export const { Engine } = load("worker", /engine/, "Engine");

const bytes = gunzipSync(readFileSync(wasm));
export const fresh = () => Engine.of(bytes);
