// The page of `lehr report`. It reads the document in #data and shows one section, which the address names: #summary,
// #task-3, #network-0, #changes-0. A log may come from anybody: its texts only become text nodes.
const report = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");

const known = (values) => values.filter((value) => value != null);
const distinct = (values) => [...new Set(known(values))].sort((a, b) => (a < b ? -1 : 1));
const upTo = (n) => [...Array(n).keys()];

/** Returns an element with these properties and children (elements and texts). Children that are null or false are left out. */
function el(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.flat(9).filter((child) => child != null && child !== false));
  return made;
}
const div = (className, ...children) => el("div", { className }, children);
const note = (...text) => el("p", { className: "note" }, String.raw(...text));
/** Returns the heading and the note for a text like "title: sentences". */
function heading(...text) {
  const [, title, rest] = String.raw(...text).match(/^(.*?): (.*)$/s);
  return [el("h2", {}, title), el("p", { className: "note" }, rest)];
}
/** Returns a link to a section. One listener, at the end of this file, follows all links. */
const link = (to, text, title = "") => el("a", { href: `#${to}`, title, to }, text);

// Formats numbers for people. A dash stands for an unknown number.
const UNITS = { h: 3.6e9, min: 6e7, s: 1e6, ms: 1e3, us: 1, ns: 1e-3 };
const digits = (v, low, top) => Number(v.toPrecision(top)).toLocaleString("en-US", { minimumSignificantDigits: low });
const number = (value) => (Number.isInteger(value) ? value.toLocaleString("en-US") : digits(value, 1, 4));
function time(us, least = 4, most = 4) {
  const unit = Object.keys(UNITS).find((each) => us >= UNITS[each]) ?? "us";
  return `${digits(us / UNITS[unit], least, most)} ${unit}`;
}
const duration = (s) => time(1e6 * s, 1, 3);
function gain(value, ends) {
  const places = ends && ends[1] - ends[0] < 0.02 ? 3 : 2;
  return `${value.toFixed(places)}x${ends ? ` (${ends[0].toFixed(places)} to ${ends[1].toFixed(places)})` : ""}`;
}
const date = (ms) => (Math.abs(ms) < 8e15 ? `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC` : "-");
const SIGNS = { faster: "▲", same: "=", slower: "▼", new: "+", gone: "-" };
// Formats values for tables and axes, by kind. `ends` are the ends of a value's interval, `row` is the row of the table.
const tick = (us) => time(us, 1);
const share = (value) => `${Number((100 * value).toFixed(1))} %`;
const timed = (us, ends) => time(us) + (ends ? ` ±${((50 * (ends[1] - ends[0])) / us).toFixed(1)} %` : "");
const words = (text) => ({ true: "yes", false: "no" })[text] ?? String(text);
const code = (text) => el("code", {}, text);
const verdict = (word) => el("span", { className: word }, `${SIGNS[word] ?? "?"} ${word}`);
const opener = (text, _, { task, workload: title }) =>
  task == null ? el("span", { title }, text) : link(`task-${task}`, text, title);
const KINDS = { n: number, us: tick, s: duration, date, share, time: timed, gain, words, code, verdict, link: opener };
const NONE = { words: "", code: "", verdict: "" };
const shownAs = (kind, value, ...more) => (value == null ? (NONE[kind] ?? "-") : KINDS[kind](value, ...more));
/** Columns of a table or axes of a chart, from "KIND KEY HEADING, ...", where the heading may be left out: the key. */
const columnsOf = (text) => text.split(", ").map((each) => each.match(COLUMN).groups);
const COLUMN = /^(?<kind>\S+) (?=(?<key>\S+))(?:\S+ )?(?<name>.+)$/;
const cellOf = (row, kind, key) => shownAs(kind, row[key], row[`${key}_interval`], row);

