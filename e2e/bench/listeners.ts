// Opens sockets, hears every commit, and prints how long those of one title took from being sent to being heard.
import { WebSocket } from "ws";

export interface ListenPlan {
  readonly url: string;
  readonly token: string;
  readonly sockets: number;
  /** Only records of this title are counted. */
  readonly title: string;
}

const plan = JSON.parse(process.argv[2] ?? "{}") as ListenPlan;
const delays: number[] = [];
const sockets = Array.from(
  { length: plan.sockets },
  () => new WebSocket(`${plan.url.replace("http", "ws")}/v1/stream`, "holdfast.v1"),
);
await Promise.all(
  sockets.map(
    (socket) =>
      new Promise<void>((resolve, reject) => {
        socket.on("error", reject);
        socket.on("open", () => socket.send(JSON.stringify({ frame: "hello", token: plan.token })));
        socket.on("message", (bytes: Buffer) => {
          const heard = process.hrtime.bigint();
          const frame = JSON.parse(bytes.toString()) as {
            frame: string;
            entries?: { data: { title: string; notes: string } }[];
          };
          if (frame.frame === "welcome") resolve();
          for (const { data } of frame.entries ?? [])
            if (data.title === plan.title) delays.push(Number(heard - BigInt(data.notes)) / 1e6);
        });
      }),
  ),
);
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
process.on("SIGTERM", () => {
  process.stdout.write(`${JSON.stringify(delays)}\n`, () => process.exit(0));
});
