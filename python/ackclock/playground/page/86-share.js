// A scenario in the address of the page, compressed: whoever opens the link sees the same run.

const through = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

const toFragment = async (text) => {
  const packed = await through(
    new TextEncoder().encode(text),
    new CompressionStream("deflate-raw"),
  );
  const letters = btoa(String.fromCharCode(...packed));
  return `#s=${letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
};

// The text of an address; null for an address without one.
const fromFragment = async (fragment) => {
  const found = /^#s=([\w-]+)$/.exec(fragment);
  if (!found) return null;
  try {
    const letters = atob(found[1].replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  } catch {
    throw new Error("this link is damaged: the scenario in it cannot be read");
  }
};
