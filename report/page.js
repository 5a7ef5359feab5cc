// The page of `lehr report`. It reads the document in #data and shows one section, which the address names: #summary,
// #task-3, #network-0, #changes-0. A log is a stranger's: its texts become text nodes, and nothing else.
const report = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
let plots = []; // of the open section

const known = (values) => values.filter((value) => value != null);
const distinct = (values) => [...new Set(known(values))].sort((a, b) => (a < b ? -1 : 1));
const upTo = (n) => [...Array(n).keys()];

/** An element with properties or attributes, and children: elements and texts; what is null or false is left out. */
function el(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.flat(9).filter((child) => child != null && child !== false));
  return made;
}
const div = (className, ...children) => el("div", { className }, children);
const note = (...text) => el("p", { className: "note" }, String.raw(...text));
/** Of a text "title: sentences". */
function heading(...text) {
  const [, title, rest] = String.raw(...text).match(/^(.*?): (.*)$/s);
  return [el("h2", {}, title), el("p", { className: "note" }, rest)];
}
const go = (to) => {
  location.hash = to;
};
function link(to, text, title = "") {
  const onclick = (event) => {
    event.preventDefault(); // in a notebook's frame an address would be its page's
    event.stopPropagation();
    go(to);
  };
  return el("a", { href: `#${to}`, title, onclick }, text);
}

// Numbers as people read them. A dash is what is not known.
const UNITS = { s: 1e6, ms: 1e3, us: 1, ns: 1e-3 };
const digits = (value, least, most) =>
  value.toLocaleString("en-US", { minimumSignificantDigits: least, maximumSignificantDigits: most });
const number = (value) => (Number.isInteger(value) ? value.toLocaleString("en-US") : digits(value, 1, 4));
function time(us, least = 4) {
  const unit = Object.keys(UNITS).find((each) => us >= UNITS[each]) ?? "ns";
  return `${digits(us / UNITS[unit], least, 4)} ${unit}`;
}
function duration(s) {
  const [size, unit] = s < 120 ? [1, "s"] : s < 7200 ? [60, "min"] : [3600, "h"];
  return `${digits(s / size, 1, 3)} ${unit}`;
}
function ratio(value, ends) {
  const places = ends && ends[1] - ends[0] < 0.02 ? 3 : 2;
  return `${value.toFixed(places)}x${ends ? ` (${ends[0].toFixed(places)} to ${ends[1].toFixed(places)})` : ""}`;
}
const date = (ms) => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
const SIGNS = { faster: "▲", same: "=", slower: "▼" };
const half = (us, ends) => (ends ? ` ±${((50 * (ends[1] - ends[0])) / us).toFixed(1)} %` : "");
// How a value shows in a table and on an axis; `row` is the table's, `key` the value's in there.
const KINDS = {
  n: number,
  us: (us) => time(us, 1),
  s: duration,
  date,
  share: (value) => `${Number((100 * value).toFixed(1))} %`,
  time: (us, row, key) => time(us) + half(us, row?.[`${key}_interval`]),
  gain: (value, row, key) => ratio(value, row[`${key}_interval`]),
  words: (text) => text,
  code: (text) => el("code", {}, text),
  verdict: (word) => el("span", { className: word }, `${SIGNS[word] ?? "?"} ${word}`),
  link: (text, row) => (row.to ? link(row.to, text, row.workload) : el("span", { title: row.workload }, text)),
};
const shownAs = (kind, value, ...more) => (value == null || value === "" ? "-" : KINDS[kind](value, ...more));
/** Columns from "KIND KEY HEADING, ...": of a table, and axes of a chart. */
const columnsOf = (text) => text.split(", ").map((each) => each.match(/(?<kind>\S+) (?<key>\S+) ?(?<name>.*)/).groups);

