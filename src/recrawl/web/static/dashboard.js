// The live view: a pulse every second, a report now and then, both pushed by the server.
"use strict";
(() => {
  const { count, duration, percent, rate, short } = figures;
  const state = document.getElementById("state");
  const curve = new CurvePicture("robots-picture");
  let lastAt = null;

  const time = (seconds) => {
    const at = new Date(1000 * seconds);
    return at.toISOString().slice(0, 16).replace("T", " ");
  };
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  // Days where ticks are days apart, and hours with them where they are closer.
  const shortTime = (tick, step) => {
    const at = new Date(1000 * tick);
    const day = `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
    return step >= 86400 ? day : `${step >= 3600 ? `${day} ` : ""}${at.toISOString().slice(11, step < 60 ? 19 : 16)}`;
  };
  const axes = (valueOf) => [{ space: 90, values: (_, ticks) => ticks.map((tick) => shortTime(tick, ticks.length > 1 ? ticks[1] - ticks[0] : 86400)) }, { size: 52, values: (_, ticks) => ticks.map(valueOf) }];
  const freshness = new LineChart("freshness-picture", (colour) => ({
    scales: { y: { range: (_, low, high) => [Math.max(0, Math.floor(20 * (low ?? 0) - 0.5) / 20), Math.min(1, Math.ceil(20 * (high ?? 1) + 0.2) / 20)] } },
    axes: axes((tick) => percent(tick, 0)),
    series: [
      { label: "at (UTC)", value: (_, at) => (at === null ? "–" : time(at)) },
      { label: "up to", stroke: "transparent", points: { show: false }, value: (_, share) => percent(share) },
      { label: "from", stroke: "transparent", points: { show: false }, value: (_, share) => percent(share) },
      { label: "fresh", stroke: colour("accent"), width: 2, points: { show: false }, value: (_, share) => percent(share) },
      { label: "promised", stroke: colour("text"), width: 1.5, dash: [6, 5], points: { show: false }, value: (_, share) => percent(share) },
    ],
    bands: [{ series: [1, 2], fill: colour("accent-soft") }],
    tzDate: (at) => uPlot.tzDate(new Date(1000 * at), "UTC"),
  }));
  const fetches = new LineChart("fetches-picture", (colour) => ({
    axes: axes((tick) => count(tick)),
    series: [
      { label: "from (UTC)", value: (_, at) => (at === null ? "–" : time(at)) },
      { label: "all visits", stroke: colour("text"), width: 1.5, points: { show: false } },
      { label: "new or changed", stroke: colour("accent"), width: 2, points: { show: false } },
    ],
    tzDate: (at) => uPlot.tzDate(new Date(1000 * at), "UTC"),
  }));

  function rows(id, cells) {
    document.getElementById(id).replaceChildren(
      ...cells.map((row) =>
        make("tr", {}, ...row.map((cell, place) => {
          const shown = cell instanceof Node ? cell : document.createTextNode(cell);
          if (place === 0) return make("th", { scope: "row", class: "name" }, shown);
          const bar = shown instanceof SVGElement;
          return make("td", { class: bar ? "bar" : "number" }, shown);
        })),
      ),
    );
  }

  function say(words, kind) {
    if (state.textContent !== words) state.textContent = words;
    state.className = `state ${kind}`;
  }

  function bar(share) {
    const svg = drawn("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.append(drawn("rect", { width: Math.max(0.5, 100 * share).toFixed(2), height: 8 }));
    return svg;
  }

  function page(row) {
    return make("a", { href: `/page?url=${encodeURIComponent(row.url)}`, title: row.url }, row.title || row.url);
  }

  function onPulse(pulse) {
    document.getElementById("crawl").hidden = false;
    if (pulse.running) say("Running. The figures follow it by themselves.", "running");
    else say("Stopped. What you see is the state as the crawl left it.", "stopped");
    lastAt = pulse.at;
    const total = Object.values(pulse.outcomes).reduce((sum, n) => sum + n, 0);
    const asked = total - (pulse.outcomes.disallowed ?? 0);
    put("not-modified", percent(asked ? (pulse.outcomes["not-modified"] ?? 0) / asked : null));
    put("not-modified-more", `${count(asked)} visits in all, ${count(pulse.outcomes.changed ?? 0)} found a change`);
    rows("outcomes", Object.entries(pulse.outcomes).sort((a, b) => b[1] - a[1]).map(([name, n]) => [name, count(n), percent(n / total), bar(n / total)]));
    onRobots(pulse);
    onModel(pulse);
  }

  function onRobots(pulse) {
    if (!pulse.curve) {
      put("robots-words", "This state was written by an older version, which did not note its robots.");
      return;
    }
    const seen = pulse.running && pulse.buffer !== null && pulse.robots_active !== null && pulse.followed;
    const point = seen ? { buffer: Math.min(pulse.buffer, pulse.curve.capacity), robots: Math.min(pulse.robots_active, pulse.curve.robots) } : null;
    curve.show(pulse.curve, { point });
    const control = pulse.curve.kind === "optimal"
      ? "The line is the optimal control for the rates that the crawl measured."
      : "No rates are known yet, or control = \"room\": robots run while the buffer has room for what they bring.";
    const now = seen ? ` Now ${count(pulse.robots_active)} of ${count(pulse.robots)} robots, ${count(pulse.buffer)} of ${count(pulse.capacity)} pages in the buffer.` : "";
    put("robots-words", control + now);
    document.getElementById("robots-picture").setAttribute("aria-label", `Robots aimed for at 0 to ${pulse.curve.capacity} pages in the buffer: ${pulse.curve.targets.join(", ")}.${now}`);
  }

  function onModel(pulse) {
    const control = pulse.control;
    const lost = pulse.outcomes.lost ?? 0;
    const obsolete = pulse.outcomes.obsolete ?? 0;
    if (!control) {
      rows("model", [["pages lost", "–", `${count(lost)} in all`], ["pages gone stale in the buffer", "–", `${count(obsolete)} in all`]]);
      put("model-words", "Predictions come once fifty pages were fetched and indexed under control = \"optimal\".");
      return;
    }
    const words = { starvation: ["indexer idle", percent], loss_rate: ["pages lost", rate], throughput: ["pages indexed", rate], buffer_mean: ["pages in the buffer", short], robots_mean: ["robots active", short], sojourn_s: ["wait for the index", duration] };
    const shown = Object.entries(words).map(([name, [label, show]]) => {
      const { predicted, measured } = control.measures[name];
      return [control.parted.includes(name) ? `${label} (apart)` : label, show(predicted), show(measured)];
    });
    shown.push(["gone stale in the buffer", "not modelled", `${count(obsolete)} in all`]);
    rows("model", shown);
    const apart = control.parted.length ? " Where they are apart, the crawl is unlike the model: a budget, polite hosts or unchanged pages keep robots waiting." : "";
    put("model-words", `For ${rate(control.fetch_rate)} of a robot and ${rate(control.index_rate)} of the indexer, followed for ${duration(control.seconds)}.${apart}`);
  }

  function onReport(report) {
    const half = report.freshness === null ? null : (report.freshness_high - report.freshness_low) / 2;
    put("freshness", percent(report.freshness));
    put("freshness-more", report.freshness === null ? "no page has been visited yet" : `± ${percent(half)}${report.planned_freshness === null ? "" : `; the plan promises ${percent(report.planned_freshness)}`}`);
    put("budget", rate(report.budget));
    put("budget-more", report.budget_used === null ? "" : `${percent(Math.min(report.budget_used, 1), 0)} used in the last hour`);
    const points = report.price === null ? null : (100 * report.price) / Math.max(report.weight, 1e-300) / 86400;
    put("price", points === null ? "–" : `${short(points)} points`);
    put("price-more", points === null ? "no plan yet: it follows once pages have been visited" : "of freshness, for one more fetch a day");
    put("gain", report.gain === null ? "–" : `${(100 * report.gain).toFixed(2)} points`);
    put("gain-more", report.gain === null ? "" : `${rate(0.2 * report.planned_budget)} more for revisits`);
    put("due", count(report.due));
    put("due-more", `${count(report.overdue)} for over an hour, of ${count(Object.values(report.pages).reduce((sum, n) => sum + n, 0))} pages`);
    rows("states", Object.entries(report.pages).map(([name, n]) => [name, count(n)]));
    onFreshness(report);
    onFetches(report);
    rows("hosts", report.hosts.map((host) => [
      host.host.replace(/^https?:\/\//, ""), count(host.pages), count(host.due), count(host.overdue),
      host.robots_txt === null ? "not read" : String(host.robots_txt),
      host.price === null ? "the price" : `${short(host.price)} × the price`,
      host.why ? `left alone for ${duration(host.blocked_for_s)}: ${host.why}` : "may be asked",
    ]));
    rows("valuable", report.valuable.map((row) => [page(row), short(row.worth), percent(row.stale, 0), row.due_in_s > 0 ? `in ${duration(row.due_in_s)}` : "now"]));
    rows("slowest", report.slowest.map((row) => [page(row), duration(row.fetch_s), count(row.visits)]));
  }

  function onFreshness(report) {
    const seen = report.freshness_over_time;
    if (seen.at.length < 2) return;
    const promised = seen.at.map((at) => {
      let value = null;
      for (const [solved, fresh] of report.plans) if (solved <= at) value = fresh;
      return value;
    });
    freshness.show([seen.at, seen.high, seen.low, seen.value, promised]);
    const last = seen.value.length - 1;
    document.getElementById("freshness-picture").setAttribute("aria-label", `Freshness from ${time(seen.at[0])} to ${time(seen.at[last])} UTC: ${percent(seen.value[0])} at first, ${percent(seen.value[last])} now`);
  }

  function onFetches(report) {
    const { since, step, outcomes } = report.fetches_over_time;
    const all = Array(60).fill(0);
    const changed = Array(60).fill(0);
    for (const [name, counts] of Object.entries(outcomes)) {
      counts.forEach((n, place) => {
        all[place] += n;
        if (name === "new" || name === "changed") changed[place] += n;
      });
    }
    if (!(step > 0.01)) return;
    fetches.show([all.map((_, place) => since + place * step), all, changed]);
    document.getElementById("fetches-picture").setAttribute("aria-label", `Visits over time, in steps of ${duration(step)}: ${count(all[all.length - 1])} in the last one`);
  }

  const events = new EventSource("/api/events");
  events.addEventListener("pulse", (event) => onPulse(JSON.parse(event.data)));
  events.addEventListener("report", (event) => onReport(JSON.parse(event.data)));
  events.addEventListener("trouble", (event) => {
    document.getElementById("crawl").hidden = true;
    say(`Nothing to show yet: ${JSON.parse(event.data).message}. This page looks again every second.`, "broken");
  });
  events.onerror = () => {
    say(`The server does not answer${lastAt === null ? "" : "; what you see is the last that it said"}. Trying again …`, "broken");
  };
})();
