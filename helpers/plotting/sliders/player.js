// Puts sliders in the place of each new exploration of the page. Where that fails, or
// where scripts are taken away, the picture of the first position stays.
const element = (tag, properties, ...children) => {
  const it = Object.assign(document.createElement(tag), properties);
  it.append(...children);
  return it;
};

// What a reader moves: the input, and the position at which it is.
const inputs = {
  checkbox: ({ values }, at) => {
    const input = element("input", { type: "checkbox", checked: values[at] === "true" });
    return [input, () => values.indexOf(String(input.checked))];
  },
  range: ({ values }, at) => {
    const input = element("input", { type: "range", min: 0, max: values.length - 1 });
    input.value = at;
    return [input, () => Number(input.value)];
  },
  select: ({ values }, at) => {
    const options = values.map((it) => element("option", { textContent: it }));
    const input = element("select", {}, ...options);
    input.selectedIndex = at;
    return [input, () => input.selectedIndex];
  },
};

const controlsOf = (record, form) =>
  record.controls.map((control, turn) => {
    const [input, at] = inputs[control.kind](control, record.begin[turn]);
    const value = element("span", {});
    input.id = `control${turn}`;
    form.append(element("label", { htmlFor: input.id, textContent: control.name }));
    form.append(input, value);
    const tell = () => {
      if (control.kind !== "range") return;
      value.textContent = control.values[at()];
      input.setAttribute("aria-valuetext", value.textContent);
    };
    return { at, tell, count: control.values.length };
  });

const svgOf = (record, frame) => {
  let number = -1;
  const lines = record.frames[frame].map((step) => record.lines[(number += step)]);
  return lines.join("\n");
};

const play = async (place) => {
  const packed = place.querySelector("script[type='text/plain']");
  const record = JSON.parse(await unpacked(packed.textContent));
  const form = element("form", { onsubmit: () => false });
  const picture = element("div", { className: "picture" });
  const said = element("p", {});
  said.setAttribute("aria-live", "polite");
  const longest = record.said.reduce((a, b) => (b.length > a.length ? b : a));
  const room = element("p", { className: "longest", textContent: longest });
  room.setAttribute("aria-hidden", "true");
  const controls = controlsOf(record, form);
  let latest = 0;
  const show = async () => {
    const turn = ++latest;
    const frame = controls.reduce((all, { at, count }) => all * count + at(), 0);
    controls.forEach(({ tell }) => tell());
    const image = element("img", { alt: "" });
    image.src = `data:image/svg+xml,${encodeURIComponent(svgOf(record, frame))}`;
    await image.decode();
    if (turn !== latest) return;
    // what is below moves down for a higher picture, and does not come back
    picture.style.minHeight = `${picture.clientHeight}px`;
    picture.replaceChildren(image);
    if (said.textContent !== record.said[frame]) said.textContent = record.said[frame];
    place.dataset.frame = frame;
  };
  form.addEventListener("input", show);
  // slides would turn at a slider's arrow keys, which they do not see to be an input's
  form.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
  await show();
  const root = place.attachShadow({ mode: "open" });
  root.append(element("style", { textContent: record.style }), form, picture);
  root.append(element("div", { className: "said" }, said, room));
  // a picture that is wider than the page scrolls, also by keyboard
  const scrolls = () => {
    if (picture.scrollWidth > picture.clientWidth) picture.tabIndex = 0;
    else picture.removeAttribute("tabindex");
  };
  new ResizeObserver(scrolls).observe(picture);
  place.dataset.explore = "plays";
};

for (const place of document.querySelectorAll(".lanes-explore:not([data-explore])")) {
  place.dataset.explore = "starts";
  play(place).catch((error) => {
    place.dataset.explore = error.message;
  });
}
