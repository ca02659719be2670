// The live view: a pulse every second, a report now and then, both pushed by the server.
"use strict";
(() => {
  const { chosen, cost, count, duration, percent, rate, short } = figures;
  const state = document.getElementById("state");
  const curve = new CurvePicture("robots-picture");
  let lastAt = null;
  let lastRunning = false;

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
    const body = document.getElementById(id);
    const held = body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    body.replaceChildren(
      ...cells.map((row) =>
        make("tr", {}, ...row.map((cell, place) => {
          const shown = cell instanceof Node ? cell : document.createTextNode(cell);
          if (place === 0) return make("th", { scope: "row", class: "name" }, shown);
          const bar = shown instanceof SVGElement;
          return make("td", { class: bar ? "bar" : "number" }, shown);
        })),
      ),
    );
    // Whoever stands on a link stays there when the figures around it change.
    if (held !== null) [...body.querySelectorAll("a")].find((link) => link.getAttribute("href") === held)?.focus({ preventScroll: true });
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

  function pages(n) {
    const shown = n >= 10 ? count(n) : short(n, 2);
    return `${shown} ${shown === "1" ? "page" : "pages"}`;
  }

  function example(url) {
    return make("a", { href: `/page?url=${encodeURIComponent(url)}`, title: url }, url.replace(/^https?:\/\//, ""));
  }

  function page(row) {
    return make("a", { href: `/page?url=${encodeURIComponent(row.url)}`, title: row.url }, row.title || row.url);
  }

  function onPulse(pulse) {
    const total = Object.values(pulse.outcomes).reduce((sum, n) => sum + n, 0);
    document.getElementById("crawl").hidden = false;
    document.getElementById("nothing").hidden = true;
    if (pulse.running && !total) say("Starting. The first visits are under way.", "running");
    else if (pulse.running) say("Running. The figures follow it by themselves.", "running");
    else say("Stopped. What you see is the state as the crawl left it.", "stopped");
    lastAt = pulse.at;
    lastRunning = pulse.running;
    const asked = total - (pulse.outcomes.disallowed ?? 0);
    put("not-modified", percent(asked ? (pulse.outcomes["not-modified"] ?? 0) / asked : null));
    put("not-modified-more", `${count(asked)} visits in all, ${count(pulse.outcomes.changed ?? 0)} found a change`);
    rows("outcomes", Object.entries(pulse.outcomes).sort((a, b) => b[1] - a[1]).map(([name, n]) => [name, count(n), percent(n / total), bar(n / total)]));
    onRobots(pulse);
    onModel(pulse);
  }

  function onRobots(pulse) {
    // A picture of the control only where there is one that is worth being followed.
    const solved = pulse.curve?.kind === "optimal" || Boolean(pulse.control?.dropped);
    for (const id of ["robots-picture", "model-side"]) document.getElementById(id).hidden = !solved;
    put("robots-lead", solved ? "Each step of the line is the number of robots that the control aims for at that length of the buffer. The ring is the crawl now, the shade where it was since this page opened." : "");
    if (!pulse.curve) {
      put("robots-words", "This state was written by an older version, which did not note its robots.");
      return;
    }
    const seen = pulse.running && pulse.buffer !== null && pulse.robots_active !== null && pulse.followed;
    const point = seen ? { buffer: Math.min(pulse.buffer, pulse.curve.capacity), robots: Math.min(pulse.robots_active, pulse.curve.robots) } : null;
    if (solved) curve.show(pulse.curve, { point });
    const control = words(pulse);
    const now = seen && solved ? ` Now ${count(pulse.robots_active)} of ${count(pulse.robots)} robots, ${count(pulse.buffer)} of ${count(pulse.capacity)} pages in the buffer.` : "";
    put("robots-words", control + now);
    document.getElementById("robots-picture").setAttribute("aria-label", `Robots aimed for at 0 to ${pulse.curve.capacity} pages in the buffer: ${pulse.curve.targets.join(", ")}.${now}`);
  }

  // Which control is in force, and why.
  function words({ curve, control, followed }) {
    if (curve.kind === "optimal") return "The line is the optimal control for the rates that the crawl measured.";
    const room = "Robots run while the buffer has room for what they bring";
    if (!followed) return `${room}, as the configuration says (control = "room").`;
    if (control?.dropped) return `${room}: the optimal control, dashed, lost far more pages than it promised, and was dropped.`;
    if (!curve.best) return `${room}, until fifty pages have told how fast robots and indexer are.`;
    return `${room}: the optimal control, dashed, could keep the indexer busy for ${percent(control?.to_win ?? 0)} more of the time at most, and is not worth its losses.`.replace(", dashed,", "");
  }

  const MEASURES = { starvation: ["indexer idle", percent], loss_rate: ["pages lost", rate], throughput: ["pages indexed", rate], buffer_mean: ["pages in the buffer", short], robots_mean: ["robots active", short], sojourn_s: ["wait for the index", duration] };

  function onModel(pulse) {
    const { control, outcomes } = pulse;
    const lost = outcomes.lost ?? 0;
    const obsolete = outcomes.obsolete ?? 0;
    const brought = ["new", "changed", "unchanged", "obsolete"].reduce((sum, name) => sum + (outcomes[name] ?? 0), 0);
    const stale = brought ? `${percent(obsolete / brought, 2)} (${count(obsolete)})` : "–";
    if (!control) {
      rows("model", [["pages lost", "–", `${count(lost)} in all`], ["gone stale in the buffer", "–", stale]]);
      put("model-words", pulse.followed ? "Predictions come once fifty pages were fetched and indexed." : "Predictions need control = \"optimal\", which measures how fast robots and indexer are.");
      return;
    }
    const shown = Object.entries(MEASURES).map(([name, [label, show]]) => {
      const { predicted, measured } = control.measures[name];
      return [control.parted.includes(name) ? `${label} (apart)` : label, show(predicted), show(measured)];
    });
    shown.push(["gone stale in the buffer", percent(pulse.curve?.obsolete_share, 2), stale]);
    rows("model", shown);
    const apart = control.parted.length ? " Where they are apart, the crawl is unlike the model: a budget, polite hosts or unchanged pages keep robots waiting." : "";
    const fixed = control.static ? ` The best fixed number of robots would be ${count(control.static.robots)}: indexer idle ${percent(control.static.starvation)}, lost ${rate(control.static.loss_rate)}.` : "";
    put("model-words", `For ${rate(control.fetch_rate)} of a robot and ${rate(control.index_rate)} of the indexer, followed for ${duration(control.seconds)}.${fixed}${apart}`);
  }

  function onReport(report) {
    const half = report.freshness === null ? null : (report.freshness_high - report.freshness_low) / 2;
    const known = report.freshness !== null && report.revisits > 0;
    put("freshness", known ? percent(report.freshness) : "–");
    put("freshness-more", !known ? "known once pages have been visited again" : `± ${percent(half)}${report.planned_freshness === null ? "" : `; the plan promises ${percent(report.planned_freshness)}`}`);
    put("budget", chosen(report.budget));
    put("budget-more", report.budget_used === null ? "" : `${percent(Math.min(report.budget_used, 1), 0)} used in the last hour${report.first_visits_are_free ? "; first visits come beside it" : ""}`);
    put("price", report.price_words ?? "No plan yet: it follows once pages have been visited");
    put("gain", report.gain === null ? "–" : `${pages(report.gain_pages)} more fresh`);
    put("gain-more", report.gain === null ? "" : `${percent(report.gain, 2)} of all, for ${rate(0.2 * report.planned_budget)} more revisits`);
    put("due", count(report.due));
    put("due-more", `${count(report.overdue)} for over an hour${report.closed ? `, ${count(report.closed)} until more of their host are` : ""}, of ${count(Object.values(report.pages).reduce((sum, n) => sum + n, 0))} pages`);
    rows("states", Object.entries(report.pages).map(([name, n]) => [name, count(n)]));
    onFreshness(report);
    onFetches(report);
    onFirstPass(report);
    onActivity(report.activity);
    onChanges(report);
    const spent = report.spending.reduce((sum, row) => sum + row.visits, 0);
    rows("spending", report.spending.map((row) => [
      row.purpose, count(row.visits), percent(row.visits / spent, 0), count(row.new), count(row.changed), count(row.found), count(row.troubled),
      row.brought.toFixed(2),
    ]));
    rows("troubles", report.troubles.map((row) => [row.why, count(row.visits), count(row.pages), example(row.example)]));
    rows("left-out", report.left_out.map((row) => [row.why, count(row.pages), example(row.example)]));
    for (const id of ["troubles", "left-out"]) {
      document.getElementById(`${id}-table`).hidden = !document.getElementById(id).children.length;
    }
    put("troubles-words", report.troubles.length || report.left_out.length ? "" : "None: every page that was visited is in the index.");
    const refused = [
      ...report.moved_away.map((row) => [row.host, `its pages lead to ${row.to}, which is not in scope.hosts`, row.pages]),
      ...report.refused.map((row) => [row.host, row.why, row.addresses]),
    ];
    rows("refused", refused.map(([host, why, n]) => [host.replace(/^https?:\/\//, ""), why, count(n)]));
    document.getElementById("refused-table").hidden = !refused.length;
    rows("hosts", report.hosts.map((host) => [
      host.host.replace(/^https?:\/\//, ""), count(host.pages), count(host.due), count(host.overdue),
      host.robots_txt === null ? "not read" : String(host.robots_txt),
      host.delay_s > 0 ? `${rate(1 / host.delay_s)}, by ${host.delay_by}` : "any",
      cost(host),
      host.why ? `left alone for ${duration(host.blocked_for_s)}: ${host.why}` : "may be asked",
    ]));
    rows("valuable", report.valuable.map((row) => [page(row), short(row.worth), percent(row.stale, 0), row.due_in_s > 0 ? `in ${duration(row.due_in_s)}` : "now"]));
    rows("slowest", report.slowest.map((row) => [page(row), duration(row.fetch_s), count(row.visits)]));
  }

  function onFirstPass(report) {
    const pass = report.first_pass;
    document.getElementById("first-pass").hidden = !pass;
    if (pass) {
      document.getElementById("first-pass-bar").value = pass.known ? 1 - pass.to_come / pass.known : 0;
      put("first-pass-words", `First pass: ${count(pass.indexed)} of ${count(pass.known)} pages known are indexed, ${count(pass.to_come)} are still to be looked at.`);
    }
    const idle = report.idle && lastRunning ? `${report.idle}.` : "";
    document.getElementById("idle").hidden = !idle;
    put("idle", idle);
  }

  // One strip for each directory: what was found in it, bin by bin.
  let activityShown = "";
  function onActivity(activity) {
    const told = JSON.stringify(activity);
    if (told === activityShown) return;
    activityShown = told;
    const { directories, others, fast, step, bins, since } = activity;
    const hosts = new Set([...directories.map((row) => row.directory), ...(fast ?? []).map((row) => row.group)].map((name) => name.split("/", 3).join("/")));
    const isNarrow = matchMedia("(max-width: 46rem)").matches;
    const longest = isNarrow ? 16 : 40;
    const named = (name, most = longest) => {
      const path = hosts.size === 1 ? name.replace(/^https?:\/\/[^/]*/, "") : name.replace(/^https?:\/\//, "");
      return path.length > most ? `…${path.slice(1 - most)}` : path; // what tells them apart is at the end
    };
    const list = document.getElementById("fast");
    list.hidden = !fast?.length;
    list.replaceChildren(...(fast ?? []).map((row) => make("li", {}, make("b", { title: row.group }, named(row.group, 120)), ` runs ${row.words}.`)));
    for (const id of ["activity", "activity-table"]) document.getElementById(id).hidden = !directories.length;
    const calm = fast && !fast.length ? " No directory changes faster than usual now." : "";
    if (!directories.length) {
      put("activity-words", "Nothing was found yet.");
      return;
    }
    const changes = (n) => `${count(n)} ${n === 1 ? "change" : "changes"}`;
    const fresh = (n) => `${count(n)} new ${n === 1 ? "page" : "pages"}`;
    const rest = others.directories ? ` Not drawn: ${count(others.directories)} other ${others.directories === 1 ? "directory" : "directories"} with ${changes(others.changes)} and ${fresh(others.new)}.` : "";
    put("activity-words", `Each cell is ${duration(step)}.${rest}${calm}`);
    const most = Math.max(1, ...directories.flatMap((row) => row.changes_by_bin));
    const begins = (place) => shortTime(since + place * step, isNarrow && step >= 1800 ? 86400 : Math.min(step, 3600));
    const strip = (row) => {
      const peak = row.changes_by_bin.indexOf(Math.max(...row.changes_by_bin));
      const about = row.changes ? `, most of them from ${time(since + peak * step)} UTC: ${count(row.changes_by_bin[peak])}` : "";
      const svg = drawn("svg", { viewBox: `0 0 ${10 * bins} 20`, preserveAspectRatio: "none", role: "img", "aria-label": `${changes(row.changes)}${about}; ${fresh(row.new)}` });
      svg.append(drawn("rect", { width: 10 * bins, height: 15, class: "empty" }));
      row.changes_by_bin.forEach((n, place) => {
        const born = row.new_by_bin[place];
        if (!n && !born) return;
        const cell = drawn("g", {}, drawn("title", {}, `${time(since + place * step)} UTC: ${changes(n)}, ${fresh(born)}`));
        if (n) cell.append(drawn("rect", { x: 10 * place, width: 9, height: 15, class: "found", "fill-opacity": (0.2 + 0.8 * Math.sqrt(n / most)).toFixed(2) }));
        if (born) cell.append(drawn("rect", { x: 10 * place, y: 17, width: 9, height: 3, class: "born" }));
        svg.append(cell);
      });
      return svg;
    };
    const axis = make("div", { class: "ends" }, make("span", {}, begins(0)), make("span", {}, begins(Math.floor(bins / 2))), make("span", {}, "now"));
    document.getElementById("activity").replaceChildren(
      make("table", {},
        make("caption", { class: "unseen" }, "Changes and new pages by directory"),
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "directory"), make("th", { scope: "col", class: "strip" }, axis), make("th", { scope: "col", class: "number" }, "changes"), make("th", { scope: "col", class: "number" }, "new"))),
        make("tbody", {}, ...directories.map((row) => make("tr", {}, make("th", { scope: "row", class: "name", title: row.directory }, named(row.directory)), make("td", { class: "strip" }, strip(row)), make("td", { class: "number" }, count(row.changes)), make("td", { class: "number" }, count(row.new))))),
      ),
    );
  }

  // Lines that came and went. What is shown is made anew only when there is news.
  let changesShown = "";
  function onChanges(report) {
    const told = JSON.stringify(report.changes);
    for (const place of document.querySelectorAll("#changes time")) place.textContent = ago(report.at - Number(place.dataset.at));
    if (told === changesShown) return;
    changesShown = told;
    put("changes-words", report.changes.length ? "" : "None found yet.");
    document.getElementById("changes").replaceChildren(
      ...report.changes.map((change) => {
        const when = make("time", { datetime: new Date(1000 * change.found_at).toISOString(), title: `${time(change.found_at)} UTC`, "data-at": change.found_at }, ago(report.at - change.found_at));
        const lines = change.lines.slice(0, 6).map(([sign, line]) => make("li", {}, make(sign === "+" ? "ins" : "del", {}, line)));
        const more = change.lines.length > 6 ? make("p", { class: "quiet" }, `and ${change.lines.length === 7 ? "1 line" : `${change.lines.length - 6} lines`} more`) : null;
        return make("li", {}, make("p", {}, page(change), " ", make("span", { class: "quiet" }, when)), lines.length ? make("ul", { class: "difference" }, ...lines) : make("p", { class: "quiet" }, "The same lines, in another order."), more);
      }),
    );
  }

  function ago(seconds) {
    return `${duration(Math.max(seconds, 0), 2)} ago`;
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
    const { message } = JSON.parse(event.data);
    document.getElementById("crawl").hidden = true;
    document.getElementById("nothing").hidden = false;
    document.getElementById("how-to-start").hidden = !/holds no crawl|no directory/.test(message);
    put("nothing-why", `${message[0].toUpperCase()}${message.slice(1)}.`.replace(/\.\.$/, "."));
    say("Waiting. This page looks again every second.", "stopped");
  });
  events.onerror = () => {
    say(`The server does not answer${lastAt === null ? "" : "; what you see is the last that it said"}. Trying again …`, "broken");
  };
})();
