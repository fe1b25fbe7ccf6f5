/**
 * Cases that our own server does not pass yet, because the feature is missing or wrong. A case that passes has to leave
 * this list, and the test says so.
 */
export const waiting: readonly string[] = [
  // NUL in the id of a proposal is 500.
  "addresses: [H2] [H7] GET /v1/proposals/{id} refuses other methods, and NUL in its path.",
  "addresses: [H2] [H7] POST /v1/proposals/{id}/accept refuses other methods, and NUL in its path.",
  "addresses: [H2] [H7] POST /v1/proposals/{id}/reject refuses other methods, and NUL in its path.",
  "addresses: [H2] [H7] POST /v1/proposals/{id}/withdraw refuses other methods, and NUL in its path.",
];
