// The checks of a page that page_test.py calls; each function returns a list of complaints.
'use strict';
window.ask = {
  shown(element) {
    return element.checkVisibility() && !element.closest('.colon, script, style');
  },

  name(node) {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    return element.tagName.toLowerCase() + (element.className ? '.' + (element.className.baseVal ?? element.className) : '') +
      ' "' + node.textContent.trim().slice(0, 40) + '"';
  },

  texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const out = [];
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (!node.textContent.trim() || !this.shown(node.parentElement)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) out.push({ node, box });
    }
    return out;
  },

  // Wide tables scroll in a region of their own; nothing else may be wider than the window.
  tooWide() {
    const width = document.documentElement.clientWidth;
    const out = [];
    if (document.documentElement.scrollWidth > width) out.push('the page scrolls sideways');
    for (const element of document.body.querySelectorAll('*')) {
      if (!this.shown(element) || element.closest('.scroll') !== null && !element.matches('.scroll')) continue;
      const box = element.getBoundingClientRect();
      if (box.right > width + 0.5 || box.left < -0.5) out.push(this.name(element) + ' reaches from ' + box.left + ' to ' + box.right);
      if (!element.matches('.scroll') && getComputedStyle(element).overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1) {
        out.push(this.name(element) + ' is cut');
      }
    }
    return out;
  },

  // Lines of text that share more than a sliver.
  overlaps() {
    const texts = this.texts().sort((a, b) => a.box.top - b.box.top);
    const out = [];
    for (let i = 0; i < texts.length; ++i) {
      const a = texts[i].box;
      for (let j = i + 1; j < texts.length && texts[j].box.top < a.bottom - 3; ++j) {
        const b = texts[j].box;
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        if (wide > 1 && Math.min(a.bottom, b.bottom) - b.top > 3) {
          out.push(this.name(texts[i].node) + ' lies on ' + this.name(texts[j].node));
        }
      }
    }
    return out;
  },

  // Empty charts and strips.
  empty() {
    const out = [];
    for (const canvas of document.querySelectorAll('canvas')) {
      const { width, height } = canvas;
      const points = width && height ? canvas.getContext('2d').getImageData(0, 0, width, height).data : [];
      const colours = new Map();
      for (let i = 0; i < points.length; i += 4) {
        const colour = points[i] << 24 | points[i + 1] << 16 | points[i + 2] << 8 | points[i + 3];
        colours.set(colour, (colours.get(colour) || 0) + 1);
      }
      const most = Math.max(0, ...colours.values());
      for (const set of Chart.getChart(canvas).data.datasets) {
        const line = set.showLine !== false && Chart.getChart(canvas).config.type === 'line' && !set.stepped;
        const known = set.data.filter((point) => point && point.y !== null).length;
        const drawn = line ? Chart.getChart(canvas).getDatasetMeta(Chart.getChart(canvas).data.datasets.indexOf(set)).dataset.segments : [];
        const points = drawn.reduce((sum, { start, end }) => sum + (end > start ? end - start + 1 : 0), 0);
        if (line && known > 1 && points < known / 2) out.push(canvas.dataset.chart + ': ' + set.label + ' is not drawn');
      }
      if (colours.size < 4 || most > 0.995 * width * height) out.push(canvas.dataset.chart + ' is empty');
    }
    for (const section of document.querySelectorAll('section')) {
      if (section.innerText.trim() === section.querySelector('h2').innerText.trim()) out.push('#' + section.id + ' has only a heading');
    }
    return out;
  },

  data() {
    return [...document.querySelectorAll('data[data-key]')].map((each) => [each.dataset.key, each.value, each.textContent]);
  },
};
