// BullMQ as a peer of scripts/bench; benchlib/peer_work.py describes the arguments.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const modules = path.join(__dirname, "../../../build/peers/node_modules");
const [step, socket, ...rest] = process.argv.slice(2);
if (step === "version") {
  console.log(require(path.join(modules, "bullmq/package.json")).version);
  process.exit();
}
const { Queue, Worker } = require(path.join(modules, "bullmq"));
const connection = { path: socket, maxRetriesPerRequest: null };
const us = () => (performance.timeOrigin + performance.now()) * 1000;

const options = {
  documented: { removeOnComplete: { count: 1000 }, removeOnFail: { count: 5000 } },
  best: {
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 5000 },
    skipLockRenewal: true,
    skipStalledCheck: true,
  },
};

async function put(queue, count) {
  const since = performance.now();
  for (let left = count; left > 0; left -= 1000)
    await queue.addBulk(Array(Math.min(left, 1000)).fill({ name: "job", data: "" }));
  console.log((performance.now() - since) / 1000);
}

async function pace(queue, rate, seconds) {
  const since = performance.now();
  for (let sent = 0; sent < rate * seconds; ) {
    if (sent <= ((performance.now() - since) / 1000) * rate) {
      ++sent;
      await queue.add("job", String(us()));
    } else {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

async function main() {
  if (step === "work") {
    const [concurrency, settings, log] = rest;
    const run = log ? async (job) => fs.appendFileSync(log, `${us() - Number(job.data)}\n`) : async () => {};
    const worker = new Worker("bench", run, { connection, concurrency: Number(concurrency), ...options[settings] });
    worker.on("error", console.error);
    return;
  }
  const queue = new Queue("bench", { connection });
  await (step === "put" ? put : pace)(queue, ...rest.map(Number));
  await queue.close();
}

main();
