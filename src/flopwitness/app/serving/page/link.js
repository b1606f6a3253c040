// The way to the server: the token once, then a cookie; events, and what else is asked for.

const BEAT_SECONDS = 12; // beats come every 5 s

export class Refused extends Error {}

export async function login(token) {
  const answer = await fetch("/api/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (!answer.ok) throw new Refused("this token does not open the page");
}

// The token leaves the address bar before anything else is asked for.
export function tokenFromAddress() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) history.replaceState(null, "", location.pathname);
  return token;
}

export async function get(path, query = {}) {
  const answer = await fetch(`${path}?${new URLSearchParams(query)}`);
  if (answer.status === 401) throw new Refused("a token is needed");
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

// Calls take(now) for each event and tell(state, seconds) each second: how the line stands, how old the data is.
export class Line {
  constructor({ take, tell, refused }) {
    Object.assign(this, { take, tell, refused });
    this.heardAt = this.dataAt = performance.now();
    this.isOver = this.isDown = false;
    this.version = -1;
  }

  open() {
    this.source = new EventSource("/api/events");
    this.source.addEventListener("now", (event) => this.#took(JSON.parse(event.data)));
    this.source.addEventListener("beat", () => this.#heard());
    this.source.addEventListener("open", () => this.#heard());
    this.source.addEventListener("error", () => this.#failed());
    this.timer ??= setInterval(() => this.#look(), 1000);
  }

  #heard() {
    this.heardAt = performance.now();
    this.isDown = false;
  }

  #took(now) {
    this.#heard();
    this.dataAt = this.heardAt;
    this.isOver = now.is_over;
    this.take(now);
    this.#look();
  }

  async #failed() {
    this.isDown = true;
    this.#look();
    if (this.source.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    try {
      await get("/api/snapshot");
    } catch (error) {
      if (error instanceof Refused) {
        this.refused();
        return;
      }
    }
    setTimeout(() => this.open(), 3000);
  }

  #look() {
    const now = performance.now();
    const silent = (now - this.heardAt) / 1000;
    const age = (now - this.dataAt) / 1000;
    if (this.isDown || silent > BEAT_SECONDS) this.tell("lost", age);
    else if (this.isOver) this.tell("over", age);
    else this.tell(age > 5 ? "stale" : "live", age);
  }
}
