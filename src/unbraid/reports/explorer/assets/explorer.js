// The explorer page: images, sliders and their event handlers. Text from users is inserted
// through textContent, values and attributes only, never as HTML.

const N_THUMBNAILS = 7;
const SLICE_MILLISECONDS = 12; // drawing time per slice of thumbnails, so that sliders stay smooth
const QUIET_MILLISECONDS = 120; // pause after the last move before thumbnails are redrawn
const SWEEP_SECONDS = 4; // period of an animation
const MESSAGE_MILLISECONDS = 8000;
const REACH = 3; // range of sliders, in standard deviations
const WEAK = 0.5; // correlation below which latents do not correspond

const data = JSON.parse(document.getElementById("data").textContent);
const [nChannels, height, width] = data.image_shape;
const gap = Math.max(1, Math.round(width / 16)); // gap between thumbnails, in image pixels
const stripWidth = N_THUMBNAILS * (width + gap) - gap;
const models = data.models.map((description) => ({
  ...description,
  network: buildModel(description, data.image_shape),
  base: new Float64Array(description.n_latents), // code that "Reset" returns to
  code: new Float64Array(description.n_latents),
}));
const latents = data.models[0].latents.map((latent, index) => ({
  ...latent,
  match: data.matches ? data.matches[index] : null,
  low: latent.center - REACH * latent.spread,
  high: latent.center + REACH * latent.spread,
  isFrozen: false,
  sweepsSince: null, // start time of its animation
}));

function byId(id) {
  return document.getElementById(id);
}

/** Create an element with attributes and children (elements or text). */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Isolate text from users, so that it cannot change the direction of the text around it. */
function quoted(text) {
  return make("bdi", {}, text);
}

let clearing = null;

/** Show a message for a few seconds. */
function showMessage(text) {
  byId("status").textContent = text;
  clearTimeout(clearing);
  if (text) clearing = setTimeout(() => showMessage(""), MESSAGE_MILLISECONDS);
}

// Images.

/** Convert numbers from 0 to 1, (row, column, channel), to pixels of a canvas. */
function toPixels(picture) {
  const pixels = new ImageData(width, height);
  const bytes = pixels.data; // rounds and clamps on assignment
  const [green, blue] = nChannels === 3 ? [1, 2] : [0, 0];
  for (let from = 0, to = 0; to < bytes.length; from += nChannels, to += 4) {
    bytes[to] = picture[from] * 255;
    bytes[to + 1] = picture[from + green] * 255;
    bytes[to + 2] = picture[from + blue] * 255;
    bytes[to + 3] = 255;
  }
  return pixels;
}

