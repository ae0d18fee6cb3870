// One film at work: the clock, the buttons, the keys and the mouse.

const STILL = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const KEYS = {
  ArrowRight: ["step", 1],
  ArrowLeft: ["step", -1],
  ArrowDown: ["line", 1],
  ArrowUp: ["line", -1],
};
for (const name of ["barrier", "fault", "cost", "moment"]) {
  KEYS[name[0]] = [name, 1];
  KEYS[name[0].toUpperCase()] = [name, -1];
}

class Player {
  constructor(host, record) {
    this.film = new Film(record);
    this.film.barriers = this.film.steps.some(
      (it) => it.e === "barrier" || it.e === "pass",
    );
    const root = host.shadowRoot || host.attachShadow({ mode: "open" });
    root.innerHTML = `<style>${STYLE}</style>${BODY}`;
    this.host = host;
    this.find = (selector) => root.querySelector(selector);
    this.n = this.film.firstShown();
    this.playing = false;
    this.followed = [];
    this.score = new Pen(this.find(".time canvas"));
    this.motion = new Pen(this.find(".motion"));
    this.scene = {
      film: this.film,
      pen: new Pen(this.find(".scene")),
      thread: null,
      cell: null,
      under: null, // the thread under the mouse
    };
    for (const name of ["cellPen", "digitPen", "topPen"]) {
      this.scene[name] = new Pen(document.createElement("canvas"));
    }
    this.scene.scales = scalesOf(this.film, this.scene.pen);
    this.scene.block = { film: this.film, pen: new Pen(this.find(".block canvas")) };
    this.fill();
    this.listen();
    this.dress();
    new ResizeObserver(() => this.measure()).observe(this.find(".film"));
    this.measure();
  }

  fill() {
    const { film } = this;
    const [name, facts] = headOf(film.record);
    this.find(".head strong").textContent = name;
    this.find(".head span").textContent = facts;
    const said = film.record.description;
    this.find(".film").setAttribute("aria-label", `Film of ${name}. ${said}`);
    this.find("[type=range]").max = film.last;
    fillSource(this.find(".source"), film, (file, line) => this.toLine(file, line));
    fillFindings(this.find(".findings"), film, (n) => this.go(n));
    fillMoments(this.find(".moments"), film, (n) => this.go(n));
    fillLegend(this.find(".legend"), this.find(".key"), film);
    for (const kind of ["barrier", "fault", "cost"]) {
      const none = film.stops(kind, 0).length === 0;
      this.find(`[data-do=${kind}]`).disabled = none;
    }
    const example = film.record.arrays.find((it) => it.space === "shared");
    const cell = example ? ` or ${nameOfCell(example, 0)}` : "";
    this.find("[type=text]").placeholder = `thread 5${cell}`;
    const quick = SPEEDS.filter((it) => it <= Math.max(2, film.last / 45));
    this.find("select").value = quick[quick.length - 1];
  }

