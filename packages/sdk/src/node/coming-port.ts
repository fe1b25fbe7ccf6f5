import type { Place } from "../core/events.ts";
import type { Mutation } from "../core/mutation.ts";
import type { RowChange, Rows } from "../core/rows.ts";

export interface Storage {
  open(freshClientId: string): Promise<Stored>;
  enqueue(mutations: readonly Mutation[]): Promise<readonly Place[]>;
  lead(): Promise<{ readonly generation: number; readonly mutations: readonly Mutation[] }>;
  keep(mutations: readonly Mutation[], generation: number): Promise<"kept" | "deposed">;
  forget(places: readonly Place[], generation?: number): Promise<"kept" | "deposed">;
  keepRows(stretch: StoredStretch, generation: number): Promise<"kept" | "gap" | "deposed">;
  keepPage(page: StoredPage, generation: number): Promise<"kept" | "deposed">;
  readRows(): Promise<Rows>;
  close(): Promise<void>;
}
export interface Stored {
  readonly clientId: string;
  readonly rows: Rows;
  readonly mutations: readonly Mutation[];
  readonly partial?: Partial;
}
export interface Partial {
  readonly logId: string;
  readonly stamp: number;
  readonly cursor: string;
}
export interface StoredStretch {
  readonly logId: string;
  readonly from: number;
  readonly to: number;
  readonly changes: readonly RowChange[];
  readonly settled: readonly Place[];
}
export interface StoredPage {
  readonly logId: string;
  readonly stamp: number;
  readonly first: boolean;
  readonly changes: readonly RowChange[];
  readonly cursor: string | null;
}
