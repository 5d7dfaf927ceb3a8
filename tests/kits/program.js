// Executor with the kit for Node whose items are commands. test_kits.py sends the items.
"use strict";

const fs = require("node:fs");
const { setTimeout: sleep } = require("node:timers/promises");
const { serve, Failed } = require(process.env.KIT);

function described(item) {
  const result = {
    name: item.name,
    run: item.id,
    length: item.bytes.length,
    fence: item.fence,
    attempt: item.attempt,
    sum: item.bytes.reduce((sum, byte) => sum + byte, 0),
    hex: item.bytes.subarray(0, 100).toString("hex"),
  };
  if (item.payload) result.payload = item.payload.toString("hex");
  return result;
}

async function waitFor(path) {
  while (!fs.existsSync(path)) await sleep(5);
}

async function talk(name, path) {
  console.log(name, 1);
  process.stderr.write(`${name} `);
  process.stderr.write("2\n\n");
  console.error(name, 3);
  process.stdout.write(Buffer.from(`${name} 4\n`));
  await new Promise((resolve) => setTimeout(() => resolve(console.log(name, 5)), 1));
  await new Promise((resolve) => process.stderr.write(`${name} 6\n`, resolve));
  process.stdout.write(`${name} `);
  await waitFor(path);
  const last = Buffer.from("7\nü");
  process.stdout.write(last.subarray(0, 3)); // the first byte of two
  process.stdout.write(last.subarray(3));
  if (name.startsWith("bad")) throw new TypeError(`${name} is bad`);
}

async function work(item) {
  const [word, ...more] = item.bytes.toString("latin1").split(" ");
  const rest = more.join(" ");
  if (word === "fail") throw new Failed(rest);
  if (word === "crash") throw new TypeError(rest);
  if (word === "text") return { text: item.text };
  if (word === "gate") {
    item.print("waits");
    while (!fs.existsSync(rest)) await sleep(5, undefined, { signal: item.signal });
    return undefined;
  }
  if (word === "stubborn") {
    while (!item.cancelled) await sleep(5);
    return { stopped: true };
  }
  if (word === "say") {
    item.progress(1, 4);
    item.update({ a: [1, null, "ü"] });
    item.print('"quotes"\nü\t\u2028');
    return { type: "x", id: "y", nested: { id: 1 } };
  }
  if (word === "odd") {
    item.print("\udcff|");
    return { "\udcff|": "\ud800|" };
  }
  if (word === "flood") {
    for (let i = 0; i < 200; ++i) {
      item.update(String(i).repeat(5000));
      await null;
    }
    return undefined;
  }
  if (word === "talk") return talk(...more);
  if (word === "late") {
    waitFor(rest).then(() => console.log("late"));
    return undefined;
  }
  if (word === "long") {
    process.stdout.write(`${"x".repeat(20000)}\n${"y".repeat(20000)}`);
    return undefined;
  }
  if (word === "no-json") return { a: 1n };
  if (word === "block") {
    item.print("before");
    const end = performance.now() + 20;
    while (performance.now() < end);
    item.print("after");
    while (!fs.existsSync(rest));
    return undefined;
  }
  if (word === "exit") {
    item.print("last words");
    process.exit(3);
  }
  if (word === "stray") {
    console.log("stray");
    process.stdout.write("stray\n");
    return null;
  }
  return described(item);
}

serve(work, { caps: ["gpu"], concurrency: Number(process.env.AT_ONCE ?? 1), version: "7" });
