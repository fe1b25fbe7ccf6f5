/** @type {import("next").NextConfig} */
export default {
  // It reads files and opens sockets: left to Node as it is.
  serverExternalPackages: ["@holdfast/sdk"],
};