  listen() {
    const film = this.find(".film");
    film.addEventListener("keydown", (event) => this.pressed(event));
    this.find(".controls").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) this.act(button.dataset.do, event.shiftKey ? -1 : 1);
    });
    const slider = this.find("[type=range]");
    slider.addEventListener("input", () => this.go(Number(slider.value)));
    const text = this.find("[type=text]");
    text.addEventListener("change", () => this.followWords(text.value));
    this.find(".leave").addEventListener("click", () => this.follow({}));
    for (const view of [this.scene, this.scene.block]) this.listenTo(view);
    this.listenToPage();
  }

  // Weakly: a film that its cell has replaced is not kept by the page.
  listenToPage() {
    const weak = new WeakRef(this);
    const tell = (name) => (event) => {
      const player = weak.deref();
      if (player) player[name](event);
    };
    window.addEventListener("keydown", tell("claim"), true);
    window.addEventListener("keydown", tell("overhear"));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", tell("redress"));
    const watcher = new MutationObserver(tell("redress"));
    const attributeFilter = ["data-jp-theme-light", "data-theme", "class", "style"];
    for (const it of [document.body, document.documentElement]) {
      watcher.observe(it, { attributes: true, attributeFilter });
    }
  }

  redress() {
    this.dress();
    this.show();
  }

  listenTo(view) {
    const { canvas } = view.pen;
    canvas.addEventListener("click", (event) => this.follow(hitBy(view, event) || {}));
    canvas.addEventListener("pointermove", (event) => this.hover(view, event));
    canvas.addEventListener("pointerleave", () => {
      this.find(".tip").hidden = true;
      this.pointAt(null);
    });
  }

  dress() {
    const [{ body }, around] = [document, this.host.parentElement || document.body];
    this.host.dataset.theme = isDark(body, around) ? "dark" : "light";
    const theme = themeOf(this.find(".film"));
    const { pen, block, cellPen, digitPen, topPen } = this.scene;
    const pens = [pen, block.pen, cellPen, digitPen, topPen, this.motion, this.score];
    for (const it of pens) it.dress(theme);
    if (this.scene.page) this.paint();
  }

  measure() {
    const widths = [".stage", ".block", ".time"].map((it) => this.find(it).clientWidth);
    if (!widths[0] || (this.scene.page && String(widths) === String(this.widths)))
      return;
    this.widths = widths;
    const { film, scene } = this;
    scene.page = layoutOf(film, widths[0], scene.scales);
    scene.block.page = blockPage(film, widths[1]);
    const { pen, cellPen, digitPen, topPen } = scene;
    for (const it of [pen, cellPen, digitPen, topPen, this.motion]) {
      it.resize(widths[0], scene.page.height);
    }
    scene.block.pen.resize(widths[1], scene.block.page.height);
    const rows = Math.min(48, Math.max(14, film.record.warps * 10));
    this.score.resize(widths[2], BELOW + rows);
    const { scrollHeight, clientHeight } = this.find(".source");
    this.scrolls = scrollHeight > clientHeight; // asked once: it costs a layout
    this.paint();
    this.show();
  }

  // What stays while the film plays.
  paint() {
    forgetPainted(this.scene);
    paintScore(this.score, this.film, this.followed);
  }

  go(n) {
    this.say("");
    this.n = Math.max(0, Math.min(this.film.last, n));
    this.show();
    if (!this.playing) this.move();
  }

  show() {
    const { film, n, scene } = this;
    if (!scene.page) return;
    drawScene(scene, n);
    const x = placeInScore(this.score, film, n);
    this.find(".time i").style.transform = `translateX(${x - 1}px)`;
    this.motion.clear();
    const told = stepInWords(film, n);
    this.tell(told);
    this.find(".scene").setAttribute("aria-label", told);
    this.find(".count").textContent = `step ${n + 1} of ${film.last + 1}`;
    const slider = this.find("[type=range]");
    slider.value = n;
    slider.setAttribute("aria-valuetext", `${n + 1} of ${film.last + 1}: ${told}`);
    markSource(this.find(".source"), film, n, this.scrolls);
    markFindings(this.find(".findings"), film, n);
    this.markHistory();
  }

  // The live region: the line, what happens in it, and what is wrong.
  tell(told) {
    const { film, n } = this;
    const status = this.find(".told");
    const moment = film.momentAt(n);
    status.setAttribute("aria-live", this.playing ? "off" : "polite");
    status.replaceChildren(element("code", lineOf(film, film.steps[n])), told);
    status.dataset.level = film.levelAt(n);
    for (const finding of film.findingsAt(n)) {
      const words = `${SIGNS[finding.level]} ${finding.title}`;
      status.append(withCode(element("em", ""), words));
      const more = element("span", "", { className: "unseen" });
      status.append(withCode(more, finding.text));
    }
    if (moment && !film.findingsAt(n).length) {
      status.append(withCode(element("em", "◆ "), moment.caption));
    }
  }

  // Lets the dots of a step run once.
  move() {
    cancelAnimationFrame(this.frame);
    if (STILL() || !this.scene.joins || !this.scene.joins.length) return;
    const lasts = 500 + 120 * turnsOf(this.scene);
    const start = performance.now();
    const tick = (now) => {
      const t = (now - start) / lasts;
      drawMotion(this.scene, this.motion, Math.min(1, t));
      if (t < 1) this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }

  play(on) {
    cancelAnimationFrame(this.frame);
    if (on && this.n === this.film.last) this.n = 0;
    this.playing = on;
    const [name, label] = on ? ["pause", "Pause"] : ["play", "Play"];
    const button = this.find("[data-do=play]");
    button.innerHTML = `${svgOf(name)}<span>${label}</span>`;
    button.setAttribute("aria-label", label);
    this.show();
    if (on) this.run();
  }

  run() {
    let before = performance.now(),
      at = this.n;
    const tick = (now) => {
      if (!this.playing) return undefined;
      if (!this.host.isConnected) return this.play(false);
      const speed = Number(this.find("select").value);
      if (Math.floor(at) !== this.n) at = this.n; // the reader moved it
      at += ((now - before) / 1000) * speed;
      before = now;
      const n = Math.min(this.film.last, Math.floor(at));
      if (n !== this.n) this.go(n);
      if (at >= this.film.last + 1) return this.play(false);
      if (speed <= 8 && !STILL()) drawMotion(this.scene, this.motion, at - n);
      this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }

  act(what, way) {
    if (what === "play") return this.play(!this.playing);
    if (this.playing) this.play(false);
    if (what === "back") return this.go(this.n - 1);
    if (what === "step") return this.go(this.n + way);
    const stops = this.film.stops(what, this.n);
    const next =
      way > 0
        ? stops.find((it) => it > this.n)
        : stops.reverse().find((it) => it < this.n);
    if (next !== undefined) return this.go(next);
    const further = way > 0 ? "further" : "earlier";
    this.say(`no ${further} ${what === "line" ? "step of this line" : what}`);
    return undefined;
  }

  // A word about a button that does nothing.
  say(words) {
    this.find(".said").textContent = words;
  }

  toLine(file, line) {
    const found = this.film.steps
      .map((it, at) => [it, at])
      .filter(([it]) => it.f === file && it.l === line)
      .map(([, at]) => at);
    const next = found.find((it) => it > this.n);
    if (found.length) this.go(next === undefined ? found[0] : next);
  }

  // JupyterLab hears keys first: it is to leave ours alone, and to save by Ctrl+S.
  claim({ ctrlKey, metaKey, shiftKey, key }) {
    const theirs = ctrlKey || metaKey || (shiftKey && key === "Enter");
    this.host.toggleAttribute("data-lm-suppress-shortcuts", !theirs);
  }

  // A key that nobody has is that of the film under the mouse, or of the only one.
  overhear(event) {
    const { body, documentElement } = document;
    const nobody = event.target === body || event.target === documentElement;
    if (!this.host.isConnected || !nobody || event.defaultPrevented) return;
    const films = document.querySelectorAll(".lanes-film").length;
    const alone = films === 1 && this.host.closest(".lanes-film-alone");
    if (alone || this.host.matches(":hover")) this.pressed(event);
  }

  pressed(event) {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("[type=text], select")) return event.stopPropagation();
    if (key === " " && !target.matches("button")) this.act("play");
    else if (key === "Home") this.go(0);
    else if (key === "End") this.go(this.film.last);
    else if (key === "Escape") this.follow({});
    else if (KEYS[key]) this.act(...KEYS[key]);
    else return undefined;
    event.preventDefault();
    return event.stopPropagation();
  }

  // The lines of a thread under the mouse stand out.
  pointAt(thread) {
    const { scene } = this;
    if (scene.under === thread) return;
    scene.under = thread;
    if (scene.page && !this.playing) drawScene(scene, this.n);
  }

  hover(view, event) {
    const it = hitBy(view, event);
    this.pointAt(it && it.thread !== undefined ? it.thread : null);
    const tip = this.find(".tip");
    tip.hidden = !it;
    view.pen.canvas.style.cursor = it && it.bank === undefined ? "pointer" : "";
    if (!it) return;
    tip.textContent = tipOf(this.film, it);
    const [x, y] = placeIn(this.find(".film"), event);
    const room = this.find(".film").offsetWidth - tip.offsetWidth - 4;
    tip.style.left = `${Math.max(0, Math.min(x + 12, room))}px`;
    tip.style.top = `${y + 16}px`;
  }

  // Follows a thread or a cell through the film, or nothing.
  follow(wanted) {
    const { film, scene } = this;
    const { thread = null, array, cell } = wanted;
    scene.thread = thread;
    scene.cell = array === undefined ? null : [array, cell];
    const found = historyOf(film, wanted);
    this.followed = found.map(([n]) => n);
    const list = this.find(".history");
    const before = beginningOf(film, wanted);
    list.replaceChildren(...found.map(([n, text]) => this.visit(n, text)));
    if (before) list.prepend(element("li", before, { className: "before" }));
    this.following = wanted;
    this.find(".leave").hidden = !nameOf(film, wanted);
    paintScore(this.score, film, this.followed);
    this.show();
  }

  followWords(words) {
    const wanted = words.trim() ? wantedBy(this.film.record, words) : {};
    if (wanted) return this.follow(wanted);
    this.find(".who").textContent = `There is no ${words.trim()} in this film.`;
    return undefined;
  }

  visit(n, text) {
    const item = element("li", "");
    item.dataset.step = n;
    item.append(buttonTo(n, `${n + 1}: ${text}`, (it) => this.go(it)));
    return item;
  }

  // Who is followed, with a cell's value at this step.
  tellWho() {
    const { film, followed, following = {} } = this;
    const { array, cell } = following;
    const thread = array === undefined;
    const name = thread ? nameOf(film, following) : cellInWords(film, array, cell);
    const steps = new Set(followed).size;
    const visits = steps ? counted(steps, "step") : "untouched";
    this.find(".who").textContent = name && `${name} · ${visits}`;
  }

  markHistory() {
    this.tellWho();
    const list = this.find(".history");
    for (const item of list.children) {
      const here = Number(item.dataset.step) === this.n;
      item.classList.toggle("here", here);
      if (here) keepInSight(list, item);
    }
  }
}

// The script's element holds the place and the record, so that films share nothing.
const { place, record } = document.currentScript;
const host = place.querySelector(".lanes-film-player");
host.player = new Player(host, record);
// JupyterLab lets each output scroll by itself, which would hold the buttons fast.
for (const name of ["output", "child"]) {
  const around = host.closest(`.jp-OutputArea-${name}`);
  if (around) around.style.overflow = "clip";
}
place.querySelector(".lanes-film-sheet").hidden = true;
place.dataset.film = "plays";
