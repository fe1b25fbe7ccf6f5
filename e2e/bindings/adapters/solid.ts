import { createBindings, SyncProvider } from "@holdfast/solid";
import { createComponent, createRenderEffect, createSignal } from "solid-js";
import { render } from "solid-js/web";
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
import { mountedOn, placeOnPage } from "./mounted.ts";

type UseView<T> = (inputs: () => Inputs) => Used<T>;

function viewsOf(client?: BoardClient): { readonly [V in keyof Views]: UseView<Views[V]> } {
  const bindings = createBindings<BoardSchema>(client);
  const inDeck = ({ deckId }: Inputs) => (deckId === "skip" ? deckId : { where: { deckId } });
  const sorted = (inputs: Inputs) => {
    const query = inDeck(inputs);
    return query === "skip" ? query : ({ ...query, orderBy: "order" } as const);
  };
  const claimed = (inputs: () => Inputs, auto: boolean) => {
    const { state, claim, release } = bindings.useClaim("slide", () => inputs().id, { auto });
    return { read: () => state().status, claim, release };
  };
  return {
    list(inputs) {
      const list = bindings.useQuery("slide", () => sorted(inputs()));
      const { create } = bindings.useMutation("slide");
      return { read: list, create };
    },
    listAndCount(inputs) {
      const list = bindings.useQuery("slide", () => sorted(inputs()));
      const count = bindings.useCount("slide", () => inDeck(inputs()));
      return { read: () => ({ ids: list().map(({ id }) => id), count: count() }) };
    },
    record: (inputs) => ({ read: bindings.useRecord("slide", () => inputs().id) }),
    count: (inputs) => ({ read: bindings.useCount("slide", () => inDeck(inputs())) }),
    status() {
      const status = bindings.useSyncStatus();
      return { read: () => status().name };
    },
    conflicts() {
      const conflicts = bindings.useConflicts();
      return {
        read: () => conflicts().flatMap(({ fields }) => fields),
        takeTheirs: () => conflicts()[0]?.takeTheirs(),
      };
    },
    claim: (inputs) => claimed(inputs, false),
    autoClaim: (inputs) => claimed(inputs, true),
    me(inputs) {
      const { state, set } = bindings.useMyPresence(() => inputs().room, { name: "Ann" });
      return { read: state, set };
    },
    others: (inputs) => ({ read: bindings.useOthers(() => inputs().room) }),
    part(inputs) {
      const where = () => (inputs().deckId === "skip" ? ("skip" as const) : { deckId: inputs().deckId });
      const part = bindings.useLoad("note", where);
      return { read: () => part().status };
    },
    nothing(inputs) {
      bindings.useClaim("slide", () => inputs().id, { auto: true });
      bindings.useMyPresence(() => inputs().room, { name: "Ann" });
      bindings.useLoad("note", () => ({ deckId: inputs().deckId }));
      return { read: () => undefined };
    },
    unknownModel() {
      const message = messageOf(() => bindings.useQuery("slied" as "slide")());
      return { read: () => message };
    },
  };
}

export const solid: Adapter = {
  name: "Solid",
  mount(client, view, initial, from = "provider") {
    const rendered: Views[typeof view][] = [];
    const [inputs, setInputs] = createSignal(initial);
    let used: Used<Views[typeof view]> | undefined;
    function Shown() {
      const own: Used<Views[typeof view]> = viewsOf(from === "argument" ? client : undefined)[view](inputs);
      used = own;
      const paragraph = document.createElement("p");
      createRenderEffect(() => {
        const value = own.read();
        rendered.push(value);
        paragraph.textContent = textOf(value);
      });
      return paragraph;
    }
    const shown = () => createComponent(Shown, {});
    const provided = {
      client,
      get children() {
        return shown();
      },
    };
    const place = placeOnPage();
    const unmount = render(() => (from === "provider" ? createComponent(SyncProvider, provided) : shown()), place);
    return mountedOn(place, rendered, () => used, {
      change: (next) => setInputs((before) => ({ ...before, ...next })),
      unmount,
    });
  },
};
