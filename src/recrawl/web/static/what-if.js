// What if: every movement of a slider asks the server for a plan; the newest answer counts.
"use strict";
(() => {
  const { cost, count, duration, percent, rate, short } = figures;
  const names = ["budget", "delay", "starvation"];
  const sliders = Object.fromEntries(names.map((name) => [name, document.getElementById(name)]));
  const curve = new CurvePicture("curve-picture");
  let present = null;
  let asking = null;
  let points = [];
  let chosen = null;

  const tradeOff = new LineChart("trade-off-picture", (colour) => ({
    rest: (data) => Math.max(0, data[2].findIndex((share) => share !== null)),
    scales: { x: { time: false, distr: 3 }, y: { range: (_, low, high) => [Math.max(0, low - 0.03), Math.min(1, high + 0.02)] } },
    axes: [
      { space: 70, grid: { show: false }, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : rate(tick))) },
      { size: 52, values: (_, ticks) => ticks.map((tick) => percent(tick, 0)) },
    ],
    series: [
      { label: "budget", value: (_, budget) => rate(budget) },
      { label: "fresh", stroke: colour("text"), width: 2, points: { show: false }, value: (_, share) => percent(share) },
      { label: "what if", stroke: colour("accent"), points: { show: true, size: 12, fill: colour("ground"), width: 3 }, paths: () => null, value: (_, share) => percent(share) },
    ],
  }));

  // Twenty steps up are four times as much, twenty down a quarter.
  const factor = (name) => 4 ** (Number(sliders[name].value) / 20);
  const value = (name) => {
    const now = name === "starvation" ? present.starvation_weight || 1 : present[name];
    return Number((now * factor(name)).toPrecision(4));
  };
  const shows = { budget: rate, delay: duration, starvation: (weight) => short(weight) };

  function label() {
    for (const name of names) {
      const moved = Number(sliders[name].value) !== 0;
      const words = `${shows[name](value(name))}${moved ? ` (${short(factor(name))} ×)` : ""}`;
      document.getElementById(`${name}-now`).value = words;
      sliders[name].setAttribute("aria-valuetext", words);
    }
  }

  function question() {
    const asked = new URLSearchParams();
    if (Number(sliders.budget.value)) asked.set("budget", `${(value("budget") * 86400).toPrecision(6)}/d`);
    if (Number(sliders.delay.value)) asked.set("delay", `${value("delay")}s`);
    if (Number(sliders.starvation.value)) asked.set("starvation_weight", String(value("starvation")));
    return asked;
  }

  async function ask(asked) {
    asking?.abort();
    asking = new AbortController();
    const answer = await fetch(`/api/what-if?${asked}`, { signal: asking.signal });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error);
    return told;
  }

  function tell(told, column) {
    const cells = {
      freshness: percent(told.freshness, 2),
      price: told.fetches_words,
      never: count(told.never_visited),
      hosts: count(told.hosts_at_cap),
      robots: told.curve?.robots_mean === undefined ? "not known yet" : short(told.curve.robots_mean),
      starvation: told.curve?.starvation === undefined ? "not known yet" : percent(told.curve.starvation),
      loss: told.curve?.loss_rate === undefined ? "not known yet" : rate(told.curve.loss_rate),
      sojourn: told.curve?.sojourn_s === undefined ? "not known yet" : duration(told.curve.sojourn_s),
    };
    for (const [name, text] of Object.entries(cells)) put(`${name}-${column}`, text);
  }

  function limits(told) {
    const none = !told.dearest_hosts.length;
    document.getElementById("dearest-table").hidden = none;
    put("dearest-words", none ? "None: the budget alone says how often pages are visited." : "");
    const cells = (host) => [host.host.replace(/^https?:\/\//, ""), count(host.pages), `${rate(host.most_per_s)}, by ${host.by}`, cost(host)];
    document.getElementById("dearest").replaceChildren(
      ...told.dearest_hosts.map((host) =>
        make("tr", {}, ...cells(host).map((text, place) => (place ? make("td", { class: "number" }, text) : make("th", { scope: "row", class: "name" }, text)))),
      ),
    );
  }

  function robots(told) {
    if (!told.curve) return "This state was written by an older version, which did not note its robots.";
    if (told.curve.kind === "optimal") return "The black line is the control in force, the coloured one the best for the weight that was chosen.";
    if (told.curve.best) return "Robots run while the buffer has room; the dashed line would be the best control, and is not worth having. Move the weight to see another.";
    return "Robots run while the buffer has room: how fast robots and indexer are is not known yet.";
  }

  function draw(told) {
    limits(told);
    put("curve-words", robots(told));
    if (told.curve) curve.show(present.curve ?? told.curve, { then: told.curve.kind === "optimal" ? told.curve : null });
    chosen = told;
    if (!points.length) return;
    const all = [...points.filter((point) => point.budget !== told.budget), { budget: told.budget, freshness: null }];
    all.sort((a, b) => a.budget - b.budget);
    tradeOff.show([
      all.map((point) => point.budget),
      all.map((point) => (point.budget === told.budget && point.freshness === null ? between(told.budget) : point.freshness)),
      all.map((point) => (point.budget === told.budget ? told.freshness : null)),
    ]);
  }

  // The black line has no point of its own at the chosen budget: it passes straight through.
  function between(budget) {
    for (let place = 1; place < points.length; place += 1) {
      const [a, b] = [points[place - 1], points[place]];
      if (a.budget <= budget && budget <= b.budget) {
        const share = Math.log(budget / a.budget) / Math.log(b.budget / a.budget);
        return a.freshness + share * (b.freshness - a.freshness);
      }
    }
    return null;
  }

  function fail(error) {
    if (error.name === "AbortError") return;
    const state = document.getElementById("state");
    state.hidden = false;
    state.textContent = `${error.message}.`.replace(/\.\.$/, ".");
    state.className = "state broken";
  }

  async function update() {
    label();
    try {
      const told = await ask(question());
      tell(told, "then");
      draw(told);
      put("command", told.command);
      put("took", `Solved for ${count(told.pages)} pages in ${duration(told.took_ms / 1000)}.`);
      document.getElementById("state").hidden = true;
    } catch (error) {
      fail(error);
    }
  }

  async function start() {
    try {
      const told = await ask(new URLSearchParams());
      present = { ...told.present, curve: told.curve };
      for (const id of ["question", "pictures", "limits", "apply"]) document.getElementById(id).hidden = false;
      sliders.starvation.disabled = !(present.starvation_weight > 0);
      tell(told, "present");
      tell(told, "then");
      put("command", told.command);
      put("took", `Solved for ${count(told.pages)} pages in ${duration(told.took_ms / 1000)}.`);
      document.getElementById("state").hidden = true;
      label();
      draw(told);
      const traded = await fetch("/api/trade-off");
      if (traded.ok) points = (await traded.json()).points;
      draw(chosen);
    } catch (error) {
      fail(error);
    }
  }

  const form = document.getElementById("sliders");
  let waiting = 0;
  form.addEventListener("input", () => {
    label();
    clearTimeout(waiting);
    waiting = setTimeout(update, 60);
  });
  form.addEventListener("reset", () => setTimeout(update, 0));
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("copy").addEventListener("click", async (event) => {
    const text = document.getElementById("command").textContent;
    try {
      await navigator.clipboard.writeText(text);
      event.target.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(document.getElementById("command"));
      event.target.textContent = "Selected: copy it";
    }
  });
  start();
})();
