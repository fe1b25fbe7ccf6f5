import { createRequire } from "node:module";
import { join } from "node:path";
import { importPeerFile } from "../peers/packages.ts";
import { hocuspocus } from "./hocuspocus.ts";
import { logux } from "./logux.ts";
import { pouchdb } from "./pouchdb.ts";
import { rxdb } from "./rxdb.ts";
import type { Installed, System } from "./system.ts";
import { zero } from "./zero.ts";

export type SystemName = "rxdb" | "hocuspocus" | "logux" | "pouchdb" | "zero";

const SYSTEMS: Readonly<Record<SystemName, System>> = { rxdb, hocuspocus, logux, pouchdb, zero };

export const systemOf = (name: SystemName): System => SYSTEMS[name];

export const installedIn = (folder: string): Installed => ({
  folder,
  require: createRequire(join(folder, "package.json")),
  import: (name, file) => importPeerFile(folder, name, file),
});
