import { definePolicy, type Exchange, parseDuration, type Reply, substitute } from '@sluice/core'
import { compileBody, contentTypeOf } from '../../shared/message/generated-body.js'
import { compileFields } from '../../shared/message/generated-fields.js'
import { Delays } from '../../shared/time/delays.js'
import { mockSchema } from './schema.js'

/** Maximum number of delayed responses at once, per worker and policy. */
const MAX_DELAYED = 1000

/** Responds instead of the upstream. */
export const mock = definePolicy({
  name: 'mock',
  summary: 'Responds instead of the upstream, optionally with values from the request.',
  schema: mockSchema,
  decides: () => 'answer',
  compile(config, env) {
    const status = config.status ?? 200
    const type = contentTypeOf(config)
    const fields = compileFields(config.headers ?? {}, type)
    const body = compileBody(config, type)
    if (body !== null && (status === 204 || status === 304))
      throw new Error(
        `a response with status ${status} cannot have a body; remove it, or choose another status`,
      )
    const isFixed = Array.isArray(fields) && typeof body !== 'function'
    const fixed = isFixed ? substitute(status, fields, body) : null
    const answer = (x: Exchange): Reply =>
      fixed ??
      substitute(
        status,
        typeof fields === 'function' ? fields(x) : fields,
        typeof body === 'function' ? body(x) : body,
      )
    if (config.delay === undefined) return { name: 'mock', onRequest: answer }
    const ms = Delays.check(parseDuration(config.delay))
    const delays = new Delays(MAX_DELAYED, env)
    return { name: 'mock', onRequest: (x) => (delays.hasRoom ? delays.wait(ms, answer(x)) : answer(x)) }
  },
})
