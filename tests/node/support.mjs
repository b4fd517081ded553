// What the tests of the Node package share: the package itself as a checkout builds it, and schema libraries.

export * from "../../bindings-node/dist/index.js";
export { z } from "../../bindings-node/node_modules/zod/index.js";
export { z as z3 } from "../../bindings-node/node_modules/zod3/index.js";
