import { setTimeout as pause } from "node:timers/promises";
import type { Slide } from "./schema.ts";

/** The thinking: here you would ask your model. `signal` aborts when the claim is lost, and the rest would be in vain. */
export async function writeNotes({ title = "this slide" }: Slide, signal: AbortSignal): Promise<string> {
  await pause(Number(process.env.THINKING_MS ?? 1_000), undefined, { signal });
  return `Say in one sentence what “${title}” means to the people in the room, then give them one example.`;
}