/** Convert pixels of a canvas to model input; colors become luminance if needed. */
function fromPixels(pixels) {
  const picture = new Float64Array(width * height * nChannels);
  for (let i = 0; i < width * height; i += 1) {
    const [red, green, blue] = pixels.data.subarray(4 * i, 4 * i + 3);
    if (nChannels === 3) picture.set([red / 255, green / 255, blue / 255], 3 * i);
    else picture[i] = (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
  }
  return picture;
}

function makeCanvas(label, canvasWidth = width) {
  const canvas = make("canvas", { role: "img", "aria-label": label, class: "picture" });
  canvas.width = canvasWidth;
  canvas.height = height;
  return canvas;
}

function draw(canvas, picture, left = 0) {
  canvas.getContext("2d").putImageData(toPixels(picture), left, 0);
}

function redraw() {
  for (const model of models) draw(model.canvas, model.network.decode(model.code));
}

let isRedrawPlanned = false;

/** Redraw at most once per frame. */
function planRedraw() {
  if (isRedrawPlanned) return;
  isRedrawPlanned = true;
  requestAnimationFrame(() => {
    isRedrawPlanned = false;
    redraw();
  });
}

// Codes.

/**
 * Return the value of the matched latent of the second model: it moves as far from its start
 * as the latent of the first model, measured in its own spread and direction.
 */
function matchedValue(latent, value) {
  const { match } = latent;
  const far = (value - models[0].base[latent.number]) / latent.spread;
  return models[1].base[match.number] + match.sign * far * match.spread;
}

function setCode(codes, latent, value) {
  codes[0][latent.number] = value;
  if (latent.match) codes[1][latent.match.number] = matchedValue(latent, value);
}

function moveLatent(latent, value) {
  setCode(models.map((model) => model.code), latent, value);
  showValue(latent);
  planRedraw();
  planStrips(latent);
}

/** Start from new codes, one per model. Frozen latents keep their values. */
function start(codes) {
  for (const latent of latents.filter((one) => one.isFrozen)) {
    codes[0][latent.number] = models[0].code[latent.number];
    if (latent.match) codes[1][latent.match.number] = models[1].code[latent.match.number];
  }
  models.forEach((model, i) => {
    model.base.set(codes[i]);
    model.code.set(codes[i]);
  });
  latents.forEach(fitRange);
  latents.forEach(showValue);
  redraw();
  planStrips(null);
}

function startFromPicture(picture, label) {
  draw(startCanvas, picture);
  startFigure.classList.remove("empty");
  startCanvas.setAttribute("aria-label", `Started from: ${label}`);
  start(models.map((model) => model.network.encode(picture)));
  showMessage("");
}

function startFromPrior() {
  const codes = models.map((model) => {
    const code = new Float64Array(model.n_latents);
    for (const { number, center, spread } of model.latents) {
      code[number] = center + spread * randomNormal();
    }
    return code;
  });
  // Matched latents get corresponding values, so that the images can be compared.
  for (const latent of latents.filter((one) => one.match)) {
    const far = (codes[0][latent.number] - latent.center) / latent.spread;
    const { number, sign, center, spread } = latent.match;
    codes[1][number] = center + sign * far * spread;
  }
  startFigure.classList.add("empty");
  chooseExample(null);
  start(codes);
  showMessage("");
}

function randomNormal() {
  // Box-Muller transform; 1 - random() is never 0.
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

function reset(latent) {
  if (latent.isFrozen) return;
  stop(latent);
  moveLatent(latent, models[0].base[latent.number]);
}

// Sliders.

/** Extend the range of a slider to codes outside of the usual range. */
function fitRange(latent) {
  const value = models[0].code[latent.number];
  const far = Math.max(REACH, Math.ceil(Math.abs(value - latent.center) / latent.spread));
  latent.low = latent.center - far * latent.spread;
  latent.high = latent.center + far * latent.spread;
  Object.assign(latent.slider, { min: latent.low, max: latent.high });
  latent.slider.step = (latent.high - latent.low) / 240;
}

function showValue(latent) {
  const value = models[0].code[latent.number];
  latent.slider.value = value;
  const text = value.toFixed(2).replace("-", "\u2212");
  latent.output.textContent = text === "\u22120.00" ? "0.00" : text;
}

function stop(latent) {
  latent.sweepsSince = null;
  latent.animateButton.setAttribute("aria-pressed", "false");
}

function toggleAnimation(latent) {
  if (latent.sweepsSince !== null) {
    stop(latent);
    return;
  }
  // Choose the start time so that the animation starts at the slider position.
  const share = (2 * (latent.slider.value - latent.low)) / (latent.high - latent.low) - 1;
  const phase = Math.asin(Math.max(-1, Math.min(1, share))) / (2 * Math.PI);
  latent.sweepsSince = performance.now() - 1000 * SWEEP_SECONDS * phase;
  latent.animateButton.setAttribute("aria-pressed", "true");
  requestAnimationFrame(sweep);
}

let sweptAt = 0;

function sweep(now) {
  const sweeping = latents.filter((latent) => latent.sweepsSince !== null);
  if (!sweeping.length || now === sweptAt) return; // several latents share one frame
  sweptAt = now;
  for (const latent of sweeping) {
    const turn = (now - latent.sweepsSince) / 1000 / SWEEP_SECONDS;
    const middle = (latent.low + latent.high) / 2;
    const reach = (latent.high - latent.low) / 2;
    moveLatent(latent, middle + reach * Math.sin(2 * Math.PI * turn));
  }
  requestAnimationFrame(sweep);
}

function toggleFreeze(latent) {
  latent.isFrozen = !latent.isFrozen;
  if (latent.isFrozen) stop(latent);
  latent.freezeButton.setAttribute("aria-pressed", String(latent.isFrozen));
  latent.element.classList.toggle("frozen", latent.isFrozen);
  for (const control of [latent.slider, latent.resetButton, latent.animateButton]) {
    control.disabled = latent.isFrozen;
  }
}

// Strips of thumbnails, drawn in small slices while nothing moves.

const movedSince = new Set(); // latents moved since strips were last planned
let tasks = [];
let quiet = null;
let isSlicePlanned = false;

function thumbnailValue(latent, i) {
  return latent.low + ((latent.high - latent.low) * i) / (N_THUMBNAILS - 1);
}

/**
 * Redraw strips after a pause. The strip of a latent does not depend on its own value, so it
 * is not redrawn if no other latent moved. `null` means that all latents moved.
 */
function planStrips(moved) {
  movedSince.add(moved);
  tasks = tasks.filter((task) => task.latent === moved);
  clearTimeout(quiet);
  quiet = setTimeout(() => {
    const isUnchanged = (latent) => movedSince.size === 1 && movedSince.has(latent);
    const stale = latents.filter((latent) => isShown(latent) && !isUnchanged(latent));
    tasks = tasks.concat(stale.flatMap(stripTasks));
    movedSince.clear();
    quiet = null;
    planSlice();
  }, QUIET_MILLISECONDS);
  planSlice();
}

function isShown(latent) {
  return latent.is_active || byId("inactive").open;
}

function stripTasks(latent) {
  return Array.from({ length: N_THUMBNAILS }, (_, i) => ({ latent, i }));
}

function planSlice() {
  if (isSlicePlanned || !tasks.length) return;
  isSlicePlanned = true;
  setTimeout(drawSlice, 0);
}

function drawSlice() {
  isSlicePlanned = false;
  const end = performance.now() + SLICE_MILLISECONDS;
  while (tasks.length && performance.now() < end) drawThumbnail(tasks.shift());
  planSlice();
}

function drawThumbnail({ latent, i }) {
  const codes = models.map((model) => model.code.slice());
  setCode(codes, latent, thumbnailValue(latent, i));
  latent.strips.forEach((strip, which) => {
    draw(strip, models[which].network.decode(codes[which]), i * (width + gap));
  });
}

function moveToThumbnail(latent, event) {
  if (latent.isFrozen) return;
  const box = event.currentTarget.getBoundingClientRect();
  const i = Math.floor(((event.clientX - box.left) / box.width) * N_THUMBNAILS);
  stop(latent);
  moveLatent(latent, thumbnailValue(latent, Math.max(0, Math.min(N_THUMBNAILS - 1, i))));
}

// Names of latents.

function saveNames() {
  const named = latents.filter((latent) => latent.nameInput.value.trim());
  const names = Object.fromEntries(
    named.map((latent) => [latent.number, latent.nameInput.value.trim()]),
  );
  const text = JSON.stringify({ kind: "names of latents", format: 1, names }, null, 2);
  const address = URL.createObjectURL(new Blob([`${text}\n`], { type: "application/json" }));
  make("a", { href: address, download: "names.json" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  const count = named.length === 1 ? "1 name" : `${named.length} names`;
  showMessage(`Saved ${count} as names.json. To load it: unbraid explore --names names.json`);
}

function label(latent) {
  return latent.nameInput.value.trim() || `z${latent.number}`;
}

/** Label the controls of a latent for screen readers. */
function nameControls(latent) {
  latent.slider.setAttribute("aria-label", `Value of ${label(latent)}`);
  latent.freezeButton.setAttribute("aria-label", `Freeze ${label(latent)}`);
  latent.resetButton.setAttribute("aria-label", `Reset ${label(latent)}`);
  latent.animateButton.setAttribute("aria-label", `Animate ${label(latent)}`);
  for (const strip of latent.strips) {
    strip.setAttribute("aria-label", `Effect of ${label(latent)}, from low to high`);
  }
}

// Images of the user.

async function startFromFile(file) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    showMessage(`This browser cannot read ${file.name} as an image.`);
    return;
  }
  const canvas = makeCanvas("");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  // Transparent parts become white, and images that are not square are cropped.
  context.fillStyle = "white";
  context.fillRect(0, 0, width, height);
  const scale = Math.max(width / bitmap.width, height / bitmap.height);
  const [wide, high] = [bitmap.width * scale, bitmap.height * scale];
  context.drawImage(bitmap, (width - wide) / 2, (height - high) / 2, wide, high);
  bitmap.close();
  chooseExample(null);
  startFromPicture(fromPixels(context.getImageData(0, 0, width, height)), file.name);
}

function takeDrops() {
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const [file] = event.dataTransfer.files;
    if (file) startFromFile(file);
  });
}

