import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type * as Yaml from 'yaml'

const require = createRequire(import.meta.url)
/** The library in one file, for all packages (docs/internals/adr/0028-bundle-packages.md). */
const LIBRARY = fileURLToPath(new URL('../bundle/yaml-library.cjs', import.meta.url))
let loaded: typeof Yaml | null = null

/** Returns the YAML library. It loads on first use, because workers of a gateway rarely read YAML. */
export function yamlLibrary(): typeof Yaml {
  loaded ??= require(LIBRARY) as typeof Yaml
  return loaded
}

/** True for a node of this kind; see the library. */
export const isAlias: typeof Yaml.isAlias = (node): node is Yaml.Alias => yamlLibrary().isAlias(node)
/** True for a mapping. */
export const isMap: typeof Yaml.isMap = ((node: unknown) => yamlLibrary().isMap(node)) as typeof Yaml.isMap
/** True for a list. */
export const isSeq: typeof Yaml.isSeq = ((node: unknown) => yamlLibrary().isSeq(node)) as typeof Yaml.isSeq
/** True for a scalar. */
export const isScalar = ((node: unknown) => yamlLibrary().isScalar(node)) as typeof Yaml.isScalar
/** True for a key with its value. */
export const isPair = ((node: unknown) => yamlLibrary().isPair(node)) as typeof Yaml.isPair
/** True for a mapping or list. */
export const isCollection = ((node: unknown) => yamlLibrary().isCollection(node)) as typeof Yaml.isCollection
