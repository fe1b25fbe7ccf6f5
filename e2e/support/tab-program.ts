// Runs in the pages and workers of the tab tests: a client like an app's, and nothing else.
import { createClient, type SyncClient } from "@holdfast/sdk";
import { type BoardSchema, boardSchema } from "../../apps/demo/src/schema.ts";

declare global {
  var client: SyncClient<BoardSchema>;
  var openClient: typeof open;
  /** Names of writes whose `queued` resolved: those that may not be lost. */
  var queuedNames: string[];
}

/** An order to a worker. */
export type WorkerOrder =
  | { readonly do: "open"; readonly pageUrl: string; readonly person: string }
  | { readonly do: "create"; readonly id: string; readonly title: string }
  | { readonly do: "dispatch"; readonly event: "offline" | "online" }
  | { readonly do: "report" };

export interface WorkerReport {
  readonly status: string;
  readonly pending: number;
  readonly titles: readonly string[];
  /** Whether this runs in a page. */
  readonly hasWindow: boolean;
}

async function open(pageUrl: string, person: string): Promise<void> {
  const session = async () => {
    const answer = await fetch(`${pageUrl}/session?person=${person}`);
    return (await answer.json()) as { url: string; token: string };
  };
  const { url } = await session();
  globalThis.queuedNames = [];
  globalThis.client = createClient({
    schema: boardSchema,
    url,
    getToken: async () => (await session()).token,
    store: `tabs:${person}`,
  });
  await client.ready();
}
globalThis.openClient = open;

async function obey(order: WorkerOrder): Promise<WorkerReport> {
  if (order.do === "open") await open(order.pageUrl, order.person);
  if (order.do === "create") await client.models.slide.create({ title: order.title }, { id: order.id }).queued;
  if (order.do === "dispatch") dispatchEvent(new Event(order.event));
  const { name, pending } = client.status();
  const titles = client.models.slide.list({ orderBy: "title" }).map(({ title }) => title ?? "");
  return { status: name, pending, titles, hasWindow: typeof window !== "undefined" };
}

const listen = (port: Pick<MessagePort, "postMessage" | "onmessage">): void => {
  port.onmessage = ({ data }: MessageEvent<WorkerOrder>) => void obey(data).then((report) => port.postMessage(report));
};
if (typeof window === "undefined") {
  listen(globalThis as unknown as MessagePort);
  addEventListener("connect", (event) => {
    const [port] = (event as MessageEvent).ports;
    if (port) listen(port);
  });
}
