import { type CompileEnv, definePolicy, OFFLOAD_BYTES, parseSize, refusal, type Step } from '@sluice/core'
import { type ValidationResult, validationStep } from '@sluice/policies/engines/json-schema/body-gate'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { DEFAULT_DEPTH, XML_LIMITS } from '../../engines/xml/limits.js'
import { mediaTypeCheck } from '../../engines/xml/media-type.js'
import { xmlOf } from '../../engines/xml/xml-of.js'
import type { CheckedSchemas } from './checked-schemas.js'
import { DEFAULT_CONTENT_TYPES, type XsdConfig, xsdSchema } from './schema.js'
import { readSchemas, type SchemaDocuments } from './schema-documents.js'
import { Validator, type ValidatorConfig, type Verdict } from './validator.js'

/** Time limit of a validation on a thread, in milliseconds. */
const MAX_MS = 2000

/** The `xsd` policy. Validates XML bodies against XML Schema 1.0. */
export const xsd = definePolicy({
  name: 'xsd',
  summary: 'Validates XML bodies of requests and responses against XML Schema 1.0.',
  schema: xsdSchema,
  cost: 'cpu',
  async compile(config, env): Promise<Step> {
    const maxBodyBytes = parseSize(config.maxBodyBytes ?? '1mb')
    if (maxBodyBytes > XML_LIMITS.maxBytes)
      throw new Error(`'maxBodyBytes' ${config.maxBodyBytes} exceeds 10mb, the maximum for XML`)
    await loadLibxml()
    const settings = await settingsOf(config, env)
    const validator = new Validator(settings)
    env.onClose(() => validator.close())
    return validationStep<Verdict>({
      name: 'xsd',
      phase: config.phase ?? 'request',
      maxBodyBytes,
      isReport: config.mode === 'report',
      isSlow: settings.isSlow,
      offload: env.offload(new URL('./xsd-work.js', import.meta.url), settings, MAX_MS),
      issue: mediaTypeCheck(config.contentTypes ?? DEFAULT_CONTENT_TYPES),
      verdict: (x, body) => validator.validate(() => xmlOf(x, body, settings.maxDepth)),
      validate: (_x, _side, verdict) => resultOf(verdict),
    })
  },
})

function resultOf(verdict: Verdict): ValidationResult {
  if (verdict.kind === 'valid') return null
  if (verdict.kind === 'undecided') return 'undecided'
  if (verdict.kind === 'invalid') return refusal('GW_SCHEMA_INVALID', verdict.mistakes)
  return verdict.code === 'GW_OVERLOADED' ? 'overloaded' : refusal(verdict.code, verdict.mistakes)
}

async function settingsOf(config: XsdConfig, env: CompileEnv): Promise<ValidatorConfig> {
  return {
    ...(await checked(readSchemas(config), env)),
    select: config.select,
    names: config.namespaces ?? {},
    maxErrors: config.maxErrors ?? 10,
    maxDepth: config.maxDepth ?? DEFAULT_DEPTH,
  }
}

/** Checks schemas, large sets on a thread. libxml2 then compiles them in the memory of the calling thread. */
async function checked(schemas: SchemaDocuments, env: CompileEnv): Promise<CheckedSchemas> {
  if (schemas.documents.reduce((sum, { bytes }) => sum + bytes.length, 0) < OFFLOAD_BYTES) {
    // The character set library takes 60 ms to load, so only gateways with schemas load it.
    const { checkSchemas } = await import('./checked-schemas.js')
    return checkSchemas(schemas)
  }
  const checking = env.offload<SchemaDocuments, CheckedSchemas>(
    new URL('./check-work.js', import.meta.url),
    {},
  )
  return checking.run(schemas, { endedMono: 0 })
}
