import fc from "fast-check";

// A failure of a property is one of the code, not of the day's draw. `npm run soak` runs the properties with a new seed.
fc.configureGlobal({ seed: Number(process.env.HOLDFAST_PROPERTY_SEED ?? 20_261_127) });
