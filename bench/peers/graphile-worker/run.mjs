// Measures graphile-worker. `torg-bench watcher --peer` calls it; the last line of its output is a JSON object.
//
//   node run.mjs stateful --url postgres://... --jobs 50000 --bytes 2000
//   node run.mjs pickup --url postgres://... --rate 300 --seconds 10
//
// stateful: all jobs are queued, then worked on. Each does what a stateful visit of Torg's watcher does: reads an entity and its state; and in one
// transaction changes the entity if its version is still the same, its state, adds an outbox row, and adds a job that is due far ahead.
// pickup: from the moment when add_job has returned to the call of the handler.
//
// The settings are the fastest of those that were tried on a machine with two cores; every one of them can be given.

import { parseArgs } from "node:util";
import { randomFillSync } from "node:crypto";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

const { values: args, positionals: [what] } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: "string" },
    jobs: { type: "string", default: "50000" },
    bytes: { type: "string", default: "2000" },
    rate: { type: "string", default: "300" },
    seconds: { type: "string", default: "10" },
    workers: { type: "string", default: "24" },
    "local-queue": { type: "string", default: "500" },
    "complete-delay": { type: "string", default: "100" },
    style: { type: "string", default: "transaction" },
  },
});

const SCHEMA = "bench_graphile_worker";
const FILL_STEP = 1000;
const STATE_BYTES = 64;
const WARM_UP_S = 2;
const DAY_MS = 24 * 3600 * 1000;

const logger = new Logger(() => () => {});
const now = () => Number(process.hrtime.bigint()) / 1e6;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** The worker's settings; without a local queue it works as it does by default. */
function preset({ workers, localQueue, completeDelay }) {
  const batching = localQueue > 0
    ? { localQueue: { size: localQueue }, completeJobBatchDelay: completeDelay, failJobBatchDelay: completeDelay }
    : {};
  return { worker: { connectionString: args.url, schema: SCHEMA, logger, concurrentJobs: workers, maxPoolSize: workers + 4, ...batching } };
}

async function prepareServer() {
  const client = new pg.Client({ connectionString: args.url });
  await client.connect();
  const { rows: [durable] } = await client.query(
    "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit");
  if (durable.fsync !== "on" || durable.commit !== "on") throw new Error("the server is not durable");
  await client.query(`
    drop schema if exists ${SCHEMA} cascade;
    drop schema if exists bench_peer cascade;
    create schema bench_peer;
    create table bench_peer.entity(id bigint primary key, version bigint not null, value bytea not null);
    create table bench_peer.state(id bigint primary key, version bigint not null, value bytea not null);
    create table bench_peer.outbox(number bigserial primary key, id bigint not null, version bigint not null, value bytea not null);
    alter table bench_peer.entity alter value set storage external;
    alter table bench_peer.outbox alter value set storage external;
    alter table bench_peer.outbox set (toast_tuple_target = 4080)`);
  const utils = await makeWorkerUtils({ preset: preset({ workers: 1, localQueue: 0 }) });
  await utils.migrate();
  await utils.release();
  return client;
}

async function cleanUp(client) {
  await client.query(`drop schema ${SCHEMA} cascade; drop schema bench_peer cascade`);
  await client.end();
}

async function fill(client, jobs, bytes) {
  for (let first = 1; first <= jobs; first += FILL_STEP) {
    const ids = Array.from({ length: Math.min(FILL_STEP, jobs - first + 1) }, (_, n) => first + n);
    const values = ids.map(() => randomFillSync(Buffer.alloc(bytes)));
    await client.query(
      "insert into bench_peer.entity select i, 1, v from unnest($1::bigint[], $2::bytea[]) u(i, v)", [ids, values]);
    await client.query(
      `select ${SCHEMA}.add_job('visit', json_build_object('id', i)) from unnest($1::bigint[]) u(i)`, [ids]);
  }
  await client.query("vacuum analyze");
  await client.query("checkpoint");
}

const READ = {
  name: "read",
  text: `select e.version, e.value, s.value as state from bench_peer.entity e left join bench_peer.state s using (id) where e.id = $1`,
};
const CHANGE = {
  name: "change",
  text: "update bench_peer.entity set version = version + 1, value = $3 where id = $1 and version = $2",
};
const STATE = {
  name: "state",
  text: `insert into bench_peer.state as s values ($1, 1, $2)
    on conflict (id) do update set version = s.version + 1, value = excluded.value`,
};
const OUTBOX = { name: "outbox", text: "insert into bench_peer.outbox(id, version, value) values ($1, $2, $3)" };
const TIMER = { name: "timer", text: `select ${SCHEMA}.add_job('visit', json_build_object('id', $1::bigint), run_at => $2)` };
/** All of the above in one round trip: a statement is a transaction. */
const ALL = {
  name: "all",
  text: `with changed as (
      update bench_peer.entity set version = version + 1, value = $3 where id = $1 and version = $2 returning id, version, value
    ), state as (
      insert into bench_peer.state as s select id, 1, $4::bytea from changed
      on conflict (id) do update set version = s.version + 1, value = excluded.value
    ), outbox as (
      insert into bench_peer.outbox(id, version, value) select id, version, value from changed
    )
    select ${SCHEMA}.add_job('visit', json_build_object('id', id), run_at => $5) from changed`,
};

