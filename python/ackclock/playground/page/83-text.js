// Changes of single values in the text of a scenario. All else stays as the reader has written it.

const lineStart = (text, line) => {
  let at = 0;
  for (let i = 1; i < line; i++) at = text.indexOf("\n", at) + 1;
  return at;
};

// Columns count characters, JavaScript counts halves of them.
const offsetOf = (text, [line, column]) => {
  const start = lineStart(text, line);
  const end = text.indexOf("\n", start);
  const before = Array.from(text.slice(start, end < 0 ? undefined : end)).slice(0, column - 1);
  return start + before.join("").length;
};

// Where the value ends that begins here: a quoted text, a mapping or list in brackets, or a plain word.
const endOf = (text, begin) => {
  const first = text[begin];
  if (first === '"' || first === "'") return text.indexOf(first, begin + 1) + 1;
  if (first === "{" || first === "[") {
    let depth = 0;
    for (let at = begin; at < text.length; at++) {
      if ("{[".includes(text[at])) depth++;
      else if ("}]".includes(text[at]) && --depth === 0) return at + 1;
    }
    return text.length;
  }
  const rest = /^.*?(?=\s+#|[,}\]\n]|$)/.exec(text.slice(begin))[0];
  return begin + rest.trimEnd().length;
};

// The values of a text by their paths, as the engine has read them.
class Outline {
  constructor(rows) {
    this.rows = new Map(
      rows.map(([path, line, column, value]) => [
        path.join("\n"),
        { place: [line, column], value },
      ]),
    );
  }

  get(path) {
    return this.rows.get(path.join("\n"));
  }

  value(path) {
    return this.get(path)?.value ?? undefined;
  }

  count(path) {
    let i = 0;
    while (this.get([...path, i])) i++;
    return i;
  }
}

// The text with the value at a path replaced; where there is none it is added to the nearest mapping.
const withValue = (text, outline, path, value) => {
  const known = outline.get(path);
  if (known) {
    const begin = offsetOf(text, known.place);
    return text.slice(0, begin) + value + text.slice(endOf(text, begin));
  }
  let depth = path.length - 1;
  while (depth > 0 && !outline.get(path.slice(0, depth))) depth--;
  const around = depth ? outline.get(path.slice(0, depth)) : { place: [1, 1] };
  const inner = path.slice(depth + 1).reduceRight((held, key) => `{${key}: ${held}}`, value);
  const begin = depth ? offsetOf(text, around.place) : text.search(/^[A-Za-z_]/m);
  const entry = `${path[depth]}: ${inner}`;
  if (text[begin] === "{") {
    const empty = /^\{\s*\}/.test(text.slice(begin));
    return `${text.slice(0, begin + 1)}${entry}${empty ? "" : ", "}${text.slice(begin + 1)}`;
  }
  const indent = " ".repeat(begin - (text.lastIndexOf("\n", begin - 1) + 1));
  return `${text.slice(0, begin)}${entry}\n${indent}${text.slice(begin)}`;
};