/** A table whose headings sort it. A click on a row that has an address `to` goes there. */
function table(caption, text, rows) {
  const columns = columnsOf(text);
  const body = el("tbody");
  let [shown, order] = [rows, () => 0];
  const line = (row) => {
    const cells = columns.map(({ kind, key }) => el("td", { className: kind }, shownAs(kind, row[key], row, key)));
    return el("tr", row.to ? { className: "opens", onclick: () => go(row.to) } : {}, cells);
  };
  const fill = (next = shown) => {
    shown = next;
    body.replaceChildren(...[...shown].sort(order).map(line));
  };
  const sort = (head, key) => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const each of head.parentNode.children) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    order = ({ [key]: a }, { [key]: b }) => {
      if (a == null || b == null) return (a == null) - (b == null);
      return a === b ? 0 : a < b === up ? -1 : 1;
    };
    fill();
  };
  const heads = columns.map(({ kind, key, name }) => {
    const onclick = ({ currentTarget }) => sort(currentTarget.parentNode, key);
    return el("th", { scope: "col", className: kind }, el("button", { type: "button", onclick }, name));
  });
  fill();
  const whole = el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body);
  return { fill, box: el("div", { className: "table", tabIndex: 0, role: "region", "aria-label": caption }, whole) };
}
/** The same, or nothing where there are no rows. */
const tableOf = (caption, text, rows) => rows.length > 0 && table(caption, text, rows).box;

/** A control that changes state[key] and calls update(): a select of values or [value, text], a box to tick, a text. */
function control(label, state, key, update, options) {
  const oninput = ({ target }) => {
    state[key] = target.type === "checkbox" ? target.checked : target.value;
    update();
  };
  const type = typeof state[key] === "boolean" ? "checkbox" : "search";
  const choices = options?.map((each) => {
    const [value, text = value] = [each].flat();
    return el("option", { value, selected: value === state[key] }, text);
  });
  const made = choices
    ? el("select", { oninput }, choices)
    : el("input", { type, checked: state[key] === true, oninput });
  return el("label", {}, label, made);
}

/** A figure that the program drew, or null. */
function drawn(id) {
  const found = document.querySelector(`#figures > #${id}`)?.cloneNode(true);
  found?.removeAttribute("id");
  return found;
}
/** A custom property of the style sheet as it is now, light or dark. */
function colour(name) {
  page.style.outlineColor = `var(--${name})`;
  return getComputedStyle(page).outlineColor;
}
/** A chart of what build() gives: drawn once its section is open, and anew by draw(). */
function plot(label, build, rem = 22) {
  const canvas = el("canvas", { role: "img", "aria-label": label });
  const made = { box: div("chart", canvas), end: () => made.chart?.destroy() };
  made.box.style.height = `${rem}rem`;
  made.draw = () => {
    made.end();
    Object.assign(Chart.defaults, { color: colour("muted"), borderColor: colour("grid"), animation: false });
    Object.assign(Chart.defaults, { maintainAspectRatio: false, normalized: true });
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    made.chart = new Chart(canvas, build());
  };
  plots.push(made);
  return made;
}
/** An axis from "KIND KEY TITLE"; logarithmic if asked for and all of `values` allow it. */
function axis(text, log = false, values = [], more = {}) {
  const [{ kind, name }] = columnsOf(text);
  const [least, most] = values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [1e99, -1e99]);
  const ticks = { callback: (value) => KINDS[kind](value), maxTicksLimit: 9, maxRotation: 0 };
  if (!log || !(least > 0)) return { title: { display: true, text: name }, ticks, ...more };
  const title = { display: true, text: `${name} (logarithmic)` };
  return { type: "logarithmic", title, ticks, min: least * 0.97, max: most * 1.03, ...more };
}
/** A chart of sets of {x, y}. What has a number `i` is one of `trials` and told whole. */
function chart(datasets, x, y, trials) {
  const said = ({ raw, dataset }) => `${dataset.label}: ${y.ticks.callback(raw.y)} at ${x.ticks.callback(raw.x)}`;
  const label = (item) => (item.raw.i == null ? said(item) : tooltipOf(trials, item.raw.i));
  const legend = { labels: { usePointStyle: true, boxHeight: 7, filter: (item) => item.text } };
  const plugins = { legend, tooltip: { callbacks: { title: () => "", label } } };
  return { type: "scatter", data: { datasets }, options: { parsing: false, plugins, scales: { x, y } } };
}
/** Horizontal bars of rows that have a `name`, for each of the columns; `kind` and `title` are of the axis. */
function bars(rows, text, kind, title) {
  const looks = columnsOf(text).map(({ key, name, kind }) => [name, colour(kind), rows.map((row) => row[key])]);
  const datasets = looks.map(([label, backgroundColor, data]) => ({ label, backgroundColor, data }));
  const y = { ticks: { autoSkip: false, callback: (at) => rows[at].name.slice(0, 36) } };
  const label = ({ dataset, raw }) => `${dataset.label}: ${shownAs(kind, raw)}`;
  const plugins = { legend: { display: looks.length > 1 }, tooltip: { callbacks: { label } } };
  const options = { indexAxis: "y", plugins, scales: { x: axis(`${kind} x ${title}`), y } };
  return { type: "bar", data: { labels: rows.map((row) => row.name), datasets }, options };
}
const SHAPES = ["circle", "triangle", "rect", "rectRot", "star", "cross"];
/** Points of one kind, told apart from others by colour and shape. */
function points(label, at, data, name = `fill${at + 1}`) {
  const look = colour(name);
  const radius = data.length > 800 ? 2.5 : 3.5;
  return { label, data, backgroundColor: look, borderColor: look, pointStyle: SHAPES[at], radius };
}
function line(label, name, data, more) {
  const look = { borderColor: colour(name), backgroundColor: colour(name), borderWidth: 1.5 };
  return { label, data, type: "line", pointStyle: "line", radius: 0, ...look, ...more };
}