/** A table whose headings sort it. A click on a row that has a `task` opens it. */
function table(caption, text, rows) {
  const columns = columnsOf(text);
  const body = el("tbody");
  let [shown, order] = [rows, () => 0];
  const line = (row) => {
    const cells = columns.map(({ kind, key }) => el("td", { className: kind }, cellOf(row, kind, key)));
    return el("tr", row.task == null ? {} : { className: "opens", to: `task-${row.task}` }, cells);
  };
  const fill = (next = shown) => {
    shown = next;
    body.replaceChildren(...[...shown].sort(order).map(line));
  };
  const sort = (head, key) => {
    const up = head.ariaSort !== "ascending";
    for (const each of head.parentNode.children) each.ariaSort = null;
    head.ariaSort = up ? "ascending" : "descending";
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
  return { fill, box: el("div", { className: "table", tabIndex: 0, role: "region", ariaLabel: caption }, whole) };
}
/** Returns the table, or false if there are no rows. */
const tableOf = (caption, text, rows) => rows.length > 0 && table(caption, text, rows).box;

/** A control that changes state[key] and calls update(): a select of values or [value, text], else a text. */
function control(label, state, key, update, options) {
  const oninput = ({ target }) => {
    state[key] = target.value;
    update();
  };
  const pairs = options?.map((each) => (Array.isArray(each) ? each : [each, each])) ?? [];
  const choices = pairs.map(([value, text]) => el("option", { value, selected: value === state[key] }, text));
  return el("label", {}, `${label} `, el(options ? "select" : "input", { oninput }, choices));
}
/** A table with controls: a text that workloads have, and selects for the words of some columns. */
function filtered(caption, text, rows, selects) {
  const columns = columnsOf(selects);
  const state = { text: "", ...Object.fromEntries(columns.map(({ key }) => [key, "all"])) };
  const found = table(caption, text, rows);
  const passes = (row) => columns.every(({ key }) => state[key] === "all" || state[key] === row[key]);
  const update = () => found.fill(rows.filter((row) => row.workload.includes(state.text) && passes(row)));
  const words = (key) => ["all", ...distinct(rows.map((row) => row[key]))];
  const picks = columns.map(({ key, name }) => control(name, state, key, update, words(key)));
  return [div("controls", control("workload has", state, "text", update), picks), found.box];
}
const SCALES = ["linear", "logarithmic"];

/** Returns a figure that the program has drawn, or null. */
function drawn(id) {
  const found = document.querySelector(`#figures > #${id}`)?.cloneNode(true);
  found?.removeAttribute("id");
  for (const each of found?.querySelectorAll("[class]") ?? []) {
    const look = `var(--${each.classList[0].replace("line", "fill")}, var(--ink))`;
    each.style.setProperty(each.localName === "line" ? "stroke" : "fill", look);
  }
  return found;
}
/** Returns the current value of a colour of the style sheet, which may be light or dark. */
function colour(text) {
  page.style.outlineColor = text.includes("(") ? text : `var(--${text})`;
  return getComputedStyle(page).outlineColor;
}
/** A chart of what build() gives: drawn when its section opens and by its controls, which pick() makes. */
function plot(label, state, build, rem = 19) {
  const canvas = el("canvas", { role: "img", ariaLabel: label });
  const box = div("chart", canvas);
  box.style.height = `${rem}rem`;
  canvas.draw = () => {
    Chart.getChart(canvas)?.destroy();
    const usual = { color: colour("muted"), borderColor: colour("grid"), animation: false, maintainAspectRatio: false };
    Object.assign(Chart.defaults, usual);
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    new Chart(canvas, build());
  };
  return { box, pick: (name, key, options) => control(name, state, key, canvas.draw, options) };
}
/** Returns the axis for `values` from "KIND KEY TITLE". It is logarithmic if `scale` demands it and the values allow it. */
function axis(values, text, scale = "linear", more = {}) {
  const [{ kind, name }] = columnsOf(text);
  const ticks = { callback: (value) => KINDS[kind](value), maxTicksLimit: 9, maxRotation: 0 };
  const [least, most] = values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [1e99, -1e99]);
  const linear = scale === "linear" || !(least > 0) || most < 2 * least;
  if (linear) return { title: { display: true, text: name }, ticks, ...more };
  const [min, max] = [least * 0.97, most * 1.03]; // room for whole points
  const steps = max > 30 * min ? [1, 3] : [1, 1.5, 2, 3, 5, 7];
  const marks = upTo(18).flatMap((k) => steps.map((step) => ({ value: step * 10 ** (k - 6) })));
  const afterBuildTicks = (scale) => {
    scale.ticks = marks.filter(({ value }) => value >= min && value <= max);
  };
  const title = { display: true, text: `${name} (logarithmic)` };
  return { type: "logarithmic", title, ticks, min, max, afterBuildTicks };
}
/** A chart of sets of {x, y}; `across` and `up` go to axis(). What has an `i` is one of `trials`. */
function chart(sets, across, up, trials) {
  const all = sets.flatMap(({ data }) => data).filter(({ y }) => Number.isFinite(y));
  const [xs, ys] = ["x", "y"].map((key) => all.map((each) => each[key]));
  const [x, y] = [axis(xs, ...across), axis(ys, ...up)];
  const said = ({ raw, dataset }) => `${dataset.label}: ${y.ticks.callback(raw.y)} at ${x.ticks.callback(raw.x)}`;
  const label = (item) => (item.raw.i == null ? said(item) : tooltipOf(trials, item.raw.i));
  const legend = { labels: { usePointStyle: true, boxHeight: 7 } };
  const plugins = { legend, tooltip: { callbacks: { title: () => "", label } } };
  const elements = { point: { radius: trials?.shown > 1000 ? 2.5 : 3.5 } };
  const options = { parsing: false, normalized: true, elements, plugins, scales: { x, y } };
  const datasets = sets.filter(({ data }) => data.some(({ y }) => Number.isFinite(y)));
  return { type: "scatter", data: { datasets }, options };
}
/** Horizontal bars of rows, by their `name` or `short`. Series: "COLOUR KEY NAME, ..."; `title`: "KIND KEY TITLE". */
function bars(rows, text, title) {
  const set = ({ kind, key, name: label }) => {
    const [of, times] = key.split("*");
    const data = rows.map((row) => row[of] && row[of] * (times ? row[times] : 1));
    return { label, data, backgroundColor: colour(kind) };
  };
  const sets = columnsOf(text).map(set);
  const datasets = sets.filter(({ data }) => known(data).length);
  const x = axis([], title);
  const label = ({ dataset, raw }) => `${dataset.label}: ${x.ticks.callback(raw)}`;
  const plugins = { legend: { display: sets.length > 1 }, tooltip: { callbacks: { label } } };
  const options = { indexAxis: "y", plugins, scales: { x, y: { ticks: { autoSkip: false } } } };
  const most = Math.min(60, innerWidth / 20);
  const cut = (text) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const labels = rows.map(({ name, short }) => cut(name ?? short));
  return { type: "bar", data: { labels, datasets }, options };
}
const SHAPES = ["circle", "triangle", "rect", "rectRot", "star", "cross"];
/** Points of one kind, told apart from others by colour and shape. */
function points(label, at, data, look) {
  const shade = colour(look || `fill${(at % 6) + 1}`);
  return { label, data, backgroundColor: shade, borderColor: shade, pointStyle: SHAPES[at % 6] };
}
function line(label, name, data, more) {
  const look = { borderColor: colour(name), backgroundColor: colour(name), borderWidth: 1.5 };
  return { label, data, type: "line", pointStyle: "line", radius: 0, ...look, ...more };
}

