import type { FrameDown } from "../protocol/stream/frames-down.ts";
import { areReadFacts, areTokenFacts } from "./token-facts.ts";

/** Longer texts would stay in memory. */
const REMEMBERED_LENGTH = 65_536;
let latest: { readonly text: string; readonly frame: FrameDown | undefined } | undefined;

/**
 * Parses the frames that this version knows. Undefined: an unknown frame of a newer server, to be ignored. All clients
 * of a process that read the same hear the same frame at the same moment: it is parsed once for all of them.
 */
export function readFrame(text: unknown): FrameDown | undefined {
  if (typeof text !== "string") return undefined;
  if (text === latest?.text) return latest.frame;
  const frame = parsed(text);
  // An answer is for one client only: between two that hear the same entries it would take their place.
  if (text.length <= REMEMBERED_LENGTH && frame?.frame !== "answer") latest = { text, frame };
  return frame;
}

function parsed(text: string): FrameDown | undefined {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof said !== "object" || said === null) return undefined;
  const frame = said as Record<string, unknown>;
  return isKnown(frame) ? (said as FrameDown) : undefined;
}

function isKnown(frame: Record<string, unknown>): boolean {
  switch (frame.frame) {
    case "welcome":
      return isPosition(frame.stamp) && typeof frame.logId === "string" && areReadFacts(frame);
    case "entries":
      return isPosition(frame.from) && isPosition(frame.to) && isEntries(frame.entries);
    case "subscribed":
      return typeof frame.id === "string" && isPosition(frame.position);
    case "refused":
      return typeof frame.id === "string";
    case "unsubscribed":
      return Array.isArray(frame.ids);
    case "renewed":
      return areTokenFacts(frame);
    case "resync":
      return typeof frame.reason === "string";
    case "schema":
      return Array.isArray(frame.models);
    case "claims":
      return typeof frame.model === "string" && typeof frame.id === "string" && areNamed(frame.claims, frame.queue);
    case "claim":
      return areNamed([frame.claim], frame.holders ?? []);
    case "proposals":
      return true;
    case "presence":
      return (
        typeof frame.room === "string" &&
        [frame.joined, frame.updated].every(
          (peers) =>
            Array.isArray(peers) && peers.every((p) => typeof p?.participant === "string" && Array.isArray(p.sessions)),
        ) &&
        Array.isArray(frame.left)
      );
    case "answer":
      return isPosition(frame.n) && isPosition(frame.status);
    case "pong":
      return typeof frame.n === "number";
    case "error":
      return typeof frame.code === "string";
    default:
      return false;
  }
}

/** If one entry of a range cannot be read, the whole range is refused: a missing entry would never be noticed. */
const isEntries = (entries: unknown): boolean =>
  Array.isArray(entries) &&
  entries.every((e) => isPosition(e?.syncId) && typeof e.model === "string" && typeof e.id === "string");

/** Whether these are lists of claims, each with an id, a status and a target. */
const areNamed = (...lists: unknown[]): boolean =>
  lists.every(
    (list) =>
      Array.isArray(list) &&
      list.every((c) =>
        [c?.id, c?.status, c?.target?.resource, c?.target?.id].every((each) => typeof each === "string"),
      ),
  );

const isPosition = (value: unknown): boolean => Number.isSafeInteger(value);
