// kit_executor.js CONCURRENCY: an executor of the kit for Node that completes each item at once.
"use strict";
const { serve } = require("../../etc/kits/node/w8y-executor.js");

serve(() => {}, { concurrency: Number(process.argv[2]) });