const DASHED = { borderDash: [6, 4] };

// Columns of trials that an axis can have; a knob is one, too.
const COLUMNS = columnsOf(
  "n order trial, n seconds seconds since the start, us time_us time of a call, n predicted predicted score, " +
    "n registers, n spill_bytes spilled bytes, n shared_bytes shared bytes, n compile_s seconds to compile, " +
    "n run_s seconds to check and measure, share spread spread of its samples, words picked_by picked by, words family",
);
const CALL = "us time_us time of a call";
const TRIALS = "n order trial, n seconds, time time_us time, words picked_by picked by, code config";
const columnOf = (trials, key) => trials[key] ?? trials.knobs[key.slice(5)];
const specOf = (key) => COLUMNS.find((each) => each.key === key) ?? { kind: "n", key, name: key.slice(5) };
const titleOf = (key) => `${specOf(key).kind} ${key} ${specOf(key).name}`;
function rowOf(trials, i) {
  const row = Object.fromEntries(COLUMNS.map(({ key }) => [key, trials[key][i]]));
  const names = (trials.names[row.family] ?? []).filter((name) => trials.knobs[name]?.[i] != null);
  return { ...row, config: `${row.family}(${names.map((name) => `${name}=${trials.knobs[name][i]}`).join(", ")})` };
}
function tooltipOf(trials, i) {
  const { order, time_us, picked_by, config } = rowOf(trials, i);
  const what = trials.failure[i] ?? time(time_us);
  return [`trial ${order}: ${what}, picked by ${picked_by}`, ...config.match(/.{1,60}(, |$)/g)];
}
/** Points of trials by kinds: each value is one, and where numbers are more than six, every so many together. */
function kinds(trials, all, key, at) {
  const values = columnOf(trials, key);
  const each = distinct(values);
  const ordered = typeof each[0] === "number";
  const step = ordered ? Math.ceil(each.length / 6) : 1;
  const starts = each.filter((_, k) => k % step === 0);
  const data = [...starts, null].map(() => []);
  for (const i of all) data.at(starts.findLastIndex((start) => (values[i] ?? Number.NaN) >= start)).push(at(i));
  const part = 100 / Math.max(1, starts.length - 1);
  const look = (k) => ordered && `color-mix(in oklch, var(--fill5), var(--fill4) ${part * k}%)`;
  const name = (start) => (step > 1 ? "from " : "") + KINDS[specOf(key).kind](start);
  const sets = starts.map((start, k) => points(name(start), k, data[k], look(k)));
  return [...sets, points("without", 0, data.at(-1), "muted")];
}

