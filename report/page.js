// The page of `lehr report`. It reads the document in #data and shows one section, which the address names: #summary,
// #task-3, #network-0, #changes-0. A log is a stranger's: its texts become text nodes, and nothing else.
const report = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const plots = []; // of the open section
const SHAPES = ["circle", "triangle", "rect", "rectRot", "star", "cross"];

/** An element with properties or attributes, and children: elements and texts; null and false are left out. */
function el(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== false));
  return made;
}

// Numbers as people read them. A dash is what is not known.
const UNITS = { s: 1e6, ms: 1e3, us: 1, ns: 1e-3 };
const figures = (value, least) =>
  value.toLocaleString("en-US", { minimumSignificantDigits: least, maximumSignificantDigits: 4 });
const number = (value) => (value == null ? "-" : Number.isInteger(value) ? value.toLocaleString("en-US") : figures(value, 1));
const share = (value) => (value == null ? "-" : `${(100 * value).toFixed(1)} %`);
const date = (ms) => (ms ? `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC` : "-");
function time(us, least = 4) {
  if (us == null) return "-";
  const unit = Object.keys(UNITS).find((each) => us >= UNITS[each]) ?? "ns";
  return `${figures(us / UNITS[unit], least)} ${unit}`;
}
function duration(s) {
  if (s == null) return "-";
  return s < 120 ? `${figures(s, 1)} s` : s < 7200 ? `${figures(s / 60, 1)} min` : `${figures(s / 3600, 1)} h`;
}
function ratio(value, interval) {
  if (value == null) return "-";
  if (!interval) return `${value.toFixed(2)}x`;
  const digits = interval[1] - interval[0] < 0.02 ? 3 : 2;
  return `${value.toFixed(digits)}x (${interval.map((each) => each.toFixed(digits)).join(" to ")})`;
}
function spread(us, interval) {
  return us == null || !interval ? "" : ` ±${((50 * (interval[1] - interval[0])) / us).toFixed(1)} %`;
}
function word(text) {
  const sign = { faster: "▲", same: "=", slower: "▼" }[text] ?? "?";
  return text == null ? "-" : el("span", { className: text }, `${sign} ${text}`);
}
const few = (text) => (text.length > 160 ? `${text.slice(0, 159)}…` : text);
const trialsText = (n) => `${number(n)} trial${n === 1 ? "" : "s"}`;

/**
 * A table that its headings sort, in a box that scrolls. A column is {name, of, text, words}: what of(row) is sorts; what
 * text(row) is, a text or an element, shows; `words` are put to the left. Where open(row) is an address, a click goes there.
 */
function table(caption, columns, rows, open = () => null) {
  const body = el("tbody");
  const heads = columns.map((column) =>
    el("th", { scope: "col", className: column.words ? "words" : "" },
      el("button", { type: "button", onclick: () => sort(column) }, column.name)),
  );
  const cell = (column, row) => {
    const shown = column.text ? column.text(row) : column.of(row);
    return el("td", { className: column.words ? "words" : "" }, shown ?? "-");
  };
  let shown = rows;
  let order = null;
  function fill(next = shown) {
    shown = next;
    const sorted = order ? shown.toSorted(order) : shown;
    body.replaceChildren(
      ...sorted.map((row) => {
        const to = open(row);
        const opens = to && { className: "opens", onclick: () => go(to) };
        return el("tr", opens ?? {}, columns.map((column) => cell(column, row)));
      }),
    );
  }
  function sort(column) {
    const head = heads[columns.indexOf(column)];
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const each of heads) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    order = (one, other) => {
      const [a, b] = [column.of(one), column.of(other)];
      if (a == null || b == null) return (a == null) - (b == null);
      return (a < b ? -1 : a > b ? 1 : 0) * (up ? 1 : -1);
    };
    fill();
  }
  fill();
  const whole = el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body);
  return { box: el("div", { className: "table", tabIndex: 0, role: "region", "aria-label": caption }, whole), fill };
}

/** Controls that change one value of `state` and then call `update`. */
function choice(label, state, key, values, update) {
  const names = Array.isArray(values) ? Object.fromEntries(values.map((each) => [each, each])) : values;
  const options = Object.entries(names).map(([value, text]) =>
    el("option", { value, selected: String(state[key]) === value }, text));
  const onchange = (event) => {
    state[key] = event.target.value;
    update();
  };
  return el("label", {}, label, el("select", { onchange }, options));
}
function toggle(label, state, key, update) {
  const onchange = (event) => {
    state[key] = event.target.checked;
    update();
  };
  return el("label", {}, el("input", { type: "checkbox", checked: state[key], onchange }), ` ${label}`);
}
const heading = (title, sentence) => [el("h2", {}, title), el("p", { className: "note" }, sentence)];

