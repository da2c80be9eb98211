"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const all = data.inspection, fields = all.fields;
const byId = (id) => document.getElementById(id);
const hasColumns = all.format !== "TTree";
const unit = { TTree: "baskets", Arrow: "batches" }[all.format] || "pages";

// Numbers for people.
const count = (value) => Math.round(value).toLocaleString("en");
function size(bytes) {
  for (const [power, name] of [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])
    if (bytes >= power) return `${(bytes / power).toPrecision(3)} ${name}`;
  return `${bytes} B`;
}
const share = (part, total) => (total > 0 ? `${((100 * part) / total).toFixed(1)}%` : "-");
const ratio = (before, after) => (after > 0 ? (before / after).toFixed(2) : "-");

// Elements. Text is never taken as HTML.
function element(name, text, parent) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}
function drawn(name, attributes, parent) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}
function row(table, cells, name = "td") {
  const made = element("tr", undefined, table);
  for (const cell of cells) element(name, cell, made);
  return made;
}

// Pages, in the order of the file. The field of a column is the one that its bytes count to.
const fieldOf = new Map(fields.map((field, index) => [field.name, index]));
const ofColumn = hasColumns ? all.columns.map((one) => fieldOf.get(one.part.name)) : fields.map((_, index) => index);
const number = data.pages.length / 4;
const start = new Float64Array(number), bytes = new Float64Array(number);
const field = new Int32Array(number), cluster = new Int32Array(number), columnOf = new Int32Array(number);
for (let page = 0, end = 0; page < number; page++) {
  start[page] = end + data.pages[4 * page];
  bytes[page] = data.pages[4 * page + 1];
  columnOf[page] = data.pages[4 * page + 2];
  cluster[page] = data.pages[4 * page + 3];
  field[page] = ofColumn[columnOf[page]] ?? -1;
  end = start[page] + bytes[page];
}

// Neighbours in the schema have different hues.
const hue = (index) => (index * 137.508) % 360;
const colour = (index) => `hsl(${hue(index).toFixed(0)} 62% ${58 + 12 * (index % 2)}%)`;
const chosen = new Set(data.chosen);
// Reading a field also needs the offsets of the collections around it, or counters.
let wanted = new Set();
function want() {
  wanted = new Set();
  ofColumn.forEach((index, column) => {
    if (chosen.has(index)) [column, ...data.needs[column]].forEach((one) => wanted.add(one));
  });
}
const isShown = (index) => chosen.size === 0 || chosen.has(index);

function totals() {
  const rest = all.file_bytes - all.stored_bytes - all.metadata_bytes;
  const again = (hasColumns ? all.columns.map((one) => one.part) : fields).reduce((sum, one) => sum + one.pages, 0) - all.pages.count;
  for (const line of [
    ["format", `${all.format}, ${count(all.entries)} entries, ${count(fields.length)} ${hasColumns ? "fields" : "branches"}`],
    [`${unit} on storage`, `${size(all.stored_bytes)} (${count(all.stored_bytes)} bytes)`],
    ["before compression", `${size(all.uncompressed_bytes)}, ratio ${ratio(all.uncompressed_bytes, all.stored_bytes)}`],
    ["metadata", all.format === "RNTuple" ? size(all.metadata_bytes) : "with everything else"],
    ["everything else in the file", size(Math.max(rest, 0))],
    [unit, `${count(all.pages.count)}${again > 0 ? ` (${count(again)} more are equal to others, and stored once)` : ""}, of ${size(all.pages.min)} to ${size(all.pages.max)}, median ${size(all.pages.median)}`],
    ["clusters", `${count(all.cluster_entries.count)}, median ${count(all.cluster_entries.median)} entries`],
  ]) row(byId("totals"), line);
}

