/* Draws a chart from its description (streamgauge.report.chart.Chart) with uPlot.
   It does not depend on the page around it, so that a report and a live view can share it. */
const streamgaugeCharts = (() => {
  "use strict";

  const HEIGHT = 250;
  const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";
  const TIME_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
  const WHOLE_STEPS = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

  function digits(value) {
    const size = Math.abs(value);
    if (size < 1) return value.toLocaleString("en-US", { maximumSignificantDigits: 2 });
    const fraction = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2;
    return value.toLocaleString("en-US", { maximumFractionDigits: fraction });
  }

  function clock(seconds) {
    if (Math.abs(seconds) < 120) return `${digits(seconds)} s`;
    const whole = Math.round(seconds);
    const pad = (part) => String(part).padStart(2, "0");
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor((whole % 3600) / 60);
    return (hours ? `${hours}:${pad(minutes)}` : `${minutes}`) + `:${pad(whole % 60)}`;
  }

  function compact(value) {
    const size = Math.abs(value);
    if (size >= 1e6) return `${digits(value / 1e6)} M`;
    if (size >= 1e4) return `${digits(value / 1e3)} k`;
    return digits(value);
  }

  /* How a single value of a unit is written, and how the ticks of an axis are. */
  const scaled = (small, large) => (value) =>
    Math.abs(value) < 1000 ? `${digits(value)} ${small}` : `${digits(value / 1000)} ${large}`;
  const inOneUnit = (small, large) => (ticks) => {
    const divisor = Math.max(...ticks.map(Math.abs)) >= 1000 ? 1000 : 1;
    return ticks.map((tick) => `${digits(tick / divisor)} ${divisor === 1 ? small : large}`);
  };
  const each = (write) => (ticks) => ticks.map(write);
  const UNITS = {
    s: { value: clock, ticks: each(clock) },
    ms: { value: scaled("ms", "s"), ticks: inOneUnit("ms", "s") },
    mb: { value: scaled("MB", "GB"), ticks: inOneUnit("MB", "GB") },
    per_s: { value: (value) => `${digits(value)}/s`, ticks: each((tick) => `${compact(tick)}/s`) },
    percent: { value: (value) => `${digits(value)} %`, ticks: each((tick) => `${digits(tick)} %`) },
    events: { value: (value) => digits(Math.round(value)), ticks: each(compact) },
    results: { value: (value) => digits(Math.round(value)), ticks: each(compact) },
    paradigm: { value: (value) => ["data stream", "operation stream", "gap"][value], ticks: each(String) },
  };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  /* Bars between the edges of the description; uPlot's own take one width for all. */
  function barsBetween(edges) {
    return (u, index, first, last) => {
      const path = new Path2D();
      const scale = u.series[index].scale;
      const floor = u.valToPos(0, scale, true);
      for (let i = first; i <= last; i++) {
        const value = u.data[index][i];
        if (!value) continue;
        const left = u.valToPos(edges[i], "x", true);
        const right = u.valToPos(edges[i + 1], "x", true);
        const top = u.valToPos(value, scale, true);
        path.rect(left, top, Math.max(1, right - left), floor - top);
      }
      return { stroke: path, fill: path, flags: 1 };
    };
  }

  /* 1, 2 and 5 of every power of ten; only powers of ten when these would crowd. */
  function logTicks(u, axis, min, max) {
    const all = [];
    for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power++)
      for (const step of [1, 2, 5]) all.push(step * 10 ** power);
    const inside = all.filter((tick) => tick >= min && tick <= max);
    const room = axis === 0 ? u.bbox.width / devicePixelRatio / 60 : u.bbox.height / devicePixelRatio / 30;
    const tens = inside.filter((tick) => Number.isInteger(Math.log10(tick)));
    if (inside.length < 2) return [min, max];
    return inside.length > room && tens.length > 1 ? tens : inside;
  }

  const tinted = (slot, percent) => `color-mix(in srgb, ${colour(`series-${slot}`)} ${percent}%, transparent)`;

  /* Rows of states, each as high as one unit of the vertical scale, the first at the top. */
  function drawLanes(lanes) {
    return (u) => {
      const { ctx, bbox } = u;
      const margin = 4 * devicePixelRatio;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.font = FONT.replace("12px", `${11 * devicePixelRatio}px`);
      ctx.textBaseline = "middle";
      lanes.forEach((lane, place) => {
        const top = u.valToPos(lanes.length - place, "left", true) + margin;
        const height = u.valToPos(lanes.length - place - 1, "left", true) - margin - top;
        for (const piece of lane.pieces) {
          const left = Math.max(bbox.left, u.valToPos(piece.start, "x", true));
          const right = Math.min(bbox.left + bbox.width, u.valToPos(piece.end, "x", true));
          if (right < left) continue;
          ctx.fillStyle = tinted(piece.colour, piece.opaque ? 100 : 45);
          ctx.fillRect(left, top, Math.max(2 * devicePixelRatio, right - left), height);
          if (ctx.measureText(piece.label).width + 3 * margin > right - left) continue;
          ctx.fillStyle = colour("ink");
          ctx.fillText(piece.label, left + 1.5 * margin, top + height / 2);
        }
      });
      ctx.restore();
    };
  }

  const laneAxis = (lanes) => ({
    ...axis({ side: "left", label: "", unit: "events" }, false),
    label: undefined,
    ticks: { show: false },
    splits: () => lanes.map((_, place) => place + 0.5),
    filter: (u, ticks) => ticks,
    values: () => lanes.map((lane) => lane.label).reverse(),
    size: 16 + 6.6 * Math.max(...lanes.map((lane) => lane.label.length)),
  });

  function drawBands(bands) {
    return (u) => {
      const { ctx, bbox } = u;
      for (const band of bands) {
        const left = Math.max(bbox.left, u.valToPos(band.start, "x", true));
        const right = Math.min(bbox.left + bbox.width, u.valToPos(band.end, "x", true));
        if (right <= left) continue;
        ctx.save();
        ctx.fillStyle = band.colour ? tinted(band.colour, 13) : colour("band");
        ctx.fillRect(left, bbox.top, right - left, bbox.height);
        ctx.beginPath();
        ctx.rect(left, bbox.top, right - left, bbox.height);
        ctx.clip();
        ctx.fillStyle = colour("muted");
        ctx.font = FONT.replace("12px", `${11 * devicePixelRatio}px`);
        ctx.textBaseline = "top";
        ctx.textAlign = "left";
        // Bands of another kind may begin at the same place.
        const below = band.colour ? 20 : 4;
        if (ctx.measureText(band.label).width > right - left) { ctx.restore(); continue; }
        ctx.fillText(band.label, left + 6 * devicePixelRatio, bbox.top + below * devicePixelRatio);
        ctx.restore();
      }
    };
  }

  function axis(description, grid, scale = description.side) {
    const sides = { left: 3, right: 1, bottom: 2 };
    return {
      scale,
      side: sides[description.side],
      label: description.label,
      labelSize: 18,
      labelFont: FONT,
      labelGap: 2,
      font: FONT,
      stroke: colour("muted"),
      grid: { show: grid, stroke: colour("grid"), width: 1 },
      ticks: { stroke: colour("grid"), width: 1, size: 4 },
      values: (u, ticks) => UNITS[description.unit].ticks(ticks),
    };
  }

  const logarithmic = { splits: logTicks, filter: (u, ticks) => ticks };

  const verticalAxis = (description, grid) => ({
    ...axis(description, grid),
    ...(description.log ? logarithmic : {}),
    incrs: ["events", "results"].includes(description.unit) ? WHOLE_STEPS : undefined,
    size: (u, texts) => 16 + 6.6 * Math.max(3, ...(texts || []).map((text) => text.length)),
    space: 36,
  });

  function horizontalAxis(x) {
    const options = axis({ ...x, side: "bottom" }, false, "x");
    options.size = 30;
    if (x.log) return { ...options, ...logarithmic, values: (u, ticks) => x.unit === "ms" ? ticks.map(UNITS.ms.value) : UNITS[x.unit].ticks(ticks) };
    return x.unit === "s" ? { ...options, incrs: TIME_STEPS } : options;
  }

  /* The values with a margin; uPlot's own range ends at powers of ten. */
  const aroundLog = (u, min, max) => min === null ? [1, 10] : [min / 1.3, max * 1.3];

  function scales(chart) {
    const found = { x: { time: false, distr: chart.x.log ? 3 : 1 } };
    const { edges } = chart.x;
    if (edges.length) found.x.range = (u, min, max) =>
      min <= chart.x.values[0] && max >= chart.x.values.at(-1) ? [edges[0], edges.at(-1)] : [min, max];
    else if (chart.x.log) found.x.range = aroundLog;
    if (chart.lanes.length) found.left = { range: () => [0, chart.lanes.length] };
    for (const one of chart.axes) found[one.side] = one.log ? { distr: 3, range: aroundLog } : {
      range: (u, min, max) => min === null ? [0, 1] : uPlot.rangeNum(Math.min(0, min), Math.max(0, max) || 1, {
        min: { pad: 0.05, soft: 0, mode: 1 }, max: { pad: 0.08, soft: 0, mode: 0 } }),
    };
    return found;
  }

  /* Where lines are too dense for dots, a value without neighbours would be invisible. */
  function lonelyPoints(u, index, all) {
    const values = u.data[index];
    const alone = (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null;
    return all ? null : [...values.keys()].filter(alone);
  }

  const laneSeries = (series) => ({
    label: series.label,
    scale: "left",
    paths: () => null,
    points: { show: false },
    value: (u, value) => value == null ? "–" : UNITS.paradigm.value(value),
  });

  function oneSeries(chart, series) {
    if (chart.lanes.length) return laneSeries(series);
    const unit = chart.axes.find((one) => one.side === series.axis).unit;
    const stroke = colour(`series-${series.colour}`);
    const bars = series.style === "bars";
    const dots = series.style === "points";
    return {
      label: series.label,
      scale: series.axis,
      stroke,
      width: series.style === "area" || series.thin || bars ? 1 : 1.75,
      dash: series.dashed ? [5, 4] : undefined,
      fill: series.style === "line" || dots ? undefined : `color-mix(in srgb, ${stroke} ${bars ? 38 : 20}%, transparent)`,
      paths: bars ? barsBetween(chart.x.edges) : dots ? () => null : undefined,
      points: bars ? { show: false } : dots ? { show: true, size: 3, fill: stroke } : { size: 4, fill: stroke, filter: lonelyPoints },
      value: (u, value) => value == null ? "–" : UNITS[unit].value(value),
    };
  }

  function horizontalValue(chart) {
    const write = UNITS[chart.x.unit].value;
    return (u, value, series, index) => {
      if (value == null) return "–";
      const { edges } = chart.x;
      return edges.length && index != null ? `${write(edges[index])} – ${write(edges[index + 1])}` : write(value);
    };
  }

  /* Values inside the drawn stretch, of the series that are shown. */
  function drawnPoints(u) {
    const [first, last] = u.series[0].idxs;
    return u.series.slice(1).reduce((sum, series, index) => series.show
      ? sum + u.data[index + 1].slice(first, last + 1).filter((value) => value != null).length : sum, 0);
  }

  /* Draws the chart into the element, follows its width, and calls back once it is on the canvas.
     The number of drawn points is in data-points of the element. */
  function draw(element, chart, whenDrawn = () => {}) {
    const width = () => Math.max(240, Math.floor(element.clientWidth));
    const height = chart.lanes.length ? 62 + 28 * chart.lanes.length : HEIGHT;
    const plot = new uPlot({
      width: width(),
      height,
      padding: [10, chart.axes.some((one) => one.side === "right") ? 0 : 22, 0, 0],
      scales: scales(chart),
      axes: [horizontalAxis(chart.x), ...(chart.lanes.length ? [laneAxis(chart.lanes)] : []), ...chart.axes.map((one, index) => verticalAxis(one, index === 0))],
      series: [
        { label: chart.x.edges.length ? "latency" : "at", value: horizontalValue(chart) },
        ...chart.series.map((series) => oneSeries(chart, series)),
      ],
      cursor: {
        sync: chart.group ? { key: chart.group, scales: ["x", null] } : undefined,
        points: chart.lanes.length ? { show: false } : { size: 7 },
        y: false,
      },
      legend: { markers: { show: !chart.lanes.length, width: 2, dash: (u, index) => u.series[index].dash ? "dotted" : "solid" } },
      hooks: {
        drawClear: [drawBands(chart.bands), drawLanes(chart.lanes)],
        draw: [(u) => { element.dataset.points = drawnPoints(u); whenDrawn(); }],
      },
    }, [chart.x.values, ...chart.series.map((series) => series.values)], element);
    const watcher = new ResizeObserver(() => {
      if (width() !== plot.width) plot.setSize({ width: width(), height });
    });
    watcher.observe(element);
    return { remove: () => { watcher.disconnect(); plot.destroy(); } };
  }

  return { draw };
})();
