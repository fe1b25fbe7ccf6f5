import type { Module } from "../module.ts";
import { BUDGETS, budgetsInRounds } from "./flows/budgets-in-rounds.ts";

/** What a token may write at most. */
export const budgets = { name: BUDGETS, inRounds: budgetsInRounds } satisfies Module;