function progress({ trials, short, default_us, libraries }) {
  const state = { over: "seconds", scale: "linear" };
  const { best_us, time_us } = trials;
  const gains = upTo(trials.shown).filter((i) => time_us[i] != null && best_us[i] === time_us[i]);
  const shown = plot(`The best time so far of ${short}; the table below has its numbers`, state, () => {
    const over = trials[state.over];
    const end = over.reduce((most, each) => Math.max(most, each), 0);
    const at = (i) => ({ x: over[i], y: best_us[i], i });
    const level = (y) => [0, end].map((x) => ({ x, y }));
    const flat = ({ name, time_us: us }) => line(`${name}: ${time(us)}`, "muted", level(us), DASHED);
    const others = [{ name: "default", time_us: default_us }, ...libraries].filter((each) => each.time_us != null);
    const best = line("best so far", "ink", [...gains, trials.shown - 1].map(at), { stepped: true });
    const sets = [...kinds(trials, gains, "picked_by", at), best, ...others.map(flat)];
    return chart(sets, [titleOf(state.over), "linear", { min: 0, max: end }], [CALL, state.scale], trials);
  });
  const rows = gains.map((i) => rowOf(trials, i));
  return [
    heading`The best so far: A point is a trial that beat all before it, by who picked it. Dashed lines are what a contest
      timed in turn with the best.`,
    div("controls", shown.pick("over", "over", ["seconds", ["order", "trials"]]), shown.pick("scale", "scale", SCALES)),
    shown.box,
    tableOf("Trials that were the best so far", TRIALS, rows),
  ];
}

