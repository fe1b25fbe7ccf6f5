import { Agent } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { KillableServer } from "../support/killable-server.ts";
import { embeddedUrl } from "../support/log-tables.ts";
import { sendJson } from "../support/send-json.ts";

export interface Moves {
  /** How often the tenant has arrived. */
  readonly arrived: number;
  /** Resolves once the tenant is in the service's own database. */
  finish(): Promise<void>;
}

const REST_MS = 100;

/** Moves the writers' tenant into another Postgres and back, again and again, as its owner would. */
export function startMoves(server: KillableServer, token: string, otherDataDir: string): Moves {
  const agent = new Agent();
  const connectionString = embeddedUrl(otherDataDir);
  let arrived = 0;
  let stopping = false;

  /** Undefined: there was no answer. */
  async function ask(method: "GET" | "POST" | "DELETE", path = "", body?: object) {
    const url = `${server.url}/v1/datasources${path}`;
    return await sendJson({ agent, method, url, token, ...(body && { body }) }).catch(() => undefined);
  }

  /** Undefined: it is not known now. */
  async function own(): Promise<{ readonly id: string; readonly status: string } | "none" | undefined> {
    const answer = await ask("GET");
    if (answer?.status !== 200) return undefined;
    const all = answer.body.data as { readonly id: string; readonly connection: string; readonly status: string }[];
    return all.find(({ connection }) => connection === "direct") ?? "none";
  }

  async function run(): Promise<void> {
    let goal: "there" | "home" = "there";
    for (;;) {
      const found = await own();
      const isThere = found !== undefined && found !== "none" && found.status === "active";
      if (found === "none" ? goal === "home" : isThere && goal === "there") {
        arrived += 1;
        goal = goal === "home" ? "there" : "home";
      }
      if (stopping && found === "none") return;
      if (stopping) goal = "home";
      if (found === "none" && goal === "there") await ask("POST", "", { connection: "direct", connectionString });
      else if (isThere && goal === "home") await ask("DELETE", `/${found.id}`);
      await pause(REST_MS);
    }
  }

  const running = run();
  return {
    get arrived() {
      return arrived;
    },
    async finish() {
      stopping = true;
      await running;
      agent.destroy();
    },
  };
}
