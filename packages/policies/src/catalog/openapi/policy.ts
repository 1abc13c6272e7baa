import { definePolicy, parseSize, type Step } from '@sluice/core'
import { jsonBoundsOf } from '../../engines/json-schema/json-bounds.js'
import { BodyCheck } from './body-check.js'
import { readDescription } from './description.js'
import { Gate, type Mode } from './gate.js'
import { compilePathItem, type Operation, type PathItem, pathsOf } from './operation.js'
import { PathTable } from './path-table.js'
import { canonicalBase } from './request-parts.js'
import { type OpenapiConfig, openapiSchema } from './schema.js'
import { type SchemaSettings, Schemas } from './schemas.js'

/** Checks requests and responses against an OpenAPI description. */
export const openapi = definePolicy({
  name: 'openapi',
  summary: 'Checks requests, and responses too, against an OpenAPI 3.0 or 3.1 description.',
  schema: openapiSchema,
  cost: 'cpu',
  async compile(config, env): Promise<Step> {
    const settings = await settingsOf(config)
    const schemas = await Schemas.create(settings)
    const maxBodyBytes = parseSize(config.maxBodyBytes ?? '1mb')
    const modes = { request: config.mode ?? 'enforce', response: config.responses ?? 'report' }
    const gate = new Gate({
      paths: compilePaths(settings, schemas, modes.response),
      slot: env.slot<Operation>(),
      bodies: new BodyCheck({
        schemas,
        offload: env.offload(new URL('./openapi-work.js', import.meta.url), settings),
        reading: settings.reading,
        maxBodyBytes,
      }),
      basePath: canonicalBase(config.basePath ?? ''),
      rejectsUnknownOperation: config.unknownOperation !== 'pass',
      rejectsUnknownQuery: config.unknownQuery === 'reject',
      modes,
      status: config.status ?? 400,
      maxErrors: settings.maxErrors,
      maxBodyBytes,
    })
    return stepOf(gate, modes.response)
  },
})

function stepOf(gate: Gate, responses: Mode): Step {
  return {
    name: 'openapi',
    onRequest: (x) => gate.begin(x),
    onRequestBody: (x, body) => gate.request(x, body),
    ...(responses !== 'off' && {
      onResponse: (x) => gate.beginResponse(x),
      onResponseBody: (x, body) => gate.response(x, body),
    }),
  }
}

async function settingsOf(config: OpenapiConfig): Promise<SchemaSettings> {
  return {
    root: await readDescription(config.description),
    formats: config.formats ?? true,
    ...jsonBoundsOf(config),
  }
}

function compilePaths({ root }: SchemaSettings, schemas: Schemas, responses: Mode): PathTable<PathItem> {
  const paths = new PathTable<PathItem>()
  for (const [path, entry] of pathsOf(root)) {
    paths.add(path, compilePathItem(root, entry, { schemas, checksResponses: responses !== 'off' }))
  }
  return paths
}
