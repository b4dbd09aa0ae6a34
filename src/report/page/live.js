// Follows a run: the server sends the page again and again, and what has changed of it replaces what is shown.
'use strict';
{
  const state = document.getElementById('live-state');
  const verdict = document.getElementById('live-verdict');
  const main = document.querySelector('main');
  const stops = 'a, summary, [tabindex]';
  let texts = [];  // of the parts of the page, as they came
  let word = '';

  // What the reader did to a part goes on in the new one: where it was scrolled to, what is open, the focus.
  function carryOver(old, part) {
    const scrolled = Array.from(old.querySelectorAll('.scroll'), (each) => each.scrollLeft);
    const open = Array.from(old.querySelectorAll('details'), (each) => each.open);
    const focus = Array.from(old.querySelectorAll(stops)).indexOf(document.activeElement);
    old.replaceWith(part);
    part.querySelectorAll('.scroll').forEach((each, i) => { each.scrollLeft = scrolled[i] || 0; });
    part.querySelectorAll('details').forEach((each, i) => { if (i in open) each.open = open[i]; });
    const next = focus < 0 ? undefined : part.querySelectorAll(stops)[focus];
    if (next) next.focus({ preventScroll: true });
  }

  function show(update) {
    const template = document.createElement('template');
    template.innerHTML = update.main;
    const parts = Array.from(template.content.children);
    const fresh = parts.map((part) => part.outerHTML);
    const top = scrollY;
    parts.forEach((part, i) => {
      if (fresh[i] === texts[i]) return;
      if (i < main.children.length) carryOver(main.children[i], part);
      else main.append(part);
    });
    while (main.children.length > parts.length) main.lastElementChild.remove();
    texts = fresh;
    document.title = update.title;
    document.getElementById('data').textContent = update.data;
    dispatchEvent(new Event('streamsim:data'));
    scrollTo(scrollX, top);
    // Read out only when it changes.
    const now = main.querySelector('h1 .word').textContent.replace(/ for .*/, '');
    if (now !== word) verdict.textContent = word = now;
  }

  const events = new EventSource('events' + location.search);
  function take(event) {
    const update = JSON.parse(event.data);
    if (update.main !== undefined) show(update);
    state.textContent = update.state;
    state.parentElement.dataset.ended = event.type === 'end';
    if (event.type === 'end') events.close();
  }
  for (const type of ['page', 'state', 'end']) events.addEventListener(type, take);
  events.addEventListener('error', () => {
    state.textContent = 'The connection to streamsim is lost. The page shows what came last; it tries to connect again.';
  });
}