/** A figure that the program drew, or null. */
function drawn(id) {
  const found = document.querySelector(`#figures > #${id}`)?.cloneNode(true);
  found?.removeAttribute("id");
  return found;
}

/** What a custom property of the style sheet is now, as a colour. */
function colour(name) {
  page.style.outlineColor = `var(--${name})`;
  return getComputedStyle(page).outlineColor;
}

/** A chart of what build() gives, drawn when its section is open, and anew by draw(). */
function plot(label, build, rows = 0) {
  const canvas = el("canvas", { role: "img", "aria-label": label });
  const box = el("div", { className: "chart" }, canvas);
  if (rows) box.style.height = `${4.5 + 1.6 * rows}rem`;
  let chart = null;
  const draw = () => {
    chart?.destroy();
    Object.assign(Chart.defaults, { color: colour("muted"), borderColor: colour("grid"), animation: false });
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    chart = new Chart(canvas, build());
  };
  plots.push({ draw, end: () => chart?.destroy() });
  return { box, draw };
}

/** Points of one kind: colour and shape tell them apart. */
function points(label, at, data, more = {}) {
  const look = colour(`fill${(at % 6) + 1}`);
  const style = { backgroundColor: look, borderColor: look, pointStyle: SHAPES[at % 6], pointRadius: 3.5 };
  return { type: "scatter", label, data, ...style, ...more };
}
/** A line of {x, y} that is no function's, such as the time of a library. */
function line(label, look, data, more = {}) {
  const style = { borderColor: look, backgroundColor: look, borderWidth: 1.5, pointRadius: 0, pointStyle: "line" };
  return { type: "line", label, data, ...style, ...more };
}
/** A chart of datasets of {x, y}. An axis is {title, text, log}. */
function cartesian(datasets, x, y, tell) {
  const axis = ({ title, text, log, ...more }) => ({
    type: log ? "logarithmic" : "linear",
    title: { display: true, text: log ? `${title}, logarithmic` : title },
    ticks: { callback: (value) => text(value, 1), maxTicksLimit: 9, maxRotation: 0 },
    ...more,
  });
  const label = (item) => tell?.(item.raw) ?? `${item.dataset.label}: ${y.text(item.raw.y)}`;
  const plugins = {
    legend: { labels: { usePointStyle: true, boxHeight: 7 } },
    tooltip: { callbacks: { title: () => "", label } },
  };
  const options = { maintainAspectRatio: false, parsing: false, normalized: true, plugins, scales: { x: axis(x), y: axis(y) } };
  return { type: "scatter", data: { datasets }, options };
}
/** Horizontal bars: a row for each name. */
function bars(names, datasets, title, text) {
  const scales = { x: { beginAtZero: true, title: { display: true, text: title }, ticks: { callback: (v) => text(v, 1) } } };
  scales.y = { ticks: { autoSkip: false, callback: (at) => few(names[at]).slice(0, 40) } };
  const label = (item) => `${item.dataset.label}: ${text(item.raw)}`;
  const plugins = { legend: { display: datasets.length > 1 }, tooltip: { callbacks: { label } } };
  const options = { indexAxis: "y", maintainAspectRatio: false, plugins, scales };
  return { type: "bar", data: { labels: names, datasets }, options };
}
const barsOf = (label, at, data) => ({ label, data, backgroundColor: colour(`fill${at + 1}`) });

function summary() {
  const { tasks } = report;
  const state = { text: "", word: "all" };
  const several = (key) => new Set(tasks.map((task) => task[key])).size > 1;
  const gain = (name, of, verdict, speedup) => [
    { name, of: (task) => task.winner?.[speedup], text: (task) => ratio(task.winner?.[speedup], task.winner?.[`${speedup}_interval`]) },
    { name: "", of, text: (task) => word(of(task)), words: true, verdict },
  ];
  const columns = [
    { name: "workload", words: true, of: (task) => task.short, text: (task) => link(`task-${tasks.indexOf(task)}`, task.short, task.workload) },
    several("log") && { name: "log", words: true, of: (task) => report.logs[task.log].file },
    several("device") && { name: "device", words: true, of: (task) => report.devices[task.device].name },
    { name: "time", of: (task) => task.winner?.time_us, text: ({ winner }) => time(winner?.time_us) + spread(winner?.time_us, winner?.time_us_interval) },
    { name: "GFLOP/s", of: (task) => task.winner?.gflops, text: (task) => number(task.winner?.gflops) },
  ].filter(Boolean);
}