function explore({ trials, short }) {
  const all = upTo(trials.shown);
  const knobs = Object.keys(trials.knobs).map((name) => `knob:${name}`);
  const keys = [...COLUMNS.map(({ key }) => key), ...knobs].filter((key) => known(columnOf(trials, key)).length);
  const named = keys.map((key) => [key, specOf(key).name]);
  const axes = named.filter(([key]) => specOf(key).kind !== "words");
  const values = knobs.flatMap((key) => distinct(columnOf(trials, key)).map((value) => `${key.slice(5)}=${value}`));
  const state = { x: "order", y: "time_us", colour: "picked_by", scaleX: "linear", scaleY: "logarithmic" };
  const sentence = el("p", { className: "note", ariaLive: "polite" });
  const fastest = table("The ten fastest of these", TRIALS, []);
  const passes = (i) => {
    const [name, value] = (state.knob ?? "all").split("=");
    const same = (key) => ["all", trials[key][i]].includes(state[key] ?? "all");
    return same("family") && same("picked_by") && (value == null || String(trials.knobs[name][i]) === value);
  };
  const shown = plot(`Trials of ${short}, as chosen; the table below has the fastest`, state, () => {
    const [xs, ys] = [columnOf(trials, state.x), columnOf(trials, state.y)];
    const kept = all.filter((i) => xs[i] != null && passes(i));
    const some = kept.filter((i) => ys[i] != null).sort((a, b) => xs[a] - xs[b]);
    const failed = state.y === "time_us" ? kept.filter((i) => ys[i] == null) : [];
    const top = some.reduce((most, i) => Math.max(most, ys[i]), 0) * 1.03 || 1;
    const edge = failed.map((i) => ({ x: xs[i], y: top, i }));
    const sets = kinds(trials, some, state.colour, (i) => ({ x: xs[i], y: ys[i], i }));
    sets.push({ ...points("failed", 0, edge, "bad"), pointStyle: "crossRot" });
    const counts = [some.length, trials.total, failed.length].map(number);
    sentence.textContent = `${counts[0]} of ${counts[1]} trials${failed.length ? `; failed, at the upper edge: ${counts[2]}` : ""}.`;
    const rows = kept.map((i) => rowOf(trials, i)).filter((row) => row.time_us != null);
    fastest.fill(rows.sort((a, b) => a.time_us - b.time_us).slice(0, 10));
    return chart(sets, [titleOf(state.x), state.scaleX], [titleOf(state.y), state.scaleY], trials);
  });
  const { pick } = shown;
  const only = (key) => pick(specOf(key).name, key, ["all", ...distinct(trials[key])]);
  const left = trials.total - trials.shown;
  return [
    heading`All trials: A point is a kernel that was compiled, checked and timed. Point at one for its config.`,
    left > 0 && note`${number(left)} are left out. Here are the best so far, first failures, and others between them.`,
    div("controls", pick("across", "x", axes), pick("scale", "scaleX", SCALES), pick("colour", "colour", named)),
    div("controls", pick("up", "y", axes), pick("scale", "scaleY", SCALES), pick("knob", "knob", ["all", ...values])),
    div("controls", only("family"), only("picked_by")),
    [shown.box, sentence, fastest.box],
  ];
}

function prediction({ trials, sessions, short }) {
  const scored = upTo(sessions.length).filter((at) => sessions[at].scored > 1);
  if (!scored.length) return [];
  const state = { session: String(scored.at(-1)) };
  const shown = plot(`Predicted and measured ranks of trials of ${short}`, state, () => {
    const { predicted, time_us, session } = trials;
    const timed = upTo(trials.shown).filter((i) => predicted[i] != null && time_us[i] != null);
    const all = timed.filter((i) => String(session[i]) === state.session);
    const rank = (of) => new Map([...all].sort((a, b) => of(a) - of(b)).map((i, at) => [i, at + 1]));
    const [x, y] = [rank((i) => -predicted[i]), rank((i) => time_us[i])];
    const ends = [1, all.length].map((at) => ({ x: at, y: at }));
    const sets = kinds(trials, all, "picked_by", (i) => ({ x: x.get(i), y: y.get(i), i }));
    sets.push(line("as predicted", "ink", ends));
    return chart(sets, ["n x rank by prediction"], ["n y rank by time"], trials);
  });
  const said = ({ began_unix_ms, spearman }) => `${date(began_unix_ms)}, rank correlation ${shownAs("n", spearman)}`;
  const options = scored.map((at) => [String(at), said(sessions[at])]);
  return [
    heading`What the model knew: Rank 1 is the fastest. Only what the model of the moment held to be good was
      measured: over the whole space, where it tells bad from good, the rank correlation (Spearman's) would be higher.`,
    div("controls", shown.pick("session", "session", options)),
    shown.box,
  ];
}

