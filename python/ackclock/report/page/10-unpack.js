// The data of the page: a document and arrays of whole numbers, as `pack.py` writes them.

const unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const size = new DataView(buffer).getUint32(0, true);
  const page = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  return { page, arrays: new Uint8Array(buffer, 4 + size) };
};

// Differences of neighbours, with the sign in the last bit, in bytes by their rank.
const integers = (arrays, [place, count, each]) => {
  const values = new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    let folded = 0;
    for (let rank = each - 1; rank >= 0; rank--) {
      folded = folded * 256 + arrays[place + rank * count + i];
    }
    sum += folded % 2 ? -(folded + 1) / 2 : folded / 2;
    values[i] = sum;
  }
  return values;
};

const scaled = (values, unit) => values.map((value) => (value < 0 ? NaN : value * unit));
