import { createBindings } from "@holdfast/svelte";
import { flushSync, mount, unmount } from "svelte";
import {
  type Adapter,
  type BoardClient,
  type BoardSchema,
  type Inputs,
  messageOf,
  textOf,
  type Used,
  type Views,
} from "../board.ts";
import App from "./app.svelte";
import { mountedOn, placeOnPage } from "./mounted.ts";

type UseView<T> = (inputs: Inputs) => Used<T>;

function viewsOf(client?: BoardClient): { readonly [V in keyof Views]: UseView<Views[V]> } {
  const bindings = createBindings<BoardSchema>(client);
  const inDeck = ({ deckId }: Inputs) => (deckId === "skip" ? deckId : { where: { deckId } });
  const sorted = (inputs: Inputs) => {
    const query = inDeck(inputs);
    return query === "skip" ? query : ({ ...query, orderBy: "order" } as const);
  };
  const claimed = (inputs: Inputs, auto: boolean) => {
    const claim = bindings.useClaim("slide", () => inputs.id, { auto });
    return { read: () => claim.current.status, claim: claim.claim, release: claim.release };
  };
  return {
    list(inputs) {
      const list = bindings.useQuery("slide", () => sorted(inputs));
      const { create } = bindings.useMutation("slide");
      return { read: () => list.current, create };
    },
    listAndCount(inputs) {
      const list = bindings.useQuery("slide", () => sorted(inputs));
      const count = bindings.useCount("slide", () => inDeck(inputs));
      return { read: () => ({ ids: list.current.map(({ id }) => id), count: count.current }) };
    },
    record(inputs) {
      const record = bindings.useRecord("slide", () => inputs.id);
      return { read: () => record.current };
    },
    count(inputs) {
      const count = bindings.useCount("slide", () => inDeck(inputs));
      return { read: () => count.current };
    },
    status() {
      const status = bindings.useSyncStatus();
      return { read: () => status.current.name };
    },
    conflicts() {
      const conflicts = bindings.useConflicts();
      return {
        read: () => conflicts.current.flatMap(({ fields }) => fields),
        takeTheirs: () => conflicts.current[0]?.takeTheirs(),
      };
    },
    claim: (inputs) => claimed(inputs, false),
    autoClaim: (inputs) => claimed(inputs, true),
    me(inputs) {
      const me = bindings.useMyPresence(() => inputs.room, { name: "Ann" });
      return { read: () => me.current, set: me.set };
    },
    others(inputs) {
      const others = bindings.useOthers(() => inputs.room);
      return { read: () => others.current };
    },
    part(inputs) {
      const part = bindings.useLoad("note", () => (inputs.deckId === "skip" ? "skip" : { deckId: inputs.deckId }));
      return { read: () => part.current.status };
    },
    nothing(inputs) {
      bindings.useClaim("slide", () => inputs.id, { auto: true });
      bindings.useMyPresence(() => inputs.room, { name: "Ann" });
      bindings.useLoad("note", () => ({ deckId: inputs.deckId }));
      return { read: () => undefined };
    },
    unknownModel() {
      const message = messageOf(() => bindings.useQuery("slied" as "slide").current);
      return { read: () => message };
    },
  };
}

export const svelte: Adapter = {
  name: "Svelte",
  mount(client, view, initial, from = "provider") {
    const rendered: Views[typeof view][] = [];
    let used: Used<Views[typeof view]> | undefined;
    const place = placeOnPage();
    const app = mount(App, {
      target: place,
      props: {
        provided: from === "provider" ? client : undefined,
        initial,
        use(inputs: Inputs) {
          used = viewsOf(from === "argument" ? client : undefined)[view](inputs);
          return used;
        },
        show(value: Views[typeof view]) {
          rendered.push(value);
          return textOf(value);
        },
      },
    });
    flushSync();
    return mountedOn(place, rendered, () => used, {
      change: (next) => app.change(next),
      unmount: () => void unmount(app),
    });
  },
};
