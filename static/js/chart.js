// <div data-chart="bars|overlaid|line"> with its figures as JSON inside: uPlot in the page's own colours.
import uPlot from "../vendor/uplot.js";
import { formatNumber } from "./numbers.js";

const HEIGHT = 240;
const PAPER = 680; // the width of A4 and Letter between the margins of print.css
const FONT = '12px "Inter Variable", system-ui, sans-serif';
const DAY = 86400;
const { lang } = document.documentElement;
const locale = lang === "en" ? "en-GB" : lang;
const dayName = new Intl.DateTimeFormat(locale, { day: "numeric", timeZone: "UTC" });
const monthDay = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const monthName = new Intl.DateTimeFormat(locale, { month: "short", timeZone: "UTC" });
const monthYear = new Intl.DateTimeFormat(locale, {
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});
// The page writes Sep, Britain Sept.
const withPageSpelling = (text) => (lang === "en" ? text.replace("Sept", "Sep") : text);

export async function drawCharts(root) {
  await document.fonts.load(FONT);
  for (const element of root.querySelectorAll("[data-chart]:not([data-drawn])")) drawChart(element);
}

function drawChart(element) {
  element.dataset.drawn = "";
  const data = JSON.parse(element.querySelector("script").textContent);
  let plot;
  let width = 0;
  const drawAtWidth = (newWidth) => {
    plot?.destroy();
    width = newWidth;
    plot = new uPlot(options(element, data, width), columns(element.dataset.chart, data), element);
  };
  const draw = () => drawAtWidth(element.clientWidth);
  draw();
  if (data.urls) {
    element.addEventListener("click", (event) => {
      const left = event.clientX - plot.over.getBoundingClientRect().left;
      location.assign(data.urls[plot.posToIdx(left)]);
    });
  }
  addEventListener("beforeprint", () => {
    element.style.colorScheme = "light";
    drawAtWidth(PAPER);
  });
  addEventListener("afterprint", () => {
    element.style.colorScheme = "";
    draw();
  });
  new ResizeObserver(() => {
    if (element.clientWidth !== width) draw();
  }).observe(element);
  addEventListener("themechange", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

// A custom property with light-dark() has to be used to be known.
function colour(element, name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

const momentsOf = (days) => days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000);

function columns(kind, { days, series, unfinished }) {
  const moments = momentsOf(days);
  if (kind !== "line") {
    const heights = kind === "bars" ? stacked(series) : series.map(({ values }) => values);
    return [moments, ...heights.map((each) => each.map((value) => value || null))]; // 0 would be an edge
  }
  const values = [];
  for (const { values: figures, role } of series) {
    const last = latest(figures);
    const endsInPoint = unfinished && role === "first"; // as in lineSeries, also on the first day
    values.push(endsInPoint ? figures.map((value, at) => (at < last ? value : null)) : figures);
    if (endsInPoint) values.push(figures.map((value, at) => (at === last ? value : null)));
  }
  return [moments, ...values];
}

// The last day that isn't still to come.
const latest = (values) => values.findLastIndex((value) => value !== null);

// The upper series is drawn first, as the sum, and the lower one over it.
function stacked(series) {
  const sums = series.map((_, upTo) =>
    series[0].values.map((_, at) =>
      series.slice(0, upTo + 1).reduce((sum, { values }) => sum + values[at], 0),
    ),
  );
  return sums.reverse();
}

function options(element, data, width) {
  const colours = {
    first: colour(element, "--brand-chart"),
    second: colour(element, "--brand-chart-2"),
    compare: colour(element, "--line-control"),
    line: colour(element, "--line"),
    text: colour(element, "--ink-3"),
  };
  const kind = element.dataset.chart;
  const moments = momentsOf(data.days);
  const bars = kind !== "line";
  const smallest = data.series.every(({ values }) =>
    values.every((value) => Number.isInteger(value ?? 0)),
  )
    ? 1
    : 0.01; // else money
  const drawn = { bars: barSeries, overlaid: overlaidSeries, line: lineSeries }[kind];
  const margin = bars ? (data.unit === "month" ? 15 : 0.5) * DAY : 0;
  return {
    width,
    height: HEIGHT,
    padding: [8, 12, 0, 0],
    cursor: { show: false },
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
    scales: {
      x: { time: true, range: () => [moments[0] - margin, moments.at(-1) + margin] },
      y: {
        range: (_, __, maximum) => [
          0,
          Math.max(Math.ceil(maximum / step(maximum, smallest)), 2) * step(maximum, smallest),
        ],
      },
    },
    axes: [dayAxis(moments, data.unit, width, colours), valueAxis(colours, smallest)],
    series: [{}, ...drawn(data, colours, width, element)],
  };
}

function dayAxis(moments, unit, width, colours) {
  const every = Math.max(1, Math.ceil(moments.length / (width / (unit === "month" ? 64 : 44))));
  return {
    stroke: colours.text,
    font: FONT,
    size: 32,
    gap: 6,
    grid: { show: false },
    ticks: { show: false },
    splits: () => moments.filter((_, at) => at % every === 0),
    values: (_, splits) =>
      splits.map((moment, at) => {
        const date = new Date(moment * 1000);
        if (unit === "month")
          return withPageSpelling(
            (at === 0 || date.getUTCMonth() < every ? monthYear : monthName).format(date),
          );
        return at === 0 || date.getUTCDate() <= every
          ? withPageSpelling(monthDay.format(date))
          : dayName.format(date);
      }),
  };
}

// Between two lines: at most five fit, and no bar is above the highest.
function step(maximum, smallest) {
  const power = 10 ** Math.floor(Math.log10(Math.max(maximum, smallest)));
  return [0.2, 0.5, 1, 2]
    .map((part) => part * power)
    .find((each) => each >= smallest && maximum <= each * 5);
}

function valueAxis(colours, smallest) {
  return {
    stroke: colours.text,
    font: FONT,
    size: (_, labels) => 12 + 8 * Math.max(1, ...(labels ?? []).map((label) => label.length)),
    gap: 8,
    grid: { stroke: colours.line, width: 1 },
    ticks: { show: false },
    splits: (_, __, ___, top) => {
      const each = step(top, smallest);
      return Array.from({ length: Math.round(top / each) + 1 }, (_, at) => at * each);
    },
    values: (_, splits) => splits.map((value) => formatNumber(value)),
  };
}

function barSeries({ days, series, unfinished }, colours, width) {
  const top = series.length - 1;
  const thin = width / days.length < 8; // only the edge of a bar would be left
  const today = latest(series[0].values);
  // A day that still runs is an outline.
  const each = (colour, last) => ({
    unit: 3,
    values: () => days.map((_, at) => (at < today ? colour : last)),
  });
  const fillOf = (at) => (at === 0 ? colours.first : colours.second);
  const paths = (at) =>
    uPlot.paths.bars({
      size: [thin ? 0.8 : 0.5, 28],
      radius: [at === top ? 0.1 : 0, 0],
      disp: unfinished
        ? { fill: each(fillOf(at), "transparent"), stroke: each(colours.first, colours.first) }
        : {},
    });
  return series
    .map((_, at) => ({
      stroke: colours.first,
      fill: fillOf(at),
      width: thin && !unfinished ? 0 : 1,
      paths: paths(at),
      points: { show: false },
    }))
    .reverse();
}

// A narrow bar over a wide one: both are seen, whichever is the higher.
function overlaidSeries({ series }, colours) {
  return series.map(({ role }) => ({
    stroke: colours.first,
    fill: role === "first" ? colours.first : colours.second,
    width: 1,
    paths: uPlot.paths.bars(
      role === "first" ? { size: [0.25, 14] } : { size: [0.5, 28], radius: [0.1, 0] },
    ),
    points: { show: false },
  }));
}

function lineSeries({ series, unfinished }, colours, _, element) {
  const drawn = [];
  for (const { role } of series) {
    if (role === "first") {
      const fill = colour(element, "--brand-fill");
      drawn.push({ stroke: colours.first, width: 2, fill, points: { show: false } });
      if (unfinished)
        drawn.push({
          stroke: colours.first,
          width: 0,
          points: { show: true, size: 8, fill: colours.first },
        });
    } else {
      drawn.push({ stroke: colours.compare, width: 1.5, dash: [3, 3], points: { show: false } });
    }
  }
  return drawn;
}
