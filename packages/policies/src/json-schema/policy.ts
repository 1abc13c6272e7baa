import { definePolicy, parseSize, type Step } from '@sluice/core'
import { DEFAULT_JSON_DEPTH } from '../json/view.js'
import { valueOfSource } from '../text-source.js'
import { type CheckSettings, SchemaCheck } from './check.js'
import { Gate } from './gate.js'
import { type JsonSchemaConfig, jsonSchemaSchema } from './schema.js'

/** Checks JSON bodies against JSON schemas. */
export const jsonSchema = definePolicy({
  name: 'json-schema',
  summary: 'Checks JSON bodies against JSON schemas; can fill defaults in, change types and remove members.',
  schema: jsonSchemaSchema,
  cost: 'cpu',
  async compile(config, env): Promise<Step> {
    const settings = settingsOf(config)
    const gate = new Gate({
      check: await SchemaCheck.compile(settings),
      reading: settings.reading,
      offload: env.offload(new URL('./json-schema-work.js', import.meta.url), settings),
      maxBodyBytes: parseSize(config.maxBodyBytes ?? '1mb'),
      status: config.status ?? 400,
      isReport: config.mode === 'report',
    })
    return stepOf(gate, config.phase ?? 'request')
  },
})

function stepOf(gate: Gate, phase: 'request' | 'response' | 'both'): Step {
  return {
    name: 'json-schema',
    ...(phase !== 'response' && {
      onRequest: (x) => gate.beginRequest(x),
      onRequestBody: (x, body) => gate.request(x, body),
    }),
    ...(phase !== 'request' && {
      onResponse: (x) => gate.beginResponse(x),
      onResponseBody: (x, body) => gate.response(x, body),
    }),
  }
}

function settingsOf(config: JsonSchemaConfig): CheckSettings {
  const { schema, schemas, references = [] } = config
  if ((schema === undefined) === (schemas === undefined)) {
    throw new Error("write either 'schema' or 'schemas'")
  }
  return {
    schemas: (schemas ?? [schema!]).map(valueOfSource),
    references: references.map(valueOfSource),
    match: config.match ?? 'any',
    select: config.select ?? '$',
    draft: config.draft ?? null,
    dialect: {
      formats: config.formats ?? true,
      coerce: config.coerce ?? false,
      removeAdditional: config.removeAdditional ?? false,
      applyDefaults: config.applyDefaults ?? false,
      allErrors: (config.maxErrors ?? 10) > 1,
    },
    maxErrors: config.maxErrors ?? 10,
    reading: {
      maxDepth: config.maxDepth ?? DEFAULT_JSON_DEPTH,
      duplicateKeys: config.duplicateKeys ?? 'reject',
    },
  }
}