// Building the page.

const startCanvas = makeCanvas("Started from");
const startFigure = make("figure", { id: "started" }, startCanvas, make("figcaption", {}, "start image"));

function buildStage() {
  for (const model of models) {
    model.canvas = makeCanvas(`Image decoded by ${model.name}`);
    const caption = make("figcaption", {}, models.length > 1 ? quoted(model.name) : "decoded image");
    byId("pictures").append(make("figure", {}, model.canvas, caption));
  }
  byId("pictures").append(startFigure);
  byId("pictures").classList.toggle("two", models.length > 1);
}

function chooseExample(chosen) {
  for (const button of byId("examples").children) {
    button.setAttribute("aria-pressed", String(button === chosen));
  }
}

function buildExamples() {
  for (const example of data.examples) {
    const picture = Float64Array.from(readBytes(example.pixels), (byte) => byte / 255);
    const canvas = makeCanvas(example.label);
    draw(canvas, picture);
    const button = make("button", { type: "button", title: example.label, "aria-pressed": "false" }, canvas);
    button.addEventListener("click", () => {
      chooseExample(button);
      startFromPicture(picture, example.label);
    });
    byId("examples").append(button);
  }
}

function makeButton(text, onClick) {
  const button = make("button", { type: "button" }, text);
  button.addEventListener("click", onClick);
  return button;
}