function knobs({ knobs, neighbours, short }) {
  if (!knobs.length) return [];
  const state = { knob: knobs[0].name };
  const rem = 5 + 1.5 * Math.max(6, knobs.length);
  const bar = () => bars(knobs, "fill1 importance importance", "share x share of the differences");
  const shares = plot(`Importance of the knobs of ${short}`, state, bar, rem);
  const best = () => {
    const { values, winner, best_us } = knobs.find((each) => each.name === state.knob);
    const name = (at) => `${values[at]}${values[at] === winner ? " (winner)" : ""}`;
    const rows = best_us.map((time_us, at) => ({ name: name(at), time_us }));
    return bars(rows, "fill3 time_us best time", "us x best time of a call");
  };
  const times = plot(`Best time by the value of a knob of ${short}`, state, best, rem);
  const text = "words knob, n from winner's, n to instead, time time_us time, gain ratio of the winner's time";
  return [
    heading`Knobs: Of the winner's family. Left: how much of the differences of log(time) the value of each knob
      explains alone. Right: the best time that was measured with each value of one.`,
    div("controls", times.pick("best time by", "knob", distinct(knobs.map((each) => each.name)))),
    div("pair", shares.box, times.box),
    tableOf("Measured configs that differ from the winner in one knob", text, neighbours),
  ];
}

const FAILED = "words kind, n count trials, words sentence meaning, code example first text, code config first config";
function outcome({ failures, roofline, phases, sessions }, at) {
  const roof = roofline?.peak_gflops ? roofline : null;
  const session = "date began_unix_ms began, s seconds took, n trials, n timed, words strategy, n seed, n spearman";
  const limit = roof?.in_caches ? "; all of it fits the caches" : `; the limit is ${roof?.bound ?? "not known"}`;
  return [
    failures.length > 0 &&
      heading`Failures: Candidates without a time. A failure is an answer too: none is tried again.`,
    tableOf("Failed trials by kind", FAILED, failures),
    roof &&
      heading`What the device can do: ${number(roof.peak_gflops)} GFLOP/s, ${shownAs("n", roof.peak_gbytes_per_s)} GB/s.
        This workload has ${number(roof.intensity)} operations for each byte that has to move${limit}. ${roof.note}`,
    drawn(`roofline-${at}`),
    tableOf("Shares of the limit", "words name kernel, n gflops GFLOP/s, share share of it", roof?.points ?? []),
    sessions.length > 0 && heading`Where the time went: The parts of the last session, and all sessions that tuned it.`,
    drawn(`phases-${at}`),
    tableOf("The last session", "words name part, s seconds took", phases),
    tableOf("Sessions", `${session} rank correlation, words merged_from from`, sessions),
  ];
}

function range({ rows, losses, short }) {
  if (!rows) return [];
  const { members, times, held_out } = rows;
  const took = times.map((each) => each.us);
  const lost = [losses?.held_out, losses?.held_out_worst].map((each) => shownAs("share", each));
  const series = (key) => times.map((each) => ({ x: each.rows, y: each[key] || Number.NaN }));
  const ends = (x, low, high) => [low, high, Number.NaN].map((y) => ({ x, y }));
  const set = plot(`Time over rows of ${short}`, {}, () => {
    const borders = members.slice(0, -1).flatMap(({ to }) => ends(to, Math.min(...took), Math.max(...took)));
    const ours = line("this set", "fill1", series("us"), { pointStyle: "circle", radius: 3 });
    const next = line("another kernel begins", "muted", borders, DASHED);
    const best = points("the best of all kernels", 1, series("best_us"));
    return chart([ours, best, next], ["n x rows", "logarithmic"], [CALL, "logarithmic"]);
  });
  const held = plot(`Loss at held-out sizes of ${short}`, {}, () => {
    const loss = held_out.map((each) => ({ x: each.rows, y: each.loss }));
    const between = held_out.flatMap((each) => ends(each.rows, each.loss_low, each.loss_high));
    const sets = [points("loss", 0, loss), line("95 % interval", "fill1", between)];
    return chart(sets, ["n x rows", "logarithmic"], ["share y loss"]);
  });
  const text = "n rows, time us time, time own_us a kernel of its own, time default_us default, share loss";
  return [
    heading`A range of rows: ${distinct(members.map((each) => each.config)).length} kernels serve ${rows.least} to
      ${rows.most} rows together. Held-out sizes lose ${lost[0]} on average, ${lost[1]} at worst, to the default there or a
      kernel of their own, whichever is faster. The trials below are those of ${rows.most} rows.`,
    div("pair", set.box, held_out.length > 0 && held.box),
    tableOf("Kernels of the set", "n to up to row, code config", members),
    tableOf("Held-out sizes", `${text}, share loss_low from, share loss_high to`, held_out),
  ];
}

