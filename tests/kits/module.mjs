// Uses the kit for Node from an ES module.
import { serve, Failed } from "../../etc/kits/node/w8y-executor.js";

serve((item) => {
  if (item.text !== "right") throw new Failed(item.text);
  return { esm: true };
});
