import { type OffloadedWork, UnreadableBody } from '@sluice/core'
import type { Violation } from '../../engines/json-schema/violations.js'
import type { Direction } from './rewrite.js'
import { type SchemaSettings, Schemas } from './schemas.js'

/** A body and the location of its schema. */
export interface BodyTask {
  readonly pointer: string
  readonly direction: Direction
  readonly body: Uint8Array
}

/** Violations of a body, or the reason why it is unreadable. */
export type BodyVerdict = { readonly violations: readonly Violation[] } | { readonly unreadable: string }

/** Checks large bodies on a thread. */
export const work: OffloadedWork<SchemaSettings, BodyTask, BodyVerdict> = async (settings) => {
  const schemas = await Schemas.create(settings)
  return ({ pointer, direction, body }) => {
    try {
      return { violations: schemas.checkBytes(pointer, direction, body) }
    } catch (error) {
      if (error instanceof UnreadableBody) return { unreadable: error.message }
      throw error
    }
  }
}
