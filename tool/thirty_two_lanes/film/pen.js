// A canvas that draws boxes, hatches and numbers in the colours of the page's theme.

const FONT = "11px 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const COLOURS =
  "ink paper faint rule load store atomic finding idle busy low middle high".split(" ");

// Is the page dark? JupyterLab and VS Code say so, or the style of what is around a
// film, as on a site with a switch; elsewhere the system.
function isDark({ dataset, classList }, around) {
  const told = dataset.jpThemeLight;
  if (told !== undefined) return told === "false";
  const has = (name) => classList.contains(`vscode-${name}`);
  if (has("light") || has("high-contrast-light")) return false;
  if (has("dark") || has("high-contrast")) return true;
  const { colorScheme } = getComputedStyle(around);
  if (["light", "dark"].includes(colorScheme)) return colorScheme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function themeOf(element) {
  const style = getComputedStyle(element);
  const named = COLOURS.map((it) => [it, style.getPropertyValue(`--${it}`).trim()]);
  return Object.fromEntries(named);
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const hexOf = (rgb) => {
  const parts = rgb.map((it) => Math.round(it).toString(16).padStart(2, "0"));
  return `#${parts.join("")}`;
};

function mixed(one, other, share) {
  const [a, b] = [channels(one), channels(other)];
  return hexOf(a.map((it, at) => it + share * (b[at] - it)));
}

function luminance(hex) {
  const linear = channels(hex).map((it) => {
    const part = it / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

// Black or white, whichever stands out more: by 4.5:1 on any colour.
const inkOn = (hex) => (luminance(hex) > 0.179 ? "#000000" : "#ffffff");

class Pen {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.widths = new Map();
  }

  resize(width, height) {
    const { canvas, context } = this;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.textBaseline = "middle";
    Object.assign(this, { size: [width, height], ratio, font: "", align: "" });
  }

  dress(theme) {
    this.theme = theme;
    this.hatches = new Map();
    this.inks = new Map();
    this.shades = [];
  }

  // Copies a part of another canvas of this size.
  copy({ canvas, ratio }, [x, y, w, h]) {
    const from = [x, y, w, h].map((it) => it * ratio);
    this.context.drawImage(canvas, ...from, x, y, w, h);
  }

  clear() {
    this.context.clearRect(0, 0, ...this.size);
  }

  width(text) {
    if (!this.widths.has(text)) {
      this.write(FONT, "left");
      this.widths.set(text, this.context.measureText(text).width);
    }
    return this.widths.get(text);
  }

  // The colour of a share from 0 to 1 of a range, in 64 shades.
  shade(share) {
    const { low, middle, high } = this.theme;
    const at = Math.round(63 * share);
    if (!this.shades[at]) {
      const half = at / 31.5;
      this.shades[at] =
        half < 1 ? mixed(low, middle, half) : mixed(middle, high, half - 1);
    }
    return this.shades[at];
  }

  ink(fill) {
    if (!this.inks.has(fill)) this.inks.set(fill, inkOn(fill));
    return this.inks.get(fill);
  }

  text(x, y, text, { align = "left", colour, bold = false, halo } = {}) {
    const { context } = this;
    this.write(bold ? `bold ${FONT}` : FONT, align);
    if (halo) {
      context.strokeStyle = halo;
      context.lineWidth = 3;
      context.lineJoin = "round";
      context.strokeText(text, x, y + 0.5);
    }
    context.fillStyle = colour || this.theme.ink;
    context.fillText(text, x, y + 0.5);
  }

  // Sets what is slow to set only where it changes.
  write(font, align) {
    const { context } = this;
    if (this.font !== font) context.font = font;
    if (this.align !== align) context.textAlign = align;
    Object.assign(this, { font, align });
  }

  box(x, y, w, h, { fill, rim, thick = 1 }) {
    const { context } = this;
    if (fill) {
      context.fillStyle = fill;
      context.fillRect(x, y, w, h);
    }
    if (rim) {
      context.strokeStyle = rim;
      context.lineWidth = thick;
      context.strokeRect(x + thick / 2, y + thick / 2, w - thick, h - thick);
    }
  }

  // Slanted lines: a cell without a value, or a lane that waits.
  hatch(x, y, w, h, colour) {
    if (!this.hatches.has(colour)) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 5;
      const lines = tile.getContext("2d");
      lines.strokeStyle = colour;
      lines.beginPath();
      for (const at of [-5, 0, 5]) {
        lines.moveTo(at, 5);
        lines.lineTo(at + 5, 0);
      }
      lines.stroke();
      this.hatches.set(colour, this.context.createPattern(tile, "repeat"));
    }
    this.context.fillStyle = this.hatches.get(colour);
    this.context.fillRect(x, y, w, h);
  }

  triangle(x, y, half, fill) {
    const { context } = this;
    context.fillStyle = fill;
    context.beginPath();
    context.moveTo(x, y - half);
    context.lineTo(x + half, y + half);
    context.lineTo(x - half, y + half);
    context.fill();
  }

  // A line as `draw` leads it.
  line(colour, width, draw) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    draw(context);
    context.stroke();
  }

  cross([x, y, w, h], colour, width) {
    this.line(colour, width, (line) => {
      line.moveTo(x, y);
      line.lineTo(x + w, y + h);
      line.moveTo(x, y + h);
      line.lineTo(x + w, y);
    });
  }

  // A text in the middle of a box, if it fits.
  label([x, y, w, h], text, fill, halo = false) {
    if (!text || h < 11 || this.width(text) > w + 0.5) return;
    const how = { align: "center", colour: this.ink(fill), halo: halo && fill };
    this.text(x + w / 2, y + h / 2, text, how);
  }

  // The same, read from below.
  upright([x, y, w, h], text, fill) {
    const { context } = this;
    this.write(FONT, "center");
    context.save();
    context.translate(x + w / 2, y + h / 2);
    context.rotate(-Math.PI / 2);
    context.fillStyle = this.ink(fill);
    context.fillText(text, 0, 0.5);
    context.restore();
  }

  // A line from lane to cell that leaves and arrives upright.
  curve([x1, y1, x2, y2], colour, width, alpha) {
    const middle = (y1 + y2) / 2;
    this.context.globalAlpha = alpha;
    this.line(colour, width, (line) => {
      line.moveTo(x1, y1);
      line.bezierCurveTo(x1, middle, x2, middle, x2, y2);
    });
    this.context.globalAlpha = 1;
  }

  dot(x, y, radius, fill, rim) {
    const { context } = this;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = fill;
    context.fill();
    if (rim) {
      context.strokeStyle = rim;
      context.lineWidth = 1;
      context.stroke();
    }
  }
}

function pointOn([x1, y1, x2, y2], t) {
  const s = 1 - t,
    middle = (y1 + y2) / 2;
  const [a, b, c, d] = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
  return [(a + b) * x1 + (c + d) * x2, a * y1 + (b + c) * middle + d * y2];
}
