// Ways to call Restate's ingress. Each has `each(count, request)`, which makes all the calls that `request(n)` names by path and body, as many at a
// time as its concurrency, and ends when all are answered; any answer that is not a success is an error.
import http from "node:http";
import http2 from "node:http2";

const SESSIONS = 4;

async function each(count, concurrency, call, request) {
  let next = 0;
  await Promise.all(Array.from({ length: concurrency }, async () => {
    while (next < count) await call(...request(next++));
  }));
}

function overHttp1(port, concurrency) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency });
  const call = (path, body) => new Promise((done, failed) => {
    const headers = body ? { "content-type": "application/json", "content-length": body.length } : { "content-length": 0 };
    const request = http.request({ host: "127.0.0.1", port, path, method: "POST", agent, headers }, (answer) => {
      answer.resume();
      answer.on("end", () => (answer.statusCode < 300 ? done() : failed(new Error(`${path}: ${answer.statusCode}`))));
    });
    request.on("error", failed);
    request.end(body || undefined);
  });
  return { each: (count, request) => each(count, concurrency, call, request), close: () => agent.destroy() };
}

function overHttp2(port, concurrency) {
  const sessions = Array.from({ length: SESSIONS }, () => http2.connect(`http://127.0.0.1:${port}`));
  let turn = 0;
  const call = (path, body) => new Promise((done, failed) => {
    const headers = { ":path": path, ":method": "POST", ...(body ? { "content-type": "application/json" } : {}) };
    const stream = sessions[turn++ % SESSIONS].request(headers, { endStream: !body });
    let status = 0;
    stream.on("response", (answer) => { status = answer[":status"]; });
    stream.on("error", failed);
    stream.on("end", () => (status < 300 ? done() : failed(new Error(`${path}: ${status}`))));
    stream.resume();
    if (body) stream.end(body);
  });
  return { each: (count, request) => each(count, concurrency, call, request), close: () => sessions.forEach((session) => session.destroy()) };
}

export const clients = {
  http1: (port, concurrency) => ({ ...overHttp1(port, concurrency), oneWay: false }),
  http2: (port, concurrency) => ({ ...overHttp2(port, concurrency), oneWay: false }),
  /** The calls are only accepted; the caller waits until they are done. */
  send: (port, concurrency) => ({ ...overHttp2(port, concurrency), oneWay: true }),
};
