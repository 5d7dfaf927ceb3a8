#!/usr/bin/env node
/**
 * Adds each line of standard input to a circular list, and prints how many were new.
 *
 *   add-lines.js LIST <items.txt
 *
 *   [lists.feeds]
 *   command = ["/opt/acme/bin/poll", "{}"]
 *   cooldown = "10m"
 *
 * The client is installed with `npm install /usr/share/w8y/clients/node`. W8YD is an address other than its
 * default.
 */
"use strict";

const readline = require("node:readline");
const { Client, W8yError } = require("w8y-client");

const BATCH = 1000;

async function main(list) {
  const w8y = new Client(process.env.W8YD);
  let lines = 0;
  let added = 0;
  let batch = [];
  const send = async () => {
    const isNew = await w8y.add(list, batch);
    lines += batch.length;
    added += isNew.filter(Boolean).length;
    batch = [];
  };
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line === "") continue;
    batch.push(line);
    if (batch.length === BATCH) await send();
  }
  await send();
  console.log(`${list}: ${added} of ${lines} added`);
}

if (process.argv.length !== 3) {
  console.error("usage: add-lines.js LIST <FILE");
  process.exit(2);
}
main(process.argv[2]).catch((error) => {
  if (!(error instanceof W8yError)) throw error;
  console.error(`add-lines.js: ${error.message}`);
  process.exitCode = 1;
});
