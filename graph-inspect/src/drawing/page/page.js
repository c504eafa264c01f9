"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const [canvas, panel, find, fold] = ["canvas", "panel", "find", "fold"].map(byId);
  const views = [...canvas.querySelectorAll(".view")];
  const memory = document.querySelector("#memory svg");
  const group = (list, key) => {
    const map = new Map();
    for (const one of list) {
      const at = key(one);
      if (!map.has(at)) map.set(at, []);
      map.get(at).push(one);
    }
    return map;
  };
  const rects = group(memory ? memory.querySelectorAll("rect[data-b]") : [], (rect) => +rect.dataset.b);
  const rows = new Map([...document.querySelectorAll("tr[data-l]")].map((row) => [+row.dataset.l, row]));

  // For each drawing: its elements, the edges of each box, and the boxes of each buffer and line.
  const drawings = views.map((view, at) => {
    const { boxes, edges } = data.views[at];
    const nodes = new Map([...view.querySelectorAll(".node")].map((node) => [+node.dataset.v, node]));
    const paths = new Map([...view.querySelectorAll(".edge")].map((path) => [+path.dataset.e, path]));
    const into = boxes.map(() => []), out = boxes.map(() => []);
    edges.forEach(([from, to], edge) => {
      from.forEach((one) => out[one].push(edge));
      to.forEach((one) => into[one].push(edge));
    });
    const pairs = (key) => {
      const map = new Map();
      boxes.forEach((box, one) => key(box).forEach((at) => map.set(at, [...(map.get(at) || []), one])));
      return map;
    };
    return { svg: view.querySelector("svg"), boxes, edges, nodes, paths, into, out, scale: 0,
      ofBuffer: pairs((box) => [...box.r, ...box.w]), ofLine: pairs((box) => box.l) };
  });
  let shown = 0, pinned = null, marked = [];
  const drawing = () => drawings[shown];

  const element = (tag, text, parent) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };
  const list = (title, items, most = 40) => {
    if (items.length === 0) return;
    element("h4", title, panel);
    const ul = element("ul", undefined, panel);
    for (const [name, note] of items.slice(0, most)) {
      const li = element("li", undefined, ul);
      element("code", name, li);
      if (note) element("small", " " + note, li);
    }
    if (items.length > most) element("li", `and ${items.length - most} more`, ul);
  };
  const clear = () => {
    for (const one of marked) one.classList.remove("on", "near");
    marked = [];
    for (const one of drawings) one.svg.classList.remove("picked");
    if (memory) memory.classList.remove("picked");
  };
  const mark = (one, name) => {
    if (one) { one.classList.add(name); marked.push(one); }
  };
  const markBuffers = (buffers) => {
    const own = buffers.flatMap((buffer) => rects.get(buffer) || []);
    own.forEach((rect) => mark(rect, "on"));
    if (memory && own.length) memory.classList.add("picked");
  };
  const hint = () => {
    panel.replaceChildren();
    const { boxes, edges } = drawing();
    element("h3", `${boxes.length} boxes, ${edges.length} arrows`, panel);
    element("p", "Point to a box to see its buffers, its source lines and the reasons of its arrows; click to keep it.", panel).className = "faint";
  };

  const showBox = (at) => {
    clear();
    const own = drawing(), box = own.boxes[at];
    own.svg.classList.add("picked");
    mark(own.nodes.get(at), "on");
    const ends = (edge, side) => own.edges[edge][side].map((one) => own.boxes[one].n).join(", ");
    for (const edge of [...own.into[at], ...own.out[at]]) {
      mark(own.paths.get(edge), "on");
      for (const one of [...own.edges[edge][0], ...own.edges[edge][1]]) if (one !== at) mark(own.nodes.get(one), "near");
    }
    markBuffers([...box.r, ...box.w]);
    box.l.forEach((line) => mark(rows.get(line), "on"));
    panel.replaceChildren();
    element("h3", box.n, panel);
    const facts = [box.k];
    if (box.c > 1) facts.push(`${box.c} nodes`);
    if (box.s > box.c) facts.push(`${box.s} statements`);
    if (box.d !== "") facts.push(`device ${box.d}`);
    if (box.t) facts.push(box.t);
    element("div", facts.join(" · "), panel).className = "faint";
    list("Source", box.l.map((line) => {
      const row = rows.get(line);
      return row ? [row.querySelector("code").textContent, `line ${row.cells[0].textContent}`] : ["", ""];
    }), 12);
    const buffer = (one) => data.buffers[one];
    list("Writes", box.w.map(buffer));
    list("Reads", box.r.map(buffer));
    const reason = (edge, side) => [ends(edge, side), own.edges[edge][2] && `by ${own.edges[edge][2]}` + (own.edges[edge][3] ? ", of an earlier iteration" : "")];
    list("Comes after", own.into[at].map((edge) => reason(edge, 0)), 20);
    list("Before", own.out[at].map((edge) => reason(edge, 1)), 20);
    list("Members", box.m.map((member) => [member]), 24);
  };
  const showBoxes = (boxes, buffers, lines) => {
    clear();
    const own = drawing();
    if (boxes.length) own.svg.classList.add("picked");
    boxes.forEach((one) => mark(own.nodes.get(one), "on"));
    markBuffers(buffers);
    lines.forEach((line) => mark(rows.get(line), "on"));
  };
  const showBuffer = (at) => {
    const own = drawing(), boxes = own.ofBuffer.get(at) || [];
    showBoxes(boxes, [at], []);
    panel.replaceChildren();
    element("h3", data.buffers[at][0], panel);
    element("div", data.buffers[at][1], panel).className = "faint";
    const users = (key) => boxes.filter((one) => own.boxes[one][key].includes(at)).map((one) => [own.boxes[one].n]);
    list("Written by", users("w"));
    list("Read by", users("r"));
  };
  const showLine = (at) => {
    const boxes = drawing().ofLine.get(at) || [];
    const buffers = new Set(boxes.flatMap((one) => [...drawing().boxes[one].r, ...drawing().boxes[one].w]));
    showBoxes(boxes, [...buffers], [at]);
  };
  const show = (what) => {
    if (!what) { clear(); hint(); }
    else if (what.box !== undefined) showBox(what.box);
    else if (what.buffer !== undefined) showBuffer(what.buffer);
    else showLine(what.line);
  };
  const subject = (target) => {
    const node = target.closest && target.closest(".node, rect[data-b], tr[data-l]");
    if (!node) return null;
    if (node.dataset.v !== undefined) return { box: +node.dataset.v };
    if (node.dataset.b !== undefined) return { buffer: +node.dataset.b };
    return { line: +node.dataset.l };
  };

  // Of the boxes of a drawing one is reached by the Tab key, the others by arrow keys.
  const focus = (at, moves) => {
    const node = drawing().nodes.get(at);
    if (!node) return;
    for (const one of canvas.querySelectorAll('.node[tabindex="0"]')) one.setAttribute("tabindex", "-1");
    node.setAttribute("tabindex", "0");
    if (moves) node.focus();
  };
  const middle = (node) => { const area = node.getBoundingClientRect(); return area.left + area.width / 2; };
  const beside = (at, right) => {
    const nodes = drawing().nodes, own = nodes.get(at).getBoundingClientRect();
    let best = null, least = Infinity;
    for (const [one, node] of nodes) {
      const area = node.getBoundingClientRect(), distance = right ? area.left - own.left : own.left - area.left;
      if (one !== at && distance > 0 && distance < least && area.top < own.bottom && area.bottom > own.top) { best = one; least = distance; }
    }
    return best;
  };
  const along = (at, down) => {
    const own = drawing(), edges = down ? own.out[at] : own.into[at];
    const ends = edges.filter((edge) => !own.edges[edge][3]).flatMap((edge) => own.edges[edge][down ? 1 : 0]);
    const from = middle(own.nodes.get(at));
    const far = (one) => Math.abs(middle(own.nodes.get(one)) - from);
    const near = ends.filter((one) => own.nodes.has(one)).sort((a, b) => far(a) - far(b))[0];
    // Bodies have no arrow from their heads.
    return near === undefined ? (own.nodes.has(down ? at + 1 : at - 1) ? (down ? at + 1 : at - 1) : null) : near;
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { pinned = null; show(null); return; }
    const what = subject(event.target);
    if (!what) return;
    if (event.key === "Enter" || event.key === " ") { pinned = what; show(what); event.preventDefault(); return; }
    const moves = { ArrowUp: () => along(what.box, false), ArrowDown: () => along(what.box, true),
      ArrowLeft: () => beside(what.box, false), ArrowRight: () => beside(what.box, true) };
    if (what.box === undefined || !moves[event.key]) return;
    event.preventDefault();
    const next = moves[event.key]();
    if (next !== null) { focus(next, true); pinned = null; show({ box: next }); }
  });
  document.addEventListener("mouseover", (event) => {
    if (pinned || dragged) return;
    show(subject(event.target) || subject(document.activeElement || document.body));
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("aside, .bar, nav, header")) return;
    const what = subject(event.target);
    pinned = what && JSON.stringify(what) !== JSON.stringify(pinned) ? what : null;
    show(what);
    if (what && what.box !== undefined) focus(what.box, false);
    if (what && what.line !== undefined) {
      const first = (drawing().ofLine.get(what.line) || [])[0];
      if (first !== undefined) drawing().nodes.get(first).scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  });
  document.addEventListener("focusin", (event) => {
    const what = subject(event.target);
    if (what && !pinned) show(what);
  });

  // Sizes: the drawing keeps its coordinates and changes its width and height.
  const zoom = (scale, point) => {
    const own = drawing(), { width, height } = own.svg.viewBox.baseVal;
    const before = own.scale || 1;
    own.scale = Math.min(4, Math.max(0.05, scale));
    const [x, y] = point || [canvas.clientWidth / 2, 0];
    const [left, top] = [canvas.scrollLeft + x, canvas.scrollTop + y];
    own.svg.setAttribute("width", width * own.scale);
    own.svg.setAttribute("height", height * own.scale);
    canvas.classList.toggle("short", height * own.scale < 0.6 * window.innerHeight);
    canvas.scrollLeft = left * own.scale / before - x;
    canvas.scrollTop = top * own.scale / before - y;
  };
  // As wide as there is room for, but not so small that it cannot be read, and not larger than drawn.
  const fit = () => zoom(Math.min(1, Math.max(0.45, (canvas.clientWidth - 18) / drawing().svg.viewBox.baseVal.width)));
  byId("in").addEventListener("click", () => zoom(drawing().scale * 1.25));
  byId("out").addEventListener("click", () => zoom(drawing().scale / 1.25));
  byId("fit").addEventListener("click", fit);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const area = canvas.getBoundingClientRect();
    zoom(drawing().scale * Math.exp(-event.deltaY / 300), [event.clientX - area.left, event.clientY - area.top]);
  }, { passive: false });
  let dragged = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && event.pointerType === "mouse") dragged = [event.clientX, event.clientY];
  });
  window.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    canvas.scrollBy(dragged[0] - event.clientX, dragged[1] - event.clientY);
    dragged = [event.clientX, event.clientY];
  });
  window.addEventListener("pointerup", () => { dragged = null; });

  const open = (at) => {
    shown = at;
    pinned = null;
    views.forEach((view, one) => { view.hidden = one !== at; });
    show(null);
    if (drawing().scale === 0) {
      fit();
      const first = drawing().nodes.get(0), area = canvas.getBoundingClientRect();
      if (first) canvas.scrollLeft += middle(first) - area.left - canvas.clientWidth / 2;
    }
    else zoom(drawing().scale);
    focus(0, false);
  };
  if (fold) fold.addEventListener("change", () => open(fold.checked ? 0 : 1));
  find.addEventListener("input", () => {
    const text = find.value.trim().toLowerCase(), own = drawing();
    byId("found").textContent = "";
    if (!text) { show(null); return; }
    const named = (name) => name.toLowerCase().includes(text);
    const buffers = data.buffers.flatMap((buffer, at) => (named(buffer[0]) ? [at] : []));
    const users = new Set(buffers.flatMap((buffer) => own.ofBuffer.get(buffer) || []));
    const boxes = own.boxes.flatMap((box, at) => (named(box.n) || users.has(at) ? [at] : []));
    showBoxes(boxes, buffers, []);
    byId("found").textContent = `${boxes.length} boxes, ${buffers.length} buffers`;
    if (boxes.length) own.nodes.get(boxes[0]).scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  open(0);
})();
