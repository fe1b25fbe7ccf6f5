import { createHooks } from "@holdfast/react";
import { createClient } from "@holdfast/sdk";
import { schema, url } from "./schema.ts";

/** Whose page this is: `?user=ben`. */
export const user = new URLSearchParams(location.search).get("user") ?? "ann";
const getToken = () => fetch(`/token?user=${encodeURIComponent(user)}`).then((answer) => answer.text());
export const client = createClient({ schema, url, getToken, user });

const hooks = createHooks<typeof schema>();
export const { useAttention, useConflicts, useCountBy, useDraft, useMutation, useMyPresence, useOthers } = hooks;
export const { useQuery, useQueryState, useRecord, useSyncStatus, useUndo } = hooks;
