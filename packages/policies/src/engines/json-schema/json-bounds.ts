import type { Static, TObject } from '@sinclair/typebox'
import { optionalInteger, optionalOneOf, optionalSize } from '../../shared/options.js'
import { DEFAULT_JSON_DEPTH, type JsonReading, MAX_JSON_DEPTH } from '../json/view.js'

/** The bounds of policies that check JSON bodies, as their configuration has them. */
export const jsonBoundsOptions = {
  maxErrors: optionalInteger('Most violations that are reported.', { minimum: 1, maximum: 100, default: 10 }),
  maxBodyBytes: optionalSize('Largest body that is checked.', '1mb'),
  maxDepth: optionalInteger('Deepest nesting of arrays and objects.', {
    minimum: 1,
    maximum: MAX_JSON_DEPTH,
    default: DEFAULT_JSON_DEPTH,
  }),
  duplicateKeys: optionalOneOf(
    ['reject', 'last'],
    'What becomes of an object that has a name twice: refused, or the last one counts.',
    'reject',
  ),
}

/** The bounds of a check; they can be cloned for a thread. */
export interface JsonBounds {
  readonly maxErrors: number
  readonly reading: JsonReading
}

/** What a configuration says of them. */
export function jsonBoundsOf(config: Static<TObject<typeof jsonBoundsOptions>>): JsonBounds {
  const { maxErrors = 10, maxDepth = DEFAULT_JSON_DEPTH, duplicateKeys = 'reject' } = config
  return { maxErrors, reading: { maxDepth, duplicateKeys } }
}