// What of trials can be on an axis; a knob is one, too.
const COLUMNS = columnsOf(
  "n order trial, n seconds seconds since the start, us time_us time of a call, n predicted predicted score, " +
    "n registers registers, n spill_bytes spilled bytes, n shared_bytes shared bytes, n compile_s seconds to compile, " +
    "n run_s seconds to check and measure, share spread spread of its samples, words picked_by picked by, words family family",
);
const CALL = "us time_us time of a call";
const TRIALS = "n order trial, n seconds seconds, time time_us time, words picked_by picked by, code config config";
const columnOf = (trials, key) => trials[key] ?? trials.knobs[key.slice(5)];
const specOf = (key) => COLUMNS.find((each) => each.key === key) ?? { kind: "n", key, name: key.slice(5) };
const axisOf = (key, ...more) => axis(`${specOf(key).kind} ${key} ${specOf(key).name}`, ...more);
function configOf({ knobs }, i) {
  const names = Object.keys(knobs).filter((name) => knobs[name][i] != null);
  return names.map((name) => `${name}=${knobs[name][i]}`).join(", ");
}
function rowOf(trials, i) {
  const row = Object.fromEntries(COLUMNS.map(({ key }) => [key, trials[key][i]]));
  return { ...row, config: `${row.family}(${configOf(trials, i)})` };
}
function tooltipOf(trials, i) {
  const { order, time_us, picked_by, family } = rowOf(trials, i);
  const lines = configOf(trials, i).match(/.{1,60}(, |$)/g) ?? [];
  return [`trial ${order}: ${trials.failure[i] ?? time(time_us)}, picked by ${picked_by}`, family, ...lines];
}
/** Points of trials by kinds, six at most: each value is one, else sixths of them, else five and the others. */
function kinds(trials, all, key, at) {
  const values = columnOf(trials, key);
  const each = distinct(values);
  const ordered = typeof each[0] === "number";
  const sixths = upTo(6).map((k) => each[Math.floor((k * each.length) / 6)]);
  const starts = each.length <= 6 ? each : ordered ? sixths : [...each.slice(0, 5), "others"];
  const kindOf = (value) => {
    if (value == null) return -1;
    return ordered ? starts.findLastIndex((start) => value >= start) : (starts.indexOf(value) + 6) % 6;
  };
  const data = starts.map(() => []);
  const rest = [];
  for (const i of all) (data[kindOf(values[i])] ?? rest).push(at(i));
  const from = ordered && each.length > 6 ? "from " : "";
  const name = (start) => (start === "others" ? start : from + KINDS[specOf(key).kind](start));
  const sets = starts.map((start, k) => points(name(start), k, data[k], `${ordered ? "ramp" : "fill"}${k + 1}`));
  return [...sets, points("without", 0, rest, "muted")].filter((set) => set.data.length);
}

