import { createBindings, provideClient } from "@holdfast/vue";
import { createApp, defineComponent, h, shallowReactive } from "vue";
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

type UseView<T> = (inputs: Inputs) => Used<T>;

function viewsOf(client?: BoardClient): { readonly [V in keyof Views]: UseView<Views[V]> } {
  const bindings = createBindings<BoardSchema>(client);
  const inDeck = ({ deckId }: Inputs) => (deckId === "skip" ? deckId : { where: { deckId } });
  const sorted = (inputs: Inputs) => {
    const query = inDeck(inputs);
    return query === "skip" ? query : ({ ...query, orderBy: "order" } as const);
  };
  const claimed = (inputs: Inputs, auto: boolean) => {
    const { state, claim, release } = bindings.useClaim("slide", () => inputs.id, { auto });
    return { read: () => state.value.status, claim, release };
  };
  return {
    list(inputs) {
      const list = bindings.useQuery("slide", () => sorted(inputs));
      const { create } = bindings.useMutation("slide");
      return { read: () => list.value, create };
    },
    listAndCount(inputs) {
      const list = bindings.useQuery("slide", () => sorted(inputs));
      const count = bindings.useCount("slide", () => inDeck(inputs));
      return { read: () => ({ ids: list.value.map(({ id }) => id), count: count.value }) };
    },
    record(inputs) {
      const record = bindings.useRecord("slide", () => inputs.id);
      return { read: () => record.value };
    },
    count(inputs) {
      const count = bindings.useCount("slide", () => inDeck(inputs));
      return { read: () => count.value };
    },
    status() {
      const status = bindings.useSyncStatus();
      return { read: () => status.value.name };
    },
    conflicts() {
      const conflicts = bindings.useConflicts();
      return {
        read: () => conflicts.value.flatMap(({ fields }) => fields),
        takeTheirs: () => conflicts.value[0]?.takeTheirs(),
      };
    },
    claim: (inputs) => claimed(inputs, false),
    autoClaim: (inputs) => claimed(inputs, true),
    me(inputs) {
      const { state, set } = bindings.useMyPresence(() => inputs.room, { name: "Ann" });
      return { read: () => state.value, set };
    },
    others(inputs) {
      const others = bindings.useOthers(() => inputs.room);
      return { read: () => others.value };
    },
    part(inputs) {
      const part = bindings.useLoad("note", () => (inputs.deckId === "skip" ? "skip" : { deckId: inputs.deckId }));
      return { read: () => part.value.status };
    },
    nothing(inputs) {
      bindings.useClaim("slide", () => inputs.id, { auto: true });
      bindings.useMyPresence(() => inputs.room, { name: "Ann" });
      bindings.useLoad("note", () => ({ deckId: inputs.deckId }));
      return { read: () => undefined };
    },
    unknownModel() {
      const message = messageOf(() => bindings.useQuery("slied" as "slide").value);
      return { read: () => message };
    },
  };
}

export const vue: Adapter = {
  name: "Vue",
  mount(client, view, initial, from = "provider") {
    const rendered: Views[typeof view][] = [];
    const inputs = shallowReactive({ ...initial });
    let used: Used<Views[typeof view]> | undefined;
    const Shown = defineComponent(() => {
      const own: Used<Views[typeof view]> = viewsOf(from === "argument" ? client : undefined)[view](inputs);
      used = own;
      return () => {
        const value = own.read();
        rendered.push(value);
        return h("p", textOf(value));
      };
    });
    const App = defineComponent(() => {
      if (from === "provider") provideClient(client);
      return () => h(Shown);
    });
    const place = placeOnPage();
    const app = createApp(App);
    app.mount(place);
    return mountedOn(place, rendered, () => used, {
      change: (next) => Object.assign(inputs, next),
      unmount: () => app.unmount(),
    });
  },
};
