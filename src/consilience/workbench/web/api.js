// Requests to the server. The link has a token, which is exchanged for a key; the key authorizes all requests.
const keyName = "consilience-key";
const notValid = "This link is not valid, or was already used. Open the link that `consilience open` shows in the terminal.";
const needsLink = "Open the workbench with the link that `consilience open` shows: it contains the token that this page needs.";

let key = null;
let refusal = needsLink; // what to do if the key is not valid

class RequestError extends Error {
  constructor(message, status, body) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

// Browsers may refuse storage; the key then lasts as long as the page.
const readStored = () => {
  try {
    return localStorage.getItem(keyName);
  } catch {
    return null;
  }
};
const store = (value) => {
  try {
    localStorage.setItem(keyName, value);
  } catch {
    // The page works without storage, until it is reloaded.
  }
};

const readAnswer = async (response) => {
  const isJson = (response.headers.get("Content-Type") || "").includes("json");
  const body = isJson ? await response.json() : await response.text();
  if (response.ok) return body;
  const message = (isJson && body.error) || `The server answered with status ${response.status}.`;
  throw new RequestError(message, response.status, body);
};

const send = async (path, options = {}) => {
  const headers = { ...(options.headers || {}) };
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store", referrerPolicy: "no-referrer" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestError("The server cannot be reached.", 0, null);
  }
  return response;
};

export const get = async (path, parameters = {}, options = {}) => {
  const query = new URLSearchParams(parameters).toString();
  return readAnswer(await send(query ? `${path}?${query}` : path, options));
};

export const post = async (path, body = {}) =>
  readAnswer(
    await send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
  );

export const download = async (path, name) => {
  const response = await send(path);
  if (!response.ok) return readAnswer(response);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
};

// Return null if the page is authorized, or a sentence that says why it is not.
export const authorize = async () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname); // the token does not stay in the address bar
    try {
      key = (await post("/api/session", { token })).key;
      store(key);
      return null;
    } catch (error) {
      if (error.status === 0) return "The server cannot be reached. Run `consilience open FOLDER` again.";
      key = readStored();
      refusal = notValid;
      return key ? null : refusal;
    }
  }
  key = readStored();
  return key ? null : needsLink;
};

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const untilVisible = async () => {
  while (document.hidden) await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
};

// Follow the state of the server for ever. A tab in the background waits: browsers open six connections to a server.
// `apply(state)` may be asynchronous; `tell(isConnected)` reports the connection.
export const followState = async (apply, tell, clusteringShown) => {
  let revision = -1;
  let pause = 500;
  for (;;) {
    if (revision >= 0) await untilVisible();
    const controller = new AbortController();
    const endInBackground = () => document.hidden && revision >= 0 && controller.abort();
    document.addEventListener("visibilitychange", endInBackground);
    const timer = setTimeout(() => controller.abort(), 40000); // the server answers within 25 seconds
    let state = null;
    try {
      state = await get("/api/state", { after: revision, clustering: clusteringShown() }, { signal: controller.signal });
    } catch (error) {
      if (error.status === 401 || error.status === 403) return tell(false, refusal);
      if (!document.hidden) tell(false, null);
    } finally {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", endInBackground);
    }
    if (!state && document.hidden && revision >= 0) continue;
    if (state) {
      pause = 500;
      try {
        await apply(state);
        revision = state.revision;
        tell(true, null);
        continue;
      } catch (error) {
        if (error.status === undefined) throw error; // not about a request
        tell(false, null);
      }
    }
    await wait(pause);
    pause = Math.min(pause * 2, 4000);
  }
};
