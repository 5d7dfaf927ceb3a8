#!/usr/bin/env node
/**
 * An executor for w8yd with the kit for Node: counts lines and bytes of a file.
 *
 *   [lists.texts]
 *   executor = "/opt/acme/bin/example.js"
 *   concurrency = 4
 *
 * The item is the path of the file. w8y-executor.js is in the same directory.
 */
"use strict";

const fs = require("node:fs");
const { serve, Failed } = require("./w8y-executor.js");

async function work(item) {
  const path = item.text;
  if (path.includes("\0") || !path.startsWith("/")) throw new Failed("the item is not an absolute path");
  let lines = 0;
  let bytes = 0;
  try {
    const { size } = await fs.promises.stat(path);
    // The signal aborts a pending read at once when the item is cancelled.
    for await (const part of fs.createReadStream(path, { signal: item.signal })) {
      for (const byte of part) lines += byte === 10 ? 1 : 0;
      bytes += part.length;
      item.progress(bytes, Math.max(size, bytes));
    }
  } catch (error) {
    if (!error.syscall) throw error;
    throw new Failed(error.code);
  }
  return { lines, bytes };
}

serve(work, { concurrency: 4, version: "1.0" });
