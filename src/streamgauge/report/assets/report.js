/* Draws every chart of the report, again when the colours change, and marks the page when all are drawn. */
(() => {
  "use strict";

  const { charts } = JSON.parse(document.getElementById("report-data").textContent);
  let drawn = [];

  function drawAll() {
    drawn.forEach((chart) => chart.remove());
    const waiting = new Set(charts.map((chart) => chart.id));
    const done = (id) => {
      waiting.delete(id);
      if (!waiting.size) document.documentElement.dataset.ready = "true";
    };
    drawn = charts.map((chart) => streamgaugeCharts.draw(
      document.querySelector(`[data-chart="${CSS.escape(chart.id)}"]`), chart, () => done(chart.id)));
    if (!charts.length) done();
  }

  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  matchMedia("print").addEventListener("change", drawAll);

  const folded = () => document.querySelectorAll("details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => { opened = [...folded()]; opened.forEach((one) => { one.open = true; }); });
  addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));
})();
