// What the pages of the site do beside what Sphinx makes them do: the first page's film
// plays, a figure enlarges in place, a term shows its sentence, and a print is unfolded.

const all = (selector) => [...document.querySelectorAll(selector)];

// The film of the first page stands at its race, goes on, and begins anew until somebody
// uses it.
const REST = 5000; // ms at the race, and at its end

const playFirst = (place) => {
  const player = place.querySelector(".lanes-film-player");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let used = false;
  for (const it of ["pointerdown", "keydown"]) {
    player.addEventListener(it, () => (used = true));
  }
  const begin = () => {
    const play = player.shadowRoot?.querySelector("[data-do=play]");
    if (used || still.matches) return;
    if (play && !place.dataset.began) {
      place.dataset.began = "true"; // at the first moment with a finding
      player.shadowRoot.querySelector("select").value = "1"; // steps a second
    } else if (play && play.getAttribute("aria-label") !== "Pause") {
      play.click();
    }
    setTimeout(begin, play ? REST : 100); // it unpacks itself
  };
  begin();
};

// A figure in a dialog as wide as the window; Escape or a click closes it.
const enlarge = (image) => {
  const dialog = document.createElement("dialog");
  dialog.className = "enlarged";
  dialog.setAttribute("aria-label", image.alt || "The figure");
  const close = Object.assign(document.createElement("button"), { textContent: "Close" });
  const copy = image.cloneNode();
  for (const it of ["width", "height", "style"]) copy.removeAttribute(it);
  dialog.append(close, copy);
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
};

// The sentence of a term, below its link: by mouse, by keyboard, until Escape.
const explain = () => {
  const tip = Object.assign(document.createElement("div"), { id: "says", hidden: true });
  tip.setAttribute("role", "tooltip");
  document.body.append(tip);
  const hide = () => (tip.hidden = true);
  for (const link of all("a[data-says]")) {
    const show = () => {
      tip.textContent = link.dataset.says;
      tip.hidden = false;
      const { left, bottom } = link.getBoundingClientRect();
      const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
      tip.style.left = `${Math.max(8, Math.min(left, room))}px`;
      tip.style.top = `${bottom + 6}px`;
    };
    link.setAttribute("aria-describedby", "says");
    link.addEventListener("mouseenter", show);
    link.addEventListener("focus", show);
    link.addEventListener("mouseleave", hide);
    link.addEventListener("blur", hide);
  }
  addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  addEventListener("scroll", hide, { passive: true });
};

// What is folded is open on paper.
let opened = [];
addEventListener("beforeprint", () => {
  opened = all("details:not([open])");
  for (const it of opened) it.open = true;
});
addEventListener("afterprint", () => {
  for (const it of opened) it.open = false;
});

addEventListener("DOMContentLoaded", () => {
  all(".first .lanes-film").forEach(playFirst);
  explain();
  for (const image of all("article .cell_output img, article a.image-reference img")) {
    const link = image.closest("a") || image;
    link.classList.add("enlarges");
    link.addEventListener("click", (event) => {
      event.preventDefault();
      enlarge(image);
    });
  }
});
