import { definePolicy, parseDuration, parseSize, type Step } from '@sluice/core'
import { DEFAULT_JSON_DEPTH } from '../../engines/json/view.js'
import { hooksOn, type MessageHooks } from '../../shared/message/hooks.js'
import type { Side } from '../../shared/message/side.js'
import { contentTypeOf, Gate } from './gate.js'
import { type SideConfig, type TransformConfig, transformSchema } from './schema.js'
import { compileTransformer, type TransformerUse } from './transformer.js'

/** Longest `timeout`. */
const MAX_TIMEOUT_MS = 5000

/** Makes other bodies of JSON bodies. */
export const transform = definePolicy({
  name: 'transform',
  summary: 'Makes another body of a JSON body: by a JSONata expression, or by a template.',
  schema: transformSchema,
  cost: 'cpu',
  async compile(config, env): Promise<Step> {
    const timeoutMs = parseDuration(config.timeout ?? '50ms')
    if (timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS) throw new Error("'timeout' has to be from 1ms to 5s")
    if (config.request === undefined && config.response === undefined) {
      throw new Error("there is nothing to transform; write 'request' or 'response'")
    }
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
