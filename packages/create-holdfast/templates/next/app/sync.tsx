"use client";

import { HydrationBoundary, type Snapshot, SyncProvider } from "@holdfast/react";
import { HoldfastDevtools } from "@holdfast/react/devtools";
import { createClient, type SyncClient } from "@holdfast/sdk";
import type { ReactNode } from "react";
import { type Schema, schema } from "../lib/schema";

let client: SyncClient<Schema> | undefined;

/** One client for the page, made in the browser; while the server renders there is none. */
function clientFor(url: string) {
  if (typeof window === "undefined") return undefined;
  const getToken = async () => (await fetch("/token", { method: "POST" })).text();
  client ??= createClient({ schema, url, user: "ada", getToken });
  return client;
}

export function Sync(props: { url: string; state: Snapshot; children: ReactNode }) {
  return (
    <SyncProvider client={clientFor(props.url)}>
      <HydrationBoundary state={props.state}>{props.children}</HydrationBoundary>
      <HoldfastDevtools rooms={["deck:d1"]} />
    </SyncProvider>
  );
}
