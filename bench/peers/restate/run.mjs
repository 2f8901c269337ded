// Measures Restate. `torg-bench stages` calls it; the last line of its output is a JSON object.
//
//   node run.mjs stateful --visits 20000 --bytes 2000 [--data DIR] [settings]
//
// The server is as durable as by default (its log is synced to disk), on ports and in a folder of its own that are gone afterwards. One virtual
// object stands for one offer. First every object is given its entity, then each is visited once: the handler reads the entity and a private state,
// changes and sets both, and sends itself a call that is due far ahead. That is what a stateful visit of Torg's watcher does.
//
// Every setting can be given. What was tried, in visits/s: one run each, on two cores that had other work (load 4 to 16), so that the same settings
// (512 clients, 24 partitions) gave 1287, 935 and 745. No difference below is beyond that noise: which settings are fastest is open until they are run
// again, several times each, on a quiet machine.
//   First round, 5,000 visits; 256 clients over HTTP/2, 24 partitions, journals not kept: 767 at its beginning, 846 at its end. With one thing changed:
//     HTTP/1.1 659; one-way calls 546; service by request and answer 560, by HTTP/1.1 656, in two processes 705; partitions 1: 849, 4: 836, 64: 615;
//     clients 64: 601, 512: 1287, 1024: 1289; journals kept a day (its default) 852; RocksDB with 6 GiB 860.
//   Second round, 8,000 visits at a raised priority; 256 clients 854, 512 clients 935. 512 clients and 4 partitions: 884. With one thing changed:
//     partitions 1: 842, 2: 880; 1000 clients 933; one-way calls 879; HTTP/1.1 931; service by request and answer 930, by HTTP/1.1 828, in two processes
//     821; journals kept a day 987; RocksDB with 6 GiB 759; 256 commands in a batch 745; local log 692; 512 streams a connection 706.
//   The defaults here (512 clients, 24 partitions), 5,000 visits at usual priority: 745.

import { parseArgs } from "node:util";
import { fork, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { clients } from "./clients.mjs";

const { values: args, positionals: [what] } = parseArgs({
  allowPositionals: true,
  options: {
    visits: { type: "string", default: "20000" },
    bytes: { type: "string", default: "2000" },
    data: { type: "string", default: tmpdir() },
    client: { type: "string", default: "http2" },
    concurrency: { type: "string", default: "512" },
    partitions: { type: "string", default: "24" },
    services: { type: "string", default: "1" },
    protocol: { type: "string", default: "bidirectional" },
    retention: { type: "string", default: "0s" },
    memory: { type: "string", default: "2 GiB" },
    set: { type: "string", multiple: true, default: [] },
  },
});

const HERE = path.dirname(fileURLToPath(import.meta.url));
const START_PATIENCE = 600;
const VERIFY_PATIENCE = 100;
const STEP_MS = 100;

const now = () => Number(process.hrtime.bigint()) / 1e6;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** What is to be undone at the end, last first, whatever happens; once, also when a signal comes. */
const cleanUps = [];
let cleaning;
function cleanUp() {
  cleaning ??= (async () => { while (cleanUps.length > 0) await cleanUps.pop()(); })();
  return cleaning;
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

function ended(child) {
  return new Promise((done) => (child.exitCode !== null || child.signalCode !== null ? done() : child.once("exit", done)));
}

async function startServer(settings) {
  const folder = await mkdtemp(path.join(args.data, "torg-peer-restate-"));
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const binary = createRequire(import.meta.url).resolve("@restatedev/restate-server-linux-x64/bin/restate-server");
  const child = spawn(binary, ["--no-logo"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      RESTATE_BASE_DIR: folder,
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_NODE_NAME: "bench",
      RESTATE_LOG_FILTER: "error,octocrab=off",
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_DEFAULT_NUM_PARTITIONS: settings.partitions,
      RESTATE_DEFAULT_JOURNAL_RETENTION: settings.retention,
      RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: settings.memory,
      ...Object.fromEntries(settings.set.map((pair) => pair.split(/=(.*)/s, 2))),
    },
  });
  cleanUps.push(async () => { child.kill("SIGKILL"); await ended(child); });
  await untilOk(`http://127.0.0.1:${admin}/health`, child);
  await untilOk(`http://127.0.0.1:${ingress}/restate/health`, child);
  return { ingress, admin };
}

async function untilOk(url, child) {
  for (let patience = START_PATIENCE; ; patience--) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return;
    if (patience === 0) throw new Error(`${url} does not answer`);
    await sleep(STEP_MS);
  }
}

