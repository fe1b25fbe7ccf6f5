import fc from "fast-check";

// Properties draw the same examples in each run of the gate. `npm run soak` draws new ones: fast-check prints the seed of a
// failure, which then becomes an example of its test.
if (process.env.HOLDFAST_NEW_SEEDS === undefined) fc.configureGlobal({ seed: 20_261_127 });
