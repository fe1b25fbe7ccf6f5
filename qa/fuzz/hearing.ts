import type { FrameDown } from "@holdfast/sdk/protocol";
import type { Holder } from "./actors.ts";
import { envelopeFaults, type Judging, secretFault } from "./judge.ts";
import { hiddenRow, readsModel, seesGroups } from "./sight.ts";

type Plain = Readonly<Record<string, unknown>>;

export interface Listener {
  /** A token is named on the socket. */
  speaks(who: Holder): void;
  hear(text: string): void;
}

/** Judges what a socket hears, in view of the tokens that were named on it. */
export function createListener(judging: Judging, say: (fault: string) => void): Listener {
  const spoken = new Set<Holder>();
  let position: number | undefined;
  let participant: unknown;

  /** Any of the tokens that were named may be the one that is heard with; undefined: one of them sees everything. */
  function scopesHeardWith() {
    const judged = [...spoken].filter(({ tenant }) => judging.actors.judged.has(tenant ?? ""));
    const scopes = judged.flatMap(({ scope }) => scope ?? []);
    return judged.length > 0 && scopes.length === judged.length ? scopes : undefined;
  }

  const judges: Readonly<Record<FrameDown["frame"], (frame: Plain) => void>> = {
    welcome(frame) {
      position = Number(frame.resumeFrom);
      participant = frame.participant;
    },
    resync() {
      position = undefined;
    },
    error(frame) {
      for (const fault of envelopeFaults(frame, undefined, String(frame.request_id), judging.url))
        say(`a frame: ${fault}`);
      if (!/^req_[0-9A-Za-z]{24}$/.test(String(frame.request_id))) say(`an error frame with ${frame.request_id}`);
    },
    entries({ from, to, entries }) {
      if (position !== undefined && from !== position) say(`(${from}, ${to}] came at position ${position}`);
      position = Number(to);
      let last = Number(from);
      for (const entry of entries as Plain[]) {
        const syncId = Number(entry.syncId);
        if (syncId <= last || syncId > Number(to)) say(`entry ${syncId} came after ${last} in (${from}, ${to}]`);
        last = syncId;
        const hidden = scopesHeardWith()?.every(
          (scope) =>
            !readsModel(scope, String(entry.model)) ||
            (entry.data && hiddenRow(judging.schema, scope, String(entry.model), entry.data as Plain)),
        );
        if (hidden) say(`a stream was told of the ${entry.model} ${entry.id}, which its token does not cover`);
      }
    },
    presence({ room }) {
      if (scopesHeardWith()?.every((scope) => !seesGroups(scope, [String(room)])))
        say(`a stream was told of the room ${room}, which its token does not cover`);
    },
    claim(frame) {
      const { id, participantKind, actor } = frame.claim as Plain;
      const holder = `${participantKind}:${actor}`;
      if (holder !== participant) say(`${participant} was told of the claim ${id} as its own, which is ${holder}'s`);
    },
    claims({ model, id }) {
      if (scopesHeardWith()?.every((scope) => !readsModel(scope, String(model))))
        say(`a stream was told who claims the ${model} ${id}, which its token does not cover`);
    },
    schema() {},
    renewed({ owner }) {
      if (!String(owner).endsWith(`/${String(participant).replace(":", "/")}`))
        say(`a stream of ${participant} was renewed as ${owner}`);
    },
    pong() {},
  };

  return {
    speaks: (who) => void spoken.add(who),
    hear(text) {
      const leak = secretFault(text, judging);
      if (leak !== undefined) say(`a frame: ${leak}`);
      let frame: Plain;
      try {
        frame = JSON.parse(text) as Plain;
      } catch {
        return say("a frame that is no JSON");
      }
      const name = String(frame.frame);
      if (Object.hasOwn(judges, name)) judges[name as FrameDown["frame"]](frame);
      else say(`a frame "${name}"`);
    },
  };
}
