import { type CompileEnv, Slices } from '@sluice/core'
import type { ReadSource } from '../../shared/options/text-source.js'
import { compilePathItem, type PathItem, pathsOf } from './operation.js'
import { PathTable } from './path-table.js'
import { type SchemaSettings, Schemas } from './schemas.js'

/** An OpenAPI description ready to check messages. */
export interface CompiledDescription {
  readonly settings: SchemaSettings
  readonly schemas: Schemas
  readonly paths: PathTable<PathItem>
}

/** Options for `compileDescription`. */
export interface CompileOptions extends Omit<SchemaSettings, 'text'> {
  readonly checksResponses: boolean
}

/**
 * Parses a description on a thread and compiles it in short steps, so that the worker keeps serving:
 *
 *     text ─ thread: parse, check against the standard ─ JSON ─► paths ─► one schema after the other
 *
 * @throws Error for an invalid description or schema.
 */
export async function compileDescription(
  source: ReadSource,
  { checksResponses, ...bounds }: CompileOptions,
  env: CompileEnv,
): Promise<CompiledDescription> {
  const reader = env.offload<ReadSource, string>(new URL('./description-work.js', import.meta.url), {})
  const settings = { ...bounds, text: await reader.run(source, { endedMono: 0 }) }
  const schemas = await Schemas.create(settings)
  const paths = new PathTable<PathItem>()
  const slices = new Slices()
  for (const [path, entry] of pathsOf(schemas.root)) {
    paths.add(path, compilePathItem(schemas.root, entry, { schemas, checksResponses }))
    await slices.pause()
  }
  while (schemas.compileNext()) await slices.pause()
  return { settings, schemas, paths }
}
