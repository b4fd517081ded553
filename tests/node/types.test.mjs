// Compiles `types.test-d.ts`: the types that users see.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("the types of the package are what users need", () => {
  const compiler = fileURLToPath(new URL("../../bindings-node/node_modules/typescript/bin/tsc", import.meta.url));
  const here = fileURLToPath(new URL(".", import.meta.url));
  const compiled = spawnSync(process.execPath, [compiler, "-p", here], { encoding: "utf8" });
  assert.equal(compiled.stdout + compiled.stderr, "");
  assert.equal(compiled.status, 0);
});
