import { keyValueStorage, type Platform, type Random, type Signals } from "@holdfast/sdk/platform";
import type { ExpoCrypto, ExpoModules, ExpoNetwork, ReactNativeAppState, Subscription } from "./expo-modules.ts";
import { openSqliteStore } from "./sqlite-store.ts";

/**
 * What a client needs in an Expo app: its store is a file of expo-sqlite, it hears of the network by expo-network and of
 * the app's state by React Native. Pass it to `createClientOn` of `@holdfast/sdk/platform`.
 */
export const expoPlatform = ({ SQLite, Network, AppState, Crypto }: ExpoModules): Platform => ({
  storage: async (name) => keyValueStorage(await openSqliteStore(SQLite, fileOf(name))),
  signals: () => expoSignals(Network, AppState),
  random: expoRandom(Crypto),
});

/** Android and iOS allow 255 bytes. */
const LONGEST_FILE = 255;

/** Each store has a file of its own. Throws if its name is too long for one: give the client a shorter `store`. */
export function fileOf(name: string): string {
  const file = `holdfast-${encodeURIComponent(name).replaceAll("%", "_")}.db`;
  if (file.length > LONGEST_FILE)
    throw new RangeError(
      `The store's name makes a file name of ${file.length} characters, which is too long. Choose a shorter \`store\`.`,
    );
  return file;
}

function expoSignals(network: ExpoNetwork, app: ReactNativeAppState): Signals {
  const subscriptions: Subscription[] = [];
  return {
    start(listener) {
      subscriptions.push(
        network.addNetworkStateListener(({ isConnected }) => {
          // Undefined: the platform does not know.
          if (isConnected !== undefined) listener.network(isConnected);
        }),
        app.addEventListener("change", (state) => {
          if (state === "active") listener.woke();
          // iOS says "inactive" before "background": while a call comes in, say.
          if (state === "background") listener.hidden();
        }),
      );
    },
    close() {
      for (const one of subscriptions.splice(0)) one.remove();
    },
  };
}

/** Letters that ids may have. */
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

const expoRandom = (crypto: ExpoCrypto): Random => ({
  roll: () => Math.random(),
  // 126 bits: as many as an id of nanoid has.
  id: () => Array.from(crypto.getRandomBytes(21), (byte) => LETTERS[byte % 64]).join(""),
});
