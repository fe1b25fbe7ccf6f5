import { type KeyValueStore, keyValueStorage } from "@holdfast/sdk/platform";
import { storageContract } from "@holdfast/sdk/testing";

// A program for the command line of Hermes: it has promises and `print`, and none of what browsers and Node have.
declare const print: (line: string) => void;

function store(): KeyValueStore {
  const texts = new Map<string, string>();
  return {
    get: (key) => texts.get(key),
    entries: (from, to) => [...texts].filter(([key]) => key >= from && key < to),
    write(changes) {
      for (const change of changes)
        if (change.type === "put") texts.set(change.key, change.value);
        else if (change.type === "delete") texts.delete(change.key);
        else for (const key of [...texts.keys()]) if (key >= change.from && key < change.to) texts.delete(key);
    },
    close() {},
  };
}

async function main(): Promise<void> {
  for (const { rule, check } of storageContract) {
    const storage = keyValueStorage(store());
    const failed = await check(async () => storage).then(
      () => "",
      (error: unknown) => String(error),
    );
    print(failed === "" ? `ok ${rule}` : `broken ${rule}: ${failed}`);
  }
}

void main();