function progress({ trials, short, default_us, libraries }) {
  const state = { over: "seconds", log: false };
  const { best_us, time_us } = trials;
  const gains = upTo(trials.shown).filter((i) => time_us[i] != null && best_us[i] === time_us[i]);
  const shown = plot(`The best time so far of ${short}; the table below has its numbers`, () => {
    const over = trials[state.over];
    const at = (i) => ({ x: over[i], y: best_us[i], i });
    const flat = ({ name, time_us: y }, k) => {
      const ends = [0, over.at(-1)].map((x) => ({ x, y }));
      return line(`${name}: ${time(y)}`, "muted", ends, { borderDash: [10 - 3 * k, 3 + k] });
    };
    const others = [{ name: "default", time_us: default_us }, ...libraries].filter((each) => each.time_us != null);
    const best = line("best so far", "ink", [...gains, trials.shown - 1].map(at), { stepped: true });
    const sets = [...kinds(trials, gains, "picked_by", at), best, ...others.map(flat)];
    const heights = [...others.map((each) => each.time_us), ...gains.map((i) => best_us[i])];
    return chart(sets, axisOf(state.over, false, [], { min: 0 }), axis(CALL, state.log, heights), trials);
  });
  const pick = (label, key, options) => control(label, state, key, shown.draw, options);
  const rows = gains.map((i) => rowOf(trials, i));
  return [
    heading`The best so far: A point is a trial that beat all before it, by who picked it. The contest above timed the
      fastest of them again, in turn with the default and the libraries, whose times are dashed lines here.`,
    div("controls", pick("over", "over", ["seconds", ["order", "trials"]]), pick("logarithmic", "log")),
    shown.box,
    el("details", {}, el("summary", {}, "As a table"), tableOf("Trials that were the best so far", TRIALS, rows)),
  ];
}

function explore({ trials, short }) {
  const all = upTo(trials.shown);
  const knobs = Object.keys(trials.knobs).map((name) => `knob:${name}`);
  const keys = [...COLUMNS.map(({ key }) => key), ...knobs].filter((key) => known(columnOf(trials, key)).length);
  const named = keys.map((key) => [key, specOf(key).name]);
  const axes = named.filter(([key]) => specOf(key).kind !== "words");
  const values = knobs.flatMap((key) => distinct(columnOf(trials, key)).map((value) => `${key.slice(5)}=${value}`));
  const state = { x: "order", y: "time_us", colour: "picked_by", logX: false, logY: true };
  Object.assign(state, { family: "all", picked_by: "all", knob: "all" });
  const sentence = el("p", { className: "note", "aria-live": "polite" });
  const fastest = table("The ten fastest of these", TRIALS, []);
  const passes = (i) => {
    const [name, value] = state.knob.split("=");
    const same = (key) => state[key] === "all" || state[key] === trials[key][i];
    return same("family") && same("picked_by") && (value == null || String(trials.knobs[name][i]) === value);
  };
  const shown = plot(`Trials of ${short}, as chosen; the table below has the fastest`, () => {
    const [xs, ys] = [columnOf(trials, state.x), columnOf(trials, state.y)];
    const kept = all.filter((i) => xs[i] != null && passes(i));
    const some = kept.filter((i) => ys[i] != null).sort((a, b) => xs[a] - xs[b]);
    const failed = state.y === "time_us" ? kept.filter((i) => ys[i] == null) : [];
    const top = some.reduce((most, i) => Math.max(most, ys[i]), 0) * 1.03 || 1;
    const edge = failed.map((i) => ({ x: xs[i], y: top, i }));
    const sets = kinds(trials, some, state.colour, (i) => ({ x: xs[i], y: ys[i], i }));
    if (failed.length) sets.push({ ...points("failed", 0, edge, "bad"), pointStyle: "crossRot" });
    const counts = `${number(some.length)} of ${number(trials.total)} trials are drawn`;
    sentence.textContent =
      counts + (failed.length ? `, and ${number(failed.length)} that failed, at the upper edge.` : ".");
    const rows = kept.map((i) => rowOf(trials, i)).filter((row) => row.time_us != null);
    fastest.fill(rows.sort((a, b) => a.time_us - b.time_us).slice(0, 10));
    const of = (list) => some.map((i) => list[i]);
    return chart(sets, axisOf(state.x, state.logX, of(xs)), axisOf(state.y, state.logY, of(ys)), trials);
  });
  const pick = (label, key, options) => control(label, state, key, shown.draw, options);
  const only = (key) => pick(specOf(key).name, key, ["all", ...distinct(trials[key])]);
  return [
    heading`All trials: A point is a kernel that was compiled, checked and timed. The pointer over one shows its config.`,
    trials.total > trials.shown &&
      note`${number(trials.total - trials.shown)} trials are left out of the page. Here are all that were the best so far
        or failed, and ${number(report.most_others)} others.`,
    div("controls", pick("across", "x", axes), pick("logarithmic", "logX")),
    div("controls", pick("up", "y", axes), pick("logarithmic", "logY"), pick("colour", "colour", named)),
    div("controls", only("family"), only("picked_by"), pick("knob", "knob", ["all", ...values])),
    [shown.box, sentence, fastest.box],
  ];
}

