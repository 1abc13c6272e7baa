import type { OffloadedWork } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { type DirectionConfig, type Secured, Securing } from './securing.js'

/** A message to process on a thread. */
export interface SecuringInput {
  readonly body: Uint8Array
  readonly nowMs: number
}

/** Processes large messages on a thread. */
export const work: OffloadedWork<DirectionConfig, SecuringInput, Secured> = async (config) => {
  await loadLibxml()
  const securing = new Securing(config)
  return ({ body, nowMs }) => securing.secure(body, null, nowMs)
}
