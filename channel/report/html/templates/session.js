"use strict";
(() => {
  const { events, lanes, balances, width, decisive } = JSON.parse(document.getElementById("data").textContent);
  const MOST_PRINTED = 20000;
  const at = (id) => document.getElementById(id);
  const list = at("events"), rows = at("rows"), slider = at("time"), detail = at("detail");
  let chosen = 0, rowHeight = 28, printing = false;
  // The events in sight, by their indices; list and slider count these, all else counts events.
  let visible = events.map((_, index) => index);

  // An event is [height, lane, kind, text, message, verdicts, lines, size]; the last ones may be missing.
  const heightOf = (index) => events[index][0];
  // The rules that the moves of a message break.
  const broken = (event) => (event[5] || []).map((verdict) => verdict[5]).filter(Boolean);

  const common = ["blame", "leaves", "outcome"];
  const views = {
    game: ["hand", "decision", "step", "chain", ...common],
    protocol: ["message", "step", "news", "decision", ...common],
    chain: ["block", "spend", "chain", ...common],
  };
  const inView = (view, event) => !views[view] || views[view].includes(event[2]) || broken(event).length > 0;
  // The place of an event in the list, or of the last one before it.
  function placeOf(index) {
    let place = visible.findIndex((shown) => shown > index);
    if (place < 0) place = visible.length;
    return Math.max(0, place - 1);
  }

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // --- the list: only the rows in sight are in the document ---

  function row(place) {
    const index = visible[place], event = events[index];
    const made = element("div", `event in${event[1]} ${event[2]}`);
    if (broken(event).length) made.classList.add("illegal");
    if (index > chosen) made.classList.add("later");
    made.id = `row-${index}`;
    made.setAttribute("role", "option");
    made.setAttribute("aria-selected", String(index === chosen));
    made.setAttribute("aria-posinset", place + 1);
    made.setAttribute("aria-setsize", visible.length);
    const before = place ? heightOf(visible[place - 1]) : -1;
    made.append(element("span", "at", before === event[0] && !printing ? "" : event[0]));
    const what = element("span", "what");
    const lane = lanes[event[1]];
    if (!event[3].startsWith(lane.split(" (")[0])) what.append(element("span", "who", `${lane}: `));
    if (broken(event).length) what.append(`breaks ${broken(event).join(", ")}: `);
    what.append(event[3]);
    made.append(what);
    made.title = event[3];
    made.addEventListener("click", () => { choose(index); list.focus(); });
    if (!printing) made.style.top = `${place * rowHeight}px`;
    return made;
  }

  function show() {
    if (printing) return;
    const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 8);
    const last = Math.min(visible.length, Math.ceil((list.scrollTop + list.clientHeight) / rowHeight) + 8);
    const made = document.createDocumentFragment();
    for (let place = first; place < last; place++) made.append(row(place));
    rows.replaceChildren(made);
  }

  function measure() {
    const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
    rowHeight = parseFloat(getComputedStyle(list).getPropertyValue("--row")) * size;
    rows.style.height = printing ? "auto" : `${visible.length * rowHeight}px`;
    show();
  }

  // Scroll to the chosen event where it is not in sight, with a third of the list before it.
  function reveal(place) {
    const top = place * rowHeight, bottom = top + rowHeight;
    if (top < list.scrollTop || bottom > list.scrollTop + list.clientHeight) {
      list.scrollTop = Math.max(0, top - list.clientHeight / 3);
    }
  }

  // --- one moment: everything on the page as of the chosen event ---

  function choose(index) {
    if (!events.length) return;
    const place = placeOf(Math.min(Math.max(index, 0), events.length - 1));
    chosen = visible[place];
    const height = heightOf(chosen);
    slider.max = visible.length - 1;
    slider.value = place;
    const said = `event ${place + 1} of ${visible.length}, height ${height}`;
    slider.setAttribute("aria-valuetext", said);
    at("now").textContent = said;
    reveal(place);
    show();
    list.setAttribute("aria-activedescendant", `row-${chosen}`);
    detail.replaceChildren(...described(events[chosen]));
    showMoney();
    for (const coin of document.querySelectorAll(".coin")) {
      const { born, spent } = coin.dataset;
      coin.classList.toggle("unborn", Number(born) > height);
      coin.classList.toggle("spent", spent !== "" && Number(spent) <= height);
    }
    for (const line of document.querySelectorAll(".deadlines tbody tr")) {
      const bar = line.querySelector("progress"), since = Number(line.dataset.since);
      const until = line.dataset.ended === "" ? height : Math.min(height, Number(line.dataset.ended));
      const gone = Math.max(0, until - since);
      bar.value = Math.min(gone, bar.max);
      line.querySelector(".gone").textContent = `${gone} of ${bar.max}`;
      line.classList.toggle("later", since > height);
    }
  }

  function showMoney() {
    const playhead = at("playhead");
    if (!playhead) return;
    const x = chosen / Math.max(events.length - 1, 1) * width;
    playhead.setAttribute("x1", x);
    playhead.setAttribute("x2", x);
    let now = null;
    for (const one of balances) if (one[0] <= chosen) now = one;
    at("balance").textContent = now === null ? "The channel is not open yet."
      : `${lanes[0]} ${now[1].toLocaleString("en")}, in live games ${now[2].toLocaleString("en")}, ${lanes[1]} ${now[3].toLocaleString("en")} mojos`;
  }

  // --- the detail of an event ---

  function* described([height, lane, kind, text, message, verdicts, lines, size]) {
    yield element("h3", `lane${lane}`, `${lanes[lane]}, height ${height}`);
    yield element("p", "", text);
    if (lines && lines.length) yield element("pre", "", lines.join("\n"));
    for (const verdict of verdicts || []) yield judged(verdict);
    if (!message && size) yield element("p", "dim", `Its ${size.toLocaleString("en")} bytes are left out.`);
    if (!message) return;
    const bytes = Uint8Array.from(atob(message), (letter) => letter.charCodeAt(0));
    const many = (count) => `${count.toLocaleString("en")} bytes`;
    try {
      if (!size) yield shown(decoded(bytes));
    } catch (error) {
      yield element("p", "bad", `Not MessagePack: ${error.message}`);
    }
    const raw = element("details");
    raw.append(element("summary", "", size ? `the first ${bytes.length} of ${many(size)}` : many(bytes.length)));
    raw.addEventListener("toggle", () => { if (raw.children.length < 2) raw.append(element("pre", "", dump(bytes))); });
    yield raw;
  }

  function judged([, game, validator, rules, program, rule, sentence, runs]) {
    const made = element("table");
    const body = element("tbody");
    const add = (name, value) => {
      const line = element("tr"), head = element("th", "", name);
      head.scope = "row";
      line.append(head, element("td", "", value));
      body.append(line);
    };
    made.append(element("caption", "", "The move"), body);
    add("validator", `${game}/${validator}`);
    add("rules say", rules);
    add("program says", runs ? `${program} (${runs === 1 ? "1 run" : `${runs} runs`})` : program);
    if (rule) add("rule", `${rule}: ${sentence}`);
    return made;
  }

  function shown(value) {
    if (value instanceof Uint8Array) {
      if (value.length <= 12) return element("code", "", value.length ? `0x${hex(value)}` : "no bytes");
      const made = element("details");
      made.append(element("summary", "", `0x${hex(value.subarray(0, 6))}… (${value.length} bytes)`), element("code", "", hex(value)));
      return made;
    }
    if (typeof value === "number" || typeof value === "bigint") return element("span", "", value.toLocaleString("en"));
    if (value === null || typeof value !== "object") return element("span", "", String(value));
    const entries = Array.isArray(value) ? value.map((item, index) => [index + 1, item]) : [...value];
    if (!entries.length) return element("span", "dim", "none");
    const made = element("dl");
    for (const [name, item] of entries) {
      const field = element("dd");
      field.append(shown(item));
      made.append(element("dt", "", String(name)), field);
    }
    return made;
  }

  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

  function dump(bytes) {
    const lines = [];
    for (let from = 0; from < bytes.length; from += 16) {
      const part = bytes.subarray(from, from + 16);
      const text = Array.from(part, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
      lines.push(`${from.toString(16).padStart(5, "0")}  ${hex(part).replace(/(..)/g, "$1 ").padEnd(48)}  ${text}`);
    }
    return lines.join("\n");
  }

  // MessagePack as the peers write it; anything else raises. What it claims to hold is never
  // allocated before it is there.
  function decoded(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let place = 0;
    const take = (count) => {
      if (place + count > bytes.length) throw new Error("it ends too early");
      place += count;
      return place - count;
    };
    const number = (size) => {
      const from = take(size);
      if (size === 1) return view.getUint8(from);
      if (size === 2) return view.getUint16(from);
      if (size === 4) return view.getUint32(from);
      return view.getBigUint64(from);
    };
    const signed = (size) => BigInt.asIntN(8 * size, BigInt(number(size)));
    const binary = (length) => { const from = take(length); return bytes.subarray(from, from + length); };
    const text = (length) => new TextDecoder().decode(binary(length));
    const array = (length, depth) => {
      const made = [];
      for (let index = 0; index < length; index++) made.push(value(depth + 1));
      return made;
    };
    const map = (length, depth) => {
      const made = new Map();
      for (let index = 0; index < length; index++) made.set(value(depth + 1), value(depth + 1));
      return made;
    };
    const value = (depth) => {
      if (depth > 32) throw new Error("it is too deep");
      const tag = number(1);
      if (tag < 0x80) return tag;
      if (tag < 0x90) return map(tag & 15, depth);
      if (tag < 0xa0) return array(tag & 15, depth);
      if (tag < 0xc0) return text(tag & 31);
      if (tag >= 0xe0) return tag - 256;
      switch (tag) {
        case 0xc0: return null;
        case 0xc2: return false;
        case 0xc3: return true;
        case 0xc4: case 0xc5: case 0xc6: return binary(number(1 << (tag - 0xc4)));
        case 0xcc: case 0xcd: case 0xce: case 0xcf: return number(1 << (tag - 0xcc));
        case 0xd0: case 0xd1: case 0xd2: case 0xd3: return signed(1 << (tag - 0xd0));
        case 0xd9: case 0xda: case 0xdb: return text(number(1 << (tag - 0xd9)));
        case 0xdc: case 0xdd: return array(number(2 << (tag - 0xdc)), depth);
        case 0xde: case 0xdf: return map(number(2 << (tag - 0xde)), depth);
        default: throw new Error(`no value begins with 0x${tag.toString(16)}`);
      }
    };
    const found = value(0);
    if (place < bytes.length) throw new Error("bytes follow it");
    return found;
  }

  // --- the controls ---

  function see(view) {
    visible = events.map((_, index) => index).filter((index) => inView(view, events[index]));
    if (!visible.length) visible = events.map((_, index) => index);
    measure();
    choose(chosen);
  }

  function block(step) {
    let place = placeOf(chosen);
    const height = heightOf(chosen);
    while (place + step >= 0 && place + step < visible.length && heightOf(visible[place]) === height) place += step;
    choose(visible[place]);
  }

  const radios = document.querySelectorAll("input[name=view]");
  for (const radio of radios) radio.addEventListener("change", () => see(radio.value));

  // Show an event also where the view leaves it out.
  function goTo(index) {
    if (!visible.includes(index)) {
      radios[radios.length - 1].checked = true;
      see("all");
    }
    choose(index);
  }

  list.addEventListener("scroll", show, { passive: true });
  list.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(list.clientHeight / rowHeight) - 1), place = placeOf(chosen);
    const target = { ArrowUp: place - 1, ArrowDown: place + 1, PageUp: place - page,
      PageDown: place + page, Home: 0, End: visible.length - 1 }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    choose(visible[Math.min(Math.max(target, 0), visible.length - 1)]);
  });
  slider.addEventListener("input", () => choose(visible[Number(slider.value)]));
  at("earlier").addEventListener("click", () => block(-1));
  at("later").addEventListener("click", () => block(1));
  at("decisive").addEventListener("click", () => goTo(decisive));
  for (const button of document.querySelectorAll(".goto[data-event]")) {
    button.addEventListener("click", () => {
      goTo(Number(button.dataset.event));
      list.focus();
      list.scrollIntoView({ block: "center" });
    });
  }
  addEventListener("resize", () => { measure(); reveal(placeOf(chosen)); });
  addEventListener("beforeprint", () => {
    printing = true;
    choose(events.length - 1);
    const made = document.createDocumentFragment();
    for (let place = 0; place < Math.min(visible.length, MOST_PRINTED); place++) made.append(row(place));
    rows.style.height = "auto";
    rows.replaceChildren(made);
  });
  addEventListener("afterprint", () => { printing = false; measure(); });

  // `#event-12` in the address chooses that event; otherwise the page opens at the decisive one.
  function begin() {
    const named = /^#event-(\d+)$/.exec(location.hash);
    goTo(named ? Number(named[1]) - 1 : decisive);
  }

  // What needs this script is not shown without it.
  for (const shown of document.querySelectorAll("[hidden]")) shown.hidden = false;
  addEventListener("hashchange", begin);
  see("game");
  begin();
})();
