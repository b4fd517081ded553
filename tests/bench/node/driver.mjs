// `driver.mjs PEER WORKLOAD URL RUNS` measures one workload of one peer in a process of its own and prints one JSON line.
//
// The workloads are those of the Rust drivers; `src/main.rs` says what each is.

import assert from "node:assert/strict";

const TOKENS = 2000;
const CONVERSATIONS = 1000;
const MESSAGES = 50;

function residentMb() {
  return process.memoryUsage.rss() / 2 ** 20;
}

/** CPU and wall time of a piece of work. */
class Watch {
  #cpu = process.cpuUsage();
  #wall = performance.now();

  report(memoryMb) {
    const { user, system } = process.cpuUsage(this.#cpu);
    const wall = (performance.now() - this.#wall) / 1e3;
    console.log(JSON.stringify({ cpu_s: (user + system) / 1e6, wall_s: wall, memory_mb: memoryMb }));
  }
}

/** About 126 characters, no two alike. */
function text(conversation, message) {
  const number = `${String((message * 6151 + conversation * 31) % 99_991).padStart(5, "0")} `;
  return `Conversation ${conversation}, message ${message}: ${number.repeat(16)}`;
}

async function streamed(peer, agent) {
  const { text: whole, pieces } = await peer.stream(agent);
  assert.equal(whole.trim(), " tok".repeat(TOKENS).trim());
  assert.ok(pieces > TOKENS / 2, `${pieces} pieces`);
}

const WORKLOADS = {
  async A(peer, runs) {
    const agent = peer.agent("tools-3", 1);
    for (let run = 0; run < 20; run += 1) await peer.run(agent);
    const watch = new Watch();
    for (let run = 0; run < runs; run += 1) await peer.run(agent);
    watch.report(residentMb());
  },
  async B(peer, runs) {
    await peer.run(peer.agent("tools-3", 1));
    const agent = peer.agent("tools-3-lat-20", 1);
    const watch = new Watch();
    await Promise.all(Array.from({ length: runs }, () => peer.run(agent)));
    watch.report(residentMb());
  },
  async C(peer, runs) {
    const agent = peer.agent(`stream-${TOKENS}`, 1);
    await streamed(peer, agent);
    const watch = new Watch();
    for (let run = 0; run < runs; run += 1) await streamed(peer, agent);
    watch.report(residentMb());
  },
  async D() {
    new Watch().report(residentMb());
  },
  async E(peer, runs) {
    peer.agent("answer", 10);
    const watch = new Watch();
    const kept = Array.from({ length: runs }, () => peer.agent("answer", 10));
    watch.report(residentMb());
    assert.equal(kept.length, runs);
  },
  async F(peer) {
    const texts = (conversation) => Array.from({ length: MESSAGES }, (_, message) => text(conversation, message));
    // JavaScript's heap takes its first megabytes for whatever is made; they are not the conversations'.
    for (let conversation = 0; conversation < CONVERSATIONS / 10; conversation += 1) peer.conversation(texts(conversation));
    globalThis.gc?.();
    const before = residentMb();
    const watch = new Watch();
    const kept = Array.from({ length: CONVERSATIONS }, (_, conversation) => peer.conversation(texts(conversation)));
    globalThis.gc?.();
    watch.report(residentMb() - before);
    assert.equal(kept.length, CONVERSATIONS);
  },
};

const [, , name, workload, url, runs] = process.argv;
if (workload === "import") {
  const memory = residentMb();
  const watch = new Watch();
  await import(`./${name}_peer.mjs`);
  watch.report(residentMb() - memory);
} else {
  const { Peer } = await import(`./${name}_peer.mjs`);
  await WORKLOADS[workload](new Peer(url), Number(runs));
}
