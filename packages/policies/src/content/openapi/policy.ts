import { createHash } from 'node:crypto'
import {
  type CompileEnv,
  definePolicy,
  type Exchange,
  type PolicyWarning,
  parseSize,
  type Step,
} from '@sluice/core'
import { jsonLimitsFrom } from '../../engines/json-schema/json-bounds.js'
import { failClosed, hooksOn, type MessageHooks } from '../../shared/message/hooks.js'
import type { Side } from '../../shared/message/side.js'
import { readSource } from '../../shared/options/text-source.js'
import { BodyCheck } from './body-check.js'
import { type CompiledDescription, compileDescription } from './compiled-description.js'
import { Gate, type Mode } from './gate.js'
import type { Operation } from './operation.js'
import { canonicalBase } from './request-parts.js'
import { type OpenapiConfig, openapiSchema } from './schema.js'
import { skippedPatterns } from './skipped-patterns.js'

/** Maximum number of patterns that a warning lists. */
const MAX_NAMED = 20

/** The `openapi` policy. Checks requests and responses against an OpenAPI description. */
export const openapi = definePolicy({
  name: 'openapi',
  summary: 'Checks requests and responses against an OpenAPI 3.0 or 3.1 description.',
  schema: openapiSchema,
  cost: 'cpu',
  warnings: skippedWarnings,
  async compile(config, env): Promise<Step> {
    const { settings, schemas, paths } = await descriptionOf(config, env)
    const maxBodyBytes = parseSize(config.maxBodyBytes ?? '1mb')
    const modes = { request: config.mode ?? 'enforce', response: config.responses ?? 'report' }
    const gate = new Gate({
      paths,
      slot: env.slot<Operation>(),
      bodies: new BodyCheck({
        schemas,
        offload: env.offload(new URL('./openapi-work.js', import.meta.url), settings),
        reading: settings.reading,
        maxBodyBytes,
      }),
      basePath: canonicalBase(config.basePath ?? ''),
      rejectsUnknownOperation: config.unknownOperation !== 'pass',
      rejectsUnknownQuery: config.unknownQuery === 'refuse',
      modes,
      status: config.status ?? 400,
      maxErrors: settings.maxErrors,
      maxBodyBytes,
    })
    return stepOf(gate, modes)
  },
})

function stepOf(gate: Gate, modes: Readonly<Record<Side, Mode>>): Step {
  const checks = (side: Side, hooks: Required<MessageHooks>): MessageHooks =>
    modes[side] === 'enforce'
      ? { head: failClosed('openapi', hooks.head), body: failClosed('openapi', hooks.body) }
      : hooks
  const phase = modes.response === 'off' ? 'request' : 'both'
  const hooks = {
    request: {
      head: (x: Exchange) => gate.begin(x),
      body: (x: Exchange, body: Uint8Array) => gate.request(x, body),
    },
    response: {
      head: (x: Exchange) => gate.beginResponse(x),
      body: (x: Exchange, body: Uint8Array) => gate.response(x, body),
    },
  }
  return { name: 'openapi', ...hooksOn(phase, (side) => checks(side, hooks[side])) }
}

/**
 * Returns the compiled description. It is shared by all routes and kept across reloads while it is unchanged.
 */
async function descriptionOf(config: OpenapiConfig, env: CompileEnv): Promise<CompiledDescription> {
  const source = readSource(config.description)
  const options = {
    formats: config.formats ?? true,
    skipsUnsupported: config.onUnsupported === 'skip',
    checksResponses: config.responses !== 'off',
    ...jsonLimitsFrom(config),
  }
  const digest = createHash('sha256').update(JSON.stringify(options)).update(source.text).digest('hex')
  const kept = env.shared<{ compiled: Promise<CompiledDescription> | null }>(`openapi:${digest}`, () => ({
    compiled: null,
  }))
  kept.compiled ??= compileDescription(source, options, env)
  try {
    return await kept.compiled
  } catch (error) {
    // The next attempt may succeed, for example if no thread was free.
    kept.compiled = null
    throw withSkipHint(error)
  }
}

/** Adds a hint about `onUnsupported` to errors about patterns that cannot be matched in linear time. */
function withSkipHint(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.includes('linear time')) return error
  return new Error(`${error.message}, or set onUnsupported: skip`, { cause: error })
}

function skippedWarnings({ description, onUnsupported }: OpenapiConfig): PolicyWarning[] {
  if (onUnsupported !== 'skip') return []
  const skipped = skippedPatterns(description)
  if (skipped.length === 0) return []
  const more = skipped.length > MAX_NAMED ? ` and ${skipped.length - MAX_NAMED} more` : ''
  return [
    {
      message: `skipped patterns in the description (${skipped.length}): ${skipped.slice(0, MAX_NAMED).join(', ')}${more}`,
      remedy: 'rewrite them without look-around and back references',
    },
  ]
}
