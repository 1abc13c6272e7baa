import { type CachedValue, type Exchange, isFieldValue, type Outcome, substitute } from '@sluice/core'
import { Draft } from '../../shared/field-location/draft.js'
import { compileLocation } from '../../shared/field-location/location.js'
import type { CachePolicyConfig } from './schema.js'
import type { CacheUse } from './use.js'

const UNKNOWN_TYPE = 'application/octet-stream'

/** Writes a value to its target. Returns false if the value is not valid there. */
type WriteValue = (x: Exchange, value: CachedValue) => boolean | NonNullable<Outcome>

/** Compiles `lookup`. @throws Error if the target is invalid. */
export function compileLookup(
  config: CachePolicyConfig,
  use: CacheUse,
): (x: Exchange, key: string | null) => Outcome | Promise<Outcome> {
  const { store, space } = use
  const place = writerFor(config, use)
  const name = `cache.${space}`
  const note = (x: Exchange, result: 'hit' | 'miss' | 'none'): null => {
    x.setVar(name, result)
    use.count(result)
    return null
  }
  return (x, key) => {
    if (key === null) return note(x, 'none')
    return store.get(space, key).then(
      (found) => {
        const placed = found !== null && place(x, found)
        note(x, placed === false ? 'miss' : 'hit')
        return typeof placed === 'object' ? placed : null
      },
      (error: unknown) => {
        x.setVar(name, 'error')
        return use.onDown(error)
      },
    )
  }
}

function writerFor({ into, status = 200 }: CachePolicyConfig, { side }: CacheUse): WriteValue {
  if (into === undefined) throw new Error("'lookup' needs 'into', for example 'into: vars.token'")
  if (into === 'reply') {
    if (side === 'response') throw new Error("'into: reply' responds to a request; remove 'phase: response'")
    return (_, { bytes, contentType }) => substitute(status, ['content-type', typeOf(contentType)], bytes)
  }
  const location = compileLocation(into, side)
  if (location.isInBody || into.startsWith('query.'))
    throw new Error(`a value cannot be written to '${into}'; use reply, vars.NAME or header.NAME`)
  return (x, { bytes }) => location.write(new Draft(x, side, null), bytes, false)
}

/** Returns a safe content type. A stored value must not be able to inject header fields. */
function typeOf(text: string): string {
  return text !== '' && isFieldValue(text) ? text : UNKNOWN_TYPE
}