function toggleButton(text, onClick) {
  const button = makeButton(text, onClick);
  button.setAttribute("aria-pressed", "false");
  return button;
}

function activityText(latent, model) {
  const amount = latent.activity.toFixed(2);
  return model.is_variational ? `KL ${amount} nats` : `variance ${amount}`;
}

function describeActivity(latent, strongest) {
  const meter = make("span", { class: "meter", "aria-hidden": "true" });
  meter.style.setProperty("--share", String(Math.max(0, latent.activity / strongest)));
  return make("span", { class: "activity" }, meter, activityText(latent, models[0]));
}

function describeMatch(latent) {
  if (models.length < 2) return [];
  const { match } = latent;
  const other = quoted(models[1].name);
  if (!match) return [make("p", { class: "hint" }, "No counterpart in ", other, ".")];
  const strength = Math.abs(match.correlation);
  const weak = strength < WEAK ? " Too weak to correspond." : "";
  const turned = match.sign < 0 ? ", reversed to match" : "";
  const activity = activityText(match, models[1]);
  const text = `: z${match.number}, ${activity}, correlation ${strength.toFixed(2)}${turned}.${weak}`;
  return [make("p", { class: "hint" }, "In ", other, text)];
}

function buildLatent(latent, strongest) {
  const { number } = latent;
  latent.nameInput = make("input", {
    type: "text",
    class: "name",
    dir: "auto",
    placeholder: "name",
    maxlength: "100",
    "aria-label": `Name of z${number}`,
  });
  latent.nameInput.value = latent.name;
  latent.nameInput.addEventListener("input", () => nameControls(latent));
  latent.slider = make("input", { type: "range", id: `slider-${number}` });
  latent.slider.addEventListener("input", () => {
    stop(latent);
    moveLatent(latent, Number(latent.slider.value));
  });
  latent.output = make("output", { for: `slider-${number}` });
  latent.freezeButton = toggleButton("Freeze", () => toggleFreeze(latent));
  latent.resetButton = makeButton("Reset", () => reset(latent));
  latent.animateButton = toggleButton("Animate", () => toggleAnimation(latent));
  latent.strips = models.map(() => makeCanvas("", stripWidth));
  for (const strip of latent.strips) {
    strip.classList.add("strip");
    strip.addEventListener("click", (event) => moveToThumbnail(latent, event));
  }
  const numberLabel = make("label", { class: "number", for: `slider-${number}` }, `z${number}`);
  const buttons = [latent.freezeButton, latent.resetButton, latent.animateButton];
  latent.element = make(
    "article",
    { class: "latent" },
    make("div", { class: "head" }, numberLabel, latent.nameInput, describeActivity(latent, strongest)),
    ...describeMatch(latent),
    make(
      "div",
      { class: "body" },
      make("div", { class: "view" }, make("div", { class: "track" }, latent.slider), ...latent.strips),
      make("div", { class: "side" }, latent.output, ...buttons),
    ),
  );
  nameControls(latent);
  return latent.element;
}

