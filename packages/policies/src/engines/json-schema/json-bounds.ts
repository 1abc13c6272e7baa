import type { Static, TObject } from '@sinclair/typebox'
import { DEFAULT_JSON_DEPTH, type JsonReading, MAX_JSON_DEPTH } from '../../shared/json/view.js'
import { optionalInteger, optionalOneOf, optionalSize } from '../../shared/options/options.js'

/** Configuration options that limit the validation of JSON bodies. */
export const jsonLimitOptions = {
  maxErrors: optionalInteger('Maximum number of reported violations.', {
    minimum: 1,
    maximum: 100,
    default: 10,
  }),
  maxBodyBytes: optionalSize('Maximum body size.', '1mb'),
  maxDepth: optionalInteger('Maximum nesting depth of arrays and objects.', {
    minimum: 1,
    maximum: MAX_JSON_DEPTH,
    default: DEFAULT_JSON_DEPTH,
  }),
  duplicateKeys: optionalOneOf(
    ['refuse', 'last'],
    'Handling of objects with duplicate keys: refuse the body, or use the last value.',
    'refuse',
    { deprecatedValues: { reject: 'refuse' } },
  ),
}

/** Limits of a validation. They can be cloned for a worker thread. */
export interface JsonLimits {
  readonly maxErrors: number
  readonly reading: JsonReading
}

/** Returns the limits that a configuration sets, with defaults. */
export function jsonLimitsFrom(config: Static<TObject<typeof jsonLimitOptions>>): JsonLimits {
  const { maxErrors = 10, maxDepth = DEFAULT_JSON_DEPTH, duplicateKeys = 'refuse' } = config
  return { maxErrors, reading: { maxDepth, duplicateKeys } }
}
