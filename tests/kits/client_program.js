#!/usr/bin/env node
/**
 * Calls the client of w8yd for Node, as client_program.py does for Python. Names and times of options are those
 * of Python.
 *
 * Usage: client_program.js ADDRESS OPTIONS
 */
"use strict";

const readline = require("node:readline");
const { Client } = require("w8y-client");

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const ms = (seconds) => (seconds === undefined ? undefined : seconds * 1000);

function decoded(value) {
  if (Array.isArray(value)) return value.map(decoded);
  return value?.bytes === undefined ? value : Buffer.from(value.bytes, "base64");
}

function encoded(value) {
  if (Buffer.isBuffer(value)) return { bytes: value.toString("base64") };
  if (value instanceof Date) return value.getTime();
  if (Array.isArray(value)) return value.map(encoded);
  return value ?? null;
}

function errorOf(error) {
  return {
    error: error.constructor.name,
    text: error.message,
    status: error.status ?? null,
    maybe_applied: error.maybeApplied ?? null,
    entries: error.entries ? Object.fromEntries(error.entries) : null,
    reason: error.reason ?? null,
    run: error.run ?? null,
    result: encoded(error.result),
  };
}

async function one(client, [name, args, options]) {
  args = args.map(decoded);
  const given = Object.fromEntries(Object.entries(options).map(([key, value]) => [camel(key), value]));
  if (name === "put" && given.id !== undefined) args.push(decoded(given.id));
  while (name === "put" && args.length < 3) args.push(undefined);
  if (name === "wait") args.push(ms(given.timeout));
  else if (Object.keys(given).length > 0) args.push(given);
  try {
    return { value: encoded(await client[camel(name)](...args)) };
  } catch (error) {
    return errorOf(error);
  }
}

async function main(address, options) {
  const { token, timeout, retry_for: retryFor } = JSON.parse(options);
  let client;
  try {
    client = new Client(address, { token, timeout: ms(timeout), retryFor: ms(retryFor) });
  } catch (error) {
    console.log(JSON.stringify([errorOf(error)]));
    return;
  }
  for await (const line of readline.createInterface({ input: process.stdin }))
    console.log(JSON.stringify(await Promise.all(JSON.parse(line).map((request) => one(client, request)))));
}

main(...process.argv.slice(2));