function prediction({ trials, sessions, short }) {
  const scored = upTo(sessions.length).filter((at) => sessions[at].scored > 1);
  if (!scored.length) return [];
  const state = { session: String(scored.at(-1)) };
  const shown = plot(`Predicted and measured ranks of trials of ${short}`, () => {
    const { predicted, time_us, session } = trials;
    const timed = upTo(trials.shown).filter((i) => predicted[i] != null && time_us[i] != null);
    const all = timed.filter((i) => String(session[i]) === state.session);
    const rank = (of) => new Map([...all].sort((a, b) => of(a) - of(b)).map((i, at) => [i, at + 1]));
    const [x, y] = [rank((i) => -predicted[i]), rank((i) => time_us[i])];
    const ends = [1, all.length].map((at) => ({ x: at, y: at }));
    const sets = kinds(trials, all, "picked_by", (i) => ({ x: x.get(i), y: y.get(i), i }));
    const asked = line("as predicted", "ink", ends);
    return chart([...sets, asked], axis("n x rank by prediction"), axis("n y rank by time"), trials);
  });
  const said = ({ began_unix_ms, spearman }) => `${date(began_unix_ms)}, rank correlation ${shownAs("n", spearman)}`;
  const options = scored.map((at) => [String(at), said(sessions[at])]);
  return [
    heading`What the model knew: Rank 1 is the fastest. The nearer to the line, the better the model of the moment foresaw
      the times. Only what it held to be good was measured: over the whole space, where it also tells bad from good,
      the rank correlation (Spearman's) would be higher.`,
    div("controls", control("session", state, "session", shown.draw, options)),
    shown.box,
  ];
}

function knobs({ knobs, neighbours, short }) {
  if (!knobs.length) return [];
  const state = { knob: knobs[0].name };
  const rem = 5 + 1.5 * Math.max(6, knobs.length);
  const bar = () => bars(knobs, "fill1 importance importance", "share", "share of the differences");
  const shares = plot(`Importance of the knobs of ${short}`, bar, rem);
  const best = () => {
    const { values, winner, best_us } = knobs.find((each) => each.name === state.knob);
    const all = best_us.map((y, x) => ({ x, y, won: values[x] === winner })).filter(({ y }) => y != null);
    const won = all.filter((each) => each.won);
    const others = all.filter((each) => !each.won);
    const x = axis(`n x ${state.knob}`, false, [], { min: -0.5, max: values.length - 0.5 });
    x.ticks.callback = (at) => `${values[at] ?? ""}`;
    return chart([points("the winner's", 1, won), points("others", 0, others), line("", "grid", all)], x, axis(CALL));
  };
  const times = plot(`Best time by the value of a knob of ${short}`, best, rem);
  const names = knobs.map((each) => each.name);
  const text = "words knob knob, n from winner's, n to instead, time time_us time, gain ratio of the winner's time";
  return [
    heading`Knobs: Left: how much of the differences of log(time) the value of each knob alone explains, within the winner's
      family. Right: the best time that was measured with each value of one.`,
    div("controls", control("best time by", state, "knob", times.draw, names)),
    div("pair", shares.box, times.box),
    tableOf("Measured configs that differ from the winner in one knob", text, neighbours),
  ];
}

