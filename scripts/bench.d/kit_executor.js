// kit_executor.js CONCURRENCY [LOG]: an executor of the kit for Node that completes each item at once. With LOG,
// the payload of a job is the time in µs at which it was put, and the executor logs how long ago that was.
"use strict";
const fs = require("node:fs");
const { serve } = require("../../etc/kits/node/w8y-executor.js");

const [concurrency, log] = process.argv.slice(2);
const us = () => (performance.timeOrigin + performance.now()) * 1000;
const logged = (item) => fs.appendFileSync(log, `${us() - Number(item.payload)}\n`);
serve(log?.startsWith("/") ? logged : () => {}, { concurrency: Number(concurrency) });
