import { definePolicy, parseSize, refusal, type Step } from '@sluice/core'
import { validationStep } from '../../engines/json-schema/body-gate.js'
import { jsonLimitsFrom } from '../../engines/json-schema/json-bounds.js'
import { violationsText } from '../../engines/json-schema/violations.js'
import { codingIssue } from '../../shared/json/coding.js'
import { jsonOf } from '../../shared/json/view.js'
import { replaceBody } from '../../shared/message/side.js'
import { valueOfSource } from '../../shared/options/text-source.js'
import { type CheckSettings, SchemaCheck } from './check.js'
import { type OffloadedVerdict, verdictOf } from './json-schema-work.js'
import { type JsonSchemaConfig, jsonSchemaSchema } from './schema.js'

/** Validates JSON bodies against JSON schemas. */
export const jsonSchema = definePolicy({
  name: 'json-schema',
  summary:
    'Validates JSON bodies against JSON schemas. Can apply defaults, convert types and remove additional members.',
  schema: jsonSchemaSchema,
  cost: 'cpu',
  async compile(config, env): Promise<Step> {
    const settings = settingsOf(config)
    const check = await SchemaCheck.compile(settings)
    const status = config.status ?? 400
    return validationStep<OffloadedVerdict>({
      name: 'json-schema',
      phase: config.phase ?? 'request',
      maxBodyBytes: parseSize(config.maxBodyBytes ?? '1mb'),
      isReport: config.mode === 'report',
      isSlow: false,
      offload: env.offload(new URL('./json-schema-work.js', import.meta.url), settings),
      issue(headers) {
        const issue = codingIssue(headers)
        return issue === null ? null : `the body ${issue}`
      },
      verdict: (x, body) => verdictOf(() => check.check(jsonOf(x, body, settings.reading))),
      validate(x, side, verdict) {
        if ('unreadable' in verdict) return refusal('GW_BODY_UNPARSABLE', verdict.unreadable)
        const { violations, changed } = verdict
        if (violations.length > 0)
          return { ...refusal('GW_SCHEMA_INVALID', violationsText(violations)), status }
        if (changed !== null) replaceBody(x, side, Buffer.from(changed))
        return null
      },
    })
  },
})

function settingsOf(config: JsonSchemaConfig): CheckSettings {
  const { schema, schemas, references = [] } = config
  if ((schema === undefined) === (schemas === undefined))
    throw new Error("write either 'schema' or 'schemas'")
  const bounds = jsonLimitsFrom(config)
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
      allErrors: bounds.maxErrors > 1,
    },
    ...bounds,
  }
}