// A squarified treemap: rows of areas, each row as near to squares as it can be.
function treemap() {
  const svg = byId("treemap");
  const parts = fields.map((one, index) => ({ index, value: one.stored_bytes })).filter((one) => one.value > 0);
  parts.sort((a, b) => b.value - a.value);
  let left = parts.reduce((sum, one) => sum + one.value, 0);
  let box = { x: 0, y: 0, width: 1000, height: 420 };
  for (let begin = 0; begin < parts.length; ) {
    const side = Math.min(box.width, box.height), scale = (box.width * box.height) / left;
    let end = begin, sum = 0, worst = Infinity;
    while (end < parts.length) {
      const next = sum + parts[end].value, thickness = (next * scale) / side;
      const lengths = [parts[begin].value, parts[end].value].map((value) => (value * scale) / thickness);
      const found = Math.max(...lengths.map((length) => Math.max(length / thickness, thickness / length)));
      if (found > worst) break;
      [worst, sum, end] = [found, next, end + 1];
    }
    const thickness = (sum * scale) / side, across = box.width >= box.height;
    let at = across ? box.y : box.x;
    for (const part of parts.slice(begin, end)) {
      const length = (part.value * scale) / thickness;
      tile(svg, part, across ? [box.x, at, thickness, length] : [at, box.y, length, thickness]);
      at += length;
    }
    box = across
      ? { ...box, x: box.x + thickness, width: Math.max(box.width - thickness, 1e-9) }
      : { ...box, y: box.y + thickness, height: Math.max(box.height - thickness, 1e-9) };
    [left, begin] = [left - sum, end];
  }
}
function tile(svg, { index, value }, [x, y, width, height]) {
  const one = fields[index];
  const place = Object.fromEntries(Object.entries({ x, y, width, height }).map(([key, at]) => [key, at.toFixed(2)]));
  const rect = drawn("rect", { ...place, fill: colour(index), "data-field": index, "stroke-width": width > 4 && height > 4 ? 1 : 0.2 }, svg);
  const said = `${one.name} (${one.type_name}): ${size(value)}, ${share(value, all.stored_bytes)}, ratio ${ratio(one.uncompressed_bytes, value)}`;
  drawn("title", {}, rect).textContent = said;
  rect.addEventListener("click", () => toggle(index));
  if (width > 45 && height > 14) {
    const letters = Math.floor((width - 6) / 6.8);
    const text = one.name.length > letters ? `${one.name.slice(0, letters - 1)}…` : one.name;
    drawn("text", { x: x + 4, y: y + 12 }, svg).textContent = text;
  }
}

function toggle(index) {
  if (!chosen.delete(index)) chosen.add(index);
  update();
}
function choose(text) {
  const globs = text.split(/[\s,]+/).filter(Boolean);
  const matches = (glob) => {
    const pattern = glob.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
    const expression = new RegExp(`^${pattern}$`);
    return fields.map((_, index) => index).filter((index) => expression.test(fields[index].name));
  };
  chosen.clear();
  const without = [];
  for (const glob of globs) {
    const found = matches(glob);
    if (found.length === 0) without.push(glob);
    for (const index of found) chosen.add(index);
  }
  byId("wrong").textContent = without.length ? `No field matches ${without.join(", ")}.` : "";
  update();
}

// The list of fields is made when it is opened, since it may be long.
let boxes = null;
byId("fields").parentElement.addEventListener("toggle", () => {
  if (boxes) return;
  boxes = fields.map((one, index) => {
    const label = element("label", undefined, byId("fields"));
    const box = element("input", undefined, label);
    [box.type, box.checked] = ["checkbox", chosen.has(index)];
    box.addEventListener("change", () => toggle(index));
    const swatch = element("i", undefined, label);
    [swatch.className, swatch.style.background] = ["swatch", colour(index)];
    label.append(one.name);
    const numbers = `${size(one.stored_bytes)}, ratio ${ratio(one.uncompressed_bytes, one.stored_bytes)}, ${count(one.pages)} ${unit}`;
    element("span", ` ${one.type_name} — ${numbers}`, label);
    return box;
  });
});

