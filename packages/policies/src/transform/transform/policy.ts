import { definePolicy, parseDuration, parseSize, type Step } from '@sluice/core'
import { DEFAULT_JSON_DEPTH } from '../../shared/json/view.js'
import { hooksOn, type MessageHooks } from '../../shared/message/hooks.js'
import type { Side } from '../../shared/message/side.js'
import { contentTypeOf, Gate } from './gate.js'
import { type SideConfig, type TransformConfig, transformSchema } from './schema.js'
import { compileTransformer, type TransformerUse } from './transformer.js'

/** Maximum `timeout` in milliseconds. */
const MAX_TIMEOUT_MS = 5000

/** The `transform` policy. Transforms JSON bodies with an expression or a template. */
export const transform = definePolicy({
  name: 'transform',
  summary: 'Transforms a JSON body with a JSONata expression or a template.',
  schema: transformSchema,
  cost: 'cpu',
  async compile(config, env): Promise<Step> {
    const timeoutMs = parseDuration(config.timeout ?? '50ms')
    if (timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS) throw new Error("'timeout' must be between 1ms and 5s")
    if (config.request === undefined && config.response === undefined)
      throw new Error("nothing to transform: set 'request' or 'response'")
    const use: TransformerUse = {
      env,
      limits: { timeoutMs, maxItems: config.maxItems ?? 10_000 },
      reading: { maxDepth: config.maxDepth ?? DEFAULT_JSON_DEPTH },
    }
    const hooks = {
      request: await compileSide(config, 'request', use),
      response: await compileSide(config, 'response', use),
    }
    return { name: 'transform', ...hooksOn('both', (side) => hooks[side]) }
  },
})

async function compileSide(config: TransformConfig, side: Side, use: TransformerUse): Promise<MessageHooks> {
  const written: SideConfig | undefined = config[side]
  if (written === undefined) return {}
  const gate = new Gate({
    side,
    transformer: await compileTransformer(written, use),
    contentType: contentTypeOf(written),
    maxBodyBytes: parseSize(config.maxBodyBytes ?? '1mb'),
    maxOutputBytes: parseSize(config.maxOutputBytes ?? '1mb'),
  })
  return { head: (x) => gate.begin(x), body: (x, body) => gate.transform(x, body) }
}
