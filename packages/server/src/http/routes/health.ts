import type { FastifyInstance } from "fastify";
import { PREFIXES } from "../../addresses/request-url.ts";
import { refuse } from "../../rules/refusal.ts";
import { sendRefusal } from "../mount.ts";

/** `/livez` has no dependencies. `/readyz` checks that the database responds and has every migration. */
export function mountHealth(app: FastifyInstance, isReady: () => Promise<boolean>): void {
  for (const prefix of PREFIXES) {
    app.get(`${prefix}/livez`, async () => ({ object: "health", status: "live" }));
    app.get(`${prefix}/readyz`, async (_request, reply) => {
      const ready = await isReady();
      return ready
        ? { object: "health", status: "ready" }
        : sendRefusal(
            reply,
            refuse("unavailable", {
              message: "The database does not answer, accepts no writes, or lacks a migration.",
            }),
          );
    });
  }
}
