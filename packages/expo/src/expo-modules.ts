/*
 * What is used of the modules that an app passes. So this package depends on no version of them, and an app that has
 * another one of the same shape may pass that.
 */

/** `import * as SQLite from "expo-sqlite"` */
export interface ExpoSQLite {
  openDatabaseAsync(name: string): Promise<ExpoDatabase>;
}

export interface ExpoDatabase {
  execAsync(sql: string): Promise<void>;
  runAsync(sql: string, values: string[]): Promise<unknown>;
  getFirstAsync<Row>(sql: string, values: string[]): Promise<Row | null>;
  getAllAsync<Row>(sql: string, values: string[]): Promise<Row[]>;
  closeAsync(): Promise<void>;
}

/** `import * as Network from "expo-network"` */
export interface ExpoNetwork {
  addNetworkStateListener(listener: (state: { readonly isConnected?: boolean }) => void): Subscription;
}

/** `import { AppState } from "react-native"` */
export interface ReactNativeAppState {
  addEventListener(event: "change", listener: (state: string) => void): Subscription;
}

/** `import * as Crypto from "expo-crypto"` */
export interface ExpoCrypto {
  getRandomBytes(count: number): Uint8Array;
}

export interface Subscription {
  remove(): void;
}

export interface ExpoModules {
  readonly SQLite: ExpoSQLite;
  readonly Network: ExpoNetwork;
  readonly AppState: ReactNativeAppState;
  /** For ids that no one can guess: Hermes has no `crypto.getRandomValues`. */
  readonly Crypto: ExpoCrypto;
}
