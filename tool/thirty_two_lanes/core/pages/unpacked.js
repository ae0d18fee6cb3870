// The text that `packed` made base64 of.
const unpacked = (base64) => {
  const bytes = Uint8Array.from(atob(base64), (it) => it.charCodeAt(0));
  const zipped = new Blob([bytes]).stream();
  return new Response(zipped.pipeThrough(new DecompressionStream("gzip"))).text();
};