const FAILED =
  "words kind kind, n count trials, words sentence what it means, code example the first, code config its config";
function outcome({ failures, roofline, phases, sessions }, at) {
  const total = phases.reduce((sum, each) => sum + each.seconds, 0);
  const parts = phases.map((each) => ({ ...each, share: each.seconds / total }));
  const began = "date began_unix_ms began, s seconds took, n trials trials, n timed timed, words strategy strategy";
  const limit = { compute: ": arithmetic is the limit", memory: ": memory is the limit" }[roofline?.bound] ?? "";
  return [
    failures.length > 0 &&
      heading`Failures: Candidates that have no time. A failure is an answer too: none of them is tried again.`,
    tableOf("Failed trials by kind", FAILED, failures),
    roofline &&
      heading`What the device can do: ${shownAs("n", roofline.peak_gflops)} GFLOP/s and
        ${shownAs("n", roofline.peak_gbytes_per_s)} GB/s. This workload has ${shownAs("n", roofline.intensity)} operations
        for each byte that has to move${limit}.`,
    drawn(`roofline-${at}`),
    tableOf("Shares of the limit", "words name , n gflops GFLOP/s, share share of it", roofline?.points ?? []),
    sessions.length > 0 &&
      heading`Where the time went: The parts of the last session, and all sessions of this workload.`,
    drawn(`phases-${at}`),
    tableOf("The last session", "words name part, s seconds took, share share of it", parts),
    tableOf("Sessions", `${began}, n seed seed, n spearman rank correlation, words merged_from merged from`, sessions),
  ];
}

function range({ rows, short }) {
  if (!rows) return [];
  const { members, times, held_out, losses } = rows;
  const all = times.map((each) => each.rows);
  const took = known(times.flatMap((each) => [each.us, each.best_us]));
  const series = (key) => times.map((each) => ({ x: each.rows, y: each[key] ?? Number.NaN }));
  const ends = (x, low, high) => [low, high, Number.NaN].map((y) => ({ x, y }));
  const set = plot(`Time over rows of ${short}`, () => {
    const borders = members.slice(0, -1).flatMap(({ to }) => ends(to, Math.min(...took), Math.max(...took)));
    const ours = line("this set", "fill1", series("us"), { pointStyle: "circle", radius: 3 });
    const next = line("another kernel begins", "muted", borders, { borderDash: [4, 4] });
    const best = points("the best of all kernels", 1, series("best_us"));
    return chart([ours, best, next], axis("n x rows", true, all), axis(CALL, true, took));
  });
  const held = plot(`Loss at held-out sizes of ${short}`, () => {
    const loss = held_out.map((each) => ({ x: each.rows, y: each.loss }));
    const between = held_out.flatMap((each) => ends(each.rows, each.loss_low, each.loss_high));
    const x = axis("n x rows", true, all);
    return chart([points("loss", 0, loss), line("95 % interval", "fill1", between)], x, axis("share y loss"));
  });
  const text = "n rows rows, time us time, time own_us a kernel of its own, time default_us default, share loss loss";
  return [
    heading`A range of rows: ${members.length} kernels serve ${rows.least} to ${rows.most} rows together. At sizes held out
      they lose ${shownAs("share", losses?.mean)} on average, ${shownAs("share", losses?.worst)} at worst, to kernels of
      these sizes' own.`,
    div("pair", set.box, held_out.length > 0 && held.box),
    tableOf("Kernels of the set", "n to up to row, code config config", members),
    tableOf("Held-out sizes", `${text}, share loss_low from, share loss_high to`, held_out),
  ];
}

