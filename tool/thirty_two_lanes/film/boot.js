// Unpacks the player and the record of each new film of the page, and runs the player.
// Where that fails, or where scripts are taken away, the contact sheet stays.
const run = async (place) => {
  const packed = [...place.querySelectorAll("script[type='text/plain']")];
  const [code, record] = await Promise.all(
    packed.map((it) => unpacked(it.textContent)),
  );
  const script = document.createElement("script");
  Object.assign(script, { place, record: JSON.parse(record), textContent: code });
  document.head.append(script);
  script.remove();
};
for (const place of document.querySelectorAll(".lanes-film:not([data-film])")) {
  place.dataset.film = "starts";
  run(place).catch((error) => {
    place.dataset.film = error.message;
  });
}
