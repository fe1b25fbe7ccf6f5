import { isFilledByServer, type JsonObject, type Model } from "@holdfast/sdk/protocol";

/** The fields of a create that get the writer or the time, because it does not give them. */
export const filledFields = (model: Model, data: JsonObject): readonly string[] =>
  Object.entries(model.fields).flatMap(([name, field]) =>
    isFilledByServer(field) && !Object.hasOwn(data, name) ? [name] : [],
  );