function buildLatents() {
  // Without active latents, no bar should look full.
  const least = models[0].is_variational ? 0.1 : 1e-9;
  const strongest = Math.max(least, ...latents.map((latent) => latent.activity));
  const inactive = byId("inactive");
  for (const latent of latents) {
    const parent = latent.is_active ? byId("latents") : inactive.querySelector("div");
    parent.append(buildLatent(latent, strongest));
  }
  const nInactive = latents.filter((latent) => !latent.is_active).length;
  inactive.hidden = nInactive === 0;
  inactive.open = nInactive === latents.length; // otherwise the page would look empty
  inactive.querySelector("summary").textContent =
    nInactive === 1 ? "1 inactive latent" : `${nInactive} inactive latents`;
  inactive.addEventListener("toggle", () => planStrips(null));
}

function writeTexts() {
  const active = latents.filter((latent) => latent.is_active).length;
  const [first, second] = models.map((model) => quoted(model.name));
  const which = second ? ["Models ", first, " and ", second] : ["Model ", first];
  const what = second ? "pairs of latents" : "latents";
  byId("about").append(...which, "; data: ", quoted(data.data_name),
    `. ${active} of ${latents.length} ${what} are active.`);
  byId("random").textContent = models[0].is_variational ? "Random code from the prior" : "Random code";
  const measure = models[0].is_variational
    ? "The KL divergence measures how much information a latent carries about an image."
    : "The variance is that of the latent over the data.";
  byId("latents-hint").append("Each slider moves one latent. The strip shows its effect while all other latents ",
    `are fixed. The most active latents come first. ${measure}`);
  if (second) {
    byId("latents-hint").append(" Latents are matched by the correlation of their codes, and one slider moves both. ",
      "Top: ", quoted(models[0].name), ". Bottom: ", quoted(models[1].name), ".");
  }
  const where = data.is_part ? "here" : "anywhere on this page";
  byId("own-hint").textContent = `Or drop an image ${where}. It stays on your computer.`;
  document.title = `Latent explorer: ${models.map((model) => model.name).join(" and ")}`;
}

function startPage() {
  // Center of the first thumbnail of a strip, for the sliders above.
  document.body.style.setProperty("--edge", `${(50 * width) / stripWidth}%`);
  buildStage();
  buildExamples();
  buildLatents();
  writeTexts();
  byId("random").addEventListener("click", startFromPrior);
  byId("reset").addEventListener("click", () => latents.forEach(reset));
  byId("save").addEventListener("click", saveNames);
  byId("own").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) startFromFile(file);
    event.target.value = ""; // allows choosing the same file again
  });
  takeDrops();
  byId("examples").firstElementChild.click();
}

/** Return the milliseconds of each of `n` redraws, with a new code every time. */
function timeRedraws(n) {
  return Array.from({ length: n }, () => {
    const [latent] = latents;
    setCode(models.map((model) => model.code), latent, latent.center + randomNormal());
    const before = performance.now();
    redraw();
    return performance.now() - before;
  });
}

// Interface for tests and other scripts.
window.unbraidExplorer = {
  decode: (code, which = 0) => Array.from(models[which].network.decode(Float64Array.from(code))),
  encode: (picture, which = 0) => Array.from(models[which].network.encode(Float64Array.from(picture))),
  codes: () => models.map((model) => Array.from(model.code)),
  isIdle: () => !isRedrawPlanned && !isSlicePlanned && quiet === null,
  timeRedraws,
};

/** If embedded in another page, start when the explorer becomes visible. */
function startWhenSeen() {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    startPage();
  });
  observer.observe(document.body);
}

document.body.classList.toggle("part", data.is_part);
if (data.is_part) startWhenSeen();
else startPage();
