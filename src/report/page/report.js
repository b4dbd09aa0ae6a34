// Draws the charts from the numbers in #data. The page is complete without them.
'use strict';
{
  const data = JSON.parse(document.getElementById('data').textContent);
  const root = document.documentElement;
  const paper = { width: 700, height: 210 };  // CSS pixels between the margins of A4
  const charts = [];

  function palette() {
    const style = getComputedStyle(root);
    const colours = {};
    for (const name of ['page', 'ink', 'soft', 'rule', 'line', 'area', 'bad']) {
      colours[name] = style.getPropertyValue('--' + name).trim();
    }
    return colours;
  }

  function clock(seconds) {
    const whole = Math.round(seconds);
    const two = (n) => String(n).padStart(2, '0');
    const minutes = Math.floor(whole / 60);
    const tail = ':' + two(whole % 60);
    return minutes < 60 ? minutes + tail : Math.floor(minutes / 60) + ':' + two(minutes % 60) + tail;
  }

  function show(number) {
    return number.toLocaleString('en', { maximumFractionDigits: 3 });
  }

  // Steps of time that people count in, at most eight of them.
  function timeStep(seconds) {
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
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
      ticks: { callback: clock, maxRotation: 0 },
      afterBuildTicks(axis) {
        axis.ticks = [];
        for (let t = 0; t <= last; t += step) axis.ticks.push({ value: t });
      },
    });
  }

  function options(x, y, tooltip) {
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: 'index', intersect: false },
      scales: { x, y },
      plugins: { legend: { align: 'start', labels: { usePointStyle: true, boxHeight: 7 } }, tooltip: { callbacks: tooltip } },
    };
  }

  const kinds = {
    throughput(numbers) {
      const points = numbers.t.map((t, i) => ({ x: t, y: numbers.rate[i] }));
      points.push({ x: numbers.end, y: numbers.rate[numbers.rate.length - 1] });
      const sets = [{ label: 'read', data: points, stepped: true, role: 'line', borderWidth: 1.5, fill: 'origin' }];
      if (numbers.required !== null) {
        sets.push({
          label: 'required: ' + (numbers.steps.length > 0 ? 'max ' : '') + show(numbers.required) + ' MB/s',
          data: numbers.steps.length > 0
            ? numbers.steps.map(([x, y]) => ({ x, y }))
            : points.map((point) => ({ x: point.x, y: numbers.required })),
          stepped: numbers.steps.length > 0,
          role: 'ink',
          borderWidth: 2,
          borderDash: [7, 4],
        });
      }
      const y = scale('MB/s', { beginAtZero: true, suggestedMax: (numbers.required || 0) * 1.15 });
      return {
        type: 'line',
        data: { datasets: sets.map((set) => Object.assign({ pointRadius: 0, pointStyle: 'line' }, set)) },
        options: options(timeScale(numbers.end), y, {
          title: (items) => 'from ' + clock(items[0].parsed.x),
          label: (item) => item.dataset.role === 'line' ? 'read ' + show(item.parsed.y) + ' MB/s' : item.dataset.label,
        }),
      };
    },

    margin(numbers) {
      const at = (values) => numbers.t.map((t, i) => ({ x: t, y: values[i] }));
      const missed = numbers.missed.map((count) => (count > 0 ? 0 : null));
      const sets = [
        { label: 'min margin', data: at(numbers.least), role: 'line', borderWidth: 1.5,
          pointRadius: numbers.t.length > 60 ? 1 : 2.5, pointStyle: 'circle' },
        { label: 'deadline', data: at(numbers.t.map(() => 0)), role: 'ink', borderWidth: 1.5, pointRadius: 0, pointStyle: 'line' },
      ];
      if (missed.some((value) => value !== null)) {
        sets.push({ label: 'frames missed', data: at(missed), role: 'bad', showLine: false, pointStyle: 'triangle', pointRadius: 5, order: -1 });
      }
      return {
        type: 'line',
        data: { datasets: sets },
        options: options(timeScale(numbers.end), scale('margin in ms'), {
          title: (items) => 'about ' + clock(items[0].parsed.x),
          label: (item) => item.dataset.role === 'line' ? 'min margin ' + show(item.parsed.y) + ' ms'
            : item.dataset.role === 'bad' ? numbers.missed[item.dataIndex] + ' missed' : '',
        }),
      };
    },

    distribution(numbers) {
      const to = (i) => (i + 1 < numbers.from.length ? numbers.from[i + 1] : numbers.to);
      const part = (late) => numbers.frames.map((count, i) => (count > 0 && (numbers.from[i] < 0) === late ? count : null));
      const sets = [{ label: 'before the deadline', data: part(false), role: 'line', solid: true }];
      if (numbers.from[0] < 0) sets.unshift({ label: 'after the deadline', data: part(true), role: 'bad', solid: false });
      return {
        type: 'bar',
        data: {
          labels: numbers.from.map(show),
          datasets: sets.map((set) => Object.assign(
            { borderWidth: 1, categoryPercentage: 1, barPercentage: 0.92, grouped: false, minBarLength: 2, pointStyle: 'rect' }, set)),
        },
        options: options(scale('margin from, in ms', { ticks: { maxRotation: 0, autoSkipPadding: 12 } }), scale('frames', { beginAtZero: true }), {
          title: (items) => show(numbers.from[items[0].dataIndex]) + ' to ' + show(to(items[0].dataIndex)) + ' ms',
          label: (item) => show(item.parsed.y) + ' frames',
        }),
      };
    },
  };

  function paint(config, colours) {
    for (const set of config.data.datasets) {
      set.borderColor = colours[set.role];
      set.backgroundColor = config.type === 'bar' ? (set.solid ? colours.line : colours.page)
        : set.fill ? colours.area + '55' : colours[set.role];
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
    const colours = palette();
    for (const chart of charts) {
      paint(chart.config, colours);
      chart.update();
    }
  }

  function toPaper() {
    root.dataset.paper = '';
    for (const chart of charts) {
      chart.options.devicePixelRatio = 2;
      chart.resize(paper.width, paper.height);
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

  root.classList.add('charts');
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  for (const canvas of document.querySelectorAll('canvas[data-chart]')) {
    const numbers = data[canvas.dataset.chart];
    const config = kinds[canvas.dataset.chart](numbers);
    paint(config, palette());
    charts.push(new Chart(canvas, config));
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  addEventListener('beforeprint', toPaper);
  addEventListener('afterprint', toScreen);
}
