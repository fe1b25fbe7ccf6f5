import { readFile, rename, writeFile } from "node:fs/promises";
import type { WebhookEndpoint } from "@holdfast/sdk/protocol";
import { callServer } from "../dev/call-server.ts";
import { type KeptEndpoint, planRegistration, type RegistrationStep } from "./plan-registration.ts";

export interface Registration {
  readonly serverUrl: string;
  readonly secretKey: string;
  /** Where id and secret are kept, readable by their owner only. */
  readonly file: string;
  readonly name: string;
  readonly url: string;
  readonly position: number;
}

/** Sees to it that the server delivers here; gives the endpoint and its secret. */
export async function register(wanted: Registration): Promise<KeptEndpoint> {
  const { serverUrl, secretKey, file, name, url, position } = wanted;
  const { data: endpoints } = await callServer<{ data: WebhookEndpoint[] }>(
    serverUrl,
    secretKey,
    "GET",
    "/v1/webhook_endpoints",
  );
  let kept = await readKept(file);
  for (const step of planRegistration({ kept, endpoints, name, url, position })) {
    const { id, secret } = await take(step, wanted);
    // At once: a secret that is lost between two steps would have to be rolled.
    if (!secret) continue;
    kept = { id, url, secret };
    await keep(file, kept);
  }
  if (!kept) throw new Error("The server returned no secret for this mirror's endpoint.");
  const now = { ...kept, url };
  if (kept.url !== url) await keep(file, now);
  return now;
}

function take(step: RegistrationStep, { serverUrl, secretKey, name, url }: Registration) {
  const asked = (method: "POST" | "PATCH" | "DELETE", path: string, body?: object) =>
    callServer<{ id: string; secret?: string }>(serverUrl, secretKey, method, `/v1/webhook_endpoints${path}`, body);
  switch (step.do) {
    case "register":
      return asked("POST", "", { url, description: name, from: step.from });
    case "delete":
      return asked("DELETE", `/${step.id}`);
    case "roll":
      return asked("POST", `/${step.id}/roll_secret`);
    case "move":
      return asked("PATCH", `/${step.id}`, { url: step.url });
    case "enable":
      return asked("POST", `/${step.id}/enable`);
  }
}

/** What was kept; nothing when it is not there, or was torn by a crash: then the secret is rolled. */
export async function readKept(file: string): Promise<KeptEndpoint | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as KeptEndpoint;
  } catch {
    return undefined;
  }
}

async function keep(file: string, kept: KeptEndpoint): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}