const STYLES = {
  async statement(client, id, version, value, state, timer) {
    const { rowCount } = await client.query({ ...ALL, values: [id, version, value, state, timer] });
    return rowCount === 1;
  },
  async transaction(client, id, version, value, state, timer) {
    await client.query("begin");
    const { rowCount } = await client.query({ ...CHANGE, values: [id, version, value] });
    await client.query({ ...STATE, values: [id, state] });
    await client.query({ ...OUTBOX, values: [id, version, value] });
    await client.query({ ...TIMER, values: [id, timer] });
    await client.query(rowCount === 1 ? "commit" : "rollback");
    return rowCount === 1;
  },
};

async function stateful(settings, jobs, bytes, style) {
  const client = await prepareServer();
  await fill(client, jobs, bytes);
  const timer = new Date(Date.now() + DAY_MS);
  let done = 0, finish;
  const finished = new Promise((resolve) => { finish = resolve; });
  const visit = ({ id }, { withPgClient }) => withPgClient(async (client) => {
    const { rows: [entity] } = await client.query({ ...READ, values: [id] });
    entity.value.writeUInt32BE(entity.value.readUInt32BE(0) + 1 >>> 0, 0);
    const state = Buffer.alloc(STATE_BYTES, id);
    if (!await style(client, id, entity.version, entity.value, state, timer)) throw new Error("conflict");
    if (++done === jobs) finish();
  });
  const begin = now();
  const runner = await run({ preset: preset(settings), taskList: { visit }, noHandleSignals: true });
  await finished;
  await runner.stop();
  const seconds = (now() - begin) / 1000;
  await requireDone(client, jobs);
  await cleanUp(client);
  return { jobs, seconds, per_s: Math.round(jobs / seconds), settings };
}

/** What was measured must have happened. The last jobs may be taken out of the queue a moment after their handlers ended. */
async function requireDone(client, jobs) {
  const count = `select
    (select count(*) from bench_peer.entity where version = 2)::int as changed, (select count(*) from bench_peer.outbox)::int as outbox,
    (select count(*) from ${SCHEMA}.jobs where run_at > now() + interval '1 hour')::int as timers, (select count(*) from ${SCHEMA}.jobs)::int as jobs`;
  for (let patience = 50; ; patience--) {
    const { rows: [left] } = await client.query(count);
    if (Object.values(left).every((found) => found === jobs)) return;
    if (patience === 0) throw new Error(`not all jobs were done once: ${JSON.stringify(left)}`);
    await sleep(100);
  }
}

async function pickup(settings, rate, seconds) {
  const client = await prepareServer();
  const waits = [], returned = new Map(), called = new Map();
  const begin = now();
  const note = (n) => {
    if (!returned.has(n) || !called.has(n)) return;
    // The handler may be called before the caller of add_job hears that it is done.
    if (returned.get(n) - begin > WARM_UP_S * 1000) waits.push(Math.max(0, called.get(n) - returned.get(n)));
    returned.delete(n);
    called.delete(n);
  };
  const visit = async ({ n }) => { called.set(n, now()); note(n); };
  const runner = await run({ preset: preset(settings), taskList: { visit }, noHandleSignals: true });
  const pool = new pg.Pool({ connectionString: args.url, max: 8 });
  const text = `select ${SCHEMA}.add_job('visit', json_build_object('n', $1::bigint))`;
  const adds = [];
  const start = now();
  for (let n = 0; n < rate * (seconds + WARM_UP_S); n++) {
    const wait = start + n * 1000 / rate - now();
    if (wait > 0) await sleep(wait);
    adds.push(pool.query({ name: "add", text, values: [n] }).then(() => { returned.set(n, now()); note(n); }));
  }
  await Promise.all(adds);
  for (let patience = 600; returned.size > 0; patience--) {
    if (patience === 0) throw new Error(`${returned.size} jobs were never worked on`);
    await sleep(100);
  }
  await runner.stop();
  await pool.end();
  await cleanUp(client);
  waits.sort((a, b) => a - b);
  const quantile = (part) => waits[Math.min(waits.length - 1, Math.floor(waits.length * part))];
  return { p50_ms: quantile(0.5), p99_ms: quantile(0.99), count: waits.length };
}

/** With its batching and without: the better one counts. */
async function bestPickup(settings, rate, seconds) {
  const batched = { ...await pickup(settings, rate, seconds), settings: `local queue of ${settings.localQueue}` };
  const plain = { ...await pickup({ ...settings, localQueue: 0 }, rate, seconds), settings: "default settings" };
  console.log(JSON.stringify({ batched, plain }));
  return batched.p99_ms < plain.p99_ms ? batched : plain;
}

const settings = {
  workers: Number(args.workers),
  localQueue: Number(args["local-queue"]),
  completeDelay: Number(args["complete-delay"]),
};
const measurements = {
  stateful: () => stateful(settings, Number(args.jobs), Number(args.bytes), STYLES[args.style]),
  pickup: () => bestPickup(settings, Number(args.rate), Number(args.seconds)),
};
if (!args.url || !measurements[what] || !STYLES[args.style]) {
  console.error("usage: node run.mjs stateful|pickup --url postgres://... [--workers N] [--style statement|transaction] ...");
  process.exit(2);
}
try {
  console.log(JSON.stringify(await measurements[what]()));
} catch (error) {
  console.error(`graphile-worker: ${error.message}`);
  process.exit(1);
}