/** The stage's processes; each counts the visits it has answered. */
async function startService(settings) {
  const port = await freePort();
  const child = fork(path.join(HERE, "service.mjs"), [String(port), settings.services, settings.protocol], {
    env: { ...process.env, NODE_ENV: "production", RESTATE_LOGGING: "ERROR" },
  });
  cleanUps.push(async () => { child.kill("SIGTERM"); await ended(child); });
  const service = { port, visited: 0, wake: () => {} };
  await new Promise((ready, failed) => {
    child.on("message", (message) => {
      if (message === "ready") return ready();
      service.visited += message.visited;
      service.wake();
    });
    child.once("exit", (code) => failed(new Error(`the service ended with ${code}`)));
  });
  return service;
}

async function admin(server, at, body) {
  const answer = await fetch(`http://127.0.0.1:${server.admin}${at}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${at}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function stateful(settings, visits, bytes) {
  const server = await startServer(settings);
  const service = await startService(settings);
  await admin(server, "/deployments", { uri: `http://127.0.0.1:${service.port}`, use_http_11: settings.protocol === "http1" });
  const client = clients[settings.client](server.ingress, Number(settings.concurrency));
  cleanUps.push(() => client.close());
  await client.each(visits, (n) => [`/offer/${n}/fill`, String(bytes)]);
  await requireStates(server, "entity", visits);

  const begin = now();
  await client.each(visits, (n) => [`/offer/${n}/${client.oneWay ? "visit/send" : "visit"}`, ""]);
  if (client.oneWay) await new Promise((done) => { service.wake = () => { if (service.visited >= visits) done(); }; service.wake(); });
  const seconds = (now() - begin) / 1000;
  await requireStates(server, "private", visits);
  await requireTimers(server, visits);
  return { visits, seconds, per_s: Math.round(visits / seconds), settings };
}

/** What was measured must have happened: every state begins with the number of its visits (an entity that was filled has had one). */
async function requireStates(server, key, visits) {
  await requireCount(server, visits, `${key} states`,
    `select count(*) as n from state where service_name = 'offer' and key = '${key}' and substr(encode(value, 'hex'), 1, 8) = '00000001'`);
}

async function requireTimers(server, visits) {
  await requireCount(server, visits, "calls that are due later",
    "select count(*) as n from sys_invocation where target_service_name = 'offer' and status = 'scheduled'");
}

async function requireCount(server, expected, of, query) {
  for (let patience = VERIFY_PATIENCE; ; patience--) {
    const { rows: [{ n }] } = await admin(server, "/query", { query });
    if (Number(n) === expected) return;
    if (patience === 0) throw new Error(`${n} ${of} instead of ${expected}`);
    await sleep(STEP_MS);
  }
}

const { visits, bytes, data, ...settings } = args;
if (what !== "stateful" || !clients[settings.client]) {
  console.error("usage: node run.mjs stateful [--visits N] [--bytes N] [--data DIR] [--client http1|http2|send] [--concurrency N] ...");
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => cleanUp().finally(() => process.exit(1)));
try {
  const result = await stateful(settings, Number(visits), Number(bytes));
  await cleanUp();
  console.log(JSON.stringify(result));
} catch (error) {
  await cleanUp();
  console.error(`restate: ${error.message}`);
  process.exit(1);
}
