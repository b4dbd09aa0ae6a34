// Draws the charts from the numbers in #data. The page is complete without them. Each canvas names its chart:
// `time` charts share one time axis and one cursor, `bars` are histograms, `xy` are curves.
'use strict';
{
  const root = document.documentElement;
  const paperWidth = 700;  // CSS pixels between the margins of A4 and of letter
  const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2], [1, 2]];
  let data = JSON.parse(document.getElementById('data').textContent);
  let charts = [];
  let cursor = null;  // seconds, under the pointer
  let colours = {};

  function palette() {
    const style = getComputedStyle(root);
    const out = {};
    for (const name of ['page', 'ink', 'soft', 'rule', 'line', 'area', 'good', 'doubtful', 'bad', 'second', 'third']) {
      out[name] = style.getPropertyValue('--' + name).trim();
    }
    return out;
  }

  function clock(seconds, digits) {
    const scale = Math.pow(10, digits);
    const whole = Math.round(seconds * scale);
    const two = (n) => String(n).padStart(2, '0');
    const fraction = digits > 0 ? '.' + String(whole % scale).padStart(digits, '0') : '';
    const all = Math.floor(whole / scale);
    const minutes = Math.floor(all / 60);
    const tail = ':' + two(all % 60) + fraction;
    return minutes < 60 ? minutes + tail : Math.floor(minutes / 60) + ':' + two(minutes % 60) + tail;
  }

  function show(number) {
    return Math.abs(number) >= 1000 ? Math.round(number).toLocaleString('en') : Number(number.toPrecision(4)).toLocaleString('en');
  }

  // Steps of time that people count in, at most eight of them.
  function timeStep(seconds) {
    const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
    return steps.find((step) => seconds / step <= 8) || 86400 * Math.ceil(seconds / 86400 / 8);
  }

  function scale(title, more) {
    return Object.assign({ title: { display: true, text: title }, border: {}, grid: {}, ticks: {} }, more);
  }

  function timeScale(last) {
    const step = timeStep(last);
    return scale('play time', {
      type: 'linear',
      min: 0,
      max: last,
      ticks: { callback: (value) => clock(value, step < 1 ? 1 : 0), maxRotation: 0 },
      afterBuildTicks(axis) {
        axis.ticks = [];
        for (let i = 0; i * step <= last; ++i) axis.ticks.push({ value: i * step });
      },
    });
  }

  function logTick(value) {
    const mantissa = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
    return [1, 2, 5].some((step) => Math.abs(mantissa - step) < 1e-6) ? show(value) : '';
  }

  function base(x, y) {
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      scales: { x, y },
      plugins: {
        legend: { align: 'start', labels: { usePointStyle: true, boxHeight: 7, filter: (item, all) => all.datasets.length > 1 } },
        tooltip: { callbacks: {} },
      },
    };
  }

  // Points without a value are bridged up to here, in seconds: a short step may have no frame.
  function gapOf(x) {
    return Math.max(0.5, 3 * (x[x.length - 1] - x[0]) / Math.max(x.length - 1, 1));
  }

  function lines(chart) {
    return chart.series.map((series, index) => {
      const x = typeof series.x === 'string' ? data.axes[series.x] : series.x;
      const points = x.map((at, i) => ({ x: at, y: series.y[i] }));
      return {
        label: series.label,
        // A point without a value ends a line whatever spanGaps says.
        data: series.step ? points : points.filter((point) => point.y !== null),
        role: series.role,
        stepped: series.step || false,
        fill: series.fill ? 'origin' : false,
        showLine: !series.dots,
        spanGaps: series.step ? false : chart.kind === 'time' ? gapOf(x) : true,
        borderWidth: series.fill ? 1 : 1.75,
        borderDash: series.dash ? dashes[1] : dashes[series.fill || index < 3 ? 0 : index % dashes.length],
        pointRadius: series.dots ? 5 : chart.kind === 'xy' || x.length < 20 ? 3 : 0,
        pointStyle: series.dots ? (series.mark || 'triangle') : 'line',
        order: series.fill ? 1 : 0,
        unit: chart.unit,
      };
    });
  }

  function timeChart(chart) {
    const y = scale(chart.y, { beginAtZero: true, suggestedMax: chart.most, max: chart.limit || undefined, afterFit(axis) { axis.width = 68; } });
    const options = base(timeScale(data.end), y);
    options.events = [];  // the cursor is shared: see follow()
    options.followsCursor = true;
    options.plugins.tooltip.callbacks = {
      title: () => clock(cursor || 0, 3),
      label: (item) => item.dataset.label + ' ' + show(item.parsed.y) + (chart.unit ? ' ' + chart.unit : ''),
    };
    return { type: 'line', data: { datasets: lines(chart) }, options };
  }

  function xyChart(chart) {
    const axis = (title, log) => scale(title, log
      ? { type: 'logarithmic', ticks: { callback: logTick, maxRotation: 0 } }
      : { type: 'linear', beginAtZero: true, ticks: { maxRotation: 0, precision: chart.whole && title === chart.x ? 0 : undefined } });
    const x = axis(chart.x, chart.xlog);
    if (chart.most !== undefined) x.max = chart.most;
    const options = base(x, axis(chart.y, chart.ylog));
    options.interaction = { mode: 'nearest', intersect: false };
    options.plugins.tooltip.callbacks = {
      title: (items) => chart.x + ' ' + show(items[0].parsed.x),
      label: (item) => item.dataset.label + ' ' + show(item.parsed.y) + (chart.unit ? ' ' + chart.unit : ''),
    };
    return { type: 'line', data: { datasets: lines(chart) }, options };
  }

  // Named values beside one another.
  function columnsChart(chart) {
    const options = base(scale('', { ticks: { maxRotation: 0, autoSkip: false } }), scale(chart.y, { beginAtZero: true }));
    options.interaction = { mode: 'index', intersect: false };
    options.plugins.tooltip.callbacks = { label: (item) => item.dataset.label + ' ' + show(item.parsed.y) + (chart.unit ? ' ' + chart.unit : '') };
    const datasets = chart.series.map((series) => ({ label: series.label, data: series.y, role: series.role, solid: !series.open, borderWidth: 1, maxBarThickness: 64, pointStyle: 'rect' }));
    return { type: 'bar', data: { labels: chart.labels, datasets }, options };
  }

  // A histogram: the counts on a log axis, so that one frame of a million shows.
  function barsChart(chart) {
    const to = (i) => (i + 1 < chart.from.length ? chart.from[i + 1] : chart.to);
    const part = (late) => chart.count.map((count, i) => (count > 0 && (chart.from[i] < 0) === late ? count : null));
    const sets = [{ label: chart.label, data: part(false), role: 'line', solid: true }];
    if (chart.from[0] < 0) sets.unshift({ label: 'after the deadline', data: part(true), role: 'bad', solid: false });
    const options = base(
      scale(chart.x, { ticks: { maxRotation: 0, autoSkipPadding: 12 } }),
      scale('frames (log)', { type: 'logarithmic', min: 0.8, ticks: { callback: logTick } }));
    options.interaction = { mode: 'index', intersect: false };
    options.plugins.tooltip.callbacks = {
      title: (items) => show(chart.from[items[0].dataIndex]) + ' to ' + show(to(items[0].dataIndex)) + ' ms',
      label: (item) => show(item.parsed.y) + ' frames',
    };
    return {
      type: 'bar',
      data: {
        labels: chart.from.map(show),
        datasets: sets.map((set) => Object.assign(
          { borderWidth: 1, categoryPercentage: 1, barPercentage: 0.92, grouped: false, minBarLength: 2, pointStyle: 'rect' }, set)),
      },
      options,
    };
  }

  const kinds = { time: timeChart, xy: xyChart, columns: columnsChart, bars: barsChart };

  // The events of the run as bands, and the cursor as a line, on each time chart.
  const marks = {
    id: 'marks',
    beforeDatasetsDraw(chart) {
      const { ctx, chartArea: area, scales } = chart;
      ctx.save();
      ctx.fillStyle = colours.bad + '30';
      for (const [from, to] of data.events || []) {
        const left = Math.max(scales.x.getPixelForValue(from), area.left);
        const right = Math.min(scales.x.getPixelForValue(to), area.right);
        if (right >= left) ctx.fillRect(left, area.top, Math.max(right - left, 1), area.bottom - area.top);
      }
      ctx.restore();
    },
    afterDatasetsDraw(chart) {
      if (cursor === null) return;
      const { ctx, chartArea: area, scales } = chart;
      const x = scales.x.getPixelForValue(cursor);
      ctx.save();
      ctx.strokeStyle = colours.soft;
      ctx.beginPath();
      ctx.moveTo(x, area.top);
      ctx.lineTo(x, area.bottom);
      ctx.stroke();
      ctx.restore();
    },
  };

  // The point of a series at the cursor: of steps the one that began last, of others the nearest.
  function indexAt(set) {
    let low = 0;
    let high = set.data.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (set.data[middle].x <= cursor) low = middle; else high = middle - 1;
    }
    const next = set.data[low + 1];
    if (!set.stepped && next && next.x - cursor < cursor - set.data[low].x) ++low;
    for (let far = 0; far < set.data.length; ++far) {  // to a point that has a value
      for (const at of [low - far, low + far]) {
        if (set.data[at] && set.data[at].y !== null) return at;
      }
    }
    return -1;
  }

  function follow(seconds) {
    cursor = seconds;
    for (const chart of charts) {
      if (!chart.options.followsCursor) continue;
      const marked = [];
      if (cursor !== null) {
        chart.data.datasets.forEach((set, datasetIndex) => {
          const index = set.showLine ? indexAt(set) : -1;
          if (index >= 0) marked.push({ datasetIndex, index });
        });
      }
      chart.tooltip.setActiveElements(marked, { x: 0, y: 0 });
      chart.update('none');
    }
  }

  function listen(chart) {
    const canvas = chart.canvas;
    canvas.addEventListener('pointermove', (event) => {
      const { x } = chart.scales;
      const at = x.getValueForPixel(event.offsetX);
      follow(at >= x.min && at <= x.max ? at : null);
    });
    canvas.addEventListener('pointerleave', () => follow(null));
  }

  function paint(config) {
    for (const set of config.data.datasets) {
      set.borderColor = colours[set.role];
      set.backgroundColor = config.type === 'bar' ? (set.solid ? colours[set.role] : colours.page)
        : set.fill ? colours.area + '66' : colours[set.role];
    }
    for (const axis of Object.values(config.options.scales)) {
      axis.grid.color = colours.rule;
      axis.grid.borderColor = colours.soft;
      axis.ticks.color = colours.soft;
      axis.title.color = colours.soft;
    }
    config.options.plugins.legend.labels.color = colours.ink;
    const tooltip = config.options.plugins.tooltip;
    tooltip.backgroundColor = colours.ink;
    tooltip.titleColor = tooltip.bodyColor = colours.page;
  }

  function repaint() {
    colours = palette();
    for (const chart of charts) {
      paint(chart.config);
      chart.update();
    }
  }

  function toPaper() {
    root.dataset.paper = '';
    for (const chart of charts) {
      chart.options.devicePixelRatio = 2;
      chart.resize(paperWidth, chart.canvas.closest('.low') ? 120 : 200);
    }
    repaint();
  }

  function toScreen() {
    delete root.dataset.paper;
    for (const chart of charts) {
      delete chart.options.devicePixelRatio;
      chart.resize();
    }
    repaint();
  }

  function draw() {
    for (const chart of charts) chart.destroy();
    charts = [];
    colours = palette();
    for (const canvas of document.querySelectorAll('canvas[data-chart]')) {
      const numbers = data.charts[canvas.dataset.chart];
      const config = kinds[numbers.kind](numbers);
      config.plugins = numbers.kind === 'time' ? [marks] : [];
      paint(config);
      const chart = new Chart(canvas, config);
      charts.push(chart);
      if (numbers.kind === 'time') listen(chart);
    }
  }

  root.classList.add('charts');
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  draw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  addEventListener('beforeprint', toPaper);
  addEventListener('afterprint', toScreen);

  // A page that follows a run has new numbers, and its canvases anew.
  addEventListener('streamsim:data', () => {
    data = JSON.parse(document.getElementById('data').textContent);
    draw();
  });
}