function contest({ winner, libraries, vs_default, vs_library, ...task }) {
  const [speedup, speedup_interval] = [winner.speedup_vs_default, winner.speedup_vs_default_interval];
  const [time_us, time_us_interval] = [task.default_us, task.default_us_interval];
  const usual = { name: "default", time_us, time_us_interval, speedup, speedup_interval, verdict: vs_default };
  const others = libraries.map((each) => ({ ...each, verdict: each.name === winner.baseline ? vs_library : null }));
  const rows = [{ ...winner, name: "best" }, ...(time_us == null ? [] : [usual]), ...others].map((row) => {
    const gflops = row.time_us ? (winner.gflops * winner.time_us) / row.time_us : null;
    return { ...row, gflops, note: row.note || row.missing };
  });
  const text =
    "words name kernel, time time_us time, n gflops GFLOP/s, gain speedup best over it, verdict verdict, words note";
  const how = winner.contested
    ? "The winner and what it was timed with, in turn"
    : "The fastest single trial: no finals";
  return tableOf(`${how}. ±: half of the 95 % interval`, text, rows);
}

function task(at) {
  const one = report.tasks[at];
  const { winner, trials } = one;
  const failed = one.failures.reduce((sum, each) => sum + each.count, 0);
  return [
    el("h1", {}, one.short),
    note`${one.workload}, on ${report.devices[one.device].name}: ${number(trials.total)} trials,
      ${number(failed)} failed, in ${duration(one.seconds)}.`,
    winner ? contest(one) : el("p", {}, "No trial of it was timed: there is no kernel to show."),
    winner && el("p", {}, "Config: ", code(winner.config)),
    winner?.provisional && el("p", {}, "There was no time to prove that it is the fastest: lehr export does."),
    winner && range(one),
    winner && trials.shown > 0 && div("pair", div("", progress(one)), div("", explore(one))),
    winner && [prediction(one), knobs(one)],
    outcome(one, at),
  ];
}

function summary() {
  const { logs, devices, tasks } = report;
  const names = (task) => ({ device: devices[task.device].name, log: logs[task.log].file });
  const count = ({ winner, trials }) => winner?.trials ?? trials.total;
  const rows = tasks.map((task, at) => ({ ...task.winner, ...task, ...names(task), count: count(task), task: at }));
  const several = (key) => (distinct(rows.map((row) => row[key])).length > 1 ? `words ${key} ${key}, ` : "");
  const both = several("log") + several("device");
  const usual = "gain speedup_vs_default over default, verdict vs_default word, gain speedup_vs_baseline over library";
  const text = `link short workload, ${both}time time_us time, n gflops GFLOP/s, ${usual}`;
  const more = "words baseline library, verdict vs_library word, n count trials, s seconds took";
  const made = "words file log, n trials, n sessions, s seconds took, words versions by lehr";
  const where = "words name device, words target, words arch, words driver, words compiler";
  const caption = "The fastest kernel of each workload. ±: half of the 95 % interval";
  const shown = filtered(caption, `${text}, ${more}`, rows, "verdict vs_default default, verdict vs_library library");
  return [
    el("h1", {}, "What was tuned, and what came of it"),
    rows.length > 0 ? shown : el("p", {}, "The log has no trial."),
    rows.some((row) => row.vs_default) && heading`Gains: With 95 % intervals, by log. What crosses 1x is not proven.`,
    logs.map((_, at) => drawn(`intervals-${at}`)),
    tableOf("Logs", `${made}, date began_unix_ms from, date ended_unix_ms to`, logs),
    tableOf("Devices", where, devices),
  ];
}

