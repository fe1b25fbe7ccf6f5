import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";

/** A package that is installed with ours, as `pnpm list --json` tells it. */
export interface Installed {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, Installed>>;
  readonly optionalDependencies?: Readonly<Record<string, Installed>>;
}

export interface Listed extends Installed {
  readonly name: string;
}

/** A bill of materials in CycloneDX's JSON: what our packages bring along when they are installed. */
export function billOfMaterials(version: string, packages: readonly Listed[]): string {
  const bom = new Models.Bom({
    metadata: new Models.Metadata({
      component: new Models.Component(Enums.ComponentType.Application, "holdfast", {
        bomRef: `holdfast@${version}`,
        version,
      }),
    }),
  });
  const ours = new Set(packages.map(({ name }) => name));
  const known = new Map<string, Models.Component>();

  function componentOf(name: string, of: Installed): Models.Component {
    const key = `${name}@${of.version}`;
    const made = known.get(key);
    if (made) return made;
    const [group, rest] = name.startsWith("@") ? name.split("/") : [undefined, name];
    const component = new Models.Component(Enums.ComponentType.Library, rest ?? name, {
      bomRef: key,
      ...(group !== undefined && { group }),
      version: of.version,
      purl: `pkg:npm/${name.replace("@", "%40")}@${of.version}`,
    });
    known.set(key, component);
    bom.components.add(component);
    for (const [other, one] of Object.entries({ ...of.dependencies, ...of.optionalDependencies })) {
      // Packages of the workspace are listed with what they need themselves.
      const own = ours.has(other) ? packages.find((listed) => listed.name === other) : undefined;
      component.dependencies.add(componentOf(other, own ?? one).bomRef);
    }
    return component;
  }

  for (const one of packages) bom.metadata.component?.dependencies.add(componentOf(one.name, one).bomRef);
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}
