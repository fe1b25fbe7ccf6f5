export { type HoldfastCollectionConfig, holdfastCollectionOptions } from "./collection-options.ts";