// Merges the ranges of chosen pages as the fetcher does, for all of the file at once.
function requests(link) {
  const found = { ranges: 0, bytes: 0, over: 0, requests: 0 };
  let [from, to, used] = [-1, -1, 0], [inRequest, ofRequest] = [Infinity, 0];
  const finish = () => {
    if (from < 0) return;
    found.ranges += 1;
    found.bytes += to - from;
    found.over += to - from - used;
    if (inRequest >= link.ranges || ofRequest + to - from > link.bytes) {
      found.requests += 1;
      [inRequest, ofRequest] = [0, 0];
    }
    inRequest += 1;
    ofRequest += to - from;
  };
  for (let page = 0; page < number; page++) {
    if (!wanted.has(columnOf[page])) continue;
    const end = start[page] + bytes[page];
    if (from >= 0 && start[page] - to <= link.gap && end - from <= link.merged) {
      to = Math.max(to, end);
      used += bytes[page];
    } else {
      finish();
      [from, to, used] = [start[page], end, bytes[page]];
    }
  }
  finish();
  return found;
}
function touched() {
  const table = byId("touched");
  table.replaceChildren();
  const parts = hasColumns ? all.columns.map((one) => one.part) : fields;
  const sum = (columns, key) => columns.reduce((total, one) => total + parts[one][key], 0);
  const note = byId("touched-note");
  if (chosen.size === 0) {
    note.textContent = "No field is chosen.";
    return;
  }
  const columns = hasColumns ? "columns" : "branches";
  row(table, ["", columns, unit, "bytes", "of all", "before compression"], "th");
  const own = [...wanted].filter((one) => chosen.has(ofColumn[one]));
  for (const [name, of] of [["chosen", own], ["with offsets and counters", [...wanted]]]) {
    const stored = sum(of, "stored_bytes");
    row(table, [name, count(of.length), count(sum(of, "pages")), count(stored), share(stored, all.stored_bytes), count(sum(of, "uncompressed_bytes"))]);
  }
  row(table, ["", "requests", "ranges", "bytes", "read over", "gap read over"], "th");
  const exact = { name: "as they lie", gap: 0, merged: Infinity, bytes: 0, ranges: 1 };
  for (const link of [exact, ...data.links]) {
    const found = requests(link);
    row(table, [link.name, count(found.requests), count(found.ranges), count(found.bytes), count(found.over), size(link.gap)]);
  }
  note.textContent = `Requests are those of the whole dataset at once. Metadata are not counted.${
    data.left_out ? " Requests are those of the part of the file that is shown below." : ""}`;
}

// The map. Its rows are parts of the file of equal length.
const canvas = byId("map"), context = canvas.getContext("2d");
const ROWS = 24, WIDTH = canvas.width, ROW = canvas.height / ROWS;
let view = [0, all.file_bytes];
function band(from, length, style) {
  const scale = (ROWS * WIDTH) / (view[1] - view[0]);
  let at = (from - view[0]) * scale, left = length * scale;
  if (at < 0) [at, left] = [0, left + at];
  left = Math.min(left, ROWS * WIDTH - at);
  context.fillStyle = style;
  while (left > 0 && at < ROWS * WIDTH) {
    const line = Math.floor(at / WIDTH), x = at - line * WIDTH, width = Math.min(left, WIDTH - x);
    context.fillRect(x, line * ROW, width, ROW - 1.5);
    [at, left] = [at + width, left - width];
    if (width < 1e-6) break;
  }
}
function firstAt(offset) {
  let [low, high] = [0, number];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle] + bytes[middle] <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
