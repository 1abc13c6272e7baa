import { definePolicy, type Exchange, type Outcome, refusal, zoneOf } from '@sluice/core'
import { Opening } from './opening.js'
import { timeWindowSchema } from './schema.js'
import { compileWindows } from './windows.js'

const DETAIL = 'requests are not accepted at this time'

/** The `time-window` policy. Accepts or refuses requests at certain times. */
export const timeWindow = definePolicy({
  name: 'time-window',
  summary: 'Accepts or refuses requests on certain days and at certain times in a time zone.',
  schema: timeWindowSchema,
  decides: () => 'limit',
  compile(config, env) {
    const windows = compileWindows(config.windows)
    const opening = new Opening(windows, zoneOf(config.timeZone ?? 'UTC'), config.mode !== 'restrict')
    const closed = env.refusal('GW_TIME_RESTRICTED', `${DETAIL}: contact the operator of this API`)
    const saysWhen = config.retryAfter !== false
    return {
      name: 'time-window',
      onRequest(x: Exchange): Outcome {
        if (opening.isOpenAt(x.startedAt)) return null
        const opensAt = saysWhen ? opening.opensAt(x.startedAt) : Number.POSITIVE_INFINITY
        if (opensAt === Number.POSITIVE_INFINITY) return closed
        const seconds = String(Math.ceil((opensAt - x.startedAt) / 1000))
        return refusal('GW_TIME_RESTRICTED', `${DETAIL}: try again after the time in Retry-After`, [
          'retry-after',
          seconds,
        ])
      },
    }
  },
})
