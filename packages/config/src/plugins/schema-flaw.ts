import type { TSchema } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { addKeywords } from '../check/keywords.js'

/** Keywords that say something to the gateway and nothing to a validator. */
const ANNOTATIONS = ['secret', 'path', 'destination', 'expects', 'remedy', 'keepsReference']

/** What is wrong with a schema of parameters, as one line; null when nothing is. */
export function schemaFlaw(schema: TSchema): string | null {
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
