// One tenant that does its worst until it is ended.
import { createSender } from "../stage/sender.ts";

export interface HostilePlan {
  readonly url: string;
  readonly what: "large commits" | "bulks" | "small commits" | "snapshots";
  /** Taken in turn. */
  readonly tokens: readonly string[];
  readonly atOnce: number;
}

const { url, what, tokens, atOnce } = JSON.parse(process.argv[2] ?? "{}") as HostilePlan;

const bodies = {
  "large commits": () => ({
    path: "/v1/commits",
    body: JSON.stringify({
      clientTxId: "l[<id>]",
      operations: [0, 1, 2, 3].map((i) => ({
        ...{ action: "create", model: "slide", id: `l[<id>]-${i}` },
        data: { notes: "n".repeat(1_000_000) },
      })),
    }),
  }),
  bulks: () => ({
    path: "/v1/commits/bulk",
    body: JSON.stringify({
      commits: Array.from({ length: 100 }, (_, i) => ({
        clientTxId: `b[<id>]-${i}`,
        operations: [
          { action: "create", model: "slide", id: `b[<id>]-${i}`, data: { title: "A slide", notes: "n".repeat(300) } },
        ],
      })),
    }),
  }),
  "small commits": () => ({
    path: "/v1/models/slide",
    body: JSON.stringify({ id: "h[<id>]", data: { title: "A slide" } }),
  }),
};

process.on("SIGTERM", () => process.exit(0));
const going = what === "snapshots" ? readSnapshots() : write(bodies[what]());
process.stdout.write(`${JSON.stringify({ begun: true })}\n`);
await going;

/** Refused, late and broken answers are its own affair. */
async function write({ path, body }: { readonly path: string; readonly body: string }): Promise<void> {
  const senders = await Promise.all(
    Array.from({ length: atOnce }, (_, i) =>
      createSender(url, 1, [{ path, token: tokens[i % tokens.length] as string, body }]),
    ),
  );
  await Promise.all(senders.map((sender) => sender.send(() => true)));
}

/** All pages of a snapshot, again and again, read as fast as they come. */
async function readSnapshots(): Promise<void> {
  const read = async (token: string) => {
    for (let cursor: string | null = null; ; ) {
      const query: string = cursor === null ? "" : `?starting_after=${encodeURIComponent(cursor)}`;
      const answer = await fetch(`${url}/v1/snapshot${query}`, {
        headers: { authorization: `Bearer ${token}`, "accept-encoding": "identity" },
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`A snapshot was answered with ${answer.status}: ${text}`);
      const last = text.slice(text.lastIndexOf("\n", text.length - 2) + 1);
      cursor = (JSON.parse(last) as { next_cursor: string | null }).next_cursor;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, i) => read(tokens[i % tokens.length] as string)));
}