const strong = fields.map((_, index) => colour(index));
const pale = fields.map((_, index) => `hsl(${hue(index).toFixed(0)} 30% 50% / .18)`);
function map() {
  context.clearRect(0, 0, canvas.width, canvas.height);
  band(0, all.file_bytes, "#8883");
  for (let page = firstAt(view[0]); page < number && start[page] < view[1]; page++)
    band(start[page], bytes[page], (chosen.size === 0 || wanted.has(columnOf[page]) ? strong : pale)[field[page]] ?? "#888");
  for (const [, offset, length] of data.metadata) band(offset, length, "#345");
}
let asked = false;
function draw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    map();
  });
}
function offsetAt(event) {
  const box = canvas.getBoundingClientRect();
  const x = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
  const line = Math.min(Math.max(Math.floor(((event.clientY - box.top) / box.height) * ROWS), 0), ROWS - 1);
  return view[0] + ((line + x) / ROWS) * (view[1] - view[0]);
}
function show(from, to) {
  const length = Math.min(Math.max(to - from, 64), all.file_bytes);
  const begin = Math.min(Math.max(from, 0), all.file_bytes - length);
  view = [begin, begin + length];
  draw();
}
function saidAt(offset) {
  const page = firstAt(offset);
  const part = data.metadata.find(([, from, length]) => from <= offset && offset < from + length);
  if (part) return `${part[0]}: ${count(part[2])} bytes at ${count(part[1])}`;
  if (page >= number || start[page] > offset) return `byte ${count(offset)}: neither ${unit} nor metadata of this dataset`;
  const name = hasColumns ? all.columns[columnOf[page]].field : fields[field[page]].name;
  const type = hasColumns ? ` (${all.columns[columnOf[page]].column_type})` : "";
  return `${name}${type}: ${count(bytes[page])} bytes at ${count(start[page])}, cluster ${cluster[page]}`;
}
let drag = null;
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const at = offsetAt(event), factor = Math.exp(event.deltaY / 400);
  show(at - (at - view[0]) * factor, at + (view[1] - at) * factor);
}, { passive: false });
canvas.addEventListener("pointerdown", (event) => {
  drag = [offsetAt(event), ...view];
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", () => (drag = null));
canvas.addEventListener("pointermove", (event) => {
  if (drag) {
    view = [drag[1], drag[2]];
    const moved = drag[0] - offsetAt(event);
    show(drag[1] + moved, drag[2] + moved);
  }
  byId("under").textContent = saidAt(Math.floor(offsetAt(event)));
});
canvas.addEventListener("dblclick", () => show(0, all.file_bytes));

function clusters() {
  const sums = new Float64Array(Math.max(data.clusters, 1)), read = new Float64Array(sums.length);
  for (let page = 0; page < number; page++) {
    sums[cluster[page]] += bytes[page];
    if (wanted.has(columnOf[page])) read[cluster[page]] += bytes[page];
  }
  // Many clusters share a bar.
  const every = Math.ceil(sums.length / 250), bars = Math.ceil(sums.length / every), svg = byId("clusters");
  const of = (values, bar) => values.slice(bar * every, (bar + 1) * every).reduce((a, b) => a + b, 0);
  let most = 1;
  for (let bar = 0; bar < bars; bar++) most = Math.max(most, of(sums, bar));
  svg.replaceChildren();
  const width = Math.min(1000 / bars, 80);
  for (let bar = 0; bar < bars; bar++)
    for (const [values, fill] of [[sums, "#9ab8d8"], [read, "#2a78c2"]]) {
      const height = (118 * of(values, bar)) / most;
      const rect = drawn("rect", { x: bar * width, y: 120 - height, width: width * 0.9, height, fill }, svg);
      drawn("title", {}, rect).textContent = `cluster ${bar * every}: ${size(of(values, bar))}`;
    }
  byId("clusters-note").textContent = `Light: bytes of ${every > 1 ? `${every} clusters` : "each cluster"}, at most ${size(most)}. Dark: those that are read.`;
}

function groups() {
  const header = [unit, hasColumns ? "elements" : "entries", "stored", "share", "before", "ratio"];
  const numbers = (one) => [count(one.pages), count(one.elements), size(one.stored_bytes), share(one.stored_bytes, all.stored_bytes), size(one.uncompressed_bytes), ratio(one.uncompressed_bytes, one.stored_bytes)];
  for (const [title, parts] of [["encoding", all.encodings], ["compression", all.compressions], ["noted by the writer", all.settings]]) {
    if (parts.length === 0) continue;
    const table = element("table", undefined, byId("groups"));
    table.className = "right";
    row(table, [title, ...header], "th");
    for (const one of parts) row(table, [one.name, ...numbers(one)]);
  }
  const table = byId("columns");
  table.closest("details").addEventListener("toggle", () => {
    if (table.childElementCount) return;
    row(table, [hasColumns ? "column" : "branch", "encoding", "codec", ...header], "th");
    if (hasColumns) for (const one of all.columns) row(table, [one.field, one.column_type, one.codecs.join(" "), ...numbers(one.part)]);
    else for (const one of fields) row(table, [one.name, one.type_name, "", ...numbers(one)]);
  });
}

function update() {
  want();
  for (const rect of document.querySelectorAll("#treemap rect"))
    rect.classList.toggle("off", !isShown(Number(rect.dataset.field)));
  if (boxes) boxes.forEach((box, index) => (box.checked = chosen.has(index)));
  touched();
  clusters();
  draw();
}

byId("choose").addEventListener("click", () => choose(byId("filter").value));
byId("filter").addEventListener("keydown", (event) => event.key === "Enter" && choose(event.target.value));
byId("all").addEventListener("click", () => choose("*"));
byId("none").addEventListener("click", () => choose(""));
if (data.left_out) byId("left-out").textContent = `${count(data.left_out)} ${unit} at the end of the file are not shown.`;
totals();
treemap();
groups();
update();
document.documentElement.dataset.drawn = "yes";
