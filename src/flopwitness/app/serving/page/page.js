// The page: opens the door, takes events, hands them to its parts.

import { Recent, WINDOW_SECONDS } from "./curves.js";
import { byId, setText } from "./dom.js";
import { duration, instant, plural } from "./format.js";
import { Gpus } from "./gpus.js";
import { History } from "./history.js";
import { Line, Refused, get, login, tokenFromAddress } from "./link.js";
import { showFacts, showFindings, showFinished, showLedger, showRunning } from "./lists.js";
import { readTheme } from "./plot.js";
import { Scale } from "./scale.js";

const STATES = {
  connecting: () => "connecting",
  live: () => "live",
  stale: (age) => `no new samples for ${duration(age)}`,
  over: () => "the replay is over",
  lost: (age) => `connection lost; data are ${duration(age)} old; trying again`,
};

class Page {
  async start() {
    readTheme();
    const state = await get("/api/snapshot");
    byId("login").hidden = true;
    byId("content").hidden = false;
    this.recent = new Recent(state.channels);
    this.gpus = new Gpus(state.channels);
    this.history = new History(state.channels);
    this.scale = new Scale(state.thresholds);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#repaint());
    this.#note(state);
    this.#show(state);
    this.line = new Line({ take: (now) => this.take(now), tell: (name, age) => this.tell(name, age), refused: () => askForToken() });
    this.line.open();
    await this.#refill(state.at);
  }

  take(now) {
    const missed = now.since > this.recent.until + 2;
    this.recent.take(now.curves, now.at ?? 0);
    this.#show(now);
    if (missed) this.#refill(now.at);
    if (now.notes !== this.notes) this.#renote(now.notes);
  }

  // How the line stands: seen each second, said only where it changes.
  tell(name, age) {
    const link = byId("link");
    const text = STATES[name](age);
    setText(byId("link-text"), text);
    if (link.dataset.state === name) return;
    const isNews = !(link.dataset.state === "connecting" && name === "live");
    link.dataset.state = name;
    if (isNews) setText(byId("news"), name === "live" ? "live again" : text);
  }

  #show(now) {
    this.now = { ...this.now, ...now };
    setText(byId("label"), now.label);
    showFacts(this.now);
    this.gpus.update(this.now.devices, this.recent);
    showRunning(this.now);
    this.scale.update(this.now);
    this.history.update(this.now);
    showLedger(this.now);
  }

  // Lists that rarely change.
  #note(state) {
    const before = this.n_finished;
    this.notes = state.notes;
    this.n_finished = state.n_finished;
    showFinished(state);
    showFindings(state);
    this.history.workloads(state.finished);
    if (before === undefined || state.n_finished <= before) return;
    const last = state.finished.at(-1);
    setText(byId("news"), `${plural(state.n_finished - before, "workload")} finished, the last at ${instant(last.stop)} UTC`);
  }

  async #renote(notes) {
    if (this.isAsking) return;
    this.isAsking = true;
    this.notes = notes;
    try {
      this.#note(await get("/api/snapshot"));
    } catch {
      this.notes = -1; // the next event tries again
    } finally {
      this.isAsking = false;
    }
  }

  // Fetches the live window: at the start, and where events were missed.
  async #refill(at) {
    if (!at) return;
    const start = Math.floor(at) - WINDOW_SECONDS;
    const query = { start, stop: start + WINDOW_SECONDS + 1, points: WINDOW_SECONDS + 1 };
    try {
      const { curves } = await get("/api/history", query);
      this.recent.take(curves, at);
      this.gpus.redraw({ isNew: true });
    } catch {
      // events go on filling the window
    }
  }

  #repaint() {
    readTheme();
    this.gpus.redraw();
    this.history.wake();
  }
}

function askForToken(message = "") {
  byId("login").hidden = false;
  byId("content").hidden = true;
  setText(byId("login-error"), message);
  setText(byId("link-text"), "locked");
  byId("token").focus();
}

async function enter(token) {
  try {
    if (token) await login(token);
    await new Page().start();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    askForToken(token ? error.message : "");
  }
}

byId("login-form").addEventListener("submit", (event) => {
  event.preventDefault();
  enter(byId("token").value.trim());
});

enter(tokenFromAddress());
