import { createHash } from "node:crypto";
import { trackerChanges } from "../lists/tracker.ts";
import { holdfastPeer } from "./holdfast-peer.ts";
import type { QueryPeer } from "./query-peer.ts";
import { tanstackPeer } from "./tanstack-peer.ts";
import { zeroPeer } from "./zero-peer.ts";

// One library in a process of its own, so that its memory is its own. It does what the parent asks, one at a time.

export type Library = "holdfast" | "tanstack" | "zero";
export type PeerRequest =
  | { readonly ask: "mount" }
  | { readonly ask: "changes"; readonly kind: number; readonly from: number; readonly count: number };
export type PeerReply =
  | { readonly reply: "mounted"; readonly mountMs: number; readonly heapMb: number; readonly shown: string }
  | { readonly reply: "changed"; readonly delays: readonly number[]; readonly shown: string }
  | { readonly reply: "failed"; readonly reason: string };

const [library, from, folder] = process.argv.slice(2) as [Library, "arrives" | "own", string];
let peer: QueryPeer | undefined;

process.on("message", (request: PeerRequest) => {
  void answer(request)
    .catch((error: unknown): PeerReply => ({ reply: "failed", reason: reasonOf(error) }))
    .then((reply) => process.send?.(reply));
});

async function answer(request: PeerRequest): Promise<PeerReply> {
  if (request.ask === "mount") return mount();
  const made = peer as QueryPeer;
  const delays: number[] = [];
  const { of } = trackerChanges[request.kind] as (typeof trackerChanges)[number];
  for (let n = 0; n < request.count; n++) delays.push(await made.change(of(request.from + n)));
  return { reply: "changed", delays, shown: digest(made) };
}

async function mount(): Promise<PeerReply> {
  const made = await create();
  const before = heapMb();
  await made.load();
  const begun = performance.now();
  await made.mount();
  const mountMs = performance.now() - begun;
  const after = heapMb();
  peer = made;
  return { reply: "mounted", mountMs, heapMb: after - before, shown: digest(made) };
}

async function create(): Promise<QueryPeer> {
  switch (library) {
    case "holdfast": {
      const made = holdfastPeer(from);
      await made.fillServer();
      return made;
    }
    case "tanstack":
      return tanstackPeer(from, folder);
    case "zero":
      return zeroPeer(from, folder);
  }
}

function heapMb(): number {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

const digest = (made: QueryPeer) => createHash("sha256").update(JSON.stringify(made.shown())).digest("hex");

const reasonOf = (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
