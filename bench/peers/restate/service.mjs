// The stage that Restate calls: `node service.mjs PORT PROCESSES bidirectional|request|http1`, started by run.mjs.
import cluster from "node:cluster";
import { randomFillSync } from "node:crypto";
import http from "node:http";
import http2 from "node:http2";
import * as restate from "@restatedev/restate-sdk";

const [port, processes, protocol] = process.argv.slice(2);
const STATE_BYTES = 64;
const DAY_MS = 24 * 3600 * 1000;
const REPORT_MS = 5;
const binary = restate.serde.binary;

let visited = 0;

/** The value with the number at its beginning raised by one. */
function changed(value) {
  const next = Buffer.from(value);
  next.writeUInt32BE(next.readUInt32BE(0) + 1, 0);
  return next;
}

const offer = restate.object({
  name: "offer",
  handlers: {
    fill: async (ctx, bytes) => {
      const entity = randomFillSync(Buffer.alloc(bytes));
      entity.writeUInt32BE(1, 0);
      ctx.set("entity", entity, binary);
    },
    visit: async (ctx) => {
      const entity = await ctx.get("entity", binary);
      const state = await ctx.get("private", binary);
      ctx.set("entity", changed(entity), binary);
      ctx.set("private", changed(state ?? Buffer.alloc(STATE_BYTES)), binary);
      ctx.genericSend({ service: "offer", method: "visit", key: ctx.key, parameter: undefined, inputSerde: restate.serde.empty, delay: DAY_MS });
      visited += 1;
    },
  },
});

function serve(ready) {
  const handler = restate.createEndpointHandler({ services: [offer], bidirectional: protocol === "bidirectional" });
  const server = protocol === "http1" ? http.createServer(handler) : http2.createServer(handler);
  server.listen(Number(port), "127.0.0.1", ready);
}

function report() {
  if (visited > 0) process.send({ visited });
  visited = 0;
}

if (cluster.isPrimary && Number(processes) > 1) {
  let missing = Number(processes);
  for (let n = 0; n < processes; n++) {
    cluster.fork().on("message", (message) => {
      if (message !== "ready") return process.send(message);
      if (--missing === 0) process.send("ready");
    });
  }
  process.on("SIGTERM", () => {
    for (const worker of Object.values(cluster.workers)) worker.kill("SIGKILL");
    process.exit(0);
  });
  process.on("disconnect", () => process.exit(1));
} else {
  serve(() => process.send("ready"));
  setInterval(report, REPORT_MS);
  process.on("disconnect", () => process.exit(1));
}