const nameOf = ({ model }) => model.split("/").at(-1);
function network(at) {
  const one = report.networks[at];
  const twenty = one.matches.slice(0, 20);
  const alone =
    "fill1 best_us*occurrences best, fill2 default_us*occurrences default, fill5 library_us*occurrences library";
  const shown = () => bars(twenty, `${alone}, fill4 before_us before, fill3 after_us after`, "us x time of all places");
  const { box } = plot("The network's workloads; the table below has the times", {}, shown, 6 + 3 * twenty.length);
  const text = "link short workload, n occurrences places, n kernels, time best_us best, time default_us default";
  const library = "words library, time library_us its time";
  const turns = "time before_us before, time after_us after";
  const nodes = "words node, words operator, words kernel, words workload";
  const reasons = Object.entries(one.reasons).map(([reason, count]) => ({ reason, count }));
  const [before, after] = [one.original_us, one.rewritten_us].map((us) => shownAs("time", us));
  const speedup = shownAs("gain", one.speedup, one.speedup_interval);
  return [
    el("h1", {}, nameOf(one)),
    note`${one.folder}: ${one.replaced} of ${one.places} places have kernels, in ONNX Runtime ${one.engine},
      threads: ${one.threads}. ${before} before, ${after} after: ${speedup}.`,
    heading`Workloads: The twenty that took most. Best, default and library: alone, times how many places. Before and
      after: in the engine.`,
    box,
    tableOf("Of one place; before and after: of all", `${text}, ${library}, ${turns}`, one.matches),
    heading`What is covered: Kernels took over ${shownAs("share", one.covered_share)} of the original's time.`,
    drawn(`coverage-${at}`),
    tableOf("Operators that are not covered", "words operator, share share of the time", one.not_covered),
    tableOf("Why places were left as they were", "words reason, n count places", reasons),
    heading`Layers: What each node took, as the engine tells it.`,
    tableOf("Nodes of the network", `${nodes}, ${turns}`, one.layers),
  ];
}

function changes(at) {
  const { from, to, tasks } = report.changes[at];
  const text = "link short workload, words device, time from_us before, time to_us now, gain ratio, verdict word";
  return [
    el("h1", {}, `What changed from ${report.logs[from].file} to ${report.logs[to].file}`),
    note`Above 1.00x the newer is faster. The two were not timed in turn: small differences may be the machine's.`,
    filtered("The fastest kernels of both", text, tasks, "verdict word show"),
  ];
}

const draw = () => [...page.querySelectorAll("canvas")].map((each) => each.draw());
function show() {
  const [kind, text = 0] = location.hash.slice(1).split("-");
  const at = Number(text);
  const lists = { task: report.tasks, network: report.networks, changes: report.changes };
  const open = lists[kind]?.[at] ? { task, network, changes }[kind] : summary;
  for (const each of Object.values(Chart.instances)) each.destroy();
  const near = open === task ? [at - 1, at + 1].filter((each) => lists.task[each]) : [];
  const entries = [["summary", "Summary"], ...lists.network.map((each, i) => [`network-${i}`, nameOf(each)])];
  entries.push(...lists.changes.map(({ to }, i) => [`changes-${i}`, `Changes: ${report.logs[to].file}`]));
  entries.push(...near.map((to) => [`task-${to}`, `${to < at ? "previous" : "next"}: ${lists.task[to].short}`]));
  const here = open === summary ? "summary" : `${kind}-${at}`;
  const links = entries.map(([to, name]) => (to === here ? el("b", {}, name) : link(to, name)));
  page.replaceChildren(el("nav", {}, links), div("", open(at)));
  draw();
  scrollTo(0, 0);
}
for (const query of ["print", "(prefers-color-scheme: dark)"]) matchMedia(query).addEventListener("change", draw);
addEventListener("hashchange", show);
addEventListener("click", (event) => {
  const { to } = event.target.closest("a, .opens") ?? {};
  if (!to || event.ctrlKey || event.metaKey) return;
  event.preventDefault(); // in a notebook's frame the link would lead to its page
  location.hash = to;
});
show();
