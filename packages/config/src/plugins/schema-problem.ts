import type { TSchema } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { addKeywords } from '../check/keywords.js'

/** Keywords that only the gateway uses, not a validator. */
const ANNOTATIONS = [
  ...['secret', 'path', 'destination', 'expects', 'remedy', 'keepsReference'],
  ...['deprecatedKeys', 'deprecatedValues', 'shorthand'],
]

/** Returns the problem with a schema of policy parameters as one line, or null. */
export function schemaProblem(schema: TSchema): string | null {
  try {
    const ajv = new Ajv({ strict: true, strictTypes: false, strictTuples: false, logger: false, formats: {} })
    addKeywords(ajv)
    ajv.addVocabulary(ANNOTATIONS)
    ajv.compile(schema)
    return null
  } catch (error) {
    return (error as Error).message.split('\n')[0]!.slice(0, 300)
  }
}