function contest({ winner, libraries, vs_default, vs_library, ...task }) {
  const [speedup, speedup_interval] = [winner.speedup_vs_default, winner.speedup_vs_default_interval];
  const [time_us, time_us_interval] = [task.default_us, task.default_us_interval];
  const usual = { name: "default", time_us, time_us_interval, speedup, speedup_interval, verdict: vs_default };
  const others = libraries.map((each) => ({ ...each, verdict: each.name === winner.baseline ? vs_library : "" }));
  const rows = [{ ...winner, name: "best" }, ...(time_us == null ? [] : [usual]), ...others].map((row) => {
    const gflops = row.time_us ? (winner.gflops * winner.time_us) / row.time_us : null;
    return { ...row, gflops, note: row.note || row.missing };
  });
  const text = "words name , time time_us time, n gflops GFLOP/s, gain speedup best is, verdict verdict , words note ";
  return tableOf("The winner and what it was timed with, in turn. ±: half of the 95 % interval", text, rows);
}

function task(at) {
  const one = report.tasks[at];
  const { winner, trials } = one;
  const failed = one.failures.reduce((sum, each) => sum + each.count, 0);
  return [
    el("h1", {}, one.short),
    note`${one.workload}, on ${report.devices[one.device].name}: ${number(trials.total)} trials in ${duration(one.seconds)},
      ${number(failed)} failed.`,
    winner ? contest(one) : el("p", {}, "No trial of it was timed: there is no kernel to show."),
    winner && el("code", { className: "whole" }, winner.config),
    winner?.provisional && el("p", {}, "There was no time to prove that it is the fastest: lehr export does."),
    winner && trials.shown > 0 && [range, progress, explore, prediction, knobs].map((part) => part(one)),
    outcome(one, at),
  ];
}

function summary() {
  const { logs, devices, tasks, notes } = report;
  const names = (task) => ({ device: devices[task.device].name, log: logs[task.log].file, count: task.trials.total });
  const rows = tasks.map((task, at) => ({ ...task.winner, ...task, ...names(task), to: `task-${at}` }));
  const several = (key) => (distinct(rows.map((row) => row[key])).length > 1 ? `words ${key} ${key}, ` : "");
  const usual =
    "gain speedup_vs_default of the default, verdict vs_default , gain speedup_vs_baseline of the best library";
  const text = `link short workload, ${several("log")}${several("device")}time time_us time, n gflops GFLOP/s, ${usual}`;
  const more = "words baseline , verdict vs_library , n count trials, s seconds took";
  const found = table("The fastest kernel of each workload. ±: half of the 95 % interval", `${text}, ${more}`, rows);
  const state = { text: "", vs_default: "all", vs_library: "all" };
  const passes = (row) => ["vs_default", "vs_library"].every((key) => state[key] === "all" || state[key] === row[key]);
  const update = () => found.fill(rows.filter((row) => row.workload.includes(state.text) && passes(row)));
  const pick = (label, key) => control(label, state, key, update, ["all", "faster", "same", "slower", "unproven"]);
  const device = (each) => note`${each.name} (${known([each.arch, each.driver, each.compiler]).join(", ")})`;
  const log = (each) =>
    note`${each.file}: ${number(each.trials)} trials, ${number(each.sessions)} sessions, ${duration(each.seconds)}, from
      ${shownAs("date", each.began_unix_ms)} to ${shownAs("date", each.ended_unix_ms)}, by lehr ${each.versions.join(", ")}`;
  const shown = [
    div(
      "controls",
      control("workload has", state, "text", update),
      pick("default", "vs_default"),
      pick("library", "vs_library"),
    ),
    found.box,
    logs.map((_, at) => drawn(`intervals-${at}`)),
  ];
  return [
    el("h1", {}, "What was tuned, and what came of it"),
    [devices.map(device), logs.map(log), notes.map((each) => el("p", {}, each))],
    rows.length > 0 ? shown : el("p", {}, "The log has no trial."),
  ];
}

function network(at) {
  const { file, ...one } = report.networks[at];
  const total = (each, key) => (each[key] == null ? null : each[key] * each.occurrences);
  const rows = one.matches.map((each) => ({
    ...each,
    name: each.short,
    to: each.task == null ? "" : `task-${each.task}`,
  }));
  const totals = rows.map((each) => ({
    ...each,
    best: total(each, "best_us"),
    usual: total(each, "default_us"),
    library: total(each, "library_us"),
  }));
  const rem = 6 + 3.2 * rows.length;
  const series = "fill1 best best, fill2 usual default, fill5 library library";
  const alone = plot(`Kernels of ${file}`, () => bars(totals, series, "us", "time of all occurrences"), rem);
  const both = "fill2 before_us before, fill1 after_us after";
  const within = plot(`Places of ${file} in the engine`, () => bars(rows, both, "us", "time in the engine"), rem);
  const text =
    "link short workload, n occurrences occurs, n kernels kernels, time best_us best, time default_us default";
  const turns = "time before_us before, time after_us after";
  const nodes = "words node node, words operator operator, words workload workload, words kernel kernel";
  const gain = one.speedup == null ? "-" : ratio(one.speedup, one.speedup_interval);
  return [
    el("h1", {}, file),
    note`${one.folder}: ${one.replaced} of ${one.places} places have kernels, in ONNX Runtime ${one.engine}, threads:
      ${one.threads}. ${shownAs("time", one.original_us)} before, ${shownAs("time", one.rewritten_us)} after: ${gain}.`,
    heading`Workloads: Left: kernels alone, times how often they occur. Right: the same places in the engine, before and after.`,
    div("pair", alone.box, within.box),
    tableOf("Of one occurrence", `${text}, words library library, time library_us its time, ${turns}`, rows),
    heading`What is covered: Kernels took over ${shownAs("share", one.covered_share)} of the original's time.`,
    drawn(`coverage-${at}`),
    tableOf("Operators that are not covered", "words operator operator, share share of the time", one.not_covered),
    tableOf("Why places were left as they were", "words reason reason, n count places", one.reasons),
    heading`Layers: What each node took, as the engine tells it.`,
    tableOf("Nodes of the network", `${nodes}, ${turns}`, one.layers),
  ];
}

function changes(at) {
  const { from, to, tasks } = report.changes[at];
  const state = { word: "all" };
  const text =
    "link short workload, words device device, time from_us before, time to_us now, gain ratio now, verdict word ";
  const found = table("The fastest kernels of both", text, tasks);
  const update = () => found.fill(tasks.filter(({ word }) => state.word === "all" || word === state.word));
  const options = ["all", ...distinct(tasks.map(({ word }) => word))];
  return [
    el("h1", {}, `What changed from ${report.logs[from].file} to ${report.logs[to].file}`),
    note`Above 1.00x the newer is faster. The two were not timed in turn: small differences may be the machine's.`,
    div("controls", control("show", state, "word", update, options)),
    found.box,
  ];
}

function draw() {
  for (const each of plots) each.draw();
}
function show() {
  const { tasks, networks } = report;
  const [kind, at = 0] = location.hash.slice(1).split("-");
  const lists = { task: tasks, network: networks, changes: report.changes };
  const open = lists[kind]?.[at] ? { task, network, changes }[kind] : summary;
  for (const each of plots) each.end();
  plots = [];
  const near = kind === "task" ? [Number(at) - 1, Number(at) + 1].filter((each) => tasks[each]) : [];
  const entries = [
    ["summary", "Summary"],
    ...networks.map((each, i) => [`network-${i}`, each.file]),
    ...report.changes.map((_, i) => [`changes-${i}`, "Changes"]),
    ...near.map((each) => [`task-${each}`, `${each < at ? "previous" : "next"}: ${tasks[each].short}`]),
  ];
  const here = open === summary ? "summary" : `${kind}-${at}`;
  const links = entries.map(([to, name]) => (to === here ? el("b", {}, name) : link(to, name)));
  page.replaceChildren(el("nav", {}, links), div("", open(at)));
  draw();
}
for (const query of ["print", "(prefers-color-scheme: dark)"]) matchMedia(query).addEventListener("change", draw);
addEventListener("hashchange", () => {
  show();
  scrollTo(0, 0);
});
show();
